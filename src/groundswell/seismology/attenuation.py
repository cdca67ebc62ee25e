"""Anelastic attenuation with memory variables, fitted to Q(f) over a band by attenuation_fit.py.

A scheme with n mechanisms at every point has the modulus M_u V with V below: a generalised Maxwell
body whose mechanisms relax the fractions w_m / n of M_u. On a staggered grid, cells share them.

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

Day (1998), BSSA 88, 1051-1062; Day & Bradley (2001), BSSA 91, 520-531; Emmerich & Korn (1987),
Geophysics 52, 1252-1264 (Maxwell bodies); Hill (1952), Proc. Phys. Soc. A 65, 349-354; Graves & Day
(2003), BSSA 93, 283-300 (the harmonic mean); Withers, Olsen & Day (2015), BSSA 105, 3129-3142
(power law, weights as polynomials of 1/Q).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import pi

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Complexes, Floats, Reals
from groundswell.errors import InputError

MECHANISMS = 8  # of a group of cells
LARGEST_WEIGHT = 0.95  # the relaxed modulus is at least a twentieth of the unrelaxed one

_TABLE = 4096  # entries of the modulus table, for an interpolation error of 1e-7


@dataclass(frozen=True, eq=False)
class Relaxation:
    """Relaxation mechanisms: eight of a group of cells, or n at every point.

    Those of cells are ordered by cell parity m = (i & 1) + 2 (j & 1) + 4 (k & 1). The target is Q0
    up to the frequency `transition`, and Q0 (f / transition)^exponent above.

    Args:
        tau: relaxation times, s, (n,).
        coefficients: columns b and a of the weights w = x (b + a x) with x = 1/Q0, (n, 2).
        exponent: exponent of the target.
        transition: frequency, Hz.
        band: frequencies between which the target is fitted, Hz.
        minimum_q: smallest Q0 of the fit.
        error: largest |Q / Q_target - 1| within the band.
        in_cells: whether each cell has one mechanism; otherwise every point has all of them.
    """

    tau: Floats
    coefficients: Floats
    exponent: float
    transition: float
    band: tuple[float, float]
    minimum_q: float
    error: float = 0.0
    in_cells: bool = True

    def decay(self, dt: float) -> Floats:
        """Factors A = (2 tau - dt) / (2 tau + dt) of a time step `dt` (s), (n,)."""
        return (2 * self.tau - dt) / (2 * self.tau + dt)

    def weights(self, inv_q: ArrayLike) -> Floats:
        """Weights w in [0, 1) of cells with 1/Q0 = `inv_q` (any shape): (n, *inv_q.shape).

        At a point with all mechanisms, these relax the fractions w / n of the unrelaxed modulus.

        Raises:
            InputError: some Q0 is below `minimum_q`, negative or not a number.
        """
        x = self._checked(inv_q).astype(np.float64)
        b, a = (c.reshape(-1, *(1,) * x.ndim) for c in self.coefficients.T)
        return x * (b + a * x)

    def modulus(self, f: ArrayLike, q: ArrayLike) -> Complexes:
        """Complex effective modulus M(f) / M_u at `f` (Hz) for Q0 = `q`, broadcast together.

        Raises:
            InputError: as `weights`.
        """
        f, q = np.broadcast_arrays(np.asarray(f, float), np.asarray(q, float))
        with np.errstate(divide="ignore"):
            w = self.weights(1 / q)
        stiffness = 1 - w / (1 + 2j * pi * np.multiply.outer(self.tau, f))
        return average_stiffness(stiffness, in_cells=self.in_cells)[0]

    def quality(self, f: ArrayLike, q: ArrayLike) -> Floats:
        """Q = Re M / Im M of waves of frequency `f` (Hz) for Q0 = `q`, broadcast together.

        Raises:
            InputError: as `weights`.
        """
        modulus = self.modulus(f, q)
        with np.errstate(divide="ignore"):
            return modulus.real / np.abs(modulus.imag)  # abs: -0.0 must not turn Q to -inf

    def target(self, f: ArrayLike, q: ArrayLike) -> Floats:
        """Target Q(f) at `f` (Hz) for Q0 = `q`, broadcast together."""
        return np.asarray(q) * np.maximum(1.0, np.asarray(f) / self.transition) ** self.exponent

    def modulus_ratio(self, inv_q: ArrayLike, f_ref: float) -> Floats:
        """Ratio M_u / (rho c^2) for which c is the phase velocity at `f_ref` (Hz).

        The phase velocity is 1 / Re sqrt(rho / M), hence M_u / (rho c^2) = (Re sqrt(M_u / M))^2.
        The ratio is interpolated in a table. `inv_q` is 1/Q0, any shape.

        Raises:
            InputError: as `weights`.
        """
        return np.interp(self._checked(inv_q), *_ratio_table(self, float(f_ref)))

    def _checked(self, inv_q: ArrayLike) -> Reals:
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
def _ratio_table(relaxation: Relaxation, f_ref: float) -> tuple[Floats, Floats]:
    inv_q = np.linspace(0.0, 1 / relaxation.minimum_q, _TABLE)
    with np.errstate(divide="ignore"):
        modulus = relaxation.modulus(f_ref, 1 / inv_q)
    return inv_q, np.real(modulus**-0.5) ** 2


def average_stiffness(stiffness: Complexes, *, in_cells: bool) -> tuple[Complexes, Complexes]:
    """The effective modulus of some stiffnesses (n, ...), and its derivatives by them (n, ...)."""
    count = len(stiffness)
    mean = np.mean(stiffness, axis=0)
    if not in_cells:
        return mean, np.full_like(stiffness, 1 / count)
    series = 1 / np.mean(1 / stiffness, axis=0)
    return (mean + series) / 2, (1 + (series / stiffness) ** 2) / (2 * count)
