"""From a case to what is computed: the grid, the fluid in the units of the case, the steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from groundswell.case.quantities import Quantity
from groundswell.exchange.world import World
from groundswell.grids.cartesian import Grid, Layout, Part
from groundswell.outputs.recording import Recording
from groundswell.simulation.solver import DecompositionSummary
from groundswell.solvers.cavity import check
from groundswell.solvers.cavity.case import (
    FIELDS,
    MIN_POINTS,
    CavityCase,
    FixedWall,
    Heat,
    Open,
    Wall,
)
from groundswell.solvers.cavity.decomposition import summarize
from groundswell.solvers.cavity.fluid import Fluid, make_fluid
from groundswell.solvers.cavity.initial_condition import check_initial_flow
from groundswell.solvers.cavity.recording import recording
from groundswell.time_integration.runge_kutta import SCHEMES, Scheme

MIN_LAYER = 5.0  # points
SUMS = 6  # of a part of the rows, see kernels/step.h

# Unless the case says otherwise: most steps, and steps between looks, on one grid and on several.
STEPS, LOOK = 1_000_000, 100
CYCLES, CYCLES_A_LOOK = 10_000, 1
TOLERANCES = {"double": 1e-8, "single": 1e-5}

# Which grids are fine enough to speed up finer ones: with 15 points across Ra = 1e6, or 7 across a
# fluid heated from below at 1e4, cycles do not converge.
MOST_LEVELS, COARSEST_POINTS, COARSEST_LAYER = 8, 11, 1.5

# What keeps flows on coarse grids smooth: viscosity for this cell Reynolds number (10 is too much
# for a lid at Re = 400), and damping of pressure. An odd-even pressure loses 16 C4 an axis in the
# longest step, which should stay below 1; in one that goes ahead 1 is unstable near walls.
MOST_CELL_REYNOLDS = 6.0
COARSE_DAMPING, DAMPED = 1.0, 0.5

# Steps on the finest grid before and after a correction, on the next coarser ones, where a point
# costs an eighth and less, and on the coarsest. With 4 on the finest cubes do not converge at 3e5.
SMOOTHING, COARSE_SMOOTHING, COARSEST = 12, 32, 100
COARSE_COPIES = 2  # of the fields, beside those of the scheme


@dataclass(frozen=True)
class Setup:
    """A case that has been looked through."""

    has_fixed_steps: ClassVar[bool] = False  # a steady flow ends the run

    case: CavityCase
    depth: int = 0  # of a coarser grid below the finest

    @classmethod
    def from_case(cls, case: CavityCase, world: World | None = None) -> Setup:
        """Check what the case names.

        Raises:
            InputError: the flow to start from cannot be used.
        """
        setup = cls(case)
        if case.start is not None:
            check_initial_flow(setup)
        setup.recording.require_samples(case.output.record, setup.steps)
        return setup

    @property
    def recording(self) -> Recording:
        """What may be recorded of the whole flow."""
        return recording(self, Part.whole(self.grid))

    def decompose(self, ranks: int) -> DecompositionSummary:
        """How so many ranks would share the grids.

        Raises:
            InputError: a grid is too small for so many ranks.
        """
        return summarize(self, ranks)

    @property
    def dtype(self) -> str:
        """NumPy's name of the floating-point type."""
        return self.case.run.dtype

    @property
    def scheme(self) -> Scheme:
        """How a step is made."""
        return SCHEMES[self.case.time.scheme]

    @property
    def courant(self) -> float:
        """Share of the longest stable step."""
        return self.case.time.courant or self.scheme.courant

    @cached_property
    def coarser(self) -> Setup | None:
        """The same flow on half the points; None if that were too few to compute it on."""
        points = tuple(n if n == 1 else n // 2 for n in self.case.grid.points)
        if max(points) == 1 or any(n != 1 and n < MIN_POINTS for n in points):
            return None
        damping = COARSE_DAMPING / (16 * self.dimensions)
        time, grid = self.case.time, self.case.grid
        case = self.case.model_copy(
            update={
                "grid": grid.model_copy(update={"points": points}),
                "time": time.model_copy(update={"dissipation": max(time.dissipation, damping)}),
            }
        )
        return Setup(case, self.depth + 1)

    @cached_property
    def grids(self) -> list[Setup]:
        """The flow on this grid and on the coarser ones that speed it up."""
        most, found = self.case.time.levels or MOST_LEVELS, [self]
        if not self.case.time.multigrid:
            return found
        while len(found) < most and (coarser := found[-1].coarser) is not None:
            if self.case.time.levels is None and not coarser.resolved:
                break
            found.append(coarser)
        return found

    @property
    def resolved(self) -> bool:
        """Whether this coarse grid sees enough of the flow to speed up a finer one."""
        points = [n for axis, n in enumerate(self.grid.cells) if self.varies(axis)]
        return min(points) >= COARSEST_POINTS and not 0 < self.layer < COARSEST_LAYER

    @property
    def check_every(self) -> int:
        """Steps between looks at the residuals."""
        usual = LOOK if len(self.grids) == 1 else CYCLES_A_LOOK
        return self._makeable(self.case.time.look or usual)

    @property
    def tolerance(self) -> float:
        """Of residuals: what the case says, or a little above what rounding leaves."""
        return self.case.time.tolerance or TOLERANCES[self.case.run.precision]

    @property
    def dimensions(self) -> int:
        """Axes along which anything can change."""
        return max(1, sum(map(self.varies, range(3))))

    def inside(self, axis: int) -> NDArray[np.float64]:
        """Where points are along an axis, m."""
        first = self.offsets[axis][0]
        points = first + np.arange(self.grid.cells[axis])
        return np.asarray(self.grid.spacing[axis] * points, np.float64)

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
        inside = self.inside(axis)
        end = inside[-1] + self.offsets[axis][1] * self.grid.spacing[axis]
        return np.sort([*([] if self.periodic[axis] else [0.0]), *inside, end])

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

    def conducting_temperature(self) -> tuple[float, float]:
        """Temperature along conducting walls: at the first point, and its change a spacing."""
        if self.heat is None:
            return 0.0, 0.0
        axis, low, high = self.heat
        slope = (high - low) * self.grid.spacing[axis] / self.case.grid.size[axis]
        return low + slope * self.offsets[axis][0], slope

    @cached_property
    def fluid(self) -> Fluid:
        """The fluid, in the units of the case."""
        neutral = (max(self.fixed, default=0.0) + min(self.fixed, default=0.0)) / 2
        wall = self.case.fastest_wall
        return make_fluid(self.case.fluid, self.length, self.contrast, neutral, wall)

    @property
    def viscosity(self) -> float:
        """Of momentum, m^2/s; on coarse grids enough for flows that they would not resolve."""
        widest = max(h for axis, h in enumerate(self.grid.spacing) if self.varies(axis))
        least = self.fluid.peak * widest / MOST_CELL_REYNOLDS if self.depth else 0.0
        return max(self.fluid.viscosity, least)

    @property
    def least_beta2(self) -> float:
        """Lower bound of beta^2, (m/s)^2."""
        return self.case.time.compressibility * self.fluid.speed * self.fluid.speed

    @property
    def diffusion_limit(self) -> float:
        """One over the longest step that diffusion stands, 1/s."""
        spread = max(self.viscosity, self.fluid.diffusivity)
        spacings = (h for axis, h in enumerate(self.grid.spacing) if self.varies(axis))
        return 2 * spread * sum(h**-2 for h in spacings)

    @property
    def undamped_limit(self) -> float:
        """Of one over the longest step, what grows with the square of wave speeds, s/m^2."""
        least = min(self.viscosity, self.fluid.diffusivity)
        return 0.0 if self.scheme.is_stable_for_waves else 1 / (2 * least)

    @property
    def pressure_leads(self) -> bool:
        """Whether pressure may make longer steps than what diffusion limits."""
        return self.case.time.local and self.scheme.is_stable_for_waves

    @property
    def damping_lead(self) -> float:
        """How much longer, over the other limit's share of theirs, before damping is too strong."""
        return DAMPED / (16 * self.dimensions * self.case.time.dissipation)

    def varies(self, axis: int) -> bool:
        """Whether anything can change along an axis."""
        return self.grid.cells[axis] > 1

    @property
    def centre(self) -> tuple[int, int, int]:
        """The point (i, j, k) whose pressure is zero."""
        i, j, k = (n // 2 for n in self.grid.cells)
        return i, j, k

    @property
    def steps(self) -> int:
        """Most steps of the run; with coarser grids these are cycles through all of them."""
        usual = STEPS if len(self.grids) == 1 else CYCLES
        return self._makeable(self.case.time.steps or usual)

    def _makeable(self, steps: int) -> int:
        """So many steps, or a few more where the scheme makes several at once."""
        at_once = self.scheme.steps_per_cycle
        return -(-steps // at_once) * at_once

    @property
    def dt(self) -> float:
        """A typical step, s."""
        wave = 1.2 * sqrt(self.least_beta2)
        crossing = max(wave / self.grid.spacing[axis] for axis in range(3) if self.varies(axis))
        limits = (crossing, self.diffusion_limit, self.undamped_limit * wave**2)
        return self.courant / max(limits)

    @property
    def updates_per_step(self) -> int:
        """Points that a step updates; of a cycle, on all its grids."""
        return self.updates_from(0)

    def cycle(self, stage: int = 0) -> list[int]:
        """Steps of a cycle on each of the grids from number `stage` on; one alone makes a step."""
        count = len(self.grids)
        if count == 1:
            return [1]
        return [2 * SMOOTHING, *[2 * COARSE_SMOOTHING] * (count - 2), COARSEST][stage:]

    def updates_from(self, stage: int) -> int:
        """Points that a cycle updates on the grids from number `stage` on."""
        grids = zip(self.cycle(stage), self.grids[stage:], strict=True)
        return sum(steps * grid.grid.count for steps, grid in grids)

    @property
    def bytes_per_update(self) -> float:
        """Least traffic of a point's step: fields in and out, later also the first ones."""
        size = np.dtype(self.dtype).itemsize
        return float(len(FIELDS) * size * (3 * len(self.scheme.stages) - 1))

    @property
    def memory(self) -> int:
        """Bytes that the run takes on its device."""
        grids = enumerate(self.grids)
        fields = (g.memory_of(Part.whole(g.grid), coarse=level > 0) for level, g in grids)
        return sum(fields) + self.recording.device_bytes(self.case.output.record)

    def memory_of(self, part: Part, *, coarse: bool) -> int:
        """What this grid alone takes at the rank that holds a part of it."""
        layout = Layout(part.cells, np.dtype(self.dtype).itemsize)
        copies = self.scheme.copies + (COARSE_COPIES if coarse else 0)
        return copies * len(FIELDS) * layout.size * layout.itemsize

    @property
    def output_bytes(self) -> int:
        """Bytes of the files of fields."""
        size = np.dtype(self.dtype).itemsize
        fields = self.grid.count * len(FIELDS) * size if self.case.output.fields else 0
        return fields + self.recording.file_bytes(self.case.output.record, self.steps)

    @property
    def layer(self) -> float:
        """Spacings across the thinnest layer on a wall; 0 where nothing makes one.

        Thermal ones on heated walls are about 2 L / Ra^(1/4) thick, those on moving walls about
        3 L / Re^(1/2).
        """
        wide = max(h for axis, h in enumerate(self.grid.spacing) if self.varies(axis))
        layers = [3 * self.length * self.reynolds**-0.5 / wide] if self.reynolds else []
        if self.heat is not None and self.rayleigh:
            spacing = self.grid.spacing[self.heat.axis]
            layers.append(2 * self.length * self.rayleigh**-0.25 / spacing)
        return min(layers, default=0.0)

    @property
    def reynolds(self) -> float:
        """The Reynolds number of the fastest wall."""
        return self.case.fastest_wall * self.length / self.fluid.viscosity

    @property
    def rayleigh(self) -> float:
        """The Rayleigh number."""
        lift = max(map(abs, self.fluid.buoyancy)) * self.contrast * self.length**3
        return lift / (self.fluid.viscosity * self.fluid.diffusivity)

    def quantities(self) -> list[Quantity]:
        """Grids, steps, memory; the fluid and its boundary layers."""
        return check.quantities(self)

    def warnings(self) -> list[str]:
        """What will run, but may give poor results."""
        if not 0 < self.layer < MIN_LAYER:
            return []
        return [
            f"the thinnest layer on a wall spans {self.layer:.2g} points; {MIN_LAYER:g} or more "
            "keep heat fluxes and velocities there within a few per cent: use more points"
        ]


def _offset(side: Any) -> float:
    return 1.0 if isinstance(side, Wall) else 0.5
