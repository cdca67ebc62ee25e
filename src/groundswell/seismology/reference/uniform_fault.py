"""A uniform fault between two half-spaces, which breaks everywhere at the same time.

Shear waves leave the fault along its normal and damp it, so that the slip rate V at each time
follows from tau(t) - eta V = S(V, state), where tau is the traction of a locked fault, and eta is
Zs- Zs+ / (Zs- + Zs+) with the impedances Zs = rho vs of both sides: rho vs / 2 in a uniform medium.
A point of any fault moves like this until waves arrive from where the fault differs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.friction import FrictionLaw, SlipWeakening

# Relative and absolute (m, or the state's unit) tolerances of a step. Errors of many add up to less
# than 1e-10 of the largest values.
_TOLERANCES = 1e-13, 1e-15
_FEWEST_STEPS = 200  # so that no step jumps over a pulse of the load


@dataclass(frozen=True)
class FaultHistory:
    """Motion of a uniform fault.

    Attributes:
        slip: m, (times,).
        rate: slip rate, m/s, (times,).
        state: see the law of friction, (times,).
        shear: shear traction, Pa, (times,).
    """

    slip: Floats
    rate: Floats
    state: Floats
    shear: Floats


@dataclass(frozen=True)
class UniformFault:
    """A uniform fault under a load that varies with time.

    Attributes:
        law: friction with parameters that are numbers.
        load: the shear traction of a locked fault, Pa, at a time, s.
        sigma: normal stress, Pa, positive in compression.
        eta: damping, Pa s/m.
        state: at time 0.
    """

    law: FrictionLaw
    load: Callable[[float], float]
    sigma: float
    eta: float
    state: float

    def history(self, times: Floats) -> FaultHistory:
        """Motion at increasing times from 0 on, s, to 1e-10 of the largest values.

        Raises:
            InputError: times decrease or are negative.
        """
        from scipy.integrate import solve_ivp  # takes long to import

        if times[0] < 0.0 or np.any(np.diff(times) < 0.0):
            raise InputError("uniform fault: times must not decrease and be 0 s or more")
        state, slip = solve_ivp(
            self._rates,
            (0.0, times[-1]),
            (self.state, 0.0),
            method="DOP853",
            t_eval=times,
            max_step=times[-1] / _FEWEST_STEPS,
            rtol=_TOLERANCES[0],
            atol=_TOLERANCES[1],
        ).y
        rate = np.array([self._slip_rate(*now) for now in zip(times, state, strict=True)])
        load = np.array([self.load(time) for time in times])
        return FaultHistory(slip, rate, state, load - self.eta * rate)

    def _slip_rate(self, time: float, state: float) -> float:
        return float(self.law.slip_rate(self.load(time), self.sigma, self.eta, state, time))

    def _rates(self, time: float, unknowns: Floats) -> tuple[float, float]:
        """Derivatives of state and slip."""
        state = float(unknowns[0])
        rate = self._slip_rate(time, state)
        return float(self.law.state_rate(rate, state)), rate


@dataclass(frozen=True)
class OverstressedFault:
    """A uniform fault with linear slip weakening, under a constant load above its strength.

    Slip grows exponentially, s = (dT / W) (exp(W t / eta) - 1), until it reaches the distance D of
    the law, where dT is the load beyond the static strength, and W = sigma (mu_s - mu_d) / D. Then
    the slip rate is constant.

    Attributes:
        law: friction with parameters that are numbers; nothing is forced.
        load: the shear traction of a locked fault, Pa.
        sigma: normal stress, Pa, positive in compression.
        eta: damping, Pa s/m.

    Raises:
        InputError: the load does not exceed the static strength, or friction does not weaken.
    """

    law: SlipWeakening
    load: float
    sigma: float
    eta: float

    def __post_init__(self) -> None:
        """Require growth."""
        if self.overstress <= 0.0:
            raise InputError(
                f"overstressed fault: the load of {self.load:g} Pa is not above the static "
                f"strength, {self.load - self.overstress:g} Pa; increase it"
            )
        if self.weakening <= 0.0:
            raise InputError(
                f"overstressed fault: friction rises from {self.law.static} to {self.law.dynamic}; "
                "choose a dynamic friction below the static one, and sigma above 0"
            )

    @property
    def overstress(self) -> float:
        """dT, Pa."""
        return self.load - float(self.law.strength(0.0, self.sigma, 0.0))

    @property
    def weakening(self) -> float:
        """W, Pa/m."""
        return float(self.sigma * (self.law.static - self.law.dynamic) / self.law.distance)

    @property
    def growth_rate(self) -> float:
        """W / eta, 1/s."""
        return self.weakening / self.eta

    @property
    def weakened_time(self) -> float:
        """Time at which slip reaches the distance D, s."""
        slipped = float(self.law.distance * self.weakening / self.overstress)
        return float(np.log1p(slipped)) / self.growth_rate

    @property
    def final_rate(self) -> float:
        """Slip rate after that time, m/s."""
        return (self.load - float(self.law.strength(0.0, self.sigma, self.law.distance))) / self.eta

    def slip(self, times: Floats) -> Floats:
        """Slip, m, at times of 0 s or more."""
        growing = np.minimum(times, self.weakened_time)
        grown = self.overstress / self.weakening * np.expm1(self.growth_rate * growing)
        return grown + self.final_rate * (times - growing)

    def rate(self, times: Floats) -> Floats:
        """Slip rate, m/s, at times of 0 s or more."""
        growth = np.exp(self.growth_rate * np.minimum(times, self.weakened_time))
        return self.overstress / self.eta * growth


def ramp(time: float, rise: float) -> float:
    """The part of a nucleation that acts at a time, from 0 to 1: G(t) of TPV101 to TPV104."""
    if time <= 0 or time >= rise:
        return float(time > 0)
    return float(np.exp((time - rise) ** 2 / (time * (time - 2 * rise))))
