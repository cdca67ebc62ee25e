"""Linear slip weakening."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from groundswell.arrays import Mask
from groundswell.errors import InputError
from groundswell.seismology.friction.law import FrictionLaw, Values, compression


@dataclass(frozen=True, kw_only=True, eq=False)
class SlipWeakening(FrictionLaw):
    """Linear slip weakening: friction falls from the static to the dynamic value with slip.

    S = C + sigma (mu_s - (mu_s - mu_d) max(f1, f2)), where f1 = min(s / D, 1) with the path s of
    slip, and f2 = clip((t - T) / t0, 0, 1) forces the fault to weaken from the time T on. The state
    is s, m, so that V = max(0, tau - S) / eta. Where V falls below V_h, the fault heals: s
    becomes 0.

    Source: Ida (1972), J. Geophys. Res. 77, 3796-3805; with cohesion and forced nucleation as in
    problems TPV5 and TPV24 of Harris et al. (2018), Seismol. Res. Lett. 89, 1146-1162; healing as
    in SEM2DPACK (Ampuero 2012, doi:10.5281/zenodo.230363) and SeisSol (Pelties et al. 2014, Geosci.
    Model Dev. 7, 847-866).

    Attributes:
        static: coefficient of friction mu_s at rest.
        dynamic: coefficient of friction mu_d after slip of `distance`.
        distance: D, m.
        cohesion: C, Pa.
        forced_onset: T, s; inf where nothing is forced.
        forced_duration: t0, s.
        healing_speed: V_h, m/s; 0 where nothing heals.

    Raises:
        InputError: a parameter is outside its range.
    """

    static: Values
    dynamic: Values
    distance: Values
    cohesion: Values = 0.0
    forced_onset: Values = np.inf
    forced_duration: Values = 0.0
    healing_speed: Values = 0.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        self._require(["static", "dynamic", "cohesion", "forced_duration", "healing_speed"])
        self._require(["distance"], above=True)
        if np.isnan(self.forced_onset).any():
            raise InputError("SlipWeakening.forced_onset is NaN: give times, or inf for never")

    @property
    def number(self) -> int:
        return 1

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self))

    def strength(self, rate: Values, sigma: Values, state: Values, time: Values = 0.0) -> Values:
        drop = (self.static - self.dynamic) * self._weakened(state, time)
        return self.cohesion + compression(sigma) * (self.static - drop)

    def _weakened(self, state: Values, time: Values) -> Values:
        """The part of the weakening that has happened, 0 to 1."""
        slipped = state / self.distance
        with np.errstate(divide="ignore", invalid="ignore"):  # a duration of 0
            forced = np.divide(time - self.forced_onset, self.forced_duration)
        return np.fmin(np.fmax(np.fmax(slipped, forced), 0.0), 1.0)

    def slip_rate(
        self,
        tau: Values,
        sigma: Values,
        eta: Values,
        state: Values,
        time: Values = 0.0,
    ) -> Values:
        return np.maximum(tau - self.strength(0.0, sigma, state, time), 0.0) / eta

    def state_rate(self, rate: Values, state: Values) -> Values:
        return rate

    def advance_state(self, rate: Values, state: Values, dt: Values) -> Values:
        """The path of slip after the time `dt`, m; 0 where the fault heals."""
        return np.where(self.heals(rate), 0.0, state + rate * dt)

    def heals(self, rate: Values) -> Mask:
        """Where a slip rate, m/s, is so low that the strength recovers."""
        return np.asarray(np.less(rate, self.healing_speed))

    def initial_state(self, tau: Values, sigma: Values, rate: Values) -> Values:
        """No slip, m."""
        return np.zeros(np.broadcast_shapes(*map(np.shape, (tau, sigma, rate))))
