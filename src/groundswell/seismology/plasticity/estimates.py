"""How close to yielding rock is before the waves, for `check`, `summary.json` and the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.case.quantities import Quantity
from groundswell.errors import counted, metres_or_km, rounded
from groundswell.seismology.plasticity.drucker_prager import (
    DruckerPrager,
    second_invariant,
    split,
)

NEAR = 0.98  # shear stress over strength of rock that nearly yields
_BEYOND = 1 + 1e-6  # beyond rounding
_ROUNDING = 1e-12  # of the deviator, over the mean stress


@dataclass(frozen=True, eq=False)
class RockState:
    """Strength and initial stress of points, such as a plane of cells.

    Args:
        strength: of the points, (n,).
        stress: initial stress, (6, n) or (6, 1), Pa.
        fluid_pressure: (n,) or (1,), Pa.
        depth: (n,) or (1,), m.
        each: number of points that each of them stands for.
    """

    strength: DruckerPrager
    stress: Floats
    fluid_pressure: Floats
    depth: Floats
    each: int = 1

    @property
    def load(self) -> Floats:
        """Shear stress sqrt(J2) over strength, (n,); infinite where there is no strength."""
        mean, deviator = split(self.stress)
        tau = np.sqrt(second_invariant(deviator))
        strength = np.asarray(self.strength.yield_strength(mean + self.fluid_pressure))
        tau = np.where(tau <= _ROUNDING * np.abs(mean), 0.0, tau)
        ratio = tau / np.where(strength > 0, strength, 1.0)
        return np.where(strength > 0, ratio, np.inf)


@dataclass
class YieldEstimates:
    """Extremes of the rock that can yield, and its initial stress.

    Attributes:
        points: number of points.
        strong: points that cannot yield, such as fluids.
        near, beyond: points whose initial stress nearly reaches the strength, or exceeds it.
        cohesion, friction_angle: least and greatest values, Pa and degrees.
        load: the largest initial shear stress over strength.
        depth: where it is, m.
    """

    relaxation_time: float
    points: int = 0
    strong: int = 0
    near: int = 0
    beyond: int = 0
    cohesion: tuple[float, float] = (np.inf, -np.inf)
    friction_angle: tuple[float, float] = (np.inf, -np.inf)
    load: float = -np.inf
    depth: float = 0.0

    @classmethod
    def of(cls, relaxation_time: float, states: Iterable[RockState]) -> YieldEstimates:
        """The estimates of all points."""
        found = cls(relaxation_time)
        for state in states:
            found.add(state)
        return found

    def add(self, state: RockState) -> None:
        """Count further points."""
        cohesion, angle, load, depth = np.broadcast_arrays(
            state.strength.cohesion, state.strength.friction_angle, state.load, state.depth
        )
        yields, each = np.isfinite(cohesion), state.each
        self.points += each * cohesion.size
        self.strong += each * int(np.count_nonzero(~yields))
        if not yields.any():
            return
        n = int(np.where(yields, load, -np.inf).argmax())
        self._add(
            YieldEstimates(
                self.relaxation_time,
                near=each * int(np.count_nonzero(load[yields] > NEAR)),
                beyond=each * int(np.count_nonzero(load[yields] > _BEYOND)),
                cohesion=_bounds(cohesion[yields]),
                friction_angle=_bounds(angle[yields]),
                load=float(load.flat[n]),
                depth=float(depth.flat[n]),
            )
        )

    def merge(self, other: YieldEstimates) -> None:
        """Count the points of other estimates."""
        self.points += other.points
        self.strong += other.strong
        self._add(other)

    def _add(self, other: YieldEstimates) -> None:
        self.near += other.near
        self.beyond += other.beyond
        self.cohesion = _united(self.cohesion, other.cohesion)
        self.friction_angle = _united(self.friction_angle, other.friction_angle)
        if other.load > self.load:
            self.load, self.depth = other.load, other.depth


def _bounds(values: Floats) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _united(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    return min(a[0], b[0]), max(a[1], b[1])


def plasticity_quantities(estimates: YieldEstimates, dt: float, group: str) -> Iterator[Quantity]:
    """Yield the strength of the rock and how close to yielding it is.

    Args:
        dt: time step, s.
        group: heading of the quantities.
    """
    yield Quantity("plasticity_model", "drucker-prager", "rock yields", group=group)
    if estimates.points == estimates.strong:
        yield Quantity("plasticity_points", 0, "points that can yield", text="none", group=group)
        return
    low, high = (c / 1e6 for c in estimates.cohesion)
    text = f"{low:.4g} MPa" if low == high else f"{low:.4g} to {high:.4g} MPa"
    yield Quantity("cohesion", [*estimates.cohesion], "cohesion", "Pa", text, group)
    low, high = estimates.friction_angle
    text = f"{low:.4g} deg" if low == high else f"{low:.4g} to {high:.4g} deg"
    yield Quantity("friction_angle", [low, high], "friction angle", "deg", text, group)
    time = estimates.relaxation_time
    steps = rounded(time / dt, "time step")
    text = f"{time:g} s, {steps}" if time else "0, independent of the rate"
    yield Quantity("relaxation_time", time, "relaxation time", "s", text, group)
    percent, depth = 100 * estimates.load, estimates.depth
    finite = estimates.load if np.isfinite(estimates.load) else None
    text = f"up to {percent:.3g} % of the strength, at a depth of {metres_or_km(depth)}"
    if finite is None:
        text = f"the rock has no strength at a depth of {metres_or_km(depth)}"
    elif not finite:
        text = "none"
    yield Quantity("initial_load", finite, "initial shear stress", text=text, group=group)
    strong = estimates.strong
    text, label = counted(strong, "point"), "cannot yield" * bool(strong)
    yield Quantity("strong_points", strong, label, "points", text, group)


def plasticity_warnings(estimates: YieldEstimates, dt: float) -> Iterator[str]:
    """Rock without strength, rock that yields before the waves, or nearly, and brief relaxation.

    Args:
        dt: time step, s.
    """
    most = f"most at a depth of {metres_or_km(estimates.depth)}"
    if estimates.load == np.inf:
        yield (
            f"the rock has no strength at a depth of {metres_or_km(estimates.depth)}, as its "
            "effective pressure is 0 or negative; lower plasticity.fluid_pressure, correct "
            "plasticity.stress, or raise the cohesion"
        )
    elif estimates.beyond:
        yield (
            f"the initial shear stress exceeds the strength at "
            f"{counted(estimates.beyond, 'point')}, {most}, by a factor of {estimates.load:.3g}. "
            "There the rock yields before the waves arrive; correct plasticity.stress or the "
            "strength"
        )
    elif estimates.near:
        yield (
            f"the initial shear stress reaches more than {100 * NEAR:g} % of the strength at "
            f"{counted(estimates.near, 'point')}, {most}. There weak waves make the rock yield; "
            "check plasticity.stress and the strength"
        )
    if 0 < estimates.relaxation_time < dt:
        yield (
            f"plasticity.relaxation_time = {estimates.relaxation_time:g} s is shorter than the "
            f"time step, {dt:.3g} s, and has nearly no effect; give a longer one, or 0"
        )
