"""Fits relaxation mechanisms to a target Q(f); see attenuation.py."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from math import inf, pi

import numpy as np

from groundswell.arrays import Floats, Indices
from groundswell.errors import InputError
from groundswell.seismology import attenuation
from groundswell.seismology.attenuation import (
    LARGEST_WEIGHT,
    MECHANISMS,
    Relaxation,
    average_stiffness,
)
from groundswell.seismology.fit_cache import cached_numbers

# Largest distance of relaxation frequencies from the band, as a factor, for mechanisms in cells
# (True) and at points (False). Cells are passive for any time step. At points, the fastest
# mechanism limits the time step.
REACH = {True: 10, False: 3}


def fit(
    model: str = "constant",
    exponent: float = 0.0,
    transition: float = 1.0,
    band: tuple[float, float] = (0.1, 10.0),
    minimum_q: float = 10.0,
    mechanisms: int | None = None,
) -> Relaxation:
    """Fit mechanisms to a target Q(f) in the minimax sense; results are cached, also on disk.

    Args:
        model: "constant" for Q0, or "power-law" for Q0 up to the frequency `transition` and
            Q0 (f / transition)^exponent above.
        exponent: exponent of the power law, 0 to 1.
        transition: frequency of the power law, Hz.
        band: lowest and highest frequency of the fit, Hz.
        minimum_q: smallest Q0 of the fit, at least 5.
        mechanisms: number of mechanisms at every point, at least 2; None for eight that are
            distributed over a group of cells.

    Raises:
        InputError: the smallest Q is below 5.
    """
    lo, hi = (float(edge) for edge in band)
    if not 5 <= minimum_q < inf:
        raise InputError(f"smallest Q = {minimum_q}; allowed: at least 5; raise the lowest Q")
    if model == "constant":
        return _fit(0.0, inf, (lo, hi), float(minimum_q), mechanisms)
    return _fit(float(exponent), float(transition), (lo, hi), float(minimum_q), mechanisms)


@lru_cache(maxsize=64)
def _fit(
    exponent: float, transition: float, band: tuple[float, float], q: float, mechanisms: int | None
) -> Relaxation:
    in_cells, count = mechanisms is None, mechanisms or MECHANISMS
    gain = max(1.0, band[0] / transition) ** exponent  # a transition below the band scales Q0 only
    corner = max(band[0], transition)
    misfit = _Misfit.sample(exponent, corner, band, gain * q, in_cells=in_cells)
    guess = _first_guess(exponent, corner, band, count)
    given, sources = (exponent, transition, band, q, mechanisms), (__file__, attenuation.__file__)
    unknowns = cached_numbers(given, sources, lambda: _minimise(misfit, guess))
    tau, coefficients = misfit.unpack(unknowns)
    coefficients /= gain ** np.array([1, 2])
    found = Relaxation(tau, coefficients, exponent, transition, band, q, in_cells=in_cells)
    if in_cells:
        order = _optimal_order(found)
        found = replace(found, tau=tau[order], coefficients=coefficients[order])
    found.tau.flags.writeable = found.coefficients.flags.writeable = False  # cached
    return replace(found, error=_error(found))


def _frequencies(transition: float, band: tuple[float, float], per_decade: int) -> Floats:
    """Frequencies of the band, including the transition, where the target has its corner."""
    count = max(12, int(np.ceil(per_decade * np.log10(band[1] / band[0]))))
    corner = [transition] if band[0] < transition < band[1] else []
    return np.sort(np.append(np.geomspace(*band, count + 1), corner))


def _error(relaxation: Relaxation) -> float:
    f = _frequencies(relaxation.transition, relaxation.band, per_decade=64)
    q = relaxation.minimum_q / np.linspace(1e-4, 1, 17)[:, None]
    return float(np.max(np.abs(relaxation.quality(f, q) / relaxation.target(f, q) - 1)))


def _first_guess(
    exponent: float, transition: float, band: tuple[float, float], count: int
) -> Floats:
    """Relaxation frequencies equally spaced in log f for constant Q, and denser at a corner."""
    lo, hi = np.log(band[0] / 2), np.log(band[1] * 2)
    corner = np.clip(np.log(0.85 * transition), lo, hi)
    crowding = 8 * exponent + 1e-3
    first, last = np.arcsinh(crowding * (lo - corner)), np.arcsinh(crowding * (hi - corner))
    log_f = corner + np.sinh(np.linspace(first, last, count)) / crowding
    # Debye peaks of equal strength s, spaced by d in log f, add up to 1/Q = pi s / (2 count d).
    growth = np.maximum(1, np.exp(log_f) / transition) ** exponent
    strength = 2 * count / pi * np.gradient(log_f) / growth
    return np.concatenate([-np.log(2 * pi) - log_f, strength, strength / 2])


@dataclass(frozen=True)
class _Misfit:
    """Q / Q_target - 1 at samples of frequency and Q0, as a function of 3 n unknowns.

    The unknowns are ln tau and, instead of (b, a), the values p0 and p1 of w/x at x = 0 and at
    x = 1/minimum_q. Between them w/x is linear, so w > 0 if and only if p0, p1 > 0. The Bernstein
    form of w shows that the upper `bounds` are sufficient for w <= LARGEST_WEIGHT.
    """

    omega: Floats
    growth: Floats  # Q_target / Q0
    inv_q: Floats
    minimum_q: float
    in_cells: bool

    @classmethod
    def sample(
        cls,
        exponent: float,
        transition: float,
        band: tuple[float, float],
        q: float,
        *,
        in_cells: bool,
    ) -> _Misfit:
        f = _frequencies(transition, band, per_decade=24)
        chebyshev = (1 - np.cos(np.linspace(0, pi, 7))) / 2
        inv_q = np.maximum(chebyshev, 1e-4) / q  # a small value stands for zero attenuation
        growth = np.maximum(1, f / transition) ** exponent
        return cls(2 * pi * f, growth, inv_q, q, in_cells)

    def bounds(self, count: int) -> tuple[Floats, Floats]:
        """Relaxation frequencies near the band; weights in (0, LARGEST_WEIGHT]."""
        reach = REACH[self.in_cells]
        largest = LARGEST_WEIGHT * self.minimum_q
        least = 1e-3 / self.growth[-1]  # positive also after rounding to single precision
        low = [-np.log(reach * self.omega[-1]), least, least]
        high = [-np.log(self.omega[0] / reach), 2 * largest, largest]
        return np.repeat(low, count), np.repeat(high, count)

    def unpack(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """Relaxation times (n,) and coefficients (b, a), shape (n, 2)."""
        log_tau, p0, p1 = unknowns.reshape(3, -1)
        return np.exp(log_tau), np.stack([p0, (p1 - p0) * self.minimum_q], axis=1)

    def __call__(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """The misfit (samples,) and its Jacobian (samples, 3 n)."""
        log_tau, p0, p1 = unknowns.reshape(3, -1)
        rise = self.inv_q * self.inv_q * self.minimum_q
        basis = np.stack([self.inv_q - rise, rise])
        w = np.stack([p0, p1], axis=1) @ basis
        # Axes: mechanism, Q0, frequency. A cell's stiffness is 1 - w / z, z = 1 + i omega tau.
        z = 1 + 1j * np.exp(log_tau)[:, None, None] * self.omega
        v = w[..., None] / z
        modulus, by_stiffness = average_stiffness(1 - v, in_cells=self.in_cells)
        by_v = -by_stiffness
        by_weight = by_v / z
        by_log_tau = -by_v * v * (z - 1) / z
        by_p = by_weight * basis[:, None, :, None]
        slopes = np.concatenate([by_log_tau, *by_p])
        ratio = modulus.real / modulus.imag * self.inv_q[:, None] / self.growth
        jacobian = ratio * (slopes.real / modulus.real - slopes.imag / modulus.imag)
        return ratio.ravel() - 1, jacobian.reshape(len(unknowns), -1).T


def _minimise(misfit: _Misfit, guess: Floats) -> Floats:
    """Minimise p-norms of the misfit, p = 2, 4, 8, 16 and 32, each from the previous minimum.

    The last one approximates the maximum norm. A p-norm is minimised by least squares of the misfit
    to the power p/2.
    """
    from scipy.optimize import least_squares

    count = len(guess) // 3
    bounds = misfit.bounds(count)
    unknowns = np.clip(guess, *bounds)
    for power in (1, 2, 4, 8, 16):
        level = np.max(np.abs(misfit(unknowns)[0]))
        unknowns = least_squares(
            lambda u, k=power, c=level: (misfit(u)[0] / c) ** k,
            unknowns,
            lambda u, k=power, c=level: _power_slopes(*misfit(u), k, c),
            bounds=bounds,
            x_scale=np.repeat([1.0, 4.0, 4.0], count),  # scales of ln tau and of w/x
            max_nfev=30,
            xtol=1e-5,
            ftol=1e-5,
        ).x
    return unknowns


def _power_slopes(error: Floats, jacobian: Floats, power: int, level: float) -> Floats:
    """Derivatives of (error / level)^power."""
    return (power / level * (error / level) ** (power - 1))[:, None] * jacobian


EQUAL = 1e-9  # largest relative difference of errors that are equal except for rounding


def _optimal_order(relaxation: Relaxation) -> Indices:
    """The order of mechanisms in cells that gives waves along the axes the Q closest to the target.

    To second order in the differences between cells, the effective modulus is the mean modulus
    minus, for each of the seven patterns, a fraction of its squared amplitude over the mean:
    `_pattern_relaxation`. Shifts of the pattern are equivalent, so that mechanism 0 stays in
    cell 0 and 5040 orders remain.
    """
    f = np.geomspace(*relaxation.band, 9)
    q = 2 * relaxation.minimum_q
    w = relaxation.weights(1 / q)
    stiffness = 1 - w / (1 + 2j * pi * np.multiply.outer(f, relaxation.tau))
    orders = np.array([(0, *rest) for rest in permutations(range(1, MECHANISMS))])
    patterns = (-1.0) ** (_PARITIES @ _PARITIES.T) / MECHANISMS
    amplitudes = stiffness[:, orders] @ patterns  # (frequency, order, pattern)
    mean = amplitudes[..., :1]
    modulus = mean - amplitudes**2 @ _pattern_relaxation().T / mean  # (frequency, order, wave)
    error = modulus.real / modulus.imag / relaxation.target(f, q)[:, None, None] - 1
    largest = np.abs(error).max(axis=(0, 2))
    # Orders that differ by an exchange of axes have equal errors, except for rounding.
    return orders[np.flatnonzero(largest <= largest.min() * (1 + EQUAL))[0]]


_PARITIES = np.arange(MECHANISMS)[:, None] >> np.arange(3) & 1  # (cell or pattern, axis)


def _pattern_relaxation() -> Floats:
    """Fraction of the stress of each pattern that motion of the cells relaxes, (6, 8).

    A pattern that alternates along the axes n has a force T n, where T is the stress of the wave.
    The displacement of the cells is that force times the inverse of (lambda + mu) n n + mu n^2,
    here with lambda = mu = 1. The six waves are S in the three planes and P along the three axes,
    with T = M in one component. (P waves also have transverse stress, which varies little if Qp is
    between Qs and twice Qs.)
    """
    n = _PARITIES.astype(float)
    identity = np.eye(3)
    stiffness = 2 * n[:, :, None] * n[:, None, :] + (n**2).sum(axis=1)[:, None, None] * identity
    stiffness[0] = identity  # pattern without alternation
    pairs = [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0), (0, 0, 3.0), (1, 1, 3.0), (2, 2, 3.0)]
    fractions = []
    for a, b, modulus in pairs:
        stress = np.zeros((3, 3))
        stress[a, b] = stress[b, a] = 1
        force = n @ stress
        fractions.append(
            modulus * np.einsum("ca,cab,cb->c", force, np.linalg.inv(stiffness), force)
        )
    return np.array(fractions)
