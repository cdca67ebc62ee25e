"""Boundary conditions of a rank's block, as constants of the kernels."""

from __future__ import annotations

from typing import Any

from groundswell.backends import Constant
from groundswell.grids.cartesian import Part
from groundswell.solvers.cavity.case import AdiabaticWall, ConductingWall, Wall
from groundswell.solvers.cavity.setup import Setup


def boundary_constants(setup: Setup, part: Part) -> dict[str, Constant]:
    """SIDE_LOW_X and so on; a side next to another block, or periodic, is open."""
    constants: dict[str, Constant] = {}
    for axis, name in enumerate("XYZ"):
        low, high = setup.case.walls.pair(axis)
        at_low = part.start[axis] == 0
        at_high = part.start[axis] + part.cells[axis] == part.grid.cells[axis]
        constants[f"SIDE_LOW_{name}"] = _side(setup, low) if at_low else _OPEN
        constants[f"SIDE_HIGH_{name}"] = _side(setup, high) if at_high else _OPEN
    return constants | {"HEAT_AXIS": setup.heat.axis if setup.heat else 0}


_OPEN = "Side{OPEN, FIXED, {0, 0, 0}, 0}"


def _side(setup: Setup, side: Any) -> str:
    """The `Side` of kernels/lines.h."""
    if not isinstance(side, Wall):
        return _OPEN if side.kind == "periodic" else _OPEN.replace("OPEN", "MIRROR")
    kind, temperature = "FIXED", getattr(side, "temperature", 0.0) - setup.fluid.neutral
    if isinstance(side, AdiabaticWall):
        kind = "ADIABATIC"
    if isinstance(side, ConductingWall):
        kind, temperature = "LINEAR", setup.conducting_temperature()[0] - setup.fluid.neutral
    numbers = [f"REAL({value!r})" for value in (*side.velocity, temperature)]
    return f"Side{{WALL, {kind}, {{{', '.join(numbers[:3])}}}, {numbers[3]}}}"
