"""Source time functions with exact derivatives and integrals.

Closed-form solutions need a time function, its derivatives and its repeated integrals. A piecewise
polynomial has all of them in closed form, so near fields need no quadrature, and velocities need no
finite differences. The time functions of the solvers are not used, so that the reference does not
share their errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.errors import InputError

if TYPE_CHECKING:
    from scipy.interpolate import PPoly


# Jumps below this fraction of the largest value are rounding errors or negligible truncated tails.
_JUMP = 1e-6
_PIECES = 2000  # of the splines through functions


@dataclass(frozen=True)
class Pulse:
    """A function of time (s), zero before `start` and after `stop`; integrals are then constant.

    `pulse(time)` is its value, `pulse(time, 1)` its derivative, `pulse(time, -1)` its integral.
    """

    polynomial: PPoly

    @property
    def start(self) -> float:
        """Start of the first piece, s."""
        return float(self.polynomial.x[0])

    @property
    def stop(self) -> float:
        """End of the last piece, s."""
        return float(self.polynomial.x[-2])

    def __call__(self, time: ArrayLike, order: int = 0) -> Floats:
        """The derivative of `order` at `time`; for negative orders the repeated integral.

        Raises:
            InputError: a lower derivative jumps.
        """
        for lower in range(order):
            self._require_continuous(lower)
        time = np.asarray(time, dtype=float)
        return np.where(time < self.start, 0.0, self.polynomial.derivative(order)(time))

    def integral(self) -> Pulse:
        """The running integral: a step, if the pulse has a non-zero area."""
        return Pulse(self.polynomial.antiderivative())

    def _require_continuous(self, order: int) -> None:
        pieces = self.polynomial.derivative(order)
        ends = np.polyval(pieces.c[:, :-1], np.diff(pieces.x)[:-1])
        jumps = pieces.c[-1] - np.append(0.0, ends)
        worst = int(np.argmax(np.abs(jumps)))
        if abs(jumps[worst]) > _JUMP * np.max(np.abs(pieces.c[-1])):
            raise InputError(
                f"time function: its derivative of order {order} jumps at {pieces.x[worst]:g} s, "
                f"where the next is infinite; give a smoother function, or use displacement"
            )

    @classmethod
    def from_samples(
        cls, samples: ArrayLike, step: float, start: float = 0.0, degree: int = 1
    ) -> Pulse:
        """The spline of `degree` through `samples` at `start + n step` (s), zero outside."""
        from scipy.interpolate import PPoly, make_interp_spline

        values = np.asarray(samples, dtype=float)
        times = start + step * np.arange(values.size)
        pieces = PPoly.from_spline(make_interp_spline(times, values, k=degree))
        # Repeated end knots bound empty pieces; a zero piece is appended.
        inner = slice(degree, pieces.c.shape[1] - degree)
        c = np.column_stack([pieces.c[:, inner], np.zeros(degree + 1)])
        x = np.append(pieces.x[degree : pieces.x.size - degree], times[-1] + step)
        return cls(PPoly(c, x))

    @classmethod
    def from_function(
        cls, function: Callable[[Floats], ArrayLike], start: float, stop: float
    ) -> Pulse:
        """The quintic spline through `function` at 2001 points of [start, stop] (s)."""
        times = np.linspace(start, stop, _PIECES + 1)
        return cls.from_samples(function(times), (stop - start) / _PIECES, start, degree=5)

    @classmethod
    def brune(cls, rise: float) -> Pulse:
        """Moment rate (t/T^2) exp(-t/T), T = `rise` (s), of the moment 1 - (1 + t/T) exp(-t/T)."""
        return cls.from_function(lambda t: t / rise**2 * np.exp(-t / rise), 0.0, 40.0 * rise)

    @classmethod
    def gaussian(cls, sigma: float, delay: float) -> Pulse:
        """Normal density of standard deviation `sigma` about `delay` (s), cut at 6 sigma."""

        def density(t: Floats) -> Floats:
            return np.exp(-0.5 * ((t - delay) / sigma) ** 2) / (sigma * np.sqrt(2.0 * np.pi))

        return cls.from_function(density, delay - 6.0 * sigma, delay + 6.0 * sigma)
