"""How ranks share the grids of a flow: the finest, and the coarser ones alike."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.pattern import uniform
from groundswell.exchange.traffic import traffic
from groundswell.grids.cartesian import Part, format_extent
from groundswell.simulation.solver import DecompositionSummary
from groundswell.solvers.cavity.case import AXES, FIELDS
from groundswell.solvers.cavity.recording import recording

if TYPE_CHECKING:
    from groundswell.solvers.cavity.setup import Setup

MIN_BLOCK = 2  # points: a fourth difference that is shifted off a wall reaches three further
STENCIL_GHOSTS = {
    name: uniform(2 if name == "p" else 1) for name in FIELDS
}  # ghosts that a step reads


def decompose_grids(setup: Setup, ranks: int) -> list[Decomposition]:
    """How ranks share the grid, as the case wants it where it says so, and the coarser ones.

    Raises:
        InputError: a grid is too small for so many ranks.
    """
    processes = setup.case.run.processes
    wanted = tuple(processes)[::-1] if processes else None
    periodic, least = setup.periodic[::-1], (MIN_BLOCK,) * 3
    cuts = [decompose(setup.grid.shape, ranks, periodic, wanted, least)]
    for fine, coarse in zip(setup.grids, setup.grids[1:], strict=False):
        cuts.append(_match(cuts[-1], fine, coarse))
    return cuts


def _match(cut: Decomposition, fine: Setup, coarse: Setup) -> Decomposition:
    """Blocks of a coarser grid that cover the same parts of the box."""
    cuts = []
    for axis, edges in zip((2, 1, 0), cut.edges, strict=True):
        first = fine.inside(axis)[edges[1:-1]] - fine.grid.spacing[axis] / 2
        inner = np.searchsorted(coarse.inside(axis), first)
        points = np.diff([0, *inner, coarse.grid.cells[axis]])
        if len(inner) and points.min() < MIN_BLOCK:
            raise InputError(
                f"a coarser grid of {format_extent(coarse.grid.cells)} points leaves some of "
                f"{len(points)} blocks along {AXES[axis]} less than {MIN_BLOCK}; use fewer "
                f"ranks, or time.levels = {coarse.depth}"
            )
        cuts.append(tuple(int(n) for n in inner))
    return Decomposition(coarse.grid.shape, cut.processes, cut.periodic, tuple(cuts))


def local_parts(setup: Setup, cuts: Sequence[Decomposition], rank: int) -> list[tuple[Setup, Part]]:
    """What a rank holds of each grid."""
    blocks = [(grid, cut.block(rank)) for grid, cut in zip(setup.grids, cuts, strict=True)]
    return [(grid, Part.from_block(grid.grid, block.start, block.shape)) for grid, block in blocks]


def _memory(setup: Setup, cuts: Sequence[Decomposition], rank: int) -> int:
    """Bytes of all grids' parts of a rank."""
    parts = local_parts(setup, cuts, rank)
    records = recording(*parts[0]).device_bytes(setup.case.output.record)
    return records + sum(grid.memory_of(part, coarse=n > 0) for n, (grid, part) in enumerate(parts))


def summarize(setup: Setup, ranks: int) -> DecompositionSummary:
    """Blocks, bytes of each, and bytes between them in a step."""
    cuts = decompose_grids(setup, ranks)
    largest = [int(max(np.diff(edges))) for edges in cuts[0].edges][::-1]
    size, stages = np.dtype(setup.dtype).itemsize, len(setup.scheme.stages)
    sent = [
        n * traffic(cut, [(STENCIL_GHOSTS[name], size) for name in FIELDS])
        for cut, n in zip(cuts, setup.cycle(), strict=True)
    ]
    return DecompositionSummary(
        ranks=ranks,
        processes=cuts[0].processes[::-1],
        largest_block=largest,
        updates_per_step=sum(
            n * prod(int(max(np.diff(edges))) for edges in cut.edges)
            for n, cut in zip(setup.cycle(), cuts, strict=True)
        ),
        memory=[_memory(setup, cuts, rank) for rank in range(ranks)],
        traffic=stages * np.sum(sent, axis=0),
    )
