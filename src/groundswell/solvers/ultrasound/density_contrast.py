"""How much a varying density shortens stable steps: the largest eigenvalue of the scheme.

A step without losses is p(n + 1) = 2 p(n) - p(n - 1) - dt^2 A p(n) with

    A = c^2 rho_0 sum_i G_i^T (1 / rho_i) G_i.

G_i is the derivative at the velocity points of axis i, with the k-space correction; rho_i is the
density there. Waves do not grow if dt^2 times the largest eigenvalue of A is at most 4. In a medium
of uniform density, this eigenvalue is at most c^2 K^2, with the largest c and K (see stability.py).
The contrast is the largest eigenvalue divided by this number. By the Rayleigh quotient of A, it is
at most the largest c^2 rho_0, divided by the largest c^2 and by the least rho_i.

The mode that grows first is a few points wide. It lies where heavy points have light neighbours, so
parts of a large grid are enough: those around the largest diagonal elements of A, with p = 0
outside. Their eigenvalues are at most that of the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import pi, sqrt
from typing import Any

import numpy as np
from scipy import fft

from groundswell.arrays import Complexes, Floats
from groundswell.backends.host_threads import chunks, for_each
from groundswell.grids.cartesian import Grid, Triple
from groundswell.solvers.ultrasound.medium import AcousticMedium, Values, medium_of
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.window import Window

SMALL = 2**15  # points of a grid whose eigenvalue is found as a whole
SIZES = {2: 64, 3: 20}  # points along each axis of a part of a large grid, by number of axes
MARGIN = 6  # points around this part, where p = 0
PARTS = {2: 12, 3: 4}
TILES = {2: 64, 3: 40}  # points along each axis whose diagonal elements are computed at once
REACH = 3  # points on either side that the derivative in a diagonal element takes into account
SQUARES = [(4 / np.pi / (2 * n + 1) ** 2) ** 2 for n in range(REACH)]  # of its weights, by distance
ROUNDING = 1e-12  # relative error of bounds of these elements
TOLERANCE = 5e-3  # of the eigenvalue, relative

Range = tuple[Any, Any]  # the smallest and the largest value, of a tile or of each column
Element = tuple[float, Triple]  # a diagonal element of A (1/s^2), and its point (x, y, z)


def has_uniform_density(medium: AcousticMedium) -> bool:
    """Whether the density is one number."""
    return not any(map(np.ndim, (medium.density, *(medium.staggered or ()))))


def contrast_bound(medium: AcousticMedium) -> float:
    """Upper bound of the contrast of density; 1 if the density is uniform."""
    if has_uniform_density(medium):
        return 1.0
    lightest = min(map(np.min, medium.staggered or [medium.density]))
    stiffest = max(float(np.max(np.square(c) * rho)) for c, rho in _planes(medium))
    return max(1.0, stiffest / float(np.max(medium.speed) ** 2 * lightest))


def _planes(medium: AcousticMedium) -> Iterator[tuple[Floats, Floats]]:
    """Speed and density of each plane z."""
    yield from zip(*np.broadcast_arrays(medium.speed, medium.density), strict=True)


def density_contrast(
    medium: AcousticMedium,
    operators: SpectralOperators,
    part: Window | None = None,
    fastest: float = 0.0,
) -> float:
    """The contrast of density in a part of a grid, by default in the whole grid.

    Args:
        medium: the medium in this part.
        operators: operators of the grid and of a time step.
        part: a part of the grid; see `critical_parts`.
        fastest: the largest sound speed outside this part, m/s.
    """
    grid, reach = operators.grid, operators.reference_speed * operators.dt
    part = part or Window.whole_of(grid.cells)
    inside = replace(operators, grid=Grid(part.extended, grid.spacing))
    largest = _largest_eigenvalue(medium, inside, part)
    k = min(pi / reach, largest_wavenumber(grid))  # of the largest K
    return (
        largest / float(max(np.max(medium.speed), fastest) * k * np.sinc(reach * k / (2 * pi))) ** 2
    )


def largest_wavenumber(grid: Grid) -> float:
    """Largest wavenumber of a grid, rad/m."""
    return pi * sqrt(sum(grid.spacing[axis] ** -2 for axis in range(_axes(grid))))


def smallest_wavenumber(grid: Grid) -> float:
    """Smallest wavenumber of a grid above 0, rad/m."""
    axes = range(_axes(grid))
    return 2 * pi / max(grid.cells[axis] * grid.spacing[axis] for axis in axes)


# --- the critical parts of a grid -----------------------------------------------------------------


def critical_parts(
    medium_in: Callable[[Window], AcousticMedium], grid: Grid
) -> list[tuple[Window, AcousticMedium]]:
    """The parts of a grid around the largest diagonal elements of A, and the medium in each.

    A small grid is one part. Elements of equal neighbourhoods are equal, but eigenvalues also
    depend on the points around them. Several parts are therefore better than one.

    Args:
        medium_in: returns the medium in a window.
        grid: the grid.
    """
    parts = [Window.whole_of(grid.cells)]
    if grid.count > SMALL:
        wanted = SIZES[_axes(grid)]
        x, y, z = (n if n <= wanted + 2 * MARGIN else wanted for n in grid.cells)
        points = _largest_diagonals(medium_in, grid)
        parts = [_part_around(point, (x, y, z), grid.cells) for point in points]
    return [(part, medium_in(part)) for part in parts]


def _part_around(point: Triple, sizes: Triple, cells: Triple) -> Window:
    """A part of a grid with its margins; an axis that is not divided has none."""
    along = list(zip(point, sizes, cells, strict=True))
    x, y, z = ((p - size // 2) % n if size < n else 0 for p, size, n in along)
    mx, my, mz = (MARGIN if size < n else 0 for _, size, n in along)
    return Window(cells, (x, y, z), sizes, (mx, my, mz))


def _largest_diagonals(medium_in: Callable[[Window], AcousticMedium], grid: Grid) -> list[Triple]:
    """The points (x, y, z) of the largest diagonal elements of A, one in each tile."""
    found: list[Element] = []
    for slab in _slabs(grid):
        _add_elements(found, medium_in(slab), slab, grid)
        found = _largest(found, grid)
    return [point for _, point in found]


def _add_elements(found: list[Element], medium: AcousticMedium, slab: Window, grid: Grid) -> None:
    """Add the largest element of each tile of a slab, unless it is certainly too small."""
    properties = medium.speed, medium.density, *(medium.staggered or ())
    columns = [_column_ranges(values) for values in properties]

    def add(tile: Window) -> None:
        ranges, largest = [_tile_range(each, tile) for each in columns], _largest(found, grid)
        least = largest[-1][0] if len(largest) == PARTS[_axes(grid)] else 0.0
        if _diagonal_bound(ranges, grid) * (1 + ROUNDING) >= least:
            if all(low == high for low, high in ranges):  # all elements are equal
                tile = replace(tile, cells=(1, 1, 1))
            part = medium_of(medium, _within(slab, tile))
            found.append(_largest_element(part, tile, grid))

    for_each(add, _tiles(slab, grid))


def _column_ranges(values: Values) -> Range:
    """The smallest and the largest value of each column along z, (y, x), or twice a number.

    The columns continue periodically along x and y, as far as tiles need.
    """
    if np.ndim(values) == 0:
        return values, values
    given = np.asarray(values)
    low, high = (np.empty(given.shape[1:], given.dtype) for _ in range(2))

    def find(rows: slice) -> None:
        low[rows], high[rows] = given[:, rows].min(axis=0), given[:, rows].max(axis=0)

    for_each(find, chunks(len(low), given[:, 0].size))
    return np.pad(low, REACH, mode="wrap"), np.pad(high, REACH, mode="wrap")


def _tile_range(columns: Range, tile: Window) -> Range:
    """The smallest and the largest value in a tile, from those of all columns."""
    low, high = columns
    if np.ndim(low) == 0:
        return columns
    (i, j, _), (nx, ny, _) = tile.start, tile.cells
    place = slice(j, j + ny + 2 * REACH), slice(i, i + nx + 2 * REACH)
    return low[place].min(), high[place].max()


def _largest(found: Iterable[Element], grid: Grid) -> list[Element]:
    """The largest elements, as many as there are parts."""
    return sorted(found, reverse=True)[: PARTS[_axes(grid)]]


def _slabs(grid: Grid) -> Iterator[Window]:
    """Windows of whole planes, with the neighbours that diagonal elements need."""
    (nx, ny, nz), size, reach = grid.cells, TILES[_axes(grid)], _reach(grid)
    for k in range(0, nz, size):
        yield Window(grid.cells, (0, 0, k), (nx, ny, min(size, nz - k)), (0, 0, reach[2]))


def _tiles(slab: Window, grid: Grid) -> Iterator[Window]:
    """Windows that cover a slab, with the neighbours that diagonal elements need."""
    (nx, ny, nz), size = slab.cells, TILES[_axes(grid)]
    for i, j in product(range(0, nx, size), range(0, ny, size)):
        cells = min(size, nx - i), min(size, ny - j), nz
        yield Window(grid.cells, (i, j, slab.start[2]), cells, _reach(grid))


def _reach(grid: Grid) -> Triple:
    return REACH, REACH, REACH if _axes(grid) == 3 else 0


def _within(slab: Window, tile: Window) -> Window:
    """The window of a tile in an array of its slab."""
    i, j, k = tile.start
    start = i, j, k - slab.start[2] + slab.overlap[2]
    return Window(slab.extended, start, tile.cells, tile.overlap)


def _largest_element(part: AcousticMedium, tile: Window, grid: Grid) -> Element:
    """The largest diagonal element in a tile."""
    elements = _diagonal(part, tile, grid)
    z, y, x = (int(n) for n in np.unravel_index(np.argmax(elements), elements.shape))
    i, j, k = tile.start
    return float(elements[z, y, x]), (i + x, j + y, k + z)


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
        * sum(grid.spacing[n] ** -2 for n in range(_axes(grid)))
    )


def _diagonal(part: AcousticMedium, tile: Window, grid: Grid) -> Floats:
    """Diagonal elements of A in a tile, without the k-space correction, 1/s^2."""
    total = np.zeros(tile.cells[::-1])
    for axis in range(_axes(grid)):
        lightness = _lightness(part, tile, axis)
        for n, square in enumerate(SQUARES):
            both = lightness[_moved(tile, axis, n)] + lightness[_moved(tile, axis, -n - 1)]
            both *= square / grid.spacing[axis] ** 2
            total += both
    own = replace(part, speed=_at(part.speed, tile.own), density=_at(part.density, tile.own))
    return np.asarray(total * _stiffness(own))


def _lightness(part: AcousticMedium, tile: Window, axis: int) -> Floats:
    """1 / rho_0 at the velocity points of an axis, in the block and before and after it."""
    place = tuple(slice(None) if n == 2 - axis else own for n, own in enumerate(tile.own))
    staggered = part.staggered and [_at(values, place) for values in part.staggered]
    line = replace(part, density=_at(part.density, place), staggered=staggered)
    shape = [tile.extended[axis] if n == axis else tile.cells[n] for n in (2, 1, 0)]
    return np.broadcast_to(1 / line.staggered_density(axis), shape)


def _at(values: Values, place: tuple[slice, ...]) -> Values:
    return values if np.ndim(values) == 0 else np.asarray(values)[place]


def _moved(tile: Window, axis: int, by: int) -> tuple[slice, ...]:
    """Slices of the block of a tile, moved along an axis, in an array of `_lightness`."""
    own = tile.own[2 - axis]
    moved = slice(own.start + by, own.stop + by)
    return tuple(moved if n == 2 - axis else slice(None) for n in range(3))


# --- its largest eigenvalue -----------------------------------------------------------------------


def _largest_eigenvalue(
    medium: AcousticMedium, operators: SpectralOperators, window: Window
) -> float:
    """The largest eigenvalue of A, among pressures in the block of a window, 1/s^2."""
    from scipy.sparse.linalg import LinearOperator, eigsh  # takes long to import

    shape, axes = operators.grid.shape, range(_axes(operators.grid))
    root = np.zeros(shape)
    root[window.own] = np.broadcast_to(np.sqrt(_stiffness(medium)), shape)[window.own]
    kappa = operators.kappa() * operators.grid.count
    slopes = [_along(axis, operators.derivative(axis, 1)) * kappa for axis in axes]
    densities = [medium.staggered_density(axis) for axis in axes]
    pairs = list(zip(slopes, densities, strict=True))

    def apply(values: Floats) -> Floats:
        spectrum = fft.rfftn(root * values.reshape(shape))
        terms = (
            np.conj(slope) * fft.rfftn(fft.irfftn(slope * spectrum, shape) / density)
            for slope, density in pairs
        )
        return np.ravel(root * fft.irfftn(sum(terms), shape))

    operator = LinearOperator((root.size, root.size), matvec=apply, dtype=float)
    start = np.random.default_rng(0).standard_normal(root.size)
    values = eigsh(operator, 1, which="LA", v0=start, tol=TOLERANCE, return_eigenvectors=False)
    return float(values[0])


def _stiffness(medium: AcousticMedium) -> Floats:
    """c^2 rho_0, Pa."""
    return np.asarray(np.square(medium.speed) * medium.density, float)


def _along(axis: int, factors: Complexes) -> Complexes:
    """Factors along an axis, for the multiplication of an array (z, y, x)."""
    return factors.reshape([-1 if dim == 2 - axis else 1 for dim in range(3)])


def _axes(grid: Grid) -> int:
    return 3 if grid.cells[2] > 1 else 2
