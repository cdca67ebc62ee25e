"""Gather, scatter and gather-scatter of a spectral-element mesh, by transport and route.

The mesh is NekBone's: a box of cubes of degree N on each rank, with (N + 1)^3 nodes each, those on
common faces being copies of each other; ranks are stacked along z. hipBone (Chalmers et al. 2023)
times its three routes when it starts; here they are beside each other.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Launch
from groundswell.backends.base import in_order
from groundswell.bench.exchange.rig import FASTEST, Rig, Row
from groundswell.exchange.assembly.operation import Operation
from groundswell.exchange.assembly.sharing import Sharing, find_sharing
from groundswell.exchange.transports.base import Link

DEGREE = 7
BANDWIDTH, LATENCY = 25e9, 2e-6  # bytes a second, s: of a good network
GAPS = (0.0, 1e-6, 5e-6, 20e-6)  # s that a message costs, from a bare network to GPU-aware MPI


def box_ids(elements: int, degree: int, rank: int) -> NDArray[np.int64]:
    """Ids of the nodes of a rank's cube of elements, (elements^3 (degree + 1)^3,)."""
    inside = degree * np.arange(elements)[:, None] + np.arange(degree + 1)
    across = elements * degree + 1
    z, y, x = inside + rank * elements * degree, inside, inside
    planes = z[:, None, None, :, None, None] * across + y[None, :, None, None, :, None]
    return (planes * across + x[None, None, :, None, None, :]).astype(np.int64).ravel()


def measure_assembly(rig: Rig, large: int, small: int) -> dict[str, Any]:
    """What the local part moves in a second, and what the remote part takes.

    Args:
        large, small: elements along an edge of a rank's cube, for bandwidth and for latency.

    Returns:
        "local": rows `kind`, `values`, `seconds`, `bytes` that must be moved at least, `share` of
        the device's bandwidth, `remote` and `whole` in seconds, `setup` in seconds, of numbering
        and operation; "routes": rows `transport`, `route`, `bytes` sent, `remote`, and `path`;
        "crowd": rows `gap`, what a
        message costs, and the same, where each rank shares a value with every other.
    """
    local = rig.attempt("assembly", partial(_local, rig, large)) or []
    ids = box_ids(small, DEGREE, rig.world.rank)
    sharing = find_sharing(rig.world, ids)
    ways = [(name, route) for name in rig.transports for route in ("pairwise", "crystal")]
    ways += [("mpi", "alltoall")] * ("mpi" in rig.transports)
    rows = [rig.attempt(f"{t}, {r}", partial(_route, rig, sharing, t, r)) for t, r in ways]
    crowd = rig.attempt("a value for each", partial(_crowd, rig)) or []
    return {"local": local, "routes": [row for row in rows if row], "crowd": crowd}


def _local(rig: Rig, elements: int) -> list[Row]:
    begun = time.monotonic()
    sharing = find_sharing(rig.world, box_ids(elements, DEGREE, rig.world.rank))
    numbered, bandwidth = time.monotonic() - begun, rig.backend.measure_bandwidth()
    local = rig.filled((len(sharing.rows),), "float64")
    whole = rig.filled((len(sharing.ids),), "float64")
    arrays = {"gather-scatter": (local, local), "gather": (local, whole), "scatter": (whole, local)}
    rows = []
    for kind, pair in arrays.items():
        begun = time.monotonic()
        operation = Operation(
            *(rig.backend, rig.world, sharing, kind, *pair), transport=FASTEST[rig.backend.name]
        )
        setup = numbered + time.monotonic() - begun
        moved, seconds = _moved(sharing, kind), _seconds(rig, operation, operation.local)
        row = {"kind": kind, "values": len(sharing.rows), "seconds": seconds, "bytes": moved}
        row |= {"share": moved / seconds / bandwidth, "setup": setup}
        rows.append(row | _times(rig, operation))
        operation.check()
        operation.close()
    return rows


def _moved(sharing: Sharing, kind: str) -> int:
    """Values of 8 bytes, read or written once, and their places of 4 bytes.

    In a gather-scatter all cache lines have some value that is shared, so all values are moved.
    """
    copies = np.bincount(sharing.rows)
    local, whole, several = len(sharing.rows), len(sharing.ids), int(copies[copies > 1].sum())
    return {
        "gather-scatter": 16 * local + 4 * several,
        "gather": 12 * local + 8 * whole,
        "scatter": 12 * local + 8 * whole,
    }[kind]


def _crowd(rig: Rig) -> list[Row]:
    """Routes on the machine itself, and on networks where messages cost more and more.

    Where they cost most the crystal router should win: it has fewer of them.
    """
    rank, transport = rig.world.rank, FASTEST[rig.backend.name]
    others = np.delete(np.arange(rig.world.size), rank)
    ids = np.minimum(others, rank) * rig.world.size + np.maximum(others, rank)
    sharing = find_sharing(rig.world, ids)
    return [
        {"gap": gap, **_route(rig, sharing, transport, route, Link(BANDWIDTH, LATENCY, gap))}
        for gap in GAPS
        for route in ("pairwise", "crystal")
    ]


def _route(rig: Rig, sharing: Sharing, transport: str, route: str, link: Link | None = None) -> Row:
    values = rig.filled((len(sharing.rows),), "float64")
    operation = Operation(
        *(rig.backend, rig.world, sharing, "gather-scatter", values, values),
        transport=transport,
        route=route,
        link=link,
    )
    row: Row = {"transport": transport, "route": route, "bytes": operation.bytes}
    row |= {"path": operation.path} | _times(rig, operation)
    operation.check()
    operation.close()
    return row


def _times(rig: Rig, operation: Operation) -> dict[str, float]:
    remote = [*operation.send, *operation.receive]
    return {
        "remote": _seconds(rig, operation, remote),
        "whole": _seconds(rig, operation, operation.launches),
    }


def _seconds(rig: Rig, operation: Operation, launches: list[Launch]) -> float:
    with rig.holding(operation):
        return rig.seconds(in_order(launches), in_graph=operation.in_graph)
