"""Boundary conditions of a rank's block, as parameters of the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Parameter
from groundswell.grids.cartesian import GHOSTS, Part
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.wall_temperature import positions_on, wall_temperature
from groundswell.solvers.cavity.walls import AdiabaticWall, ConductingWall, Wall

Ghosts = tuple[slice, slice, slice]  # an index of an array (z, y, x)
VELOCITY = ("U", "V", "W")


class Beyond(IntEnum):
    """What lies beyond a side of a block, as in kernels/lines.h."""

    OPEN = 0
    WALL = 1
    MIRROR = 2


class Heat(IntEnum):
    """The thermal condition of a wall, as in kernels/lines.h."""

    FIXED = 0
    ADIABATIC = 1
    LINEAR = 2
    SHARED = 3
    SHAPED = 4


def boundary_parameters(grid: LevelGrid, part: Part) -> dict[str, Parameter]:
    """Parameters of the six sides, such as LOW_X_BEYOND; a side at another block is open."""
    parameters: dict[str, Parameter] = {
        "HEAT_AXIS": grid.scales.heat.axis if grid.scales.heat else 0
    }
    for axis, name in enumerate("XYZ"):
        low, high = grid.case.walls.pair(axis)
        at_low = part.start[axis] == 0
        at_high = part.start[axis] + part.cells[axis] == part.grid.cells[axis]
        sides = {"LOW": low if at_low else None, "HIGH": high if at_high else None}
        for end, (prefix, side) in enumerate(sides.items()):
            found = _side(grid, axis, end, side)
            parameters |= {f"{prefix}_{name}_{key}": value for key, value in found.items()}
    return parameters


def _side(grid: LevelGrid, axis: int, high: int, side: Any) -> dict[str, Parameter]:
    """The members of a `Side` of kernels/lines.h; `side` is None next to another block."""
    is_wall = isinstance(side, Wall)
    velocity = side.velocity if is_wall else (0.0, 0.0, 0.0)
    thermal = _thermal(grid, axis, side, high) if is_wall else (Heat.FIXED, 0.0, 0.0)
    heat, temperature, share = thermal
    return {
        "BEYOND": int(_beyond(side)),
        "HEAT": int(heat),
        **{c: float(v) for c, v in zip(VELOCITY, velocity, strict=True)},
        "TEMPERATURE": temperature,
        "SHARE": share,
        "RATIO": grid.axes[axis].end(high).ratio if is_wall else 2.0,
    }


def _beyond(side: Any) -> Beyond:
    if isinstance(side, Wall):
        return Beyond.WALL
    return Beyond.OPEN if side is None or side.kind == "periodic" else Beyond.MIRROR


def _thermal(grid: LevelGrid, axis: int, wall: Wall, high: int) -> tuple[Heat, float, float]:
    """A wall's thermal condition, its temperature less the neutral one, K, and its share."""
    if isinstance(wall, ConductingWall) and not grid.is_stretched:
        return Heat.LINEAR, grid.conducting_temperature()[0] - grid.fluid.neutral, 0.0
    if isinstance(wall, AdiabaticWall):
        return Heat.ADIABATIC, 0.0, 1.0
    of = wall_temperature(grid, axis, wall, high)
    if not isinstance(of.value, float):
        return Heat.SHAPED, 0.0, of.share
    value = of.factor * of.value + of.offset(grid.fluid.neutral)
    return (Heat.SHARED if of.share else Heat.FIXED), value, of.share


def shaped_walls(
    grid: LevelGrid, part: Part
) -> Iterator[tuple[tuple[slice, slice, slice], Floats]]:
    """Index of the first ghosts beyond each wall of a SHAPED temperature, and what they hold, K.

    The index is that of an array (z, y, x) with ghosts.
    """
    along = {axis: grid.interior_positions(axis)[part.indices(axis)] for axis in range(3)}
    for axis in range(3):
        ends = (part.start[axis] == 0, part.start[axis] + part.cells[axis] == grid.points[axis])
        for high, side in enumerate(grid.case.walls.pair(axis)):
            if not ends[high] or not isinstance(side, Wall):
                continue
            of = wall_temperature(grid, axis, side, high)
            is_linear = isinstance(side, ConductingWall) and not grid.is_stretched
            if is_linear or of.is_uniform:
                continue
            index = [slice(GHOSTS, GHOSTS + n) for n in part.shape]
            first = GHOSTS + part.cells[axis] if high else GHOSTS - 1
            index[2 - axis] = slice(first, first + 1)
            values = of.at(*positions_on(grid, axis, bool(high), along))
            values = values + of.offset(grid.fluid.neutral)
            yield (index[0], index[1], index[2]), np.expand_dims(values, 2 - axis)
