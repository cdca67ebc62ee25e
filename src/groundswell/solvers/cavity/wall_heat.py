"""Mean heat flux through the hot and the cold wall, from the points of all ranks next to them."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.exchange.communicator import Communicator
from groundswell.solvers.cavity.level import Level
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.solid_heat import wall_conductivity


def mean_nusselt(level: Level, comm: Communicator) -> tuple[float, float]:
    """Mean Nusselt numbers on the hot and on the cold wall; 0 without such walls. Collective."""
    scales = level.grid.scales
    if scales.heat is None:
        return 0.0, 0.0
    axis, low, high = scales.heat
    sign = 1.0 if low > high else -1.0
    flux = [sign * _mean_flux(level, comm, axis, end) for end in (0, 1)]
    hot, cold = flux if low > high else flux[::-1]
    return hot, cold


def _mean_flux(level: Level, comm: Communicator, axis: int, end: int) -> float:
    """Mean heat flux along an axis through a wall of fixed temperature, over k dT / L."""
    grid, scales = level.grid, level.grid.scales
    assert scales.heat is not None
    wall = scales.heat[1 + end] - grid.fluid.neutral
    near = np.sum(comm.allgather(_weighted_sums(level, axis, end)), axis=0)
    first, second, weight = near
    inward = grid.axes[axis].end(end).slope(wall * weight, first, second)
    return float((inward if end else -inward) * scales.length / scales.temperature_difference)


def _weighted_sums(level: Level, axis: int, end: int) -> Floats:
    """This rank's share of the mean temperatures on the first two layers of points, (3,).

    They are multiplied by the wall's conductivity over the fluid's, whose mean is the third value.
    """
    part, found = level.part, np.zeros(3)
    weights = [mean_weights(level.grid, a)[part.indices(a)] for a in (2, 1, 0) if a != axis]
    t = np.moveaxis(level.copies[0]["T"].interior, 2 - axis, 0)
    ratio, found[2] = _conductivity(level, axis, end), level.comm.rank == 0
    if ratio is not None:
        found[2] = weights[0] @ ratio @ weights[1] if _touches(level, axis, end) else 0.0
    for n in range(2):
        place = (level.grid.points[axis] - 1 - n if end else n) - part.start[axis]
        if 0 <= place < part.cells[axis]:
            layer: HostArray = level.backend.to_host(t[place])
            values = layer.astype(float) if ratio is None else layer * ratio
            found[n] = weights[0] @ values @ weights[1]
    return found


def _conductivity(level: Level, axis: int, end: int) -> Floats | None:
    """Conductivity of this rank's part of a wall over that of the fluid; None without solids."""
    if not level.grid.case.solid:
        return None
    rows, columns = (level.part.indices(a) for a in (2, 1, 0) if a != axis)
    return wall_conductivity(level.grid, axis, bool(end))[np.ix_(rows, columns)]


def _touches(level: Level, axis: int, end: int) -> bool:
    """Whether this rank has the first layer of points next to a wall."""
    place = (level.grid.points[axis] - 1 if end else 0) - level.part.start[axis]
    return 0 <= place < level.part.cells[axis]


def mean_weights(grid: LevelGrid, axis: int) -> Floats:
    """Weights of the points along an axis in a mean, by the trapezoidal rule; their sum is 1.

    At the ends, values are extrapolated with a gradient of zero, as on adiabatic walls.
    """
    along = grid.axes[axis]
    weights = along.lengths
    if along.points > 1 and not along.is_periodic:
        for high, view in enumerate((weights, weights[::-1])):
            end = along.end(high)
            half = end.first / along.spacing / 2
            view[:2] += half / (end.ratio**2 - 1) * np.array([1.0, -1.0])
            view[0] += half * end.is_wall
    return np.asarray(weights / weights.sum())
