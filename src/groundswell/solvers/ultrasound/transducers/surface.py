"""Surfaces of transducers, and their integration points.

Positions are (x, y, z) in m. A surface is divided into parts of equal size. Each integration point
represents one part.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import ceil, isfinite, pi, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, in_words

Vector = tuple[float, float, float]

GOLDEN_ANGLE = pi * (3 - sqrt(5))  # rad
ROUNDING = 1e-9  # by which a number of points may exceed a whole number


class Samples(NamedTuple):
    """Integration points of a surface.

    Attributes:
        points: positions, (n, 3), m.
        weights: area that each point represents, (n,), m^2; length, m, for a line; 1 for a point.
    """

    points: Floats
    weights: Floats


class Surface(ABC):
    """A surface, a line or a point that emits or receives sound.

    Attributes:
        dimension: 2 for a surface, 1 for a line, 0 for a point.
    """

    dimension: ClassVar[int] = 2

    @property
    @abstractmethod
    def measure(self) -> float:
        """Area, m^2; length, m, for a line; 1 for a point."""

    @property
    @abstractmethod
    def reference_point(self) -> Floats:
        """The point from which distances to a focus are measured, (3,), m."""

    @property
    def centre_of_curvature(self) -> Floats | None:
        """The geometric focus, (3,), m; None for a surface that is flat."""
        return None

    @property
    @abstractmethod
    def extent(self) -> tuple[Floats, Floats]:
        """Smallest and largest coordinates, (3,) each, m."""

    @abstractmethod
    def sample(self, step: float) -> Samples:
        """Evenly distributed integration points.

        Args:
            step: wanted distance between neighbours, m: a point has at most the area step^2.
        """


def describe(surface: Surface) -> str:
    """The kind of a surface with its article, such as "an arc"."""
    name = in_words(type(surface))
    return f"an {name}" if name[0] in "aeio" else f"a {name}"


def count_points(measure: float, size: float) -> int:
    """Number of equal parts of a line or a surface such that each has at most a given size."""
    return max(1, ceil(measure / size - ROUNDING))


def midpoints(count: int) -> Floats:
    """Midpoints of equal parts of the interval from 0 to 1, (count,)."""
    return (np.arange(count) + 0.5) / count


def equal_samples(points: Floats, measure: float) -> Samples:
    """Integration points that all represent parts of the same size."""
    return Samples(points, np.full(len(points), measure / len(points)))


def orthonormal_frame(normal: Floats) -> tuple[Floats, Floats]:
    """Unit vectors e1 and e2 for which (e1, e2, normal) is right-handed.

    e1 is the projection of the x axis, or the y axis if the unit vector `normal` is along x.
    """
    axis = np.array([1.0, 0.0, 0.0])
    if np.hypot(normal[1], normal[2]) < 1e-6:
        axis = np.array([0.0, 1.0, 0.0])
    across = axis - (axis @ normal) * normal
    first = across / np.linalg.norm(across)
    return first, np.cross(normal, first)


# --- validation -----------------------------------------------------------------------------------


def require_positive(owner: str, **lengths: float) -> None:
    """Check that lengths are positive.

    Raises:
        InputError: a length is zero, negative or not finite.
    """
    for name, value in lengths.items():
        if not (isfinite(value) and value > 0):
            raise InputError(
                f"{owner}: {name} = {value:g} m, but it must be positive; give a length in m"
            )


def as_position(owner: str, name: str, value: Vector) -> Floats:
    """A position or direction as an array, (3,).

    Raises:
        InputError: there are not three finite numbers.
    """
    vector = np.asarray(value, float)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(
            f"{owner}: {name} = {value}, but it must have three finite numbers; give (x, y, z)"
        )
    return vector


def as_direction(owner: str, name: str, value: Vector) -> Floats:
    """The unit vector along a vector, (3,).

    Raises:
        InputError: there are not three finite numbers, or all are zero.
    """
    vector = as_position(owner, name, value)
    length = np.linalg.norm(vector)
    if length == 0:
        raise InputError(
            f"{owner}: {name} = (0, 0, 0) m has no direction; give a vector that is not zero"
        )
    return np.asarray(vector / length)


def direction_to_focus(owner: str, apex: Vector, focus: Vector) -> Floats:
    """The unit vector from the apex of a curved surface towards its focus, (3,).

    Raises:
        InputError: the focus is the apex, or either is not a position.
    """
    away = as_position(owner, "focus", focus) - as_position(owner, "apex", apex)
    if not away.any():
        raise InputError(
            f"{owner}: focus = apex = {apex} m gives no direction; move the focus off the surface"
        )
    return np.asarray(away / np.linalg.norm(away))
