"""Waves of a point force and of a point moment tensor in a homogeneous isotropic full space.

Stokes' solution, Aki and Richards (2002), Quantitative Seismology, equations 4.23 (force) and 4.29
(moment tensor). Both hold in any Cartesian frame, right- or left-handed, if moment, force and
offset are in the same frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.errors import InputError
from groundswell.seismology.reference.pulse import Floats, Pulse


@dataclass(frozen=True)
class FullSpace:
    """A homogeneous isotropic elastic solid: wave speeds (m/s) and density (kg/m^3).

    Raises:
        InputError: the properties are not those of a solid.
    """

    vp: float
    vs: float
    rho: float

    def __post_init__(self) -> None:
        if not (self.vp > self.vs > 0 and self.rho > 0):
            raise InputError(
                f"full space: vp {self.vp:g}, vs {self.vs:g} m/s, rho {self.rho:g} kg/m^3; "
                f"needs vp > vs > 0 and rho > 0"
            )


def force_displacement(
    space: FullSpace, force: ArrayLike, offset: ArrayLike, time: ArrayLike, function: Pulse
) -> Floats:
    """Displacement, m, (3, n), of the point force `force` times `function`(time).

    Args:
        force: force, N, (3,).
        offset: vector from source to receiver, m, (3,).
        time: times, s, (n,).

    Raises:
        InputError: the offset is zero.
    """
    return _force_field(space, force, offset, time, function, 0)


def force_velocity(
    space: FullSpace, force: ArrayLike, offset: ArrayLike, time: ArrayLike, function: Pulse
) -> Floats:
    """Velocity, m/s, (3, n); arguments as of `force_displacement`."""
    return _force_field(space, force, offset, time, function, 1)


def moment_displacement(
    space: FullSpace, moment: ArrayLike, offset: ArrayLike, time: ArrayLike, rate: Pulse
) -> Floats:
    """Displacement, m, (3, n), of a point source of moment rate `moment` times `rate`(time).

    Args:
        moment: (xx, yy, zz, xy, xz, yz) or a symmetric (3, 3) matrix, N m.
        offset: vector from source to receiver, m, (3,).
        time: times, s, (n,).
        rate: moment-rate function, 1/s.

    Raises:
        InputError: the offset is zero or the moment is not symmetric.
    """
    return _moment_field(space, moment, offset, time, rate, 0)


def moment_velocity(
    space: FullSpace, moment: ArrayLike, offset: ArrayLike, time: ArrayLike, rate: Pulse
) -> Floats:
    """Velocity, m/s, (3, n); arguments as of `moment_displacement`."""
    return _moment_field(space, moment, offset, time, rate, 1)


def moment_matrix(moment: ArrayLike) -> Floats:
    """The symmetric (3, 3) matrix of a moment (xx, yy, zz, xy, xz, yz) or of such a matrix.

    Raises:
        InputError: the moment has another shape or is not symmetric.
    """
    m = np.asarray(moment, dtype=float)
    if m.shape == (6,):
        return m[[[0, 3, 4], [3, 1, 5], [4, 5, 2]]]
    if m.shape != (3, 3) or not np.allclose(m, m.T, rtol=1e-12, atol=0.0):
        raise InputError(
            f"moment {m.tolist()}: must be (xx, yy, zz, xy, xz, yz) or a symmetric 3 x 3 matrix"
        )
    return m


def _force_field(
    space: FullSpace,
    force: ArrayLike,
    offset: ArrayLike,
    time: ArrayLike,
    function: Pulse,
    order: int,
) -> Floats:
    r, g = _distance_and_direction(offset)
    f = np.asarray(force, dtype=float)
    along = (g @ f) * g
    after_p, after_s = _times_after_arrival(space, r, time)
    terms = (
        np.outer(3.0 * along - f, _near_field(space, r, time, function, order)) / r**3
        + np.outer(along, function(after_p, order)) / (space.vp**2 * r)
        + np.outer(f - along, function(after_s, order)) / (space.vs**2 * r)
    )
    return terms / (4.0 * np.pi * space.rho)


def _moment_field(
    space: FullSpace, moment: ArrayLike, offset: ArrayLike, time: ArrayLike, rate: Pulse, order: int
) -> Floats:
    r, g = _distance_and_direction(offset)
    matrix = moment_matrix(moment)
    m = matrix @ g  # moment tensor times the ray direction
    along, trace = (g @ m) * g, np.trace(matrix) * g
    after_p, after_s = _times_after_arrival(space, r, time)
    a, b = space.vp, space.vs
    # The moment is the integral of the rate, hence order - 1 in the near and intermediate fields.
    terms = (
        np.outer(15.0 * along - 3.0 * trace - 6.0 * m, _near_field(space, r, time, rate, order - 1))
        / r**4
        + np.outer(6.0 * along - trace - 2.0 * m, rate(after_p, order - 1)) / (a * r) ** 2
        - np.outer(6.0 * along - trace - 3.0 * m, rate(after_s, order - 1)) / (b * r) ** 2
        + np.outer(along, rate(after_p, order)) / (a**3 * r)
        + np.outer(m - along, rate(after_s, order)) / (b**3 * r)
    )
    return terms / (4.0 * np.pi * space.rho)


def _near_field(space: FullSpace, r: float, time: ArrayLike, function: Pulse, order: int) -> Floats:
    """The integral of s f(t - s) over r/vp < s < r/vs, by parts: exact for a `Pulse`."""
    after_p, after_s = _times_after_arrival(space, r, time)
    once = r / space.vp * function(after_p, order - 1) - r / space.vs * function(after_s, order - 1)
    return once + function(after_p, order - 2) - function(after_s, order - 2)


def _times_after_arrival(space: FullSpace, r: float, time: ArrayLike) -> tuple[Floats, Floats]:
    t = np.asarray(time, dtype=float)
    return t - r / space.vp, t - r / space.vs


def _distance_and_direction(offset: ArrayLike) -> tuple[float, Floats]:
    vector = np.asarray(offset, dtype=float)
    r = float(np.linalg.norm(vector))
    if vector.shape != (3,) or not r > 0:
        raise InputError(f"offset {vector.tolist()} m: must be three numbers, not all zero")
    return r, vector / r
