"""A grid of multigrid: its points, and the limits of steps on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from groundswell.arrays import Floats
from groundswell.grids.cartesian import Grid, Triple
from groundswell.solvers.cavity.case import MIN_POINTS, CavityCase
from groundswell.solvers.cavity.fluid import Fluid
from groundswell.solvers.cavity.point_axis import PointAxis
from groundswell.solvers.cavity.scales import Scales
from groundswell.solvers.cavity.stretching import map_along
from groundswell.solvers.cavity.walls import Open, Wall
from groundswell.time_integration.runge_kutta import SCHEMES, Scheme

# Limits on coarse grids: cycles do not converge if the coarsest grid has, for example, 15 points
# along an axis at Ra = 1e6, or 7 in a fluid heated from below at Ra = 1e4.
MAX_LEVELS, COARSEST_POINTS, COARSEST_LAYER = 8, 11, 1.5

# Coarse grids need more viscosity, which limits the cell Reynolds number (10 is too much for a
# lid-driven cavity at Re = 400).
MAX_CELL_REYNOLDS = 6.0
DAMPED = 1.0  # largest part of the odd-even mode of pressure that a step of pressure removes


@dataclass(frozen=True)
class LevelGrid:
    """One of the grids that divide the box of a case.

    Args:
        points: number of stored points along x, y and z.
        depth: 0 for the finest grid, 1 for the next coarser one, and so on.
    """

    case: CavityCase
    points: Triple
    depth: int = 0

    @cached_property
    def coarser(self) -> LevelGrid | None:
        """The grid with half the points along each axis; None if these are too few."""
        x, y, z = (n if n == 1 else n // 2 for n in self.points)
        if max(x, y, z) == 1 or any(n != 1 and n < MIN_POINTS for n in (x, y, z)):
            return None
        return replace(self, points=(x, y, z), depth=self.depth + 1)

    @property
    def scheme(self) -> Scheme:
        """The time-stepping scheme."""
        return SCHEMES[self.case.time.scheme]

    @property
    def courant(self) -> float:
        """The step as a fraction of the longest stable one."""
        return self.case.time.courant or self.scheme.courant

    @property
    def dtype(self) -> str:
        """NumPy's name of the floating-point type."""
        return self.case.run.dtype

    @cached_property
    def scales(self) -> Scales:
        """The scales of the flow."""
        return Scales(self.case)

    @property
    def fluid(self) -> Fluid:
        """The fluid, in the units of the case."""
        return self.scales.fluid

    # --- points -----------------------------------------------------------------------------------

    @property
    def dimensions(self) -> int:
        """Number of axes along which the flow can vary."""
        return max(1, sum(map(self.varies, range(3))))

    @cached_property
    def axes(self) -> tuple[PointAxis, PointAxis, PointAxis]:
        """The stored points along x, y and z."""
        x, y, z = (self._axis(axis) for axis in range(3))
        return x, y, z

    def _axis(self, axis: int) -> PointAxis:
        finest, offsets = self.case.grid.points[axis], self.offsets[axis]
        size = self.case.grid.size[axis]
        even = PointAxis(size, finest, offsets).even_positions / size
        return PointAxis(size, self.points[axis], offsets, map_along(self.case, axis, even))

    @property
    def is_stretched(self) -> bool:
        """Whether points are not evenly spaced along some axis."""
        return any(axis.is_stretched for axis in self.axes)

    @property
    def largest_ratio(self) -> float:
        """Largest ratio of neighbouring distances of points; 1 without stretching."""
        return max(axis.largest_ratio for axis in self.axes)

    @property
    def conserves_heat(self) -> bool:
        """Whether the transport of heat is written as a balance of fluxes."""
        return self.is_stretched or self.case.conserves_heat

    def interior_positions(self, axis: int) -> Floats:
        """Positions of the stored points along an axis, m."""
        return self.axes[axis].positions

    @cached_property
    def offsets(self) -> tuple[tuple[float, float], ...]:
        """For each axis, the distances from both ends to the next stored point, in spacings.

        A wall coincides with a point that is not stored; a plane of symmetry lies between points.
        """
        offsets = []
        for axis in range(3):
            low, high = self.case.walls.pair(axis)
            is_periodic = isinstance(low, Open) and low.kind == "periodic"
            offsets.append((0.0, 1.0) if is_periodic else (_offset(low), _offset(high)))
        return tuple(offsets)

    @cached_property
    def grid(self) -> Grid:
        """The stored points, as the centres of cells; spacings are means."""
        x, y, z = (axis.spacing for axis in self.axes)
        return Grid(self.points, (x, y, z))

    @property
    def periodic(self) -> tuple[bool, bool, bool]:
        """Whether x, y and z are periodic."""
        x, y, z = (self.case.walls.pair(axis)[0].kind == "periodic" for axis in range(3))
        return x, y, z

    def positions(self, axis: int) -> Floats:
        """Positions of the points along an axis, with both ends, m."""
        interior = self.interior_positions(axis)
        end = interior[-1] + self.axes[axis].end(1).first
        return np.sort([*([] if self.periodic[axis] else [0.0]), *interior, end])

    def varies(self, axis: int) -> bool:
        """Whether the flow can vary along an axis."""
        return self.points[axis] > 1

    @property
    def extremes(self) -> list[tuple[float, float]]:
        """The shortest and the longest distance of neighbours along x, y and z, m."""
        return [axis.extremes for axis in self.axes]

    @property
    def centre(self) -> Triple:
        """The point (i, j, k) whose pressure is zero."""
        i, j, k = (n // 2 for n in self.points)
        return i, j, k

    # --- the flow on these points -----------------------------------------------------------------

    @property
    def accelerates(self) -> bool:
        """Whether this coarse grid accelerates the iteration; in time, any does."""
        return self.is_unsteady or self.resolves_flow

    @property
    def resolves_flow(self) -> bool:
        """Whether a coarse grid resolves the flow well enough to accelerate a finer one."""
        points = [n for axis, n in enumerate(self.points) if self.varies(axis)]
        return min(points) >= COARSEST_POINTS and not 0 < self.layer < COARSEST_LAYER

    @property
    def layer(self) -> float:
        """Thickness of the thinnest boundary layer, in spacings; 0 without any.

        Thermal layers on heated walls are about 2 L / Ra^(1/4) thick, those on moving walls about
        3 L / Re^(1/2).
        """
        scales, layers = self.scales, []
        if scales.reynolds:
            thickness = 3 * scales.length * scales.reynolds**-0.5
            axes = [axis for n, axis in enumerate(self.axes) if self.varies(n)]
            layers = [axis.points_within(thickness) for axis in axes]
        if scales.heat is not None and scales.rayleigh:
            thickness = 2 * scales.length * scales.rayleigh**-0.25
            layers.append(self.axes[scales.heat.axis].points_within(thickness))
        return min(layers, default=0.0)

    @property
    def cell_reynolds(self) -> float:
        """Reynolds number of a cell of mean length at the estimated peak speed.

        The fastest flow is next to walls, where stretched grids have shorter cells.
        """
        widest = max(h for axis, h in enumerate(self.grid.spacing) if self.varies(axis))
        return self.scales.peak_speed * widest / self.fluid.viscosity

    def conducting_temperature(self) -> tuple[float, float]:
        """Temperature of conducting walls: at the first point, and its change per spacing, K."""
        if self.scales.heat is None:
            return 0.0, 0.0
        axis, low, high = self.scales.heat
        slope = (high - low) * self.grid.spacing[axis] / self.case.grid.size[axis]
        return low + slope * self.offsets[axis][0], slope

    @property
    def viscosity(self) -> float:
        """Kinematic viscosity, m^2/s; on coarse grids at least what MAX_CELL_REYNOLDS requires."""
        excess = self.cell_reynolds / MAX_CELL_REYNOLDS if self.depth else 1.0
        return self.fluid.viscosity * max(1.0, excess)

    @property
    def least_beta2(self) -> float:
        """Lower bound of beta squared, (m/s)^2."""
        return self.case.time.compressibility * self.scales.wave_speed * self.scales.wave_speed

    def diffusion_limit(self, diffusivity: float) -> float:
        """One over the longest step that is stable for diffusion, 1/s."""
        if self.is_stretched:
            rows = (self.axes[n].metric[2:].sum(axis=0).max() for n in range(3) if self.varies(n))
            return float(diffusivity * sum(rows))
        spacings = (h for axis, h in enumerate(self.grid.spacing) if self.varies(axis))
        return 2 * diffusivity * sum(h**-2 for h in spacings)

    @property
    def least_limit(self) -> float:
        """One over the longest step that is stable for diffusion of all fields, 1/s."""
        return self.diffusion_limit(max(self.viscosity, self.fluid.diffusivity))

    @property
    def undamped_limit(self) -> float:
        """One over the step that undamped waves allow, over the square of their speed, s/m^2."""
        least = min(self.viscosity, self.fluid.diffusivity)
        return 0.0 if self.scheme.is_stable_for_waves else 1 / (2 * least)

    @property
    def pressure_leads(self) -> bool:
        """Whether pressure takes longer steps where diffusion limits the other fields."""
        return self.case.time.local and self.scheme.is_stable_for_waves

    @property
    def damping(self) -> float:
        """Coefficient of the fourth difference of pressure in the mass flux, s/m.

        It is uniform, so that damping moves mass but creates none.
        """
        return self.case.time.dissipation / max(self.scales.wave_speed, sqrt(self.least_beta2))

    @property
    def damped_step(self) -> float:
        """Step of pressure that damping allows, times beta squared, m^2/s.

        On stretched grids, it is that of cells of unit length along a single axis.
        """
        if self.is_stretched:
            return DAMPED / (16 * self.damping)
        spacings = (h for axis, h in enumerate(self.grid.spacing) if self.varies(axis))
        return DAMPED / (16 * self.damping * sum(1 / h for h in spacings))

    @property
    def is_unsteady(self) -> bool:
        """Whether the flow is computed in time."""
        return self.case.time.is_unsteady

    @property
    def is_forced(self) -> bool:
        """Whether the rates of change have a forcing: by a finer grid, or by the earlier flow."""
        return self.depth > 0 or self.is_implicit

    @property
    def inertia(self) -> float:
        """Coefficient of the new values in the time derivative, 1/s; 0 without implicit steps."""
        if self.is_unsteady:
            return 1.5 / self.case.time.dt
        return 1 / self.scales.implicit_step

    @property
    def is_implicit(self) -> bool:
        """Whether steps are implicit: in time, or towards a steady flow that is nearly unstable."""
        return self.inertia > 0

    @property
    def dt(self) -> float:
        """Estimate of a typical step, s."""
        wave = 1.2 * sqrt(self.least_beta2)
        crossing = max(wave / h for axis, (h, _) in enumerate(self.extremes) if self.varies(axis))
        limits = (crossing, self.least_limit, self.undamped_limit * wave**2)
        return self.courant / max(limits)


def _offset(side: object) -> float:
    return 1.0 if isinstance(side, Wall) else 0.5
