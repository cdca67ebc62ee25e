"""Rate-and-state friction: the ageing law, the slip law, and fast velocity weakening."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from groundswell.errors import InputError
from groundswell.seismology.friction.law import FrictionLaw, Values, compression, require_valid
from groundswell.seismology.friction.regularised import asinh_of_exp, log_sinh, solve

_NUMBERS = {"ageing": 2, "slip": 3}
_LEAST_RATE = 1e-100  # m/s: the slip laws take the logarithm of the rate, whose state then rests
_LEAST_FRICTION = 1e-9  # in steady state; psi has no value for friction of 0 or less


@dataclass(frozen=True, kw_only=True, eq=False)
class _Regularised(FrictionLaw):
    direct: Values
    evolution: Values
    length: Values
    reference_friction: Values = 0.6
    reference_speed: Values = 1e-6
    cohesion: Values = 0.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        self._require(["reference_friction", "cohesion"])
        self._require(["direct", "evolution", "length", "reference_speed"], above=True)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self) if field.name != "law")

    def strength(self, rate: Values, sigma: Values, state: Values, time: Values = 0.0) -> Values:
        with np.errstate(divide="ignore"):  # at rest
            x = np.log(rate) + self._shift(state)
        return self.cohesion + compression(sigma) * self.direct * asinh_of_exp(x)[0]

    def slip_rate(
        self,
        tau: Values,
        sigma: Values,
        eta: Values,
        state: Values,
        time: Values = 0.0,
    ) -> Values:
        excess = tau - self.cohesion
        return solve(excess, compression(sigma) * self.direct, self._shift(state), eta)

    def initial_state(self, tau: Values, sigma: Values, rate: Values) -> Values:
        """psi = a ln((2 V0 / V) sinh((tau - C) / (a sigma)))."""
        require_valid("normal stress", sigma, sigma > 0, "values above 0 Pa")
        require_valid("initial slip rate", rate, rate > 0, "values above 0 m/s")
        excess = tau - self.cohesion
        require_valid("shear stress", tau, excess > 0, "values above the cohesion")
        share = excess / (sigma * self.direct)
        speeds = np.log(2.0 * self.reference_speed / rate)
        return self.direct * (speeds + log_sinh(share))

    @abstractmethod
    def steady_state(self, rate: Values) -> Values:
        """The state psi that a constant slip rate, m/s, leads to."""

    def state_rate(self, rate: Values, state: Values) -> Values:
        return rate / self.length * (self.steady_state(rate) - state)

    def advance_state(self, rate: Values, state: Values, dt: Values) -> Values:
        healed = -np.expm1(-rate * dt / self.length)
        return state + healed * (self.steady_state(rate) - state)

    def _shift(self, state: Values) -> Values:
        """ln(e^(psi / a) / (2 V0))."""
        return state / self.direct - np.log(2.0 * self.reference_speed)

    def _log_rate(self, rate: Values) -> Values:
        """ln(V / V0)."""
        return np.log(np.maximum(rate, _LEAST_RATE) / self.reference_speed)


@dataclass(frozen=True, kw_only=True, eq=False)
class RateAndState(_Regularised):
    """Rate-and-state friction with the ageing law (Dieterich) or the slip law (Ruina).

    S = C + sigma a asinh(V / (2 V0) e^(psi / a)). The state psi = f0 + b ln(V0 theta / L) has no
    unit, and evolves by

    - ageing law: d psi / dt = (b / L) (V0 e^((f0 - psi) / b) - V), that is
      d theta / dt = 1 - V theta / L,
    - slip law: d psi / dt = -(V / L) (psi - f0 + b ln(V / V0)), that is
      d theta / dt = -(V theta / L) ln(V theta / L).

    Source: Ruina (1983), J. Geophys. Res. 88, 10359-10370; regularised as in Rice, Lapusta and
    Ranjith (2001), J. Mech. Phys. Solids 49, 1865-1898, and in problem TPV101 of Harris et al.
    (2018), Seismol. Res. Lett. 89, 1146-1162.

    Attributes:
        direct: a, coefficient of the direct effect of the slip rate.
        evolution: b, coefficient of the effect of the state.
        length: L, slip in which the state evolves, m.
        reference_friction: f0, friction in steady state at the reference speed.
        reference_speed: V0, m/s.
        cohesion: C, Pa.
        law: "ageing" or "slip".

    Raises:
        InputError: a parameter is outside its range.
    """

    law: Literal["ageing", "slip"] = "ageing"

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if self.law not in _NUMBERS:
            raise InputError(f'RateAndState.law = {self.law!r}: give "ageing" or "slip"')

    @property
    def number(self) -> int:
        return _NUMBERS[self.law]

    def steady_state(self, rate: Values) -> Values:
        """The state psi = f0 - b ln(V / V0) that a constant slip rate V, m/s, leads to."""
        return self.reference_friction - self.evolution * self._log_rate(rate)

    def state_rate(self, rate: Values, state: Values) -> Values:
        if self.law == "slip":
            return super().state_rate(rate, state)
        healing = self.reference_speed * np.exp(-self._log_age(state))
        return self.evolution / self.length * (healing - rate)

    def advance_state(self, rate: Values, state: Values, dt: Values) -> Values:
        """The state after the time `dt`, exact if the slip rate is constant.

        Ageing law: theta e^(-h) + (dt / h) (1 - e^(-h)), where h = V dt / L.
        """
        if self.law == "slip":
            return super().advance_state(rate, state, dt)
        slipped = rate * dt / self.length
        with np.errstate(divide="ignore", invalid="ignore"):
            contact = np.where(slipped > 0.0, -np.expm1(-slipped) / slipped, 1.0)
            gained = np.log(self.reference_speed * dt / self.length * contact)
        return state + self.evolution * np.logaddexp(-slipped, gained - self._log_age(state))

    def _log_age(self, state: Values) -> Values:
        """ln(V0 theta / L)."""
        return (state - self.reference_friction) / self.evolution


@dataclass(frozen=True, kw_only=True, eq=False)
class FastWeakening(_Regularised):
    """Rate-and-state friction with the slip law and strong weakening at seismic slip rates.

    S = C + sigma a asinh(V / (2 V0) e^(psi / a)) and d psi / dt = -(V / L) (psi - psi_ss), where

    - psi_ss = a ln((2 V0 / V) sinh(f_ss / a)),
    - f_ss = f_w + (f_LV - f_w) / (1 + (V / Vw)^8)^(1/8), taken as 1e-9 where it is less,
    - f_LV = f0 - (b - a) ln(V / V0).

    Source: Dunham et al. (2011), Bull. Seism. Soc. Am. 101, 2296-2307, after Rice (2006), J.
    Geophys. Res. 111, B05311; problems TPV103 and TPV104 of Harris et al. (2018), Seismol. Res.
    Lett. 89, 1146-1162.

    Attributes:
        direct, evolution, length, reference_friction, reference_speed, cohesion: see
            `RateAndState`.
        weakened_friction: f_w, friction in steady state far above `weakening_speed`.
        weakening_speed: Vw, m/s.

    Raises:
        InputError: a parameter is outside its range.
    """

    weakened_friction: Values
    weakening_speed: Values

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        self._require(["weakened_friction"])
        self._require(["weakening_speed"], above=True)

    @property
    def number(self) -> int:
        return 4

    def steady_state(self, rate: Values) -> Values:
        """The state psi_ss that a constant slip rate, m/s, leads to."""
        share = np.maximum(self.steady_friction(rate), _LEAST_FRICTION) / self.direct
        return self.direct * (np.log(2.0) - self._log_rate(rate) + log_sinh(share))

    def steady_friction(self, rate: Values) -> Values:
        """The friction f_ss of a constant slip rate, m/s."""
        slow = self.reference_friction - np.subtract(self.evolution, self.direct) * self._log_rate(
            rate
        )
        weakening = (1.0 + (rate / self.weakening_speed) ** 8) ** 0.125
        return self.weakened_friction + (slow - self.weakened_friction) / weakening
