"""Domain decomposition of all grids: coarser grids follow the blocks of the finest.

An exchange of ghosts takes about as long on a small grid as on a large one. On grids on which a
rank would compute all points in less time, every rank does so, and no ghosts are exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

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

# Points that a rank sweeps over in the time of an exchange, by backend. On two H200s, 2,000,000
# instead made cycles of 255^3 points 14 % shorter, but those of 511^3 points 6 % longer.
EXCHANGE_POINTS = {"cpu": 1000, "cuda": 400_000}


@dataclass(frozen=True)
class Division:
    """How ranks divide the points of a grid.

    Args:
        held: the blocks that ranks compute; a single one if every rank computes the whole grid.
        restricted: the blocks to which ranks restrict the flow of the finer grid.
        hides_exchange: whether the sweep over a block takes longer than an exchange.
    """

    held: Decomposition
    restricted: Decomposition
    hides_exchange: bool = True

    def part(self, grid: LevelGrid, rank: int) -> Part:
        """The points of the grid that a rank computes."""
        block = self.held.block(rank if self.held.ranks > 1 else 0)
        return Part.from_block(grid.grid, block.start, block.shape)


def divide_grids(
    grids: Sequence[LevelGrid], ranks: int, exchange_points: int | None = None
) -> list[Division]:
    """Divide all grids, finest first; `run.processes` sets the process grid if given.

    Args:
        exchange_points: see EXCHANGE_POINTS, by default that of the case's backend. A coarse grid
            is divided if this saves each rank more points.

    Raises:
        InputError: the finest grid is too small for this number of ranks.
    """
    finest = grids[0]
    if exchange_points is None:
        exchange_points = EXCHANGE_POINTS[finest.case.run.backend]
    processes = finest.case.run.processes
    process_grid = tuple(processes)[::-1] if processes else None
    periodic, least = finest.periodic[::-1], (MIN_BLOCK,) * 3
    first = decompose(finest.grid.shape, ranks, periodic, process_grid, least)
    divisions = [Division(first, first)]
    for fine, coarse in pairwise(grids):
        restricted = _match(divisions[-1].held, fine, coarse)
        divisions.append(_divide(restricted, exchange_points))
    return divisions


def _divide(blocks: Decomposition, exchange_points: int) -> Division:
    """Leave the blocks of a coarse grid to their ranks, or all of them to every rank."""
    largest, points = prod(largest_block(blocks)), prod(blocks.shape)
    lengths = [np.diff(edges).min() for edges in blocks.edges if len(edges) > 2]
    if points - largest > exchange_points and min(lengths, default=MIN_BLOCK) >= MIN_BLOCK:
        return Division(blocks, blocks, largest > exchange_points)
    return Division(Decomposition(blocks.shape, (1, 1, 1), blocks.periodic), blocks)


def _match(finer: Decomposition, fine: LevelGrid, coarse: LevelGrid) -> Decomposition:
    """Decompose a coarser grid into blocks that cover the same parts of the box.

    Raises:
        InputError: a block would have no points.
    """
    lengths = []
    for axis, edges in zip((2, 1, 0), finer.edges, strict=True):
        first = fine.axes[axis].even_positions[edges[1:-1]] - fine.grid.spacing[axis] / 2
        inner = np.searchsorted(coarse.axes[axis].even_positions, first)
        points = np.diff([0, *inner, coarse.grid.cells[axis]])
        if points.min() < 1:
            raise InputError(
                f"a coarser grid of {format_extent(coarse.grid.cells)} points leaves some of "
                f"{len(points)} blocks along {AXES[axis]} without any; use fewer ranks, or "
                f"time.levels = {coarse.depth}"
            )
        lengths.append(tuple(int(n) for n in points))
    return Decomposition(coarse.grid.shape, finer.processes, finer.periodic, tuple(lengths))


def largest_block(decomposition: Decomposition) -> list[int]:
    """Points of the largest block along z, y and x."""
    return [int(max(np.diff(edges))) for edges in decomposition.edges]
