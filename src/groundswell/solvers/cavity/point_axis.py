"""The points along an axis of the box: positions, distances and coefficients of differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from groundswell.arrays import Floats
from groundswell.solvers.cavity.stretching import Map


class End(NamedTuple):
    """An end of an axis.

    Args:
        first: distance of the first point, m.
        ratio: that of the second point over it: 2 at walls and 3 at planes of symmetry if points
            are evenly spaced.
        is_wall: whether it is a wall; otherwise a plane of symmetry, or open.
    """

    first: float
    ratio: float
    is_wall: bool

    @property
    def second(self) -> float:
        """Distance of the second point, m."""
        return self.first * self.ratio

    def slope(self, at_end: Floats, first: Floats, second: Floats) -> Floats:
        """The gradient at the end of the parabola through it and two points, inwards, per m."""
        square = self.ratio * self.ratio
        return np.asarray(
            (square * first - (square - 1) * at_end - second) / (self.second * (self.ratio - 1))
        )


@dataclass(frozen=True)
class PointAxis:
    """The stored points along an axis. Walls and the ends of the box are not stored.

    Args:
        size: of the box, m.
        points: number of stored points.
        offsets: distances from both ends to the next stored point, in spacings, of evenly spaced
            points: 1 at walls, 0.5 at planes of symmetry; 0 and 1 if the axis is periodic.
        mapping: from even fractions of the length to those of the points; None: even points.
    """

    size: float
    points: int
    offsets: tuple[float, float]
    mapping: Map | None = None

    @property
    def is_stretched(self) -> bool:
        """Whether the points are not evenly spaced."""
        return self.mapping is not None

    @property
    def is_periodic(self) -> bool:
        """Whether the first point follows the last one."""
        return self.offsets[0] == 0.0

    @property
    def spacing(self) -> float:
        """Mean distance of neighbours, m."""
        return self.size / (self.points - 1 + sum(self.offsets))

    @cached_property
    def even_positions(self) -> Floats:
        """Positions of as many points with even distances, m."""
        return np.asarray(self.spacing * (self.offsets[0] + np.arange(self.points)), np.float64)

    @cached_property
    def positions(self) -> Floats:
        """Positions of the stored points, m."""
        if self.mapping is None:
            return self.even_positions
        return np.asarray(self.size * self.mapping(self.even_positions / self.size))

    @cached_property
    def distances(self) -> tuple[Floats, Floats]:
        """Distances to the neighbours before and after each point, m.

        Those of the outermost points are walls, or their images in planes of symmetry.
        """
        if self.mapping is None:
            even = np.full(self.points, self.spacing)
            return even, even
        inner = np.diff(self.positions)
        low, high = self.positions[0], self.size - self.positions[-1]
        all_ = np.array([low / self.offsets[0], *inner, high / self.offsets[1]])
        if np.allclose(all_, all_[::-1], rtol=1e-9, atol=0):  # to the last bit, then
            all_ = (all_ + all_[::-1]) / 2
        return all_[:-1], all_[1:]

    @property
    def lengths(self) -> Floats:
        """Lengths of the cells of points, without half cells on walls, over the mean spacing."""
        if self.mapping is None:
            return np.ones(self.points)
        return np.asarray(sum(self.distances) / (2 * self.spacing))

    @property
    def end_lengths(self) -> tuple[float, float]:
        """Lengths of the half cells on both walls over the mean spacing; 0 at other ends."""
        low, high = (
            0.5 * end.first / self.spacing * end.is_wall for end in (self.end(0), self.end(1))
        )
        return low, high

    def end(self, high: int) -> End:
        """The low or the high end."""
        offset = self.offsets[high]
        is_wall = offset == 1.0 and not self.is_periodic
        if self.mapping is None:
            ratio = (offset + 1) / offset if offset else np.inf
            return End(offset * self.spacing, ratio, is_wall)
        before, after = self.distances
        first, inner = (after[-1], before[-1]) if high else (before[0], after[0])
        first = float(first) * offset
        return End(first, (first + float(inner)) / first, is_wall)

    def points_within(self, distance: float) -> float:
        """Number of spacings, counted from the wall with the fewest, within a distance of it."""
        if self.mapping is None:
            return distance / self.spacing
        steps = np.arange(self.points) + self.offsets[0], self.offsets[1] + np.arange(self.points)
        aways = self.positions, self.size - self.positions[::-1]
        walls = [end for end in (0, 1) if self.offsets[end] == 1.0]
        return min(
            float(np.interp(distance, [0.0, *aways[n]], [0.0, *steps[n]])) for n in walls or (0, 1)
        )

    def extended(self, beyond: int) -> Floats:
        """Positions of the points and of some more at each end, m.

        They are at equal distances beyond walls, and mirrored beyond planes of symmetry.
        """
        if self.mapping is None:
            steps = self.spacing * np.arange(1, beyond + 1)
            inner = self.positions
            return np.concatenate([inner[0] - steps[::-1], inner, inner[-1] + steps])
        low, high = self.end(0), self.end(1)
        inner = self.positions
        counts = np.arange(float(beyond))
        before = low.first * counts if low.is_wall else inner[:beyond]
        after = high.first * counts if high.is_wall else self.size - inner[::-1][:beyond]
        return np.concatenate([-before[::-1], inner, self.size + after])

    def index(self, position: float) -> float:
        """A position in the box as an index among the points, with a fraction between them."""
        return float(np.interp(position, self.extended(1), np.arange(-1.0, self.points + 1)))

    @property
    def largest_ratio(self) -> float:
        """Largest ratio of the lengths of neighbouring intervals; 1 with even points."""
        before, after = self.distances
        return float(np.maximum(after / before, before / after).max())

    @property
    def extremes(self) -> tuple[float, float]:
        """The shortest and the longest distance of neighbours, m."""
        both = np.concatenate(self.distances)
        return float(both.min()), float(both.max())

    @cached_property
    def metric(self) -> Floats:
        """Coefficients of differences (4, points), as `Node` of kernels/metric.h describes them."""
        before, after = self.distances
        both = before + after
        push = 1 / both
        for n, inner, high in ((0, after, 0), (-1, before, 1)):
            if self.end(high).is_wall:
                push[n] = 0.5 / inner[n]
        return np.array([1 / both, push, 2 / (before * both), 2 / (after * both)])
