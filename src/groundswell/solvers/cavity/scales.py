"""The scales of a flow: its fluid, reference length, dimensionless numbers and largest speed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, prod, sqrt

from groundswell.solvers.cavity.case import AXES, CavityCase, Substance
from groundswell.solvers.cavity.fluid import Fluid, make_fluid
from groundswell.solvers.cavity.walls import HeatedWalls, extremes, profiles

# Rayleigh number between a hot and a cold wall above which steady flow needs implicit steps: with
# local steps alone, waves grow in its boundary layers at Ra = 3e7, but not at 1e7. Of the steps, in
# units of L / U: with 1 at Ra = 1e8, their iteration does not converge on 127 x 127 points.
NEARLY_UNSTABLE, IMPLICIT_STEP = 1.5e7, 0.5


@dataclass(frozen=True)
class Scales:
    """The scales of the flow of a case; they do not depend on the grid."""

    case: CavityCase

    @property
    def heat(self) -> HeatedWalls | None:
        """The one pair of walls of different temperatures; None if there is none or several."""
        heated = self.case.walls.heated_pairs
        return heated[0] if len(heated) == 1 else None

    @property
    def is_heated_from_below(self) -> bool:
        """Whether the one pair of walls of different temperatures has the warmer one below."""
        if self.heat is None:
            return False
        axis, low, high = self.heat
        return self.fluid.buoyancy[axis] * (low - high) > 0

    @property
    def overturning_axis(self) -> int | None:
        """The axis of gravity where warm fluid may lie below cold fluid; None elsewhere."""
        may = self.is_heated_from_below or (self.heat is None and self.temperature_difference > 0)
        axes = [axis for axis, lift in enumerate(self.fluid.buoyancy) if lift]
        return axes[0] if may and axes else None

    @property
    def conducting_profile(self) -> str:
        """Temperature between the walls of different temperatures, a linear function, K."""
        assert self.heat is not None
        axis, low, high = self.heat
        return f"{low!r} + ({high - low!r}) * ({AXES[axis]} / {self.case.grid.size[axis]!r})"

    @cached_property
    def wall_temperatures(self) -> list[float]:
        """Extreme temperatures of walls of fixed temperature, and of ambients, K."""
        return [*self._extremes("temperature"), *self._extremes("ambient")]

    def _extremes(self, key: str) -> Iterator[float]:
        """The lowest and the highest value that each side prescribes for a quantity."""
        for axis in range(3):
            for high, side in enumerate(self.case.walls.pair(axis)):
                if (profile := profiles(side).get(key)) is not None:
                    yield from extremes(profile, self.case.grid.size, axis, bool(high))

    @property
    def _by_flux(self) -> float:
        """The temperature difference that heat fluxes and solids would cause by conduction, K."""
        largest = max(map(abs, self._extremes("flux")), default=0.0)
        released = max((abs(solid.power) for solid in self.case.solid), default=0.0)
        return (largest * self.length + released / self.length) / self.case.conductivity

    @cached_property
    def temperature_difference(self) -> float:
        """Largest temperature difference between walls, or by fluxes, K; 0 without any."""
        temperatures = self.wall_temperatures or [0.0]
        return max(max(temperatures) - min(temperatures), self._by_flux)

    @property
    def length(self) -> float:
        """Reference length: the distance between these walls, or the box's longest side, m."""
        size = self.case.grid.size
        return size[self.heat.axis] if self.heat else max(size)

    @property
    def area(self) -> float:
        """Area of each of these walls, or the square of the reference length, m^2."""
        return prod(self.case.grid.size) / self.length if self.heat else self.length**2

    @property
    def heat_unit(self) -> float | None:
        """Heat of conduction through the fluid at rest, k dT A / L, W; None if k is not known."""
        if isinstance(self.case.fluid, Substance) and self.case.fluid.conductivity is None:
            return None
        return self.case.conductivity * self.temperature_difference * self.area / self.length

    @property
    def height(self) -> float:
        """Size of the box along gravity, m; 0 without buoyancy."""
        sizes = zip(self.fluid.buoyancy, self.case.grid.size, strict=True)
        return max(size if lift else 0.0 for lift, size in sizes)

    @property
    def aspect_ratio(self) -> float:
        """Height of the box over its reference length; 0 without buoyancy."""
        return self.height / self.length

    @cached_property
    def fluid(self) -> Fluid:
        """The fluid, in the units of the case."""
        temperatures = self.wall_temperatures or [0.0]
        neutral = (max(temperatures) + min(temperatures)) / 2
        wall = self.case.fastest_wall
        return make_fluid(self.case.fluid, self.length, self.temperature_difference, neutral, wall)

    @property
    def peak_speed(self) -> float:
        """Estimate of the largest speed, m/s: fluid falls faster in tall boxes."""
        return self.fluid.peak * sqrt(max(1.0, self.aspect_ratio))

    @property
    def reynolds(self) -> float:
        """Reynolds number of the fastest wall."""
        return self.case.fastest_wall * self.length / self.fluid.viscosity

    @property
    def rayleigh(self) -> float:
        """Rayleigh number."""
        lift = max(map(abs, self.fluid.buoyancy)) * self.temperature_difference * self.length**3
        return lift / (self.fluid.viscosity * self.fluid.diffusivity)

    @property
    def implicit_step(self) -> float:
        """Length of implicit steps to a steady flow, s; infinite if there are none."""
        time = self.case.time
        if time.step is not None or not time.multigrid:
            return time.dt
        is_from_side = self.heat is not None and not self.fluid.buoyancy[self.heat.axis]
        is_nearly_unstable = is_from_side and self.rayleigh > NEARLY_UNSTABLE
        return IMPLICIT_STEP * self.length / self.fluid.speed if is_nearly_unstable else inf

    @property
    def wave_speed(self) -> float:
        """Speed that waves of artificial compressibility need to keep up with the flow, m/s.

        This is the peak speed of the flow or, where warm fluid may lie below cold fluid, at least
        the speeds of free fall and of rolls: iterations with slower waves are unstable there.
        """
        is_stable = self.heat is not None and not self.is_heated_from_below
        overturning = 0.0 if is_stable else max(self.fluid.speed, self.fluid.roll_speed)
        return max(self.peak_speed, overturning)
