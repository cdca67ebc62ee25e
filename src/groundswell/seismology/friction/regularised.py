"""The slip rate of regularised laws of rate and state.

The strength is C + A asinh(e^(y + c)), where y = ln V; A = a sigma and c = psi / a - ln(2 V0).
"""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.friction.law import Values

_LINEAR = 20.0  # above, asinh(e^x) = x + ln 2 to e^(-2 x) / 4 = 1e-18
_LN2 = float(np.log(2.0))
_NEGLIGIBLE = 1e-100  # share of the traction that cannot change the slip rate
_LEAST_RATE = 1e-300  # m/s: slower ones lose digits
_CLOSE = 1e-8  # a step of Newton's method after which the error is of the order of its square
_MOST_STEPS = 100


def asinh_of_exp(x: Values) -> tuple[Floats, Floats]:
    """asinh(e^x) and its derivative."""
    power = np.exp(np.minimum(x, _LINEAR))
    value = np.where(x > _LINEAR, x + _LN2, np.arcsinh(power))
    return value, np.where(x > _LINEAR, 1.0, power / np.sqrt(1.0 + power**2))


def log_sinh(y: Values) -> Values:
    """ln(sinh(y)) of y > 0."""
    return y + np.log(-0.5 * np.expm1(-2.0 * y))


def solve(excess: Values, scale: Values, shift: Values, eta: Values) -> Floats:
    """The slip rate V, m/s, with A asinh(V e^c) + eta V = excess; 0 where excess is not above 0.

    Args:
        excess: shear traction beyond the cohesion, Pa.
        scale: A, Pa, at least 0.
        shift: c.
        eta: Pa s/m, above 0.
    """
    given = np.broadcast_arrays(excess, scale, shift, eta)
    rate = np.asarray(np.maximum(given[0], 0.0) / given[3])
    both = ~((rate <= _LEAST_RATE) | (given[1] <= _NEGLIGIBLE * given[0]))  # NaN stays NaN
    rate[both] = _solve(*(values[both] for values in given))
    return rate


def _solve(excess: Floats, scale: Floats, shift: Floats, eta: Floats) -> Floats:
    """V by Newton's method for y = ln V.

    The equation is monotone and convex in y, so that after the first step the iterates decrease to
    the solution. They start from that of A (y + c + ln 2) + eta e^y = excess, which the Wright
    omega function gives.
    """
    from scipy.special import wrightomega  # takes long to import

    undamped = np.asarray(log_sinh(excess / scale) - shift)
    most = np.minimum(undamped, np.log(excess / eta))
    y = np.minimum(undamped - wrightomega(undamped + np.log(eta / scale)), most)
    for _ in range(_MOST_STEPS):
        (friction, slope), rate = asinh_of_exp(y + shift), np.exp(y)
        step = (scale * friction + eta * rate - excess) / (scale * slope + eta * rate)
        if np.all(np.abs(step) <= _CLOSE):
            break
        y = np.minimum(y - step, most)
    return rate * (1.0 - step)  # y - step would be rounded
