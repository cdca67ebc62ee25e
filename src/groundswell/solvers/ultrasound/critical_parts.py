"""The parts of a grid in which the density shortens stable steps most.

The mode that grows first is a few points wide. It lies where heavy points have light neighbours, so
parts of a large grid are enough: those around the largest diagonal elements of A, with p = 0
outside. Their eigenvalues are at most that of the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import Floats, Reals
from groundswell.backends.host_threads import for_each
from groundswell.exchange.communicator import Communicator
from groundswell.grids.cartesian import Grid, Triple
from groundswell.solvers.ultrasound.density_contrast import axes_of
from groundswell.solvers.ultrasound.medium import AcousticMedium, Values, medium_of
from groundswell.solvers.ultrasound.window import Window

SMALL = 2**15  # points of a grid whose eigenvalue is found as a whole
SIZES = {2: 64, 3: 20}  # points along each axis of a part of a large grid, by number of axes
MARGIN = 6  # points around this part, where p = 0
PARTS = {2: 12, 3: 4}
TILES = {2: 64, 3: 40}  # points along each axis whose diagonal elements are computed at once
REACH = 3  # points on either side that the derivative in a diagonal element takes into account
SQUARES = [(4 / np.pi / (2 * n + 1) ** 2) ** 2 for n in range(REACH)]  # of its weights, by distance
ROUNDING = 1e-6  # relative error of these elements and their bounds in single precision

Range = tuple[Any, Any]  # the smallest and the largest value, of a tile or at each x of a row
Element = tuple[float, Triple]  # a diagonal element of A (1/s^2), and its point (x, y, z)
Place = Sequence[Any]  # indices of points along z, y and x: slices or arrays


def critical_parts(
    medium_in: Callable[[Window], AcousticMedium], grid: Grid, comm: Communicator
) -> list[tuple[Window, AcousticMedium]]:
    """The parts of a grid around the largest diagonal elements of A, and the medium in each.

    A small grid is one part. Elements of equal neighbourhoods are equal, but eigenvalues also
    depend on the points around them. Several parts are therefore better than one.

    Args:
        medium_in: returns the medium in a window.
        grid: the grid.
        comm: the ranks that share the search; all of them must call this.
    """
    parts = [Window.whole_of(grid.cells)]
    if grid.count > SMALL:
        wanted = SIZES[axes_of(grid)]
        x, y, z = (n if n <= wanted + 2 * MARGIN else wanted for n in grid.cells)
        points = _largest_diagonals(medium_in, grid, comm)
        parts = [_part_around(point, (x, y, z), grid.cells) for point in points]
    return [(part, medium_in(part)) for part in parts]


def _part_around(point: Triple, sizes: Triple, cells: Triple) -> Window:
    """A part of a grid with its margins; an axis that is not divided has none."""
    along = list(zip(point, sizes, cells, strict=True))
    x, y, z = ((p - size // 2) % n if size < n else 0 for p, size, n in along)
    mx, my, mz = (MARGIN if size < n else 0 for _, size, n in along)
    return Window(cells, (x, y, z), sizes, (mx, my, mz))


def _largest_diagonals(
    medium_in: Callable[[Window], AcousticMedium], grid: Grid, comm: Communicator
) -> list[Triple]:
    """The points (x, y, z) of the largest diagonal elements of A, one in each tile."""
    found = _LargestElements(grid)

    def search() -> None:
        for slab in _slabs(grid)[comm.rank :: comm.size]:
            found.add_slab(medium_in(slab), slab)

    comm.collective_try(search)
    for others in comm.allgather(found.elements):
        found.add(others)
    return [point for _, point in found.elements]


class _LargestElements:
    """The largest diagonal elements of A, one in each tile, as many as there are parts."""

    def __init__(self, grid: Grid) -> None:
        self._grid, self._lock = grid, Lock()
        self.elements: list[Element] = []

    @property
    def _least(self) -> float:
        """Smaller elements do not matter."""
        is_full = len(self.elements) == PARTS[axes_of(self._grid)]
        return self.elements[-1][0] if is_full else 0.0

    def add(self, elements: Sequence[Element]) -> None:
        """Add elements, and keep the largest."""
        with self._lock:
            found = sorted({*self.elements, *elements}, reverse=True)
            self.elements = found[: PARTS[axes_of(self._grid)]]

    def add_slab(self, medium: AcousticMedium, slab: Window) -> None:
        """Add the elements of a slab, given its medium."""

        def add_row(row: Window) -> None:
            self._add_row(medium_of(medium, _within(slab, row)), row)

        for_each(add_row, _rows(slab, self._grid))

    def _add_row(self, part: AcousticMedium, row: Window) -> None:
        properties = part.speed, part.density, *(part.staggered or ())
        columns = [_column_ranges(values) for values in properties]
        if not self._matter([_tile_range(each, row) for each in columns]):
            return
        for tile in _tiles(row, self._grid):
            ranges = [_tile_range(each, tile) for each in columns]
            if self._matter(ranges):
                self._add_tile(medium_of(part, _within(row, tile)), tile, ranges)

    def _matter(self, ranges: Sequence[Range]) -> bool:
        """Whether there may be large elements where properties have these values."""
        return _diagonal_bound(ranges, self._grid) * (1 + ROUNDING) >= self._least

    def _add_tile(self, part: AcousticMedium, tile: Window, ranges: Sequence[Range]) -> None:
        rest = _diagonal_bound(ranges, self._grid) * sum(SQUARES[1:]) / sum(SQUARES)
        if all(low == high for low, high in ranges):  # all elements are equal
            tile = replace(tile, cells=(1, 1, 1))
        self.add(_largest_element(part, tile, self._grid, (self._least, rest)))


def _column_ranges(values: Values) -> Range:
    """The smallest and the largest value at each x in a row of tiles, (x,), or twice a number.

    They continue periodically as far as tiles need.
    """
    if np.ndim(values) == 0:
        return values, values
    ends = (np.asarray(values).min(axis=(0, 1)), np.asarray(values).max(axis=(0, 1)))
    low, high = (np.pad(end, REACH, mode="wrap") for end in ends)
    return low, high


def _tile_range(columns: Range, tile: Window) -> Range:
    """The smallest and the largest value in a tile, from those of its row."""
    low, high = columns
    if np.ndim(low) == 0:
        return columns
    place = slice(tile.start[0], tile.start[0] + tile.cells[0] + 2 * REACH)
    return float(low[place].min()), float(high[place].max())


def _slabs(grid: Grid) -> list[Window]:
    """Windows of whole planes, with the neighbours that diagonal elements need.

    They begin in the middle, where most media vary. Outer slabs then need not be examined closely.
    """
    (nx, ny, nz), size, reach = grid.cells, TILES[axes_of(grid)], _reach(grid)
    first = sorted(range(0, nz, size), key=lambda k: abs(2 * k + size - nz))
    slabs = [((0, 0, k), (nx, ny, min(size, nz - k))) for k in first]
    return [Window(grid.cells, start, cells, (0, 0, reach[2])) for start, cells in slabs]


def _rows(slab: Window, grid: Grid) -> Iterator[Window]:
    """Windows of the rows of tiles of a slab, with the same neighbours."""
    (nx, ny, nz), size, (_, reach, reach_z) = slab.cells, TILES[axes_of(grid)], _reach(grid)
    for j in range(0, ny, size):
        cells = nx, min(size, ny - j), nz
        yield Window(grid.cells, (0, j, slab.start[2]), cells, (0, reach, reach_z))


def _tiles(row: Window, grid: Grid) -> Iterator[Window]:
    """Windows of the tiles of a row, with the same neighbours."""
    (nx, ny, nz), size = row.cells, TILES[axes_of(grid)]
    for i in range(0, nx, size):
        start = i, row.start[1], row.start[2]
        yield Window(grid.cells, start, (min(size, nx - i), ny, nz), _reach(grid))


def _reach(grid: Grid) -> Triple:
    return REACH, REACH, REACH if axes_of(grid) == 3 else 0


def _within(outer: Window, inner: Window) -> Window:
    """The window of a part in an array of another window."""
    along = zip(inner.start, outer.start, outer.overlap, strict=True)
    i, j, k = (start - first + overlap for start, first, overlap in along)
    return Window(outer.extended, (i, j, k), inner.cells, inner.overlap)


def _largest_element(
    part: AcousticMedium, tile: Window, grid: Grid, limits: tuple[float, float]
) -> list[Element]:
    """The largest diagonal element in a tile, or none if it is too small.

    Only points whose nearest neighbours suffice for the largest element are computed exactly.

    Args:
        limits: elements below the first one are too small; neighbours that are not the nearest add
            at most the second one.
    """
    nearest, (least, rest) = _nearest_terms(part, tile, grid), limits
    lowest = max(least, float(nearest.max())) * (1 - 4 * ROUNDING) - rest
    offsets = np.nonzero(nearest >= lowest)
    if not len(offsets[0]):
        return []
    place = [along + own.start for along, own in zip(offsets, tile.own, strict=True)]
    elements = _diagonal(part, place, grid)
    k, j, i = (int(along[np.argmax(elements)]) for along in offsets)
    x, y, z = tile.start
    return [(float(elements.max()), (x + i, y + j, z + k))]


def _diagonal_bound(ranges: Sequence[Range], grid: Grid) -> float:
    """Upper bound of the diagonal elements in a tile, 1/s^2.

    Args:
        ranges: those of the sound speed, the density, and the densities at velocity points if the
            medium has them.
    """
    (_, fastest), (_, heaviest), *staggered = ranges
    lightest = min(low for low, _ in staggered or ranges[1:])
    stiffest = float(fastest**2 * heaviest)
    return (
        2
        * sum(SQUARES)
        * stiffest
        / lightest
        * sum(grid.spacing[n] ** -2 for n in range(axes_of(grid)))
    )


def _nearest_terms(part: AcousticMedium, tile: Window, grid: Grid) -> Reals:
    """The terms of the nearest velocity points in the diagonal elements of a tile, 1/s^2.

    They have the precision of the medium, and take much less time than the elements.
    """
    total: Any = 0.0
    for axis in range(axes_of(grid)):
        place, shape = list(tile.own), list(tile.cells[::-1])
        place[2 - axis] = slice(place[2 - axis].start - 1, place[2 - axis].stop)
        shape[2 - axis] += 1
        precision = np.result_type(part.density)
        lightness = np.broadcast_to(_lightness(part, axis, place, precision), shape)
        along = lightness.swapaxes(0, 2 - axis)
        both = (along[:-1] + along[1:]).swapaxes(0, 2 - axis)
        total = total + both * (SQUARES[0] / grid.spacing[axis] ** 2)
    return np.asarray(total * _stiffness(part, tile.own))


def _diagonal(part: AcousticMedium, place: Place, grid: Grid) -> Floats:
    """Diagonal elements of A at some points, without the k-space correction, 1/s^2."""
    total = np.zeros(len(place[0]))
    for axis in range(axes_of(grid)):
        for n, square in enumerate(SQUARES):
            first, second = (_lightness(part, axis, _moved(place, axis, by)) for by in (n, -n - 1))
            total += (first + second) * (square / grid.spacing[axis] ** 2)
    return np.asarray(total * _stiffness(part, place), float)


def _lightness(part: AcousticMedium, axis: int, place: Place, dtype: DTypeLike = float) -> Reals:
    """1 / rho_0 at the velocity points of an axis, in this precision."""
    if part.staggered:
        return np.asarray(1 / _at(part.staggered[axis], place))
    here, after = (_at(part.density, at) for at in (place, _moved(place, axis, 1)))
    return np.asarray(1 / ((np.asarray(here, dtype) + after) / 2))


def _stiffness(part: AcousticMedium, place: Place) -> Reals:
    """c^2 rho_0, Pa."""
    at = replace(part, speed=_at(part.speed, place), density=_at(part.density, place))
    return at.stiffness


def _at(values: Values, place: Place) -> Values:
    return values if np.ndim(values) == 0 else np.asarray(values)[tuple(place)]


def _moved(place: Place, axis: int, by: int) -> Place:
    """The place, moved along an axis."""
    moved = list(place)
    own = moved[2 - axis]
    is_slice = isinstance(own, slice)
    moved[2 - axis] = slice(own.start + by, own.stop + by) if is_slice else own + by
    return moved
