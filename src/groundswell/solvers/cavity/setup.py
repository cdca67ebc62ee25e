"""From a case to what is computed: the grid, the fluid in the units of the case, the steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.grids.cartesian import Grid, Layout, Part
from groundswell.solvers.cavity.case import (
    AXES,
    CavityCase,
    Convection,
    Driven,
    FixedWall,
    Heat,
    Open,
    Substance,
    Wall,
)
from groundswell.time.integrators import SCHEMES, Scheme

FIELDS = ("p", "u", "v", "w", "T")
LEAST_LAYER = 5.0  # points
SUMS = 6  # of a row, see kernels/step.h


@dataclass(frozen=True)
class Fluid:
    """What moves the fluid, and what slows it down.

    Args:
        viscosity, diffusivity: of momentum and heat, m^2/s.
        buoyancy: acceleration (x, y, z) a kelvin above `neutral`, m/s^2/K.
        neutral: temperature without buoyancy, K.
        speed: that the flow is expected to reach, m/s.
    """

    viscosity: float
    diffusivity: float
    buoyancy: tuple[float, float, float]
    neutral: float
    speed: float


@dataclass(frozen=True)
class Setup:
    """A case that has been looked through."""

    case: CavityCase

    @property
    def dtype(self) -> str:
        """NumPy's name of the floating-point type."""
        return "float64" if self.case.run.precision == "double" else "float32"

    @property
    def scheme(self) -> Scheme:
        """How a step is made."""
        return SCHEMES[self.case.time.scheme]

    @property
    def courant(self) -> float:
        """Share of the longest stable step."""
        return self.case.time.courant or self.scheme.courant

    @cached_property
    def offsets(self) -> tuple[tuple[float, float], ...]:
        """For each axis, spacings from its low and high end to the next point.

        A wall is itself a point that is not stored; a mirror stands between points.
        """
        found = []
        for axis in range(3):
            low, high = self.case.walls.pair(axis)
            wraps = isinstance(low, Open) and low.kind == "periodic"
            found.append((0.0, 1.0) if wraps else (_offset(low), _offset(high)))
        return tuple(found)

    @cached_property
    def grid(self) -> Grid:
        """All points, as cells around them."""
        axes = zip(self.case.grid.size, self.case.grid.points, self.offsets, strict=True)
        x, y, z = (size / (n - 1 + sum(ends)) for size, n, ends in axes)
        return Grid(self.case.grid.points, (x, y, z))

    @property
    def periodic(self) -> tuple[bool, bool, bool]:
        """Whether x, y and z wrap around."""
        x, y, z = (self.case.walls.pair(axis)[0].kind == "periodic" for axis in range(3))
        return x, y, z

    def positions(self, axis: int) -> NDArray[np.float64]:
        """Where points are along an axis, its ends among them, m."""
        first, last = self.offsets[axis]
        inside = first + np.arange(self.grid.cells[axis])
        ends = [inside[-1] + last] if self.periodic[axis] else [0.0, inside[-1] + last]
        return np.asarray(self.grid.spacing[axis] * np.sort([*ends, *inside]), np.float64)

    @property
    def heat(self) -> Heat | None:
        """The walls between which heat flows, if there are two."""
        heated = self.case.walls.heated
        return heated[0] if len(heated) == 1 else None

    @property
    def length(self) -> float:
        """Between these walls, or of the box's longest side, m."""
        size = self.case.grid.size
        return size[self.heat.axis] if self.heat else max(size)

    @property
    def contrast(self) -> float:
        """Largest difference of temperature between walls, K; 0 without such."""
        return max(self.fixed, default=0.0) - min(self.fixed, default=0.0)

    @property
    def fixed(self) -> list[float]:
        """Temperatures of walls."""
        sides = [side for axis in range(3) for side in self.case.walls.pair(axis)]
        return [side.temperature for side in sides if isinstance(side, FixedWall)]

    def straight(self) -> tuple[float, float]:
        """Temperature along conducting walls: at the first point, and its change a spacing."""
        if self.heat is None:
            return 0.0, 0.0
        axis, low, high = self.heat
        slope = (high - low) * self.grid.spacing[axis] / self.case.grid.size[axis]
        return low + slope * self.offsets[axis][0], slope

    @cached_property
    def fluid(self) -> Fluid:
        """The fluid, in the units of the case."""
        given, size, wall = self.case.fluid, self.length, self.case.fastest_wall
        if isinstance(given, Driven):
            nu = wall * size / given.reynolds
            return Fluid(nu, nu, (0.0, 0.0, 0.0), 0.0, wall)
        neutral = (max(self.fixed, default=0.0) + min(self.fixed, default=0.0)) / 2
        if isinstance(given, Convection):
            nu = size * sqrt(given.prandtl / given.rayleigh)
            lift = 1 / (self.contrast * size)
            return Fluid(nu, nu / given.prandtl, _up(given.down, lift), neutral, max(1.0, wall))
        assert isinstance(given, Substance)
        lift = given.gravity * given.expansion
        speed = max(sqrt(lift * self.contrast * size), wall, given.diffusivity / size)
        up = _up(given.down, lift)
        return Fluid(given.viscosity, given.diffusivity, up, neutral, speed)

    @property
    def least_beta2(self) -> float:
        """Lower bound of beta^2, (m/s)^2."""
        return self.case.time.compressibility * self.fluid.speed**2

    @property
    def diffusion_limit(self) -> float:
        """One over the longest step that diffusion stands, 1/s."""
        spread = max(self.fluid.viscosity, self.fluid.diffusivity)
        varying = [axis for axis in range(3) if self.varies(axis)]
        return 2 * spread * sum(self.grid.spacing[axis] ** -2 for axis in varying)

    @property
    def undamped_limit(self) -> float:
        """Of one over the longest step, what grows with the square of wave speeds, s/m^2."""
        least = min(self.fluid.viscosity, self.fluid.diffusivity)
        return 0.0 if self.scheme.stands_waves else 1 / (2 * least)

    def varies(self, axis: int) -> bool:
        """Whether anything can change along an axis."""
        return self.grid.cells[axis] > 1 or self.case.walls.pair(axis)[0].kind != "symmetry"

    @property
    def centre(self) -> tuple[int, int, int]:
        """The point (i, j, k) whose pressure is zero."""
        i, j, k = (n // 2 for n in self.grid.cells)
        return i, j, k

    @property
    def steps(self) -> int:
        """Most steps of the run."""
        at_once = self.scheme.at_once
        return -(-self.case.time.steps // at_once) * at_once

    @property
    def dt(self) -> float:
        """A typical step, s."""
        wave = 1.2 * sqrt(self.least_beta2)
        crossing = max(wave / self.grid.spacing[axis] for axis in range(3) if self.varies(axis))
        limits = (crossing, self.diffusion_limit, self.undamped_limit * wave**2)
        return self.courant / max(limits)

    @property
    def updates_per_step(self) -> int:
        """Points that a step updates."""
        return self.grid.count

    @property
    def bytes_per_update(self) -> float:
        """Least traffic of a point's step: fields in and out, later also the first ones."""
        size = np.dtype(self.dtype).itemsize
        return float(len(FIELDS) * size * (3 * len(self.scheme.stages) - 1))

    @property
    def memory(self) -> int:
        """Bytes that the run takes on its device."""
        return self.memory_of(Part.whole(self.grid))

    def memory_of(self, part: Part) -> int:
        """The same for the rank that holds a part of the grid."""
        layout = Layout(part.cells, np.dtype(self.dtype).itemsize)
        rows = part.cells[1] * part.cells[2]
        return self.scheme.copies * len(FIELDS) * layout.size * layout.itemsize + rows * SUMS * 8

    @property
    def output_bytes(self) -> int:
        """Bytes of the files of fields."""
        size = np.dtype(self.dtype).itemsize
        return self.grid.count * len(FIELDS) * size if self.case.output.fields else 0

    @property
    def layer(self) -> float:
        """Spacings across the thermal layer on a heated wall, about 2 L / Ra^(1/4) thick."""
        if self.heat is None or not self.rayleigh:
            return 0.0
        return 2 * self.length * self.rayleigh**-0.25 / self.grid.spacing[self.heat.axis]

    @property
    def rayleigh(self) -> float:
        """The Rayleigh number."""
        lift = max(map(abs, self.fluid.buoyancy)) * self.contrast * self.length**3
        return lift / (self.fluid.viscosity * self.fluid.diffusivity)

    def _warnings(self) -> list[str]:
        if not 0 < self.layer < LEAST_LAYER:
            return []
        assert self.heat is not None
        return [
            f"the thermal layer on the walls spans {self.layer:.2g} points along "
            f"{AXES[self.heat.axis]}; {LEAST_LAYER} or more keep Nusselt numbers within a few per "
            "cent: use more points"
        ]

    def describe(self) -> dict[str, Any]:
        """What the run is, in the units of the case."""
        fluid = self.fluid
        return {
            "cells": self.grid.cells,
            "spacing": self.grid.spacing,
            "precision": self.case.run.precision,
            "steps": self.steps,
            "dt": self.dt,
            "rayleigh": self.rayleigh,
            "prandtl": fluid.viscosity / fluid.diffusivity,
            "reynolds": self.case.fastest_wall * self.length / fluid.viscosity,
            "viscosity": fluid.viscosity,
            "diffusivity": fluid.diffusivity,
            "layer": self.layer,
            "memory": self.memory,
            "warnings": self._warnings(),
        }


def _offset(side: Any) -> float:
    return 1.0 if isinstance(side, Wall) else 0.5


def _up(down: str, lift: float) -> tuple[float, float, float]:
    """Acceleration against the direction `down`."""
    sign, axis = (1.0, down[1]) if down.startswith("-") else (-1.0, down)
    x, y, z = (sign * lift if name == axis else 0.0 for name in AXES)
    return x, y, z
