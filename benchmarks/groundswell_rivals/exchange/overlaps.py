"""Measures the exchange of overlaps in the multi-GPU k-Wave: one float32 field, slabs or cubes.

Its authors exchange overlaps of 2 to 32 points, and replaced MPI through the host by GPU-aware MPI
and by peer memory on a server with eight Tesla P40.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from groundswell.bench.exchange.links import one_field, torus
from groundswell.bench.rig import Rig
from groundswell.bench.tables import Row
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts, uniform

STAGED = "mpi"  # MPI through the host, with which others are compared


def measure_overlaps(rig: Rig, edge: int, widths: Sequence[int]) -> Iterator[Row]:
    """Measure the exchange of overlaps of a cube per rank, decomposed along one or three axes.

    Args:
        edge: points along an edge of a rank's cube.
        widths: overlaps in points.

    Yields:
        Rows: `cut` ("1-D" or "3-D"), `overlap`, `transport`, `seconds`, and `speedup` over MPI
        through the host.
    """
    ranks = rig.comm.size
    slabs = Decomposition((edge * ranks, edge, edge), (ranks, 1, 1), (True, False, False))
    for name, decomposition in {"1-D": slabs, "3-D": torus(ranks, edge)}.items():
        for width in widths:
            low = (width, 0, 0)
            ghosts = Ghosts(low, low) if name == "1-D" else uniform(width, corners=True)
            array = rig.filled(tuple(edge + 2 * n for n in ghosts.low), "float32")
            field = GhostField(array, ghosts.low, ghosts)
            found = [
                rig.exchange(transport, partial(one_field, rig, transport, decomposition, field))
                for transport in rig.transports
            ]
            about = {"cut": name, "overlap": width, "processes": decomposition.processes}
            yield from _compared([about | row for row in found if row])


def _compared(rows: Sequence[Row]) -> list[Row]:
    staged = [row["seconds"] for row in rows if row["transport"] == STAGED]
    return [row | {"speedup": staged[0] / row["seconds"] if staged else None} for row in rows]
