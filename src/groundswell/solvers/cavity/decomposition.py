"""Domain decomposition of all grids: coarser grids follow the blocks of the finest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.ghosts import uniform
from groundswell.grids.cartesian import Part, format_extent
from groundswell.solvers.cavity.case import AXES, FIELDS
from groundswell.solvers.cavity.level_grid import LevelGrid

MIN_BLOCK = 2  # points: a one-sided fourth difference at a wall reads three more points
# Layers that a step reads: two for the fourth difference of pressure, one for all else.
STENCIL_GHOSTS = {name: uniform(2 if name == "p" else 1) for name in FIELDS}


def decompose_grids(grids: Sequence[LevelGrid], ranks: int) -> list[Decomposition]:
    """Decompose all grids, finest first; `run.processes` sets the process grid if given.

    Raises:
        InputError: a grid is too small for this number of ranks.
    """
    finest = grids[0]
    processes = finest.case.run.processes
    process_grid = tuple(processes)[::-1] if processes else None
    periodic, least = finest.periodic[::-1], (MIN_BLOCK,) * 3
    decompositions = [decompose(finest.grid.shape, ranks, periodic, process_grid, least)]
    for fine, coarse in pairwise(grids):
        decompositions.append(_match(decompositions[-1], fine, coarse))
    return decompositions


def _match(finer: Decomposition, fine: LevelGrid, coarse: LevelGrid) -> Decomposition:
    """Decompose a coarser grid into blocks that cover the same parts of the box.

    Raises:
        InputError: a block would be too small.
    """
    lengths = []
    for axis, edges in zip((2, 1, 0), finer.edges, strict=True):
        first = fine.interior_positions(axis)[edges[1:-1]] - fine.grid.spacing[axis] / 2
        inner = np.searchsorted(coarse.interior_positions(axis), first)
        points = np.diff([0, *inner, coarse.grid.cells[axis]])
        if len(inner) and points.min() < MIN_BLOCK:
            raise InputError(
                f"a coarser grid of {format_extent(coarse.grid.cells)} points leaves some of "
                f"{len(points)} blocks along {AXES[axis]} less than {MIN_BLOCK}; use fewer "
                f"ranks, or time.levels = {coarse.depth}"
            )
        lengths.append(tuple(int(n) for n in points))
    return Decomposition(coarse.grid.shape, finer.processes, finer.periodic, tuple(lengths))


def local_parts(
    grids: Sequence[LevelGrid], decompositions: Sequence[Decomposition], rank: int
) -> list[tuple[LevelGrid, Part]]:
    """Each grid, and the part of it that a rank owns."""
    blocks = [
        (grid, decomposition.block(rank))
        for grid, decomposition in zip(grids, decompositions, strict=True)
    ]
    return [(grid, Part.from_block(grid.grid, block.start, block.shape)) for grid, block in blocks]
