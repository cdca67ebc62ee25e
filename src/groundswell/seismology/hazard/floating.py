"""Ruptures that float over a simple fault, and ruptures around a point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.hazard.surfaces import Surface


@dataclass(frozen=True, eq=False)
class SimpleFault:
    """A fault that descends from a trace at a constant dip.

    Args:
        trace: points (n, 2) at the Earth's surface, m; the fault dips to the right.
        dip: angle to the horizontal, degrees.
        depths: of the upper and lower edge, m.
    """

    trace: Floats
    dip: float
    depths: tuple[float, float]

    @property
    def width(self) -> float:
        """Width down the dip, m."""
        return (self.depths[1] - self.depths[0]) / float(np.sin(np.radians(self.dip)))

    @cached_property
    def length(self) -> float:
        """Length of the trace, m."""
        return float(self._distances[-1])

    @cached_property
    def _distances(self) -> Floats:
        """Distance of each point of the trace from the first, along the trace, m."""
        steps = np.linalg.norm(np.diff(self.trace, axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(steps)])

    @cached_property
    def _down(self) -> Floats:
        """Unit vector down the dip, perpendicular to the line between the trace's ends."""
        east, north = self.trace[-1] - self.trace[0]
        across = np.array([north, -east]) / np.hypot(east, north)
        tilt = np.radians(self.dip)
        return np.array([*(np.cos(tilt) * across), np.sin(tilt)])

    def part(self, start: float, down: float, size: tuple[float, float]) -> Surface:
        """The part of the fault from a distance along the trace and one down the dip, m.

        Args:
            start: distance along the trace.
            down: distance from the upper edge, down the dip.
            size: length along the trace and width down the dip.
        """
        end = min(start + size[0], self.length)
        inner = self._distances[(self._distances > start) & (self._distances < end)]
        along = np.array([start, *inner, end])
        points = np.column_stack([np.interp(along, self._distances, c) for c in self.trace.T])
        upper = self.depths[0] / np.sin(np.radians(self.dip))  # from the trace, down the dip
        top = np.column_stack([points, np.zeros(len(points))]) + (upper + down) * self._down
        bottom = top + size[1] * self._down
        return Surface(np.stack([top[:-1], top[1:], bottom[1:], bottom[:-1]], axis=1))

    @property
    def whole(self) -> Surface:
        """The whole fault."""
        return self.part(0.0, 0.0, (self.length, self.width))

    def float_ruptures(self, area: float, aspect: float, spacing: float) -> Iterator[Surface]:
        """Yield evenly spaced ruptures of a given area that cover the fault.

        Ruptures wider than the fault become longer instead, but none is longer than the fault.

        Args:
            area: of a rupture, m^2.
            aspect: length over width.
            spacing: approximate largest distance between ruptures, m.
        """
        size = self.size_of(area, aspect)
        for down in _starts(self.width - size[1], spacing):
            for start in _starts(self.length - size[0], spacing):
                yield self.part(start, down, size)

    def count_ruptures(self, area: float, aspect: float, spacing: float) -> float:
        """The number of ruptures that `float_ruptures` yields."""
        length, width = self.size_of(area, aspect)
        return _count(self.width - width, spacing) * _count(self.length - length, spacing)

    def size_of(self, area: float, aspect: float) -> tuple[float, float]:
        """Length and width of a rupture, m."""
        return fitted(area, aspect, self.width, self.length)


def fitted(
    area: float, aspect: float, widest: float, longest: float = np.inf
) -> tuple[float, float]:
    """Length and width of a rupture of a given area, m, or of the largest one that fits."""
    width = min(float(np.sqrt(area / aspect)), widest)
    length = min(area / width, longest)
    return length, min(area / length, widest)


def _starts(room: float, spacing: float) -> Floats:
    """Even distances from 0 to `room`."""
    return np.linspace(0.0, max(room, 0.0), int(_count(room, spacing)))


def _count(room: float, spacing: float) -> float:
    """The number of even distances from 0 to `room`."""
    return float(np.ceil(max(room, 0.0) / spacing - 1e-9)) + 1


def around(
    centre: tuple[float, float, float],
    angles: tuple[float, float],
    size: tuple[float, float],
    depths: tuple[float, float],
) -> Surface:
    """A rectangle around a hypocentre, moved up or down to lie between two depths.

    Args:
        centre: x, y and z, m.
        angles: strike and dip, degrees.
        size: length and width, m; the width must fit between the depths.
        depths: upper and lower limit, m.
    """
    strike, dip = angles
    height = size[1] * np.sin(np.radians(dip))
    top = float(np.clip(centre[2] - height / 2, depths[0], max(depths[1] - height, depths[0])))
    turn, half = np.radians(strike), size[1] / 2 * np.cos(np.radians(dip))
    x, y = centre[0] - half * np.cos(turn), centre[1] + half * np.sin(turn)
    return Surface.rectangle((float(x), float(y), top), strike, dip, size)
