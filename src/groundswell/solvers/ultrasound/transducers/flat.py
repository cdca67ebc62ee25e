"""Points, lines and plane surfaces."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, radians, sin

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.transducers.surface import (
    GOLDEN_ANGLE,
    Samples,
    Surface,
    Vector,
    as_direction,
    as_position,
    count_points,
    equal_samples,
    midpoints,
    orthonormal_frame,
    require_positive,
)


@dataclass(frozen=True)
class Point(Surface):
    """A point, m.

    Raises:
        InputError: the position is not three finite numbers.
    """

    position: Vector

    dimension = 0

    def __post_init__(self) -> None:
        as_position("point", "position", self.position)

    @property
    def measure(self) -> float:
        return 1.0

    @property
    def reference_point(self) -> Floats:
        return np.array(self.position, float)

    @property
    def extent(self) -> tuple[Floats, Floats]:
        return self.reference_point, self.reference_point

    def sample(self, step: float) -> Samples:
        return equal_samples(self.reference_point[None], self.measure)


@dataclass(frozen=True)
class Line(Surface):
    """A straight line between two points, m.

    Raises:
        InputError: the points coincide, or are not three finite numbers each.
    """

    start: Vector
    end: Vector

    dimension = 1

    def __post_init__(self) -> None:
        start, end = self._ends
        if np.array_equal(start, end):
            raise InputError(
                f"line: start = end = {self.start} m has no length; give two points, or use a point"
            )

    @property
    def _ends(self) -> tuple[Floats, Floats]:
        return as_position("line", "start", self.start), as_position("line", "end", self.end)

    @property
    def measure(self) -> float:
        start, end = self._ends
        return float(np.linalg.norm(end - start))

    @property
    def reference_point(self) -> Floats:
        """The middle."""
        start, end = self._ends
        return (start + end) / 2

    @property
    def extent(self) -> tuple[Floats, Floats]:
        return np.minimum(*self._ends), np.maximum(*self._ends)

    def sample(self, step: float) -> Samples:
        start, end = self._ends
        along = midpoints(count_points(self.measure, step))
        return equal_samples(start + along[:, None] * (end - start), self.measure)


@dataclass(frozen=True)
class Rectangle(Surface):
    """A plane rectangle.

    Before the rotation, the width is along the projection of the x axis onto the rectangle, or
    along y if the normal is along x. Width, height and normal form a right-handed system.

    Args:
        centre: its centre, m.
        width, height: edges, m.
        normal: direction in which it faces, of any length.
        rotation: angle about the normal, from width towards height, degrees.

    Raises:
        InputError: an edge is not positive, or the normal is zero.
    """

    centre: Vector
    width: float
    height: float
    normal: Vector = (0.0, 0.0, 1.0)
    rotation: float = 0.0

    def __post_init__(self) -> None:
        as_position("rectangle", "centre", self.centre)
        as_direction("rectangle", "normal", self.normal)
        require_positive("rectangle", width=self.width, height=self.height)
        if not np.isfinite(self.rotation):
            raise InputError(
                f"rectangle: rotation = {self.rotation}, but it must be finite; give degrees"
            )

    @property
    def _edges(self) -> tuple[Floats, Floats]:
        """Vectors along the width and the height, m."""
        first, second = orthonormal_frame(as_direction("rectangle", "normal", self.normal))
        angle = radians(self.rotation)
        along = cos(angle) * first + sin(angle) * second
        across = cos(angle) * second - sin(angle) * first
        return self.width * along, self.height * across

    @property
    def measure(self) -> float:
        return self.width * self.height

    @property
    def reference_point(self) -> Floats:
        """The centre."""
        return np.array(self.centre, float)

    @property
    def extent(self) -> tuple[Floats, Floats]:
        half = np.sum(np.abs(self._edges), axis=0) / 2
        return self.reference_point - half, self.reference_point + half

    def sample(self, step: float) -> Samples:
        """Midpoints of equal small rectangles."""
        u = midpoints(count_points(self.width, step)) - 0.5
        v = midpoints(count_points(self.height, step)) - 0.5
        offsets = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
        return equal_samples(self.reference_point + offsets @ np.array(self._edges), self.measure)


@dataclass(frozen=True)
class Disc(Surface):
    """A plane disc, such as a circular piston.

    Args:
        centre: its centre, m.
        diameter: its diameter, m.
        normal: direction in which it faces, of any length.

    Raises:
        InputError: the diameter is not positive, or the normal is zero.
    """

    centre: Vector
    diameter: float
    normal: Vector = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        as_position("disc", "centre", self.centre)
        as_direction("disc", "normal", self.normal)
        require_positive("disc", diameter=self.diameter)

    @property
    def measure(self) -> float:
        return pi * self.diameter**2 / 4

    @property
    def reference_point(self) -> Floats:
        """The centre."""
        return np.array(self.centre, float)

    @property
    def extent(self) -> tuple[Floats, Floats]:
        normal = as_direction("disc", "normal", self.normal)
        half = self.diameter / 2 * np.sqrt(np.clip(1 - normal**2, 0, None))
        return self.reference_point - half, self.reference_point + half

    def sample(self, step: float) -> Samples:
        """Points on a golden-angle spiral, in rings of equal area (Vogel 1979)."""
        count = count_points(self.measure, step**2)
        radius = self.diameter / 2 * np.sqrt(midpoints(count))
        angle = GOLDEN_ANGLE * np.arange(count)
        first, second = orthonormal_frame(as_direction("disc", "normal", self.normal))
        offsets = np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second
        return equal_samples(self.reference_point + radius[:, None] * offsets, self.measure)
