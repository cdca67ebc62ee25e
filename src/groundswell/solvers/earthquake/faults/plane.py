"""Planes of the grid on which faults lie, and their points; see kernels/fault.h."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import floor

import numpy as np

from groundswell.arrays import Floats, Indices, Mask
from groundswell.errors import InputError
from groundswell.grids.cartesian import Grid, Triple
from groundswell.seismology.case.fault import FaultSection, PlaneSection
from groundswell.seismology.sources.entries import Point

ROUNDING = 1e-6  # of a cell
REACH = 2  # cells on either side of the plane that the jumps act on
Z = 2


class Kind(IntEnum):
    """The two kinds of points, by the component of slip at them, and the centres of cells."""

    ALONG, DOWN, CENTRE = range(3)


@dataclass(frozen=True)
class FaultPlane:
    """An upright rectangle through the centres of a plane of cells.

    Args:
        axis: 0 if it is normal to x, 1 if to y.
        first: cell (i, j, k) of the grid, layers included, at its corner of lowest coordinates.
        cells: number of cells along strike and depth.
        is_closed: whether it has no ends along strike, since the grid is periodic.
        at_surface: whether its top is on the free surface.
    """

    grid: Grid
    axis: int
    first: Triple
    cells: tuple[int, int]
    is_closed: bool
    at_surface: bool

    @property
    def along(self) -> int:
        """The axis of the strike."""
        return 1 - self.axis

    @property
    def sign(self) -> int:
        """Sign of the stress on planes normal to the axis against the traction along strike.

        The hanging wall is on the low side of planes normal to y. Up dip, the sign is opposite.
        """
        return 1 if self.axis == 0 else -1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of points: one more than cells, but not along a closed fault."""
        columns, rows = self.cells
        return rows + 1, columns + (not self.is_closed)

    @property
    def spacing(self) -> tuple[float, float, float]:
        """Edges of a cell along the normal, strike and depth, m."""
        h = self.grid.spacing
        return h[self.axis], h[self.along], h[Z]

    def slips(self, kind: Kind) -> Mask:
        """Which points of a kind are inside the rectangle, (rows, columns)."""
        k, i = np.indices(self.shape)
        columns, rows = self.cells
        if kind == Kind.CENTRE:
            return np.asarray((k < rows) & (i < columns))
        if kind == Kind.ALONG:
            return np.asarray((k < rows) & ((i > 0) & (i < columns) | self.is_closed))
        return np.asarray((i < columns) & (k < rows) & ((k > 0) | self.at_surface))

    @property
    def centres(self) -> Floats:
        """Positions of the centres of its cells, row by row, (cells, 3), m."""
        k, i = np.nonzero(self.slips(Kind.CENTRE))
        cells = np.full((len(k), 3), 0.5) + np.subtract(self.first, self.grid.before)
        cells[:, self.along] += i
        cells[:, Z] += k
        return np.asarray(cells * self.grid.spacing)

    @property
    def beside(self) -> Indices:
        """Cells before and behind each cell along strike and depth, (2, 2, cells).

        A cell at an end has itself there.
        """
        columns, rows = self.cells
        number = np.arange(rows * columns).reshape(rows, columns)
        sides = ((0, 0), (1, 1))
        along = np.pad(number, sides, "wrap") if self.is_closed else np.pad(number, sides, "edge")
        down = np.pad(number, ((1, 1), (0, 0)), mode="edge")
        found = (along[:, :-2], along[:, 2:]), (down[:-2], down[2:])
        return np.array(found).reshape(2, 2, -1)

    def is_near(self, position: Point) -> bool:
        """Whether a position x, y, depth (m) is less than REACH cells from the rectangle."""
        cell = np.asarray(position) / self.grid.spacing + self.grid.before
        low = np.array(self.first, float)
        low[self.axis] += 0.5
        high = low.copy()
        high[[self.along, Z]] += self.cells
        return bool(((cell > low - REACH) & (cell < high + REACH)).all())

    @property
    def box(self) -> tuple[Triple, Triple]:
        """The cells that the jumps read and act on: the first, and their number along each axis."""
        first, count = list(self.first), [0, 0, 0]
        first[self.axis], count[self.axis] = first[self.axis] - REACH, 2 * REACH + 1
        count[self.along], count[Z] = self.cells[0] + 1, self.cells[1] + 1
        if self.is_closed:
            count[self.along] -= 1
        return (first[0], first[1], first[2]), (count[0], count[1], count[2])


def find_plane(section: FaultSection, grid: Grid, *, periodic: bool, surface: bool) -> FaultPlane:
    """The plane of a fault on the grid.

    Args:
        periodic: whether x and y are periodic.
        surface: whether depth 0 is a free surface.

    Raises:
        InputError: the fault is not a plane through the centres of cells that ends between cells,
            or it is too close to a side of the region.
    """
    plane = section.plane
    if plane is None:
        raise InputError(
            'surfaces need the elements of a mesh; use solver = "dgwave", or give a plane'
        )
    layer = _layer(plane, grid)
    along = 1 - plane.axis
    start, end = _ends("xy"[along], plane.extent, grid.spacing[along])
    top, bottom = _ends("depth", plane.depth, grid.spacing[Z])
    cell = [0, 0, top]
    cell[plane.axis], cell[along] = layer, start
    i, j, k = np.add(cell, grid.before).tolist()
    is_closed = periodic and end - start == grid.region[along]
    at_surface = surface and top == 0
    size = end - start, bottom - top
    return FaultPlane(grid, plane.axis, (i, j, k), size, is_closed, at_surface)


def _layer(plane: PlaneSection, grid: Grid) -> int:
    """The cells of the region, counted along the normal, whose centres are on the plane."""
    h, axis = grid.spacing[plane.axis], "xy"[plane.axis]
    place = plane.position / h - 0.5
    if abs(place - round(place)) > ROUNDING:
        low = (floor(place) + 0.5) * h
        raise InputError(
            f"{axis} = {plane.position:g} m is not at the centres of cells, where "
            f"velocities along the fault are; move it to {low:g} or {low + h:g} m"
        )
    first, last = REACH, grid.region[plane.axis] - 1 - REACH
    if not first <= round(place) <= last:
        raise InputError(
            f"{axis} = {plane.position:g} m is too close to the side of the region; "
            f"allowed are {(first + 0.5) * h:g} to {(last + 0.5) * h:g} m"
        )
    return round(place)


def _ends(axis: str, ends: tuple[float, float], h: float) -> tuple[int, int]:
    """The ends in cells of length `h`."""
    for end in ends:
        if abs(end / h - round(end / h)) > ROUNDING:
            low = floor(end / h) * h
            raise InputError(
                f"its end at {axis} = {end:g} m is not between cells; move it to "
                f"{low:g} or {low + h:g} m"
            )
    return round(ends[0] / h), round(ends[1] / h)
