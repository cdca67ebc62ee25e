"""The optimisations of Xue & Roy (2020) one by one, on every transport and process grid.

"Multi-GPU Performance Optimization of a CFD Code using OpenACC on Different Platforms", section
4.5: a buoyancy-driven cavity with walls, five fields in double precision (pressure, three
velocities, temperature). Pressure needs two ghost layers, the others one. Its axes are i (fast), j
and k; ours are named the other way round, slowest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from groundswell.backends import Array
from groundswell.bench.exchange.links import most_even
from groundswell.bench.exchange.rig import Rig, Row
from groundswell.exchange.decomposition import Decomposition, Index, process_grids
from groundswell.exchange.exchange import Exchange
from groundswell.exchange.messages import GhostField
from groundswell.exchange.pattern import Ghosts

FIELDS = 5
WIDEST = 2
AXES = (0, 1, 2)  # k, j, i
FAST = (2,)


@dataclass(frozen=True)
class Rung:
    """One version of the paper, in terms of our options.

    Args:
        widths: ghost layers of pressure, and of the four other fields.
        packed: axes whose faces one kernel packs, all fields in one message (`packing="kernel"`,
            `aggregate=True`). Faces of other axes are copied by themselves, a field at a time, with
            strided copies of the library and a message each (`packing="copies"`,
            `aggregate=False`); with "mpi" these copies go straight to the host and back.
    """

    name: str
    widths: tuple[int, int]
    packed: tuple[int, ...]


RUNGS = (
    Rung("Baseline", (2, 2), ()),  # as a CPU code is ported: no buffers, one stencil for all
    Rung("V1", (2, 2), FAST),  # buffers where memory is least contiguous, packed in parallel
    Rung("V2", (2, 1), FAST),  # and as many layers as a field's own stencil reads
    Rung("V3", (2, 1), AXES),  # and buffers on all axes
)


def measure_ladder(rig: Rig, edge: int) -> list[Row]:
    """Every rung on every process grid and transport.

    Transports that store straight into the neighbour's memory have no buffers to be packed: on
    these, rungs differ in the layers and in the number of messages alone.

    Args:
        edge: points of the cavity's edge, shared by all ranks.

    Returns:
        Rows: `grid` (processes along i, j, k, as the paper writes them), `rung`, `transport`,
        `seconds`, and `sent`: the most bytes that a rank sends.
    """
    rows: list[Row] = []
    for processes in grids(rig.world.size):
        cut = Decomposition((edge,) * 3, processes, (False,) * 3)
        arrays = allocate(rig, cut)
        for transport in rig.transports:
            for rung in RUNGS:
                if transport in rig.transports:
                    make = partial(rung_exchanges, rig, transport, cut, arrays, rung)
                    row = rig.exchange(transport, make)
                    rows += [{"grid": processes[::-1], "rung": rung.name} | row] if row else []
    return rows


def grids(ranks: int) -> list[Index]:
    """Process grids: along each axis alone, and the most even ones along two and along three."""
    every = list(process_grids(ranks, len(AXES)))
    alone = [grid for grid in every if _cuts(grid) == 1]
    even = [
        most_even(grid for grid in every if _cuts(grid) == n)
        for n in (2, 3)
        if any(_cuts(grid) == n for grid in every)
    ]
    return sorted(alone, reverse=True) + even


def _cuts(grid: Index) -> int:
    return sum(n > 1 for n in grid)


def allocate(rig: Rig, cut: Decomposition) -> list[Array]:
    """This rank's part of the five fields."""
    shape = tuple(n + 2 * WIDEST for n in cut.block(rig.world.rank).shape)
    return [rig.filled(shape, "float64") for _ in range(FIELDS)]


def rung_exchanges(
    rig: Rig, transport: str, cut: Decomposition, arrays: Sequence[Array], rung: Rung
) -> list[Exchange]:
    """What a version of the paper exchanges each time: faces that are packed, and the others."""
    used = [axis for axis in AXES if cut.processes[axis] > 1]
    parts = [
        ([axis for axis in used if axis in rung.packed], "kernel"),
        ([axis for axis in used if axis not in rung.packed], "copies"),
    ]
    return [
        Exchange(
            rig.backend,
            rig.world,
            cut,
            [
                GhostField(array, (WIDEST,) * 3, _along(axes, rung.widths[n > 0]))
                for n, array in enumerate(arrays)
            ],
            transport=transport,
            packing=packing,
            aggregate=packing == "kernel",
        )
        for axes, packing in parts
        if axes
    ]


def _along(axes: Sequence[int], width: int) -> Ghosts:
    """Ghosts on these axes only."""
    widths = tuple(width if axis in axes else 0 for axis in AXES)
    return Ghosts(widths, widths)
