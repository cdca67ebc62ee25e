"""Anelastic attenuation with coarse-grained memory variables, fitted to Q(f) over a band.

Eight relaxation mechanisms are distributed over every 2 x 2 x 2 group of cells, one per cell: cell
(i, j, k) has mechanism m = (i & 1) + 2 (j & 1) + 4 (k & 1). Its stress obeys

    sigma' = M_u e + zeta,    tau_m zeta' + zeta = -w_m M_u e

with strain rate e and unrelaxed modulus M_u. Its modulus is M_u (1 - w_m / (1 + i omega tau_m)).
The moduli of eight cells can vary in seven patterns. To a long wave, some of these patterns act as
springs in series and some as springs in parallel. A shear wave along z that is polarised along x
strains rows that differ in y equally, because no motion of theirs would equalise the stress, but
not rows that differ in z. Which patterns act in series depends on the wave. Averaged over all waves
it is about half of them, so that the effective modulus is Hill's average,

    M(omega) = M_u (V + R) / 2,    V = mean_m s_m,    R = 1 / mean_m 1/s_m,    Q = Re M / Im M

with s_m = 1 - w_m / (1 + i omega tau_m). The harmonic mean R alone, which is often used for all
waves, is wrong by up to 15 % at the ends of the band for Q = 20 and by 5 % for Q = 50. With the
average, and cells ordered by `_optimal_order`, the errors are at most 4 % and 2 %.

The weights are w_m = x (b_m + a_m x) with x = 1/Q0 of the cell. One pair (b_m, a_m) per mechanism
is valid for every Q0 from `minimum_q` to infinity, so that kernels need no branches. With
r = zeta / 2, which saves a multiplication, a step from r0 to r1 is the trapezoidal rule

    r1 = A_m r0 - (1 - A_m) M_u (w_m / 2) e,    sigma += dt (M_u e + r0 + r1),

with A_m = (2 tau_m - dt) / (2 tau_m + dt). Its transfer function is the modulus above at the
frequency (2 / dt) tan(omega dt / 2): it is passive for any dt, and a constant Q stays constant.
A_m = exp(-dt / tau_m) would instead lengthen short relaxation times, and change Q by 7 % at 10 Hz
with dt = 8 ms. Note that M_u exceeds rho c^2: the unrelaxed speed limits the time step.

Shear stress uses mu and w_s, the weights of Qs. Normal stress uses the weights of both waves:
zeta_ii is driven by (lambda + 2 mu) w_p div v - 2 mu w_s (sum of the other two normal strain rates)
instead of w_m M_u e, so that P waves have Qp and S waves Qs. Pure compression then loses energy, as
it must, only where Qp / Qs <= (3/4) (vp / vs)^2.

Relaxation times and weights minimise the maximum of |Q(f) / Q_target(f) - 1| over the band and all
Q0, as the limit of increasing p-norms. Every weight lies in (0, 1), so that each cell is passive.
This alone limits the fit near the corner of a power law: Q of a positive sum of Debye peaks cannot
change its slope abruptly. With exponent 0.6, no number of mechanisms has an error below 3.4 % over
0.1-10 Hz.

Day (1998), BSSA 88, 1051-1062; Day & Bradley (2001), BSSA 91, 520-531; Hill (1952), Proc.
Phys. Soc. A 65, 349-354; Graves & Day (2003), BSSA 93, 283-300 (the harmonic mean); Withers, Olsen
& Day (2015), BSSA 105, 3129-3142 (power law, weights as polynomials of 1/Q).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import inf, pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.errors import InputError

Array = NDArray[np.float64]

MECHANISMS = 8
LARGEST_WEIGHT = 0.95  # the relaxed modulus is at least a twentieth of the unrelaxed one

_TABLE = 4096  # entries of the modulus table, for an interpolation error of 1e-7


@dataclass(frozen=True, eq=False)
class Relaxation:
    """Eight relaxation mechanisms, ordered by cell parity m = (i & 1) + 2 (j & 1) + 4 (k & 1).

    The target is Q0 up to the frequency `transition`, and Q0 (f / transition)^exponent above.

    Args:
        tau: relaxation times, s, (8,).
        coefficients: columns b and a of the weights w = x (b + a x) with x = 1/Q0, (8, 2).
        exponent: exponent of the target.
        transition: frequency, Hz.
        band: frequencies between which the target is fitted, Hz.
        minimum_q: smallest Q0 of the fit.
        error: largest |Q / Q_target - 1| within the band.
    """

    tau: Array
    coefficients: Array
    exponent: float
    transition: float
    band: tuple[float, float]
    minimum_q: float
    error: float = 0.0

    def decay(self, dt: float) -> Array:
        """Factors A = (2 tau - dt) / (2 tau + dt) of a time step `dt` (s), (8,)."""
        return (2 * self.tau - dt) / (2 * self.tau + dt)

    def weights(self, inv_q: ArrayLike) -> Array:
        """Weights w in [0, 1) of cells with 1/Q0 = `inv_q` (any shape): (8, *inv_q.shape).

        Raises:
            InputError: some Q0 is below `minimum_q`, negative or not a number.
        """
        x = self._checked(inv_q).astype(np.float64)
        b, a = (c.reshape(-1, *(1,) * x.ndim) for c in self.coefficients.T)
        return x * (b + a * x)

    def modulus(self, f: ArrayLike, q: ArrayLike) -> NDArray[np.complex128]:
        """Complex effective modulus M(f) / M_u at `f` (Hz) for Q0 = `q`, broadcast together.

        Raises:
            InputError: as `weights`.
        """
        f, q = np.broadcast_arrays(np.asarray(f, float), np.asarray(q, float))
        with np.errstate(divide="ignore"):
            w = self.weights(1 / q)
        stiffness = 1 - w / (1 + 2j * pi * np.multiply.outer(self.tau, f))
        return (np.mean(stiffness, axis=0) + 1 / np.mean(1 / stiffness, axis=0)) / 2

    def quality(self, f: ArrayLike, q: ArrayLike) -> Array:
        """Q = Re M / Im M of waves of frequency `f` (Hz) for Q0 = `q`, broadcast together.

        Raises:
            InputError: as `weights`.
        """
        modulus = self.modulus(f, q)
        with np.errstate(divide="ignore"):
            return modulus.real / np.abs(modulus.imag)  # abs: -0.0 must not turn Q to -inf

    def target(self, f: ArrayLike, q: ArrayLike) -> Array:
        """Target Q(f) at `f` (Hz) for Q0 = `q`, broadcast together."""
        return np.asarray(q) * np.maximum(1.0, np.asarray(f) / self.transition) ** self.exponent

    def modulus_ratio(self, inv_q: ArrayLike, f_ref: float) -> Array:
        """Ratio M_u / (rho c^2) for which c is the phase velocity at `f_ref` (Hz).

        The phase velocity is 1 / Re sqrt(rho / M), hence M_u / (rho c^2) = (Re sqrt(M_u / M))^2.
        The ratio is interpolated in a table. `inv_q` is 1/Q0, any shape.

        Raises:
            InputError: as `weights`.
        """
        return np.interp(self._checked(inv_q), *_ratio_table(self, float(f_ref)))

    def _checked(self, inv_q: ArrayLike) -> NDArray[np.floating]:
        inv_q = np.asarray(inv_q)
        least, most = np.min(inv_q, initial=0.0), np.max(inv_q, initial=0.0)
        if least >= 0 and most * self.minimum_q <= 1 + 1e-6:  # 1/10 in single precision is allowed
            return inv_q
        given = f"1/Q = {least:g}" if not least >= 0 else f"Q = {1 / most:.4g}"
        raise InputError(
            f"{given}: the attenuation was fitted for Q from {self.minimum_q:g} to infinity "
            "(1/Q = 0 is elastic); raise Q, or fit with a smaller minimum_q"
        )


@lru_cache(maxsize=16)
def _ratio_table(relaxation: Relaxation, f_ref: float) -> tuple[Array, Array]:
    inv_q = np.linspace(0.0, 1 / relaxation.minimum_q, _TABLE)
    with np.errstate(divide="ignore"):
        modulus = relaxation.modulus(f_ref, 1 / inv_q)
    return inv_q, np.real(modulus**-0.5) ** 2


def fit(
    model: str = "constant",
    exponent: float = 0.0,
    transition: float = 1.0,
    band: tuple[float, float] = (0.1, 10.0),
    minimum_q: float = 10.0,
) -> Relaxation:
    """Fit eight mechanisms to a target Q(f) in the minimax sense; results are cached.

    Args:
        model: "constant" for Q0, or "power-law" for Q0 up to the frequency `transition` and
            Q0 (f / transition)^exponent above.
        exponent: exponent of the power law, 0 to 1.
        transition: frequency of the power law, Hz.
        band: lowest and highest frequency of the fit, Hz.
        minimum_q: smallest Q0 of the fit, at least 5.

    Raises:
        InputError: the smallest Q is below 5.
    """
    lo, hi = (float(edge) for edge in band)
    if not 5 <= minimum_q < inf:
        raise InputError(f"smallest Q {minimum_q}: allowed is 5 and more; raise the lowest Q")
    if model == "constant":
        return _fit(0.0, inf, (lo, hi), float(minimum_q))
    return _fit(float(exponent), float(transition), (lo, hi), float(minimum_q))


@lru_cache(maxsize=64)
def _fit(exponent: float, transition: float, band: tuple[float, float], q: float) -> Relaxation:
    request = (exponent, transition, band, q)
    gain = max(1.0, band[0] / transition) ** exponent  # a transition below the band scales Q0 only
    corner = max(band[0], transition)
    misfit = _Misfit.sample(exponent, corner, band, gain * q)
    tau, coefficients = misfit.unpack(_minimise(misfit, _first_guess(exponent, corner, band)))
    coefficients /= gain ** np.array([1, 2])
    order = _optimal_order(Relaxation(tau, coefficients, *request))
    tau, coefficients = tau[order], coefficients[order]
    tau.flags.writeable = coefficients.flags.writeable = False  # cached
    return Relaxation(tau, coefficients, *request, _error(Relaxation(tau, coefficients, *request)))


def _frequencies(transition: float, band: tuple[float, float], per_decade: int) -> Array:
    """Frequencies of the band, including the transition, where the target has its corner."""
    count = max(12, int(np.ceil(per_decade * np.log10(band[1] / band[0]))))
    corner = [transition] if band[0] < transition < band[1] else []
    return np.sort(np.append(np.geomspace(*band, count + 1), corner))


def _error(relaxation: Relaxation) -> float:
    f = _frequencies(relaxation.transition, relaxation.band, per_decade=64)
    q = relaxation.minimum_q / np.linspace(1e-4, 1, 17)[:, None]
    return float(np.max(np.abs(relaxation.quality(f, q) / relaxation.target(f, q) - 1)))


def _first_guess(exponent: float, transition: float, band: tuple[float, float]) -> Array:
    """Relaxation frequencies equally spaced in log f for constant Q, and denser at a corner."""
    lo, hi = np.log(band[0] / 2), np.log(band[1] * 2)
    corner = np.clip(np.log(0.85 * transition), lo, hi)
    crowding = 8 * exponent + 1e-3
    first, last = np.arcsinh(crowding * (lo - corner)), np.arcsinh(crowding * (hi - corner))
    log_f = corner + np.sinh(np.linspace(first, last, MECHANISMS)) / crowding
    # Debye peaks of equal strength s, spaced by d in log f, add up to 1/Q = pi s / (16 d).
    strength = 16 / pi * np.gradient(log_f) / np.maximum(1, np.exp(log_f) / transition) ** exponent
    return np.concatenate([-np.log(2 * pi) - log_f, strength, strength / 2])


@dataclass(frozen=True)
class _Misfit:
    """Q / Q_target - 1 at samples of frequency and Q0, as a function of 24 unknowns.

    The unknowns are ln tau and, instead of (b, a), the values p0 and p1 of w/x at x = 0 and at
    x = 1/minimum_q. Between them w/x is linear, so w > 0 if and only if p0, p1 > 0. The Bernstein
    form of w shows that the upper `bounds` are sufficient for w <= LARGEST_WEIGHT.
    """

    omega: Array
    growth: Array  # Q_target / Q0
    inv_q: Array
    minimum_q: float

    @classmethod
    def sample(
        cls, exponent: float, transition: float, band: tuple[float, float], q: float
    ) -> _Misfit:
        f = _frequencies(transition, band, per_decade=24)
        chebyshev = (1 - np.cos(np.linspace(0, pi, 7))) / 2
        inv_q = np.maximum(chebyshev, 1e-4) / q  # a small value stands for zero attenuation
        return cls(2 * pi * f, np.maximum(1, f / transition) ** exponent, inv_q, q)

    def bounds(self) -> tuple[Array, Array]:
        """Relaxation frequencies within a decade of the band; weights in (0, LARGEST_WEIGHT]."""
        largest = LARGEST_WEIGHT * self.minimum_q
        least = 1e-3 / self.growth[-1]  # positive also after rounding to single precision
        low = [-np.log(10 * self.omega[-1]), least, least]
        high = [-np.log(self.omega[0] / 10), 2 * largest, largest]
        return np.repeat(low, MECHANISMS), np.repeat(high, MECHANISMS)

    def unpack(self, unknowns: Array) -> tuple[Array, Array]:
        """Relaxation times (8,) and coefficients (b, a), shape (8, 2)."""
        log_tau, p0, p1 = unknowns.reshape(3, MECHANISMS)
        return np.exp(log_tau), np.stack([p0, (p1 - p0) * self.minimum_q], axis=1)

    def __call__(self, unknowns: Array) -> tuple[Array, Array]:
        """The misfit (samples,) and its Jacobian (samples, 24)."""
        log_tau, p0, p1 = unknowns.reshape(3, MECHANISMS)
        rise = self.inv_q * self.inv_q * self.minimum_q
        basis = np.stack([self.inv_q - rise, rise])
        w = np.stack([p0, p1], axis=1) @ basis
        # Axes: mechanism, Q0, frequency. A cell's stiffness is 1 - w / z, z = 1 + i omega tau.
        z = 1 + 1j * np.exp(log_tau)[:, None, None] * self.omega
        v = w[..., None] / z
        series = 1 / np.mean(1 / (1 - v), axis=0)
        modulus = (np.mean(1 - v, axis=0) + series) / 2
        by_v = -(1 + (series / (1 - v)) ** 2) / (2 * MECHANISMS)
        by_weight = by_v / z
        by_log_tau = -by_v * v * (z - 1) / z
        by_p = by_weight * basis[:, None, :, None]
        slopes = np.concatenate([by_log_tau, *by_p])
        ratio = modulus.real / modulus.imag * self.inv_q[:, None] / self.growth
        jacobian = ratio * (slopes.real / modulus.real - slopes.imag / modulus.imag)
        return ratio.ravel() - 1, jacobian.reshape(len(unknowns), -1).T


def _minimise(misfit: _Misfit, guess: Array) -> Array:
    """Minimise p-norms of the misfit, p = 2, 4, 8, 16 and 32, each from the previous minimum.

    The last one approximates the maximum norm. A p-norm is minimised by least squares of the misfit
    to the power p/2.
    """
    from scipy.optimize import least_squares

    bounds = misfit.bounds()
    unknowns = np.clip(guess, *bounds)
    for power in (1, 2, 4, 8, 16):
        level = np.max(np.abs(misfit(unknowns)[0]))
        unknowns = least_squares(
            lambda u, k=power, c=level: (misfit(u)[0] / c) ** k,
            unknowns,
            lambda u, k=power, c=level: _power_slopes(*misfit(u), k, c),
            bounds=bounds,
            x_scale=np.repeat([1.0, 4.0, 4.0], MECHANISMS),  # scales of ln tau and of w/x
            max_nfev=30,
            xtol=1e-5,
            ftol=1e-5,
        ).x
    return unknowns


def _power_slopes(error: Array, jacobian: Array, power: int, level: float) -> Array:
    """Derivatives of (error / level)^power."""
    return (power / level * (error / level) ** (power - 1))[:, None] * jacobian


def _optimal_order(relaxation: Relaxation) -> NDArray[np.intp]:
    """The mechanism of each parity that gives all waves along the axes the Q closest to the target.

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
    return orders[np.argmin(np.abs(error).max(axis=(0, 2)))]


_PARITIES = np.arange(MECHANISMS)[:, None] >> np.arange(3) & 1  # (cell or pattern, axis)


def _pattern_relaxation() -> Array:
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
