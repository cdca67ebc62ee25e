"""Curved surfaces: arcs in two dimensions; rings, bowls and annular arrays in three.

Each is a part of a circle or sphere, symmetric about an axis through its apex. The polar angle of a
point is measured at the centre of curvature, from the apex. The depth of a point is its distance
from the apex along the axis.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import asin, pi, sqrt

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, in_words
from groundswell.solvers.ultrasound.transducers.surface import (
    GOLDEN_ANGLE,
    Samples,
    Surface,
    Vector,
    count_points,
    direction_to_focus,
    equal_samples,
    midpoints,
    orthonormal_frame,
    require_positive,
)


def cap_depth(radius: float, diameter: float) -> float:
    """Depth of a cap of a sphere or a circle, m."""
    half = diameter / 2
    return half**2 / (radius + sqrt(radius**2 - half**2))


def _require_aperture(owner: str, radius: float, diameter: float) -> None:
    """Check that a radius of curvature allows a diameter."""
    if diameter > 2 * radius:
        raise InputError(
            f"{owner}: diameter = {diameter:g} m, but a radius of curvature of {radius:g} m allows "
            f"at most {2 * radius:g} m; reduce the diameter or increase the radius"
        )


@dataclass(frozen=True)
class Arc(Surface):
    """An arc of a circle in a plane of constant z, the two-dimensional form of a bowl.

    Args:
        apex: its midpoint, m.
        radius: radius of curvature, m.
        diameter: length of its chord, m.
        focus: a point on its axis with the z of the apex, on the side of the centre of curvature.

    Raises:
        InputError: a length is not positive, the diameter exceeds twice the radius, or the focus is
            the apex or has another z.
    """

    apex: Vector
    radius: float
    diameter: float
    focus: Vector

    dimension = 1

    def __post_init__(self) -> None:
        require_positive("arc", radius=self.radius, diameter=self.diameter)
        _require_aperture("arc", self.radius, self.diameter)
        if self._axis[2]:
            raise InputError(
                f"arc: focus z = {self.focus[2]:g} m, but it must be that of the apex, "
                f"{self.apex[2]:g} m; an arc lies in a plane of constant z"
            )

    @property
    def _axis(self) -> Floats:
        return direction_to_focus("arc", self.apex, self.focus)

    @property
    def centre_of_curvature(self) -> Floats:
        return np.asarray(np.array(self.apex, float) + self.radius * self._axis)

    @property
    def measure(self) -> float:
        return 2 * self.radius * _half_angle(self.radius, self.diameter)

    @property
    def reference_point(self) -> Floats:
        """The apex."""
        return np.array(self.apex, float)

    @property
    def extent(self) -> tuple[Floats, Floats]:
        low, high = _unit_extent(self._axis, 0.0, self.measure / (2 * self.radius))
        low[2] = high[2] = 0.0
        centre = self.centre_of_curvature
        return centre + self.radius * low, centre + self.radius * high

    def sample(self, step: float) -> Samples:
        along = midpoints(count_points(self.measure, step)) - 0.5
        angle = along * self.measure / self.radius
        axis = self._axis
        across = np.array([-axis[1], axis[0], 0.0])
        depth = 2 * np.sin(angle / 2) ** 2
        offsets = depth[:, None] * axis + np.sin(angle)[:, None] * across
        return equal_samples(self.reference_point + self.radius * offsets, self.measure)


class SphericalSurface(Surface):
    """The part of a sphere between two circles around its axis."""

    apex: Vector
    radius: float
    focus: Vector

    @property
    @abstractmethod
    def circles(self) -> tuple[float, float]:
        """Diameters of the inner and the outer circle, m; the inner one may be 0."""

    def _validate(self) -> None:
        owner, (inner, outer) = in_words(type(self)), self.circles
        require_positive(owner, radius=self.radius, diameter=outer)
        _require_aperture(owner, self.radius, outer)
        direction_to_focus(owner, self.apex, self.focus)
        if not 0 <= inner < outer:
            raise InputError(
                f"{owner}: inner = {inner:g} m, but it must be at least 0 and less than the outer "
                f"diameter, {outer:g} m; reduce it, or exchange the two"
            )

    @property
    def _axis(self) -> Floats:
        return direction_to_focus(in_words(type(self)), self.apex, self.focus)

    @property
    def centre_of_curvature(self) -> Floats:
        return np.asarray(np.array(self.apex, float) + self.radius * self._axis)

    @property
    def _depths(self) -> tuple[float, float]:
        """Depths of the two circles, m."""
        inner, outer = self.circles
        return cap_depth(self.radius, inner), cap_depth(self.radius, outer)

    @property
    def measure(self) -> float:
        shallow, deep = self._depths
        return 2 * pi * self.radius * (deep - shallow)

    @property
    def reference_point(self) -> Floats:
        """A point on the circle that halves the area; the apex if there is no inner circle."""
        shallow, deep = self._depths
        depth = (shallow + deep) / 2 if shallow else 0.0
        return np.asarray(self._points_at(np.array([depth]), np.zeros(1))[0])

    @property
    def extent(self) -> tuple[Floats, Floats]:
        inner, outer = (_half_angle(self.radius, diameter) for diameter in self.circles)
        low, high = _unit_extent(self._axis, inner, outer)
        centre = self.centre_of_curvature
        return centre + self.radius * low, centre + self.radius * high

    def sample(self, step: float) -> Samples:
        """Points on a golden-angle spiral, at equal steps of depth and therefore of area."""
        count = count_points(self.measure, step**2)
        shallow, deep = self._depths
        depth = shallow + (deep - shallow) * midpoints(count)
        return equal_samples(
            self._points_at(depth, GOLDEN_ANGLE * np.arange(count, dtype=float)), self.measure
        )

    def _points_at(self, depth: Floats, azimuth: Floats) -> Floats:
        """Positions, (n, 3), m, of depths (m) and azimuths about the axis (rad)."""
        first, second = orthonormal_frame(self._axis)
        away = np.sqrt(depth * (2 * self.radius - depth))
        across = np.cos(azimuth)[:, None] * first + np.sin(azimuth)[:, None] * second
        return np.asarray(self.apex) + depth[:, None] * self._axis + away[:, None] * across


@dataclass(frozen=True)
class Bowl(SphericalSurface):
    """A cap of a sphere, such as a focused single-element transducer.

    Args:
        apex: its deepest point, m.
        radius: radius of curvature, m.
        diameter: diameter of its aperture, m.
        focus: a point on the axis, on the side of the centre of curvature, m. It gives only the
            direction: the geometric focus is at the distance `radius` from the apex.

    Raises:
        InputError: a length is not positive, the diameter exceeds twice the radius, or the focus is
            the apex.
    """

    apex: Vector
    radius: float
    diameter: float
    focus: Vector

    def __post_init__(self) -> None:
        self._validate()

    @property
    def circles(self) -> tuple[float, float]:
        return 0.0, self.diameter


@dataclass(frozen=True)
class Ring(SphericalSurface):
    """The part of a bowl between two circles around its axis.

    Args:
        apex: apex of the bowl, m.
        radius: radius of curvature, m.
        inner, outer: diameters of the circles, m; the inner one may be 0.
        focus: a point on the axis, on the side of the centre of curvature, m; see `Bowl`.

    Raises:
        InputError: a length is not positive, the outer diameter exceeds twice the radius or does
            not exceed the inner one, or the focus is the apex.
    """

    apex: Vector
    radius: float
    inner: float
    outer: float
    focus: Vector

    def __post_init__(self) -> None:
        self._validate()

    @property
    def circles(self) -> tuple[float, float]:
        return self.inner, self.outer


@dataclass(frozen=True)
class AnnularArray:
    """Concentric rings of one bowl.

    Args:
        apex: apex of the bowl, m.
        radius: radius of curvature, m.
        diameters: inner and outer diameter of each ring, from the innermost to the outermost, m.
        focus: a point on the axis, on the side of the centre of curvature, m.

    Raises:
        InputError: there is no ring, a ring is invalid, or a ring overlaps the one before.
    """

    apex: Vector
    radius: float
    diameters: tuple[tuple[float, float], ...]
    focus: Vector

    def __post_init__(self) -> None:
        if not self.diameters:
            raise InputError(
                "annular array: diameters = () has no ring; give (inner, outer) in m for each"
            )
        _ = self.elements  # the rings validate themselves
        for number, (before, ring) in enumerate(
            zip(self.diameters, self.diameters[1:], strict=False), start=2
        ):
            if ring[0] < before[1]:
                raise InputError(
                    f"annular array: ring {number} has the inner diameter {ring[0]:g} m, but ring "
                    f"{number - 1} has the outer diameter {before[1]:g} m; list rings that do not "
                    "overlap, from the innermost to the outermost"
                )

    @property
    def elements(self) -> tuple[Ring, ...]:
        """The rings."""
        return tuple(
            Ring(self.apex, self.radius, inner, outer, self.focus)
            for inner, outer in self.diameters
        )


def _half_angle(radius: float, diameter: float) -> float:
    """Polar angle of a circle of a given diameter, rad."""
    return asin(min(diameter / (2 * radius), 1.0))


def _unit_extent(axis: Floats, inner: float, outer: float) -> tuple[Floats, Floats]:
    """Smallest and largest coordinates of a part of the unit sphere at the origin, (3,) each.

    Args:
        axis: unit vector from the apex to the centre.
        inner, outer: polar angles between which the part lies, rad.
    """

    def farthest(cosines: Floats) -> Floats:
        """Largest components along directions, given the cosines of their angles to the apex."""
        angle = np.arccos(np.clip(cosines, -1, 1))
        return np.asarray(np.cos(np.clip(np.maximum(inner - angle, angle - outer), 0, None)))

    return -farthest(axis), farthest(-axis)
