"""What all laws of friction have in common, and the checks of their parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.errors import InputError, in_words

Values = float | Floats


class FrictionLaw(ABC):
    """The shear strength of a fault, and its state.

    Parameters are numbers, or arrays (points,); arguments are so too, or broadcast. Slip rates
    are magnitudes, 0 or more, in m/s; stresses are in Pa, times in s. The normal stress `sigma` is
    positive in compression. Where it is negative, the fault is open and keeps its cohesion.
    """

    @property
    @abstractmethod
    def number(self) -> int:
        """FRICTION in `friction.h`."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of the rows of `table`."""

    def table(self, points: int) -> Floats:
        """The parameters at each point, (parameters, points), for `friction_at` in `friction.h`.

        Raises:
            InputError: a parameter has another number of points.
        """
        return np.array([self._at_points(name, points) for name in self.names])

    def _at_points(self, name: str, points: int) -> Floats:
        values = np.asarray(getattr(self, name), dtype=float)
        if values.shape not in ((), (1,), (points,)):
            raise InputError(
                f"{in_words(type(self))}: {name} has the shape {values.shape}, but the fault has "
                f"{points} points; give one value, or one for each point"
            )
        return np.broadcast_to(values, (points,))

    @abstractmethod
    def strength(self, rate: Values, sigma: Values, state: Values, time: Values = 0.0) -> Values:
        """Shear strength S, Pa."""

    @abstractmethod
    def slip_rate(
        self,
        tau: Values,
        sigma: Values,
        eta: Values,
        state: Values,
        time: Values = 0.0,
    ) -> Values:
        """The slip rate V, m/s, with tau = S(V) + eta V; 0 where tau does not exceed S(0).

        Args:
            tau: magnitude of the shear traction of a fault that does not slip, Pa.
            sigma: normal stress, Pa.
            eta: damping by the waves that slip radiates, Pa s/m, above 0.
            state: the state.
            time: s.
        """

    @abstractmethod
    def state_rate(self, rate: Values, state: Values) -> Values:
        """Derivative of the state with respect to time."""

    @abstractmethod
    def advance_state(self, rate: Values, state: Values, dt: Values) -> Values:
        """The state after the time `dt`, exact if the slip rate is constant."""

    @abstractmethod
    def initial_state(self, tau: Values, sigma: Values, rate: Values) -> Values:
        """The state of a fault that slips at `rate`, m/s, under the shear traction `tau`, Pa.

        Raises:
            InputError: there is none.
        """

    def _require(self, names: Iterable[str], above: bool = False) -> None:
        """Finite parameters of at least 0, or `above` 0."""
        for name in names:
            values = np.asarray(getattr(self, name), dtype=float)
            valid = np.isfinite(values) & ((values > 0) if above else (values >= 0))
            allowed = "finite values above 0" if above else "finite values of at least 0"
            require_valid(f"{in_words(type(self))}: {name}", values, valid, allowed)


def require_valid(name: str, values: ArrayLike, valid: ArrayLike, allowed: str) -> None:
    """Raise InputError with the first value that is not valid."""
    given, good = np.broadcast_arrays(np.asarray(values, dtype=float), valid)
    if not good.all():
        point = int(np.argmin(good))
        where = f" at point {point}" if good.ndim else ""
        raise InputError(f"{name} = {given.flat[point]:g}{where}: give {allowed}")


def compression(sigma: Values) -> Values:
    """The normal stress, Pa, or 0 where the fault is open."""
    return np.maximum(sigma, 0.0)
