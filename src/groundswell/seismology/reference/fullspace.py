"""Waves of point sources in a homogeneous isotropic full space.

Aki and Richards (2002), Quantitative Seismology, equations 4.23 and 4.29. They hold in any
Cartesian frame, right- or left-handed, if source and offset are in the same frame.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.pulse import Pulse


def moment_velocity(
    space: HomogeneousMedium, moment: ArrayLike, offset: ArrayLike, time: ArrayLike, rate: Pulse
) -> Floats:
    """Velocity, m/s, (3, n), of a point source of moment rate `moment` times `rate`(time).

    Args:
        space: the solid.
        moment: (xx, yy, zz, xy, xz, yz) or a symmetric (3, 3) matrix, N m.
        offset: vector from source to receiver, m, (3,).
        time: times, s, (n,).
        rate: moment-rate function, 1/s; with its integral the result is the displacement, m.
    """
    vector, t = np.asarray(offset, dtype=float), np.asarray(time, dtype=float)
    r = float(np.linalg.norm(vector))
    g, matrix = vector / r, moment_matrix(moment)
    m = matrix @ g  # moment tensor times the ray direction
    along, trace = (g @ m) * g, np.trace(matrix) * g
    a, b = space.vp, space.vs
    after_p, after_s = t - r / a, t - r / b
    # The moment is the integral of the rate, hence order 0 in the near and intermediate fields. The
    # near field is the integral of s rate(t - s) over r/a < s < r/b, by parts: exact for a `Pulse`.
    near = r / a * rate(after_p, -1) - r / b * rate(after_s, -1)
    near = near + rate(after_p, -2) - rate(after_s, -2)
    terms = (
        np.outer(15.0 * along - 3.0 * trace - 6.0 * m, near) / r**4
        + np.outer(6.0 * along - trace - 2.0 * m, rate(after_p)) / (a * r) ** 2
        - np.outer(6.0 * along - trace - 3.0 * m, rate(after_s)) / (b * r) ** 2
        + np.outer(along, rate(after_p, 1)) / (a**3 * r)
        + np.outer(m - along, rate(after_s, 1)) / (b**3 * r)
    )
    return terms / (4.0 * np.pi * space.rho)


def force_velocity(
    space: HomogeneousMedium, force: ArrayLike, offset: ArrayLike, time: ArrayLike, amplitude: Pulse
) -> Floats:
    """Velocity, m/s, (3, n), of a point force `force` times `amplitude`(time).

    Args:
        space: the solid.
        force: vector, N, (3,).
        offset: vector from source to receiver, m, (3,).
        time: times, s, (n,).
        amplitude: dimensionless; with its integral the result is the displacement, m.
    """
    vector, t, f = (np.asarray(v, dtype=float) for v in (offset, time, force))
    r = float(np.linalg.norm(vector))
    g, a, b = vector / r, space.vp, space.vs
    along = (g @ f) * g
    after_p, after_s = t - r / a, t - r / b
    # The integral of s amplitude'(t - s) over r/a < s < r/b, by parts, as in `moment_velocity`.
    near = r / a * amplitude(after_p) - r / b * amplitude(after_s)
    near = near + amplitude(after_p, -1) - amplitude(after_s, -1)
    terms = (
        np.outer(3.0 * along - f, near) / r**3
        + np.outer(along, amplitude(after_p, 1)) / (a**2 * r)
        + np.outer(f - along, amplitude(after_s, 1)) / (b**2 * r)
    )
    return terms / (4.0 * np.pi * space.rho)


def explosion_velocity(
    space: HomogeneousMedium, moment: float, offset: ArrayLike, time: ArrayLike, rate: Pulse
) -> Floats:
    """Velocity, m/s, (3, n), of the moment rate `moment` times `rate`(time) of an explosion.

    It is `moment_velocity` of an isotropic moment, which does not depend on vs, and in a fluid the
    motion of a pressure source (Pierce 1981, Acoustics, section 4.3).

    Args:
        space: a solid or a fluid.
        moment: scalar moment, N m.
        offset, time, rate: see `moment_velocity`.
    """
    vector, t = np.asarray(offset, dtype=float), np.asarray(time, dtype=float)
    r, a = float(np.linalg.norm(vector)), space.vp
    radial = rate(t - r / a) / (a * r) ** 2 + rate(t - r / a, 1) / (a**3 * r)
    return np.outer(vector / r, moment / (4.0 * np.pi * space.rho) * radial)


def double_couple_tensor(strike: float, dip: float, rake: float, moment: float) -> Floats:
    """Moment tensor M0 (d n + n d) of slip d on a plane with the normal n, (3, 3).

    Axes are x east, y north, z down. Aki and Richards (2002), equations 4.88 and 4.89.

    Args:
        strike, dip, rake: degrees.
        moment: M0; the tensor has the same unit.
    """
    s, d, r = np.radians([strike, dip, rake])
    along, right = np.array([[np.sin(s), np.cos(s), 0.0], [np.cos(s), -np.sin(s), 0.0]])
    down = np.array([0.0, 0.0, 1.0])
    normal = np.sin(d) * right - np.cos(d) * down  # out of the footwall
    slip = np.cos(r) * along - np.sin(r) * (np.cos(d) * right + np.sin(d) * down)
    return moment * (np.outer(slip, normal) + np.outer(normal, slip))


def moment_matrix(moment: ArrayLike) -> Floats:
    """The symmetric (3, 3) matrix of a moment (xx, yy, zz, xy, xz, yz) or of such a matrix."""
    m = np.asarray(moment, dtype=float)
    return m[[[0, 3, 4], [3, 1, 5], [4, 5, 2]]] if m.shape == (6,) else m
