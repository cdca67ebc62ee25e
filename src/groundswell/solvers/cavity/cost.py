"""What a cavity costs: memory, traffic and the size of its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from groundswell.arrays import HostArray
from groundswell.case.quantities import Quantity
from groundswell.exchange.pattern import traffic
from groundswell.grids.cartesian import Layout, Part, format_extent
from groundswell.simulation.solver import Cost, DecompositionSummary
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.decomposition import (
    STENCIL_GHOSTS,
    Division,
    divide_grids,
    largest_block,
)
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.level_kernels import metric_size
from groundswell.solvers.cavity.recording import recording, records_of
from groundswell.solvers.cavity.setup import Setup
from groundswell.time_integration.runge_kutta import Scheme

# Copies of the fields in addition to the scheme's: forcing and restricted flow on coarse grids; in
# time, forcing and earlier flow on the finest.
MORE_COPIES = 2
SOLID_FIELDS = 6  # of kernels/solids.h
CYCLES_IN_TIME = 4  # of an implicit step: 1 to 12 were needed


def estimate(setup: Setup) -> Cost:
    """The cost on one rank; an update is a point's step, and a cycle counts those of all grids."""
    parts = [(grid, Part.whole(grid.grid)) for grid in setup.grids]
    traffic_per_update = _bytes_per_update(setup.dtype, setup.scheme)
    updates = setup.updates_from(0) * (CYCLES_IN_TIME if setup.finest.is_implicit else 1)
    return Cost(updates, traffic_per_update, _memory(parts), _files(setup))


def _bytes_per_update(dtype: str, scheme: Scheme) -> float:
    """Least memory traffic of a point's step: reads and writes, u_0 as well in later stages."""
    return float(len(FIELDS) * np.dtype(dtype).itemsize * (3 * len(scheme.stages) - 1))


def _memory(parts: Sequence[tuple[LevelGrid, Part]]) -> int:
    """Device memory of a rank's parts of the grids, finest first, bytes."""
    records = recording(*parts[0]).device_bytes(records_of(parts[0][0]))
    return records + sum(_of_part(*part) for part in parts)


def _of_part(grid: LevelGrid, part: Part) -> int:
    layout = Layout(part.cells, np.dtype(grid.dtype).itemsize)
    copies = grid.scheme.copies + (MORE_COPIES if grid.is_forced else 0)
    fields = copies * len(FIELDS) + (SOLID_FIELDS if grid.case.solid else 0)
    return (fields * layout.size + metric_size(grid, part)) * layout.itemsize


def _files(setup: Setup) -> int:
    """Size of the output files, bytes."""
    size = np.dtype(setup.dtype).itemsize
    fields = setup.finest.grid.count * len(FIELDS) * size if setup.case.output.fields else 0
    return fields + setup.recording.file_bytes(records_of(setup.finest), setup.steps)


def decompose(setup: Setup, ranks: int) -> DecompositionSummary:
    """Block sizes, memory of each rank, and bytes exchanged in a step.

    Raises:
        InputError: a grid is too small for this number of ranks.
    """
    divisions = divide_grids(setup.grids, ranks, setup.exchange_points)
    largest = [largest_block(division.held) for division in divisions]
    parts = list(zip(setup.grids, divisions, strict=True))
    return DecompositionSummary(
        ranks=ranks,
        processes=divisions[0].held.processes[::-1],
        largest_block=largest[0][::-1],
        updates_per_step=sum(
            n * prod(block) for n, block in zip(setup.cycle(), largest, strict=True)
        ),
        memory=[_memory([(g, d.part(g, rank)) for g, d in parts]) for rank in range(ranks)],
        traffic=len(setup.scheme.stages) * _traffic(setup.dtype, setup.cycle(), divisions),
        quantities=list(_undivided(parts)) if ranks > 1 else (),
    )


def _undivided(parts: Sequence[tuple[LevelGrid, Division]]) -> Iterator[Quantity]:
    """The grids of which each rank computes all points, if there are any."""
    whole = [grid.grid.cells for grid, division in parts if division.held.ranks == 1]
    text = "all points of " + ", ".join(map(format_extent, whole))
    if whole:
        yield Quantity("undivided", whole, "on each rank", text=text)


def _traffic(dtype: str, steps: Sequence[int], divisions: Sequence[Division]) -> HostArray:
    """Bytes that each rank sends to each other rank per stage, (ranks, ranks).

    Args:
        steps: number on each grid.
    """
    ghosts = [(STENCIL_GHOSTS[name], np.dtype(dtype).itemsize) for name in FIELDS]
    ranks = divisions[0].held.ranks
    divided = [(d.held, n) for d, n in zip(divisions, steps, strict=True) if d.held.ranks == ranks]
    return np.asarray(np.sum([n * traffic(held, ghosts) for held, n in divided], axis=0))
