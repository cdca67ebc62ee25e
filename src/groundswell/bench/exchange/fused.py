"""Kernels that update a block and store its sides directly in the neighbours' ghost layers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from groundswell.backends import Array, Cells, Launch, Source
from groundswell.backends.base import in_order
from groundswell.bench.exchange.links import VALUE, torus
from groundswell.bench.rig import Rig
from groundswell.bench.tables import Row
from groundswell.exchange.connect import FUSED
from groundswell.exchange.exchange import Exchange
from groundswell.exchange.messages import GhostField
from groundswell.exchange.pattern import uniform

SOURCE = Path(__file__).parent / "update.h"
WIDTH = 1  # ghost layers


def measure_fused(rig: Rig, edges: Sequence[int]) -> Iterator[Row]:
    """Update a float32 cube on each rank, periodic along three axes, then exchange its ghosts.

    Args:
        edges: points along an edge of a cube.

    Yields:
        Rows: `bytes` of a face, `way` ("update": without an exchange; others are transports),
        `seconds`, and `exposed`: the time that the exchange adds to the update.
    """
    for edge in edges if FUSED[rig.backend.name] else ():
        about = {"bytes": edge * edge * WIDTH * VALUE}
        alone = rig.attempt("update", partial(_seconds, rig, edge, None))
        for way in ("direct", "fused"):
            seconds = rig.attempt(way, partial(_seconds, rig, edge, way))
            if seconds and alone:
                yield about | {"way": way, "seconds": seconds, "exposed": seconds - alone}
        if alone:
            yield about | {"way": "update", "seconds": alone, "exposed": 0.0}


def _seconds(rig: Rig, edge: int, transport: str | None) -> float:
    array = rig.filled((edge + 2 * WIDTH,) * 3, "float32")
    if transport is None:
        return rig.seconds(in_order(_updates(rig, array, edge, None)), in_graph=True)
    field = GhostField(array, (WIDTH,) * 3, uniform(WIDTH))
    cut = torus(rig.comm.size, edge)
    halo = Exchange(rig.backend, rig.comm, cut, [field], transport=transport, stored={0: 0})
    launches = [*halo.open, *_updates(rig, array, edge, halo), *halo.launches]
    seconds = rig.seconds(in_order(launches), in_graph=halo.in_graph)
    halo.check()
    halo.close()
    return seconds


def _updates(rig: Rig, array: Array, edge: int, halo: Exchange | None) -> list[Launch]:
    own = array[(slice(WIDTH, -WIDTH),) * 3]
    row, plane = (own.strides[axis] // VALUE for axis in (1, 0))
    puts = halo.puts if halo else []
    module = rig.backend.compile(Source(SOURCE, {}))
    name = "update_and_put" if puts else "update"
    return [module.launch(name, Cells(edge, edge, edge), own, row, plane, edge, *puts)]
