"""Seismic moment tensors and their transformation between frames.

A tensor is an array (..., 6) in N m of (xx, yy, zz, xy, xz, yz) in the frame of the grid: x east, y
north, z down, rotated about the vertical so that y points `azimuth` degrees clockwise from north.
Strike, dip and rake follow Aki & Richards (2002), Quantitative Seismology, 2nd edition, section
4.3: strike clockwise from north with the fault dipping to its right, dip from the horizontal, rake
in the fault plane from strike, positive when the hanging wall moves up.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Mask
from groundswell.errors import InputError

ROUNDING = 1e-9  # largest part of a moment that is not isotropic because of rounding
_ROWS, _COLUMNS = np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2])
_INDEX = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])


def slip_direction(strike: ArrayLike, dip: ArrayLike, rake: ArrayLike) -> Floats:
    """Unit slip vector of the hanging wall, (..., 3) as (north, east, down).

    Aki & Richards (2002), section 4.3. Angles are in degrees and broadcast together.
    """
    phi, delta, lam = (np.radians(angle) for angle in np.broadcast_arrays(strike, dip, rake))
    across = np.cos(delta) * np.sin(lam)
    north = np.cos(lam) * np.cos(phi) + across * np.sin(phi)
    east = np.cos(lam) * np.sin(phi) - across * np.cos(phi)
    return np.stack([north, east, -np.sin(lam) * np.sin(delta)], axis=-1)


def fault_normal(strike: ArrayLike, dip: ArrayLike) -> Floats:
    """Unit normal from the footwall to the hanging wall, (..., 3) as (north, east, down).

    Aki & Richards (2002), section 4.3. Angles are in degrees.
    """
    phi, delta = (np.radians(angle) for angle in np.broadcast_arrays(strike, dip))
    return np.stack(
        [-np.sin(delta) * np.sin(phi), np.sin(delta) * np.cos(phi), -np.cos(delta)], axis=-1
    )


def double_couple(
    strike: ArrayLike,
    dip: ArrayLike,
    rake: ArrayLike,
    moment: ArrayLike = 1.0,
    azimuth: float = 0.0,
) -> Floats:
    """Double couple M = M0 (s n^T + n s^T) in the frame of the grid, (..., 6).

    Args:
        strike, dip, rake: degrees.
        moment: scalar moment M0 = mu A D, rigidity times area times slip, N m.
        azimuth: direction of the y axis of the grid, degrees clockwise from north.
    """
    slip, normal = slip_direction(strike, dip, rake), fault_normal(strike, dip)
    couple = _outer(slip, normal) + _outer(normal, slip)
    return _to_grid(np.asarray(moment)[..., None, None] * couple, azimuth)


def opening(
    strike: ArrayLike,
    dip: ArrayLike,
    potency: ArrayLike,
    lam: ArrayLike,
    mu: ArrayLike,
    azimuth: float = 0.0,
) -> Floats:
    """Tensile crack M = A D (lambda I + 2 mu n n^T) in the frame of the grid, (..., 6).

    Aki & Richards (2002), section 3.3, for an isotropic body.

    Args:
        strike, dip: degrees.
        potency: area times opening A D, m^3.
        lam, mu: Lame parameters, Pa.
        azimuth: direction of the y axis of the grid, degrees clockwise from north.
    """
    normal = fault_normal(strike, dip)
    lam, mu, potency = (np.asarray(value)[..., None, None] for value in (lam, mu, potency))
    return _to_grid(potency * (lam * np.eye(3) + 2 * mu * _outer(normal, normal)), azimuth)


def explosion(moment: ArrayLike) -> Floats:
    """Isotropic tensor M = M0 I, (..., 6); `moment` M0 (N m) is each of its diagonal elements."""
    return np.asarray(moment, dtype=float)[..., None] * np.array([1.0, 1, 1, 0, 0, 0])


def from_ned(components: Iterable[float], azimuth: float = 0.0) -> Floats:
    """Transform a tensor nn, ee, dd, ne, nd, ed (n north, e east, d down) to the grid's, (6,)."""
    nn, ee, dd, ne, nd, ed = components
    return _to_grid(np.array([[nn, ne, nd], [ne, ee, ed], [nd, ed, dd]], dtype=float), azimuth)


def from_rtp(components: Iterable[float], azimuth: float = 0.0) -> Floats:
    """Transform a tensor rr, tt, pp, rt, rp, tp of Global CMT to the frame of the grid, (6,).

    Up is r, south t and east p. Dziewonski, Chou & Woodhouse (1981), J. Geophys. Res. 86,
    2825-2852.
    """
    rr, tt, pp, rt, rp, tp = components
    return from_ned((tt, pp, rr, -tp, rt, -rp), azimuth)


def to_rtp(tensor: ArrayLike, azimuth: float = 0.0) -> Floats:
    """Transform a tensor in the frame of the grid to that of Global CMT; inverse of `from_rtp`.

    Returns:
        The components rr, tt, pp, rt, rp, tp, (6,).
    """
    axes = _axes(azimuth)
    nn, ee, dd, ne, nd, ed = (axes.T @ as_matrix(tensor) @ axes)[_ROWS, _COLUMNS]
    return np.array([dd, nn, ee, nd, -ed, -ne])


def as_matrix(tensor: ArrayLike) -> Floats:
    """Convert tensors (..., 6) to symmetric matrices (..., 3, 3)."""
    return np.asarray(tensor, dtype=float)[..., _INDEX]


def scalar_moment(tensor: ArrayLike) -> Floats:
    """Scalar moment M0 = sqrt(M_ij M_ij / 2), N m, (...).

    Silver & Jordan (1982), Geophys. J. R. astr. Soc. 70, 755. For an isotropic tensor with diagonal
    elements M it is sqrt(3/2) M.
    """
    return np.sqrt(0.5 * np.sum(as_matrix(tensor) ** 2, axis=(-2, -1)))


def moment_from_magnitude(magnitude: float) -> float:
    """Scalar moment M0 = 10^(1.5 Mw + 9.1) N m.

    Hanks & Kanamori (1979), J. Geophys. Res. 84, 2348-2350, with the constant of the IASPEI
    Working Group on Magnitudes (2013).
    """
    return float(10.0 ** (1.5 * magnitude + 9.1))


def magnitude_from_moment(moment: float) -> float:
    """Magnitude Mw = (log10 M0 - 9.1) / 1.5; inverse of `moment_from_magnitude`.

    Raises:
        InputError: the moment (N m) is not positive.
    """
    if not moment > 0:
        raise InputError(f"moment = {moment} N m has no magnitude; it must be positive")
    return float((np.log10(moment) - 9.1) / 1.5)


def _outer(a: Floats, b: Floats) -> Floats:
    return a[..., :, None] * b[..., None, :]


def _to_grid(ned: Floats, azimuth: float) -> Floats:
    """Rotate matrices (..., 3, 3) from (north, east, down) to the frame of the grid: (..., 6)."""
    axes = _axes(azimuth)
    return (axes @ ned @ axes.T)[..., _ROWS, _COLUMNS]


def _axes(azimuth: float) -> Floats:
    """The axes of the grid as rows (north, east, down), (3, 3)."""
    theta = np.radians(azimuth)
    return np.array(
        [
            [-np.sin(theta), np.cos(theta), 0.0],  # x, a right angle clockwise from y
            [np.cos(theta), np.sin(theta), 0.0],  # y
            [0.0, 0.0, 1.0],  # z, down
        ]
    )


def has_shear(moments: ArrayLike) -> Mask:
    """Which moments (xx, yy, zz, xy, xz, yz), (..., 6), are not isotropic."""
    given = np.asarray(moments, float)
    mean = given[..., :3].mean(axis=-1, keepdims=True)
    deviation = np.abs(given - mean * [1, 1, 1, 0, 0, 0]).max(axis=-1)
    return np.asarray(deviation > ROUNDING * np.abs(given).max(axis=-1))
