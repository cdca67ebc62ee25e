"""Backward differences of order 1 to 3, and the first steps of those that need several values.

With u' = F(u) in each row, backward differences (Hairer & Wanner 1996, Solving ordinary
differential equations II, section III.1 of volume I and V.1) solve

    a0 u(n + 1) + a1 u(n) + a2 u(n - 1) + ... = dt F(u(n + 1)).

Until there are enough values, steps are diagonally implicit Runge-Kutta steps of order 2 (section
IV.6) with gamma = 1 / a0, so that all solutions have the same operator, and in which the last stage
is the new value. Three stages leave room for damping that is complete at infinity, as the rational
function of stability is (1 + p1 z + p2 z^2) / (1 - gamma z)^3.
"""

from __future__ import annotations

from typing import NamedTuple

BACKWARD = {1: (1.0, -1.0), 2: (3 / 2, -2.0, 1 / 2), 3: (11 / 6, -3.0, 3 / 2, -1 / 3)}
# Factors of the newest values, newest first, by which a polynomial continues through them.
EXTRAPOLATION = ((1.0,), (2.0, -1.0), (3.0, -3.0, 1.0))
KEPT = len(EXTRAPOLATION)  # values that later steps depend on


class Stage(NamedTuple):
    """A stage of a first step.

    Args:
        at: its time in the step, in steps.
        factors: of dt F at the stages before.
    """

    at: float
    factors: tuple[float, ...]


class Scheme(NamedTuple):
    """Steps of an order.

    Args:
        leading: a0, the factor of the new value.
        others: of the earlier values, newest first.
    """

    leading: float
    others: tuple[float, ...]

    @classmethod
    def of(cls, order: int) -> Scheme:
        """The scheme of an order, 1 to 3."""
        leading, *others = BACKWARD[order]
        return cls(leading, tuple(others))

    @property
    def first_steps(self) -> int:
        """Number of steps until there are enough values."""
        return len(self.others) - 1

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of a first step: two of implicit Euler, and one that makes it accurate."""
        gamma = 1 / self.leading
        last = (0.5 - 2 * gamma + gamma**2) / gamma
        middle = 1 - gamma - last
        return Stage(gamma, ()), Stage(2 * gamma, (gamma,)), Stage(1.0, (middle, last))

    def solutions(self, steps: int) -> int:
        """Solutions of a linear system in so many steps."""
        first = min(self.first_steps, steps)
        return steps + first * (len(self.stages) - 1)
