"""Interpolation within one phase: in the solid or in the fluid that contains a position.

Velocity along the boundary of a fluid is not continuous, and the fluid has no shear stress. Near
such a boundary the points along an axis are therefore those of the phase of the position, up to
four of them that are contiguous. On the boundary itself, this is the solid. Where the boundary is a
staircase, points of the other phase may remain; they get no weight.

Two values near a boundary are known without a point: in a fluid under a free surface, pressure and
horizontal velocity are antisymmetric about the surface. On the boundary of a solid, shear stress
vanishes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from groundswell.arrays import Floats, Indices, Mask
from groundswell.grids.cartesian import Grid, Triple
from groundswell.seismology.sources.entries import Point
from groundswell.solvers.earthquake.interpolation import (
    HALF,
    STRESS_OFFSETS,
    STRESS_TOP,
    VELOCITY_OFFSETS,
    VELOCITY_TOPS,
    Offset,
    Stencil,
    lagrange_weights,
    stencil,
    surface_corrected,
)
from groundswell.solvers.earthquake.phases import Phases
from groundswell.solvers.earthquake.sea_floor import SHEAR

X, Y, Z = range(3)

AROUND = np.arange(-4, 6)  # indices, relative to the point before a position, that are examined
# Where shear stress vanishes, the factor SHEAR makes the difference between rows 0 and 1 of the
# solid larger. Velocities along the boundary in row 0 are therefore those of a point closer to it.
BOUNDARY_SHIFT = 1 / SHEAR - 1
# For the same reason, shear stress on the first edge inside the solid has a weight: its factor in
# the equation of motion of row 0 if stress grows in proportion to the distance from the boundary.
BOUNDARY_STRESS = SHEAR - 1 / 12
REACH = 3  # cells around that of a position that its stencils reach
LEAST_SHARE = 0.25  # sum of the weights of points in the phase below which only the nearest counts


@dataclass(frozen=True)
class Values:
    """Where the values of a field are.

    Args:
        offset: offset from the corner of their cell, cells.
        top: first row with values, under a free surface.
        is_velocity: whether it is a velocity; otherwise a stress.
    """

    offset: Offset
    top: int | None
    is_velocity: bool

    def is_mirrored(self, solid: bool) -> bool:
        """Whether values above a free surface are the negative mirror image of those below."""
        return self.top is not None and not solid and self.offset[Z] == HALF

    def slips_along(self, axis: int) -> bool:
        """Whether it is a velocity along boundaries that are normal to an axis."""
        return self.is_velocity and self.offset[axis] == HALF

    def vanishes_on(self, axis: int) -> bool:
        """Whether it is a stress that vanishes on boundaries that are normal to an axis."""
        return not self.is_velocity and self.offset[axis] == 0


@dataclass(frozen=True)
class Interpolation:
    """The stencils of a grid with fluids and solids.

    Args:
        phases: which cells are fluid; None if there is no fluid.
    """

    grid: Grid
    free_surface: bool
    phases: Phases | None

    def velocity_stencils(self, position: Point) -> list[Stencil]:
        """Weights for vx, vy and vz at a position (m)."""
        tops = VELOCITY_TOPS if self.free_surface else (None,) * 3
        solid = self.phases is None or self.phases.is_solid(position)
        fields = zip(VELOCITY_OFFSETS, tops, strict=True)
        return self._stencils(position, [Values(*f, is_velocity=True) for f in fields], solid)

    def stress_stencils(self, position: Point, solid: bool) -> list[Stencil]:
        """Weights for sxx, syy, szz, sxy, sxz and syz at a position (m) in a solid or a fluid."""
        top = STRESS_TOP if self.free_surface else None
        fields = [Values(offset, top, is_velocity=False) for offset in STRESS_OFFSETS]
        return self._stencils(position, fields, solid)

    def _stencils(self, position: Point, fields: Sequence[Values], solid: bool) -> list[Stencil]:
        if self.phases is None or self._is_far(self.phases, position, solid):
            return [stencil(self.grid, position, field.offset, field.top) for field in fields]
        near = [
            (index, Neighbours.around(index, self.phases, field, solid))
            for field in fields
            for index in [self.grid.indices(position, field.offset)]
        ]
        return [neighbours.stencil(index) for index, neighbours in near]

    def _is_far(self, phases: Phases, position: Point, solid: bool) -> bool:
        """Whether no stencil around a position reaches the other phase, or values above a fluid."""
        x, y, z = np.floor(self.grid.indices(position, (0, 0, 0))).astype(int).tolist()
        above = z < REACH and not solid and self.free_surface
        return not above and phases.are_alike((x - REACH, y - REACH, z - REACH), 2 * REACH + 1)


@dataclass(frozen=True)
class Neighbours:
    """Points around a position.

    Args:
        first: index (i, j, k) of the first point.
        inside: whether points are in the phase of the position, (z, y, x).
        solid: whether that phase is solid.
    """

    first: Triple
    inside: Mask
    solid: bool
    values: Values

    @classmethod
    def around(cls, index: Floats, phases: Phases, values: Values, solid: bool) -> Neighbours:
        """The points around a fractional index (x, y, z)."""
        x, y, z = (int(np.floor(n)) + AROUND for n in index)
        before = [np.append(n[0] - 1, n) for n in (z, y, x)]
        rows = before[0] if values.top is None else np.maximum(before[0], -1 - before[0])
        cells = np.stack([phases.solid(int(k), *before[1:]) for k in rows])
        phase = cells if solid else ~cells
        # A point on a face belongs to the phases of both cells.
        sides = [(0, 1) if along == 0 else (1,) for along in values.offset[::-1]]
        parts = [
            phase[tuple(slice(n, n + len(AROUND)) for n in corner)] for corner in product(*sides)
        ]
        inside = np.logical_or.reduce(parts)
        if values.top is not None and not values.is_mirrored(solid):
            inside[z < values.top] = False
        return cls((int(x[0]), int(y[0]), int(z[0])), inside, solid, values)

    def _points(self, first: Triple) -> Mask:
        x, y, z = (slice(a - b, a - b + 4) for a, b in zip(first, self.first, strict=True))
        return self.inside[z, y, x]

    def stencil(self, index: Floats) -> Stencil:
        """The stencil at a fractional index whose points are in the phase."""
        nearest = self._nearest(index)
        lines = [self._line(axis, index, nearest) for axis in range(3)]
        first = (lines[X][0], lines[Y][0], lines[Z][0])
        x, y, z = (weights for _, weights in lines)
        inside = self._points(first)
        weights = z[:, None, None] * y[:, None] * x
        part = float((weights * inside).sum() / weights.sum())
        if part < LEAST_SHARE:
            return _single(nearest)
        return self._folded(Stencil(first, np.stack([x, y, z]), inside / part))

    def _nearest(self, index: Floats) -> Triple:
        """The nearest point in the phase; the nearest of all if there is none."""
        places = np.stack(np.nonzero(self.inside)[::-1]) + np.array(self.first)[:, None]
        if not places.size:
            places = np.rint(index).astype(int)[:, None]
        x, y, z = places[:, np.square(places - index[:, None]).sum(axis=0).argmin()].tolist()
        return x, y, z

    def _line(self, axis: int, index: Floats, nearest: Triple) -> tuple[int, Floats]:
        """First point and weights (4,) along an axis, through the nearest point."""
        at, top = float(index[axis]), self._top(axis)
        run = low, high = self._run(axis, nearest)
        centred = int(np.floor(at)) - 1
        if top is not None and centred <= 0:
            centred = top
        if axis != Z:  # other blocks of cells have no more
            low, high = max(low, centred), min(high, centred + 3)
        start = min(max(centred, low), max(low, high - 3))
        points = np.arange(start, min(start + 3, high) + 1)
        smooth = self.solid and self.values.is_velocity
        if not smooth and not points[0] <= at <= points[-1]:
            points = points[:2] if at < points[0] else points[-2:]
        weights = lagrange_weights(self._positions(axis, points, run), at)
        weights = weights * self._factors(axis, points, run)
        if top == -1 and points[0] == -1 and len(points) > 1:
            weights = surface_corrected(weights)
        first = min(max(centred, int(points[-1]) - 3), int(points[0]))
        padded = np.zeros(4)
        padded[points - first] = weights
        return first, padded

    def _run(self, axis: int, nearest: Triple) -> tuple[int, int]:
        """First and last of the contiguous points of the phase along an axis."""
        x, y, z = np.subtract(nearest, self.first).tolist()
        lines = (self.inside[z, y, :], self.inside[z, :, x], self.inside[:, y, x])
        place, first = (x, y, z)[axis], self.first[axis]
        outside = np.flatnonzero(~lines[axis])
        low = outside[outside < place].max(initial=-1) + 1
        high = outside[outside > place].min(initial=len(AROUND)) - 1
        return int(low) + first, int(high) + first

    def _positions(self, axis: int, points: Indices, run: tuple[int, int]) -> Floats:
        """Positions along an axis of points of a run; see BOUNDARY_SHIFT."""
        positions = points.astype(float)
        if self.solid and self.values.slips_along(axis):
            for n, side in self._ends(axis, points, run):
                positions[n] += side * BOUNDARY_SHIFT
        return positions

    def _factors(self, axis: int, points: Indices, run: tuple[int, int]) -> Floats:
        """Factors of the weights of points of a run; see BOUNDARY_STRESS."""
        factors = np.ones(len(points))
        if self.solid and self.values.vanishes_on(axis):
            for n, side in self._ends(axis, points, run):
                factors[n - side : n - side + 1] = BOUNDARY_STRESS
        return factors

    def _ends(self, axis: int, points: Indices, run: tuple[int, int]) -> list[tuple[int, int]]:
        """The ends of a run that are at a boundary of a fluid, and its side, -1 or 1."""
        limits = self.first[axis], self.first[axis] + len(AROUND) - 1
        at_low = points[0] == run[0] not in (limits[0], self._top(axis))
        at_high = points[-1] == run[1] != limits[1]
        return [(0, -1)] * bool(at_low) + [(len(points) - 1, 1)] * bool(at_high)

    def _top(self, axis: int) -> int | None:
        """First row with values, under a free surface, if the axis is z."""
        mirrored = self.values.is_mirrored(self.solid)
        return None if axis != Z or mirrored else self.values.top

    def _folded(self, found: Stencil) -> Stencil:
        """The same stencil without points above a free surface."""
        above = -found.first[Z]
        if above <= 0 or not self.values.is_mirrored(self.solid):
            return found
        x, y, z = found.weights
        rows = np.zeros(4)
        np.add.at(rows, np.arange(4 - above), z[above:])
        np.subtract.at(rows, above - 1 - np.arange(above), z[:above])
        share = np.concatenate([found.share[above:], np.ones((above, 4, 4))])
        return Stencil((found.first[X], found.first[Y], 0), np.stack([x, y, rows]), share)


def _single(point: Triple) -> Stencil:
    """The stencil of one point."""
    weights = np.zeros((3, 4))
    weights[:, 0] = 1
    return Stencil(point, weights)
