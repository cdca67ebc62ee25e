"""Domain decomposition of all grids: coarser grids follow the blocks of the finest."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.pattern import traffic, uniform
from groundswell.grids.cartesian import Part, format_extent
from groundswell.simulation.solver import DecompositionSummary
from groundswell.solvers.cavity.case import AXES, FIELDS
from groundswell.solvers.cavity.recording import recording

if TYPE_CHECKING:
    from groundswell.solvers.cavity.setup import Setup

MIN_BLOCK = 2  # points: a one-sided fourth difference at a wall reads three more points
# Layers that a step reads: two for the fourth difference of pressure, one for all else.
STENCIL_GHOSTS = {name: uniform(2 if name == "p" else 1) for name in FIELDS}


def decompose_grids(setup: Setup, ranks: int) -> list[Decomposition]:
    """Decompose all grids, finest first; `run.processes` sets the process grid if given.

    Raises:
        InputError: a grid is too small for this number of ranks.
    """
    processes = setup.case.run.processes
    process_grid = tuple(processes)[::-1] if processes else None
    periodic, least = setup.periodic[::-1], (MIN_BLOCK,) * 3
    decompositions = [decompose(setup.grid.shape, ranks, periodic, process_grid, least)]
    for fine, coarse in zip(setup.grids, setup.grids[1:], strict=False):
        decompositions.append(_match(decompositions[-1], fine, coarse))
    return decompositions


def _match(finer: Decomposition, fine: Setup, coarse: Setup) -> Decomposition:
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
    setup: Setup, decompositions: Sequence[Decomposition], rank: int
) -> list[tuple[Setup, Part]]:
    """Each grid, and the part of it that a rank owns."""
    blocks = [
        (grid, decomposition.block(rank))
        for grid, decomposition in zip(setup.grids, decompositions, strict=True)
    ]
    return [(grid, Part.from_block(grid.grid, block.start, block.shape)) for grid, block in blocks]


def _memory(setup: Setup, decompositions: Sequence[Decomposition], rank: int) -> int:
    """Bytes of device memory that a rank needs."""
    parts = local_parts(setup, decompositions, rank)
    records = recording(*parts[0]).device_bytes(setup.case.output.record)
    return records + sum(grid.memory_of(part, coarse=n > 0) for n, (grid, part) in enumerate(parts))


def summarize(setup: Setup, ranks: int) -> DecompositionSummary:
    """Block sizes, memory of each rank, and bytes exchanged in a step."""
    decompositions = decompose_grids(setup, ranks)
    largest = [int(max(np.diff(edges))) for edges in decompositions[0].edges][::-1]
    size, stages = np.dtype(setup.dtype).itemsize, len(setup.scheme.stages)
    sent = [
        n * traffic(decomposition, [(STENCIL_GHOSTS[name], size) for name in FIELDS])
        for decomposition, n in zip(decompositions, setup.cycle(), strict=True)
    ]
    return DecompositionSummary(
        ranks=ranks,
        processes=decompositions[0].processes[::-1],
        largest_block=largest,
        updates_per_step=sum(
            n * prod(int(max(np.diff(edges))) for edges in decomposition.edges)
            for n, decomposition in zip(setup.cycle(), decompositions, strict=True)
        ),
        memory=[_memory(setup, decompositions, rank) for rank in range(ranks)],
        traffic=stages * np.sum(sent, axis=0),
    )
