"""Strong and weak scaling of the cavity solver: tables 1 to 4 of Xue & Roy (2020).

The axes i, j and k of the paper are x, y and z here. Efficiency is the speed of all ranks over the
number of ranks times the speed of one device, on the whole cube or a rank's cube. All ranks
measure the latter at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from groundswell.bench.exchange.links import grids
from groundswell.bench.rig import Rig
from groundswell.bench.tables import Row
from groundswell.solvers.cavity.benchmarks.speed import (
    alone,
    make_case,
    make_solver,
    on_ranks,
    speed,
)
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.solver import Cavity

Cells = tuple[int, int, int]
Rivals = Mapping[str, Callable[[Cavity], None]]  # versions of the exchange, see `on_ranks`
OWN: Rivals = {}  # only the solver's own exchange


def measure_strong(rig: Rig, edge: int, large: int, rivals: Rivals = OWN) -> Iterator[Row]:
    """A cube shared by all ranks, in the rivals' versions and ours; a larger one in ours only."""
    for cut in cuts(rig):
        yield from _compared(rig, (edge,) * 3, cut, (edge,) * 3, rivals)
    if large:
        yield from _ours(rig, (large,) * 3, None, (large,) * 3)


def measure_weak(rig: Rig, edge: int, large: int, rivals: Rivals = OWN) -> Iterator[Row]:
    """A cube on each rank, with the grid growing along the decomposed axes (table 2)."""
    for cut in cuts(rig):
        yield from _compared(rig, _grown(edge, cut), cut, (edge,) * 3, rivals)
    if large:
        even = cuts(rig)[-1]
        yield from _ours(rig, _grown(large, even), even, (large,) * 3)


def measure_growth(rig: Rig, edge: int) -> Iterator[Row]:
    """Grids that grow along k, then j, then i, for any decomposition (table 1), in our version."""
    cells, ranks, axis = [edge] * 3, 1, 2
    while ranks < rig.comm.size:
        cells[axis], ranks, axis = 2 * cells[axis], 2 * ranks, (axis - 1) % 3
    if ranks != rig.comm.size:
        return
    nx, ny, nz = cells
    for cut in cuts(rig):
        yield from _ours(rig, (nx, ny, nz), cut, (edge,) * 3)


def cuts(rig: Rig) -> list[Cells]:
    """Process grids along i, j, k: each axis alone, then the most even ones."""
    return [(i, j, k) for k, j, i in grids(rig.comm.size)]


def _compared(rig: Rig, cells: Cells, cut: Cells, one: Cells, rivals: Rivals) -> Iterator[Row]:
    for version, change in rivals.items():
        for transport in rig.transports:
            case = make_case(cells, transport=transport, processes=cut, overlap=False)
            yield from ({**row, "version": version} for row in _measured(rig, case, one, change))
    yield from _ours(rig, cells, cut, one)


def _ours(rig: Rig, cells: Cells, cut: Cells | None, one: Cells) -> Iterator[Row]:
    """Our version on each transport, with and without overlap."""
    for transport in rig.transports:
        for overlap in (True, False):
            case = make_case(cells, transport=transport, processes=cut, overlap=overlap)
            yield from _measured(rig, case, one)


def _measured(
    rig: Rig, case: CavityCase, one: Cells, change: Callable[[Cavity], None] | None = None
) -> list[Row]:
    """A row: `version`, `processes`, `transport`, `overlap`, speed and `efficiency`.

    `edge` is the number of points along an edge of the cube that one device computes.

    Args:
        one: the cells that one device computes for comparison.
        change: see `on_ranks`.
    """
    run = case.run
    found = rig.attempt(run.transport, partial(on_ranks, rig, case, change))
    if found is None:
        return []
    ideal = rig.comm.size * _single(rig, one)
    row = {
        "version": "ours",
        "processes": run.processes,
        "transport": run.transport,
        "overlap": run.overlap,
        "edge": one[0],
        "efficiency": 100 * found["ssspnt"] / ideal,
    }
    return [row | found]


def _single(rig: Rig, cells: Cells) -> float:
    """Speed of one device, of the slowest of all that compute the same at once."""
    if cells not in rig.remembered:
        solver = make_solver(make_case(cells), rig.backend)
        seconds = max(rig.comm.allgather(alone(rig.backend, solver)))
        rig.remembered[cells] = speed(cells, seconds)["ssspnt"]
    return float(rig.remembered[cells])


def _grown(edge: int, cut: Cells) -> Cells:
    i, j, k = cut
    return edge * i, edge * j, edge * k
