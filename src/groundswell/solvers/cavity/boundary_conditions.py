"""Boundary conditions of a rank's block, as parameters of the kernels."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from groundswell.backends import Parameter
from groundswell.grids.cartesian import Part
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.walls import ConductingWall, FixedWall, Wall

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


def boundary_parameters(grid: LevelGrid, part: Part) -> dict[str, Parameter]:
    """Parameters of the six sides, such as LOW_X_BEYOND; a side at another block is open."""
    parameters: dict[str, Parameter] = {
        "HEAT_AXIS": grid.scales.heat.axis if grid.scales.heat else 0
    }
    for axis, name in enumerate("XYZ"):
        low, high = grid.case.walls.pair(axis)
        at_low = part.start[axis] == 0
        at_high = part.start[axis] + part.cells[axis] == part.grid.cells[axis]
        parameters |= _side(grid, f"LOW_{name}", low if at_low else None)
        parameters |= _side(grid, f"HIGH_{name}", high if at_high else None)
    return parameters


def _side(grid: LevelGrid, name: str, side: Any) -> dict[str, Parameter]:
    """The members of a `Side` of kernels/lines.h; `side` is None next to another block."""
    is_wall = isinstance(side, Wall)
    velocity = side.velocity if is_wall else (0.0, 0.0, 0.0)
    heat, temperature = _thermal(grid, side) if is_wall else (Heat.FIXED, 0.0)
    return {
        f"{name}_BEYOND": int(_beyond(side)),
        f"{name}_HEAT": int(heat),
        **{f"{name}_{c}": float(v) for c, v in zip(VELOCITY, velocity, strict=True)},
        f"{name}_TEMPERATURE": temperature,
    }


def _beyond(side: Any) -> Beyond:
    if isinstance(side, Wall):
        return Beyond.WALL
    return Beyond.OPEN if side is None or side.kind == "periodic" else Beyond.MIRROR


def _thermal(grid: LevelGrid, wall: Wall) -> tuple[Heat, float]:
    """A wall's thermal condition, and its temperature less the neutral one, K."""
    if isinstance(wall, ConductingWall):
        return Heat.LINEAR, grid.conducting_temperature()[0] - grid.fluid.neutral
    if isinstance(wall, FixedWall):
        return Heat.FIXED, wall.temperature - grid.fluid.neutral
    return Heat.ADIABATIC, 0.0
