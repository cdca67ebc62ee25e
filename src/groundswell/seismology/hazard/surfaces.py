"""Surfaces of ruptures, and the distances to them that ground-motion models use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats

_TINY = 1e-9  # m^2; degenerate edges and triangles have smaller squares


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances of sites (n,) to a rupture, m.

    Args:
        rupture: the shortest distance to the surface of the rupture.
        joyner_boore: the shortest distance to its projection to the Earth's surface.
        across: the distance from the top edge, extended to both sides, across the strike; positive
            on the hanging wall.
        along: the distance beyond the ends of the rupture along the strike; 0 beside it.
    """

    rupture: Floats
    joyner_boore: Floats
    across: Floats
    along: Floats


@dataclass(frozen=True, eq=False)
class Surface:
    """The surface of a rupture: panels (n, 4, 3), side by side along the strike.

    Corners are in m, `x` to the east, `y` to the north and `z` down. The order is top edge, from
    the start to the end of the strike, then bottom edge, from its end to its start. The right-hand
    side of the strike is the hanging wall.
    """

    panels: Floats

    @classmethod
    def rectangle(
        cls, top: tuple[float, float, float], strike: float, dip: float, size: tuple[float, float]
    ) -> Surface:
        """A rectangle by the centre of its top edge (m), its angles (degrees), length and width.

        Args:
            top: x, y and z of the centre of the top edge, m.
            strike: direction of the top edge, degrees clockwise from north.
            dip: angle to the horizontal, degrees.
            size: length along the strike and width down the dip, m.
        """
        turn, tilt = np.radians(strike), np.radians(dip)
        along = size[0] / 2 * np.array([np.sin(turn), np.cos(turn), 0.0])
        across = np.array([np.cos(turn), -np.sin(turn), 0.0])
        down = size[1] * (np.cos(tilt) * across + np.sin(tilt) * np.array([0.0, 0.0, 1.0]))
        start, end = np.array(top) - along, np.array(top) + along
        return cls(np.array([[start, end, end + down, start + down]]))

    @cached_property
    def strike(self) -> float:
        """Direction from the first to the last point of the top edge, degrees from north."""
        east, north, _ = self.panels[-1, 1] - self.panels[0, 0]
        return float(np.degrees(np.arctan2(east, north)) % 360.0)

    @property
    def top_depth(self) -> float:
        """Depth of the highest point, m."""
        return float(self.panels[..., 2].min())

    @cached_property
    def dip(self) -> float:
        """Angle to the horizontal, degrees: the mean of the panels, weighted by area."""
        normals = self._normals
        flat = np.abs(normals[:, 2]).sum() / np.linalg.norm(normals, axis=1).sum()
        return float(np.degrees(np.arccos(min(flat, 1.0))))

    @property
    def area(self) -> float:
        """Area, m^2."""
        return float(np.linalg.norm(self._normals, axis=1).sum())

    @property
    def length(self) -> float:
        """Length of the top edge, m."""
        return float(np.linalg.norm(self.panels[:, 1] - self.panels[:, 0], axis=1).sum())

    @property
    def width(self) -> float:
        """Width down the dip, m."""
        return self.area / self.length

    @property
    def _normals(self) -> Floats:
        """Normals of the panels, (n, 3), as long as their areas."""
        across = self.panels[:, 2] - self.panels[:, 0]
        other = self.panels[:, 3] - self.panels[:, 1]
        return np.asarray(np.cross(across, other) / 2)

    def distances(self, sites: Floats) -> Distances:
        """The distances of sites (n, 2), whose x and y are in m, on the surface z = 0."""
        points = np.column_stack([sites, np.zeros(len(sites))])
        triangles = np.concatenate([self.panels[:, [0, 1, 2]], self.panels[:, [0, 2, 3]]])
        flat = triangles * np.array([1.0, 1.0, 0.0])
        return Distances(
            triangle_distances(points, triangles).min(axis=1),
            triangle_distances(points, flat).min(axis=1),
            *self._by_strike(sites),
        )

    def _by_strike(self, sites: Floats) -> tuple[Floats, Floats]:
        """Distances across the strike, and beyond the ends along the strike."""
        start, end = self.panels[0, 0, :2], self.panels[-1, 1, :2]
        turn, length = np.radians(self.strike), float(np.linalg.norm(end - start))
        east, north = (sites - start).T
        along = east * np.sin(turn) + north * np.cos(turn)
        across = east * np.cos(turn) - north * np.sin(turn)
        return across, np.maximum(np.maximum(-along, along - length), 0.0)


def triangle_distances(points: Floats, triangles: Floats) -> Floats:
    """Distances of points (n, 3) to triangles (m, 3, 3), (n, m); triangles may be degenerate."""
    a, b, c = np.moveaxis(triangles, 1, 0)
    edges = [_segment_distances(points, *ends) for ends in ((a, b), (b, c), (c, a))]
    normal = np.cross(b - a, c - a)
    square = np.maximum((normal**2).sum(axis=1), _TINY)
    relative = points[:, None, :] - a
    v = (np.cross(b - a, relative) * normal).sum(axis=2) / square
    u = (np.cross(relative, c - a) * normal).sum(axis=2) / square
    height = np.abs((relative * normal).sum(axis=2)) / np.sqrt(square)
    above = (u >= 0) & (v >= 0) & (u + v <= 1) & (square > _TINY)
    return np.where(above, height, np.minimum.reduce(edges))


def _segment_distances(points: Floats, start: Floats, end: Floats) -> Floats:
    """Distances of points (n, 3) to segments (m, 3), (n, m)."""
    along = end - start
    square = np.maximum((along**2).sum(axis=1), _TINY)
    relative = points[:, None, :] - start
    share = np.clip((relative * along).sum(axis=2) / square, 0.0, 1.0)
    return np.asarray(np.linalg.norm(relative - share[..., None] * along, axis=2))
