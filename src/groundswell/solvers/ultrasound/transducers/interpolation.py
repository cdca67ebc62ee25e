"""Weights of grid points for surfaces that do not coincide with grid points.

A surface source is a sum of point sources at its integration points. A grid can represent only the
part of a point source below its highest wavenumber. Along each axis, this band-limited part is
sinc(d), where d is the distance in cells (Wise, Cox, Jaros & Treeby 2019, J. Acoust. Soc. Am. 146,
278-288). The product over the axes gives the weights of the surrounding grid points.

The kernel is the infinite sinc, not the Dirichlet kernel of a periodic grid. The two differ by
periodic images only, which lie outside the truncated kernel. Weights beyond an edge of the grid are
added at the opposite side, because the grid is periodic.

As in the paper, the kernel is truncated where the envelope of the sinc, 1 / (pi d), falls below
`tolerance`, rounded up to whole cells. At a tolerance of 0.05, truncation alone changes waves of 3
or more points per wavelength by up to 10 %. The kernel is therefore also tapered by a Kaiser window
and scaled to the sum 1. This reduces the error to 1e-3 for waves of at least 3 points per
wavelength, or of at least 5 at a tolerance of 0.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite, pi, prod
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from groundswell.arrays import Floats, Integers
from groundswell.backends.host_threads import in_threads
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.transducers.surface import (
    Surface,
    Vector,
    describe,
    require_positive,
)

KAISER = 6.5  # parameter beta of the window: side lobes of 68 dB
ON_PLANE = 1e-6  # distance to a grid plane that counts as zero, cells
TILE = 8  # edge of the blocks of cells whose integration points are processed together, cells
CHUNK = 512  # integration points per matrix product: small products run faster, on one thread


@dataclass(frozen=True)
class PointGrid:
    """Points at origin + (i hx, j hy, k hz).

    Args:
        origin: position of the point (0, 0, 0), m.
        spacing: distances (hx, hy, hz) between neighbours, m.
        counts: number of points (nx, ny, nz); a grid with nz = 1 is two-dimensional.
    """

    origin: Vector
    spacing: Vector
    counts: tuple[int, int, int]

    @property
    def dimensions(self) -> int:
        """3, or 2 with one point along z."""
        return 3 if self.counts[2] > 1 else 2

    @property
    def cell_volume(self) -> float:
        """Volume per point, m^3; area, m^2, in two dimensions."""
        return prod(self.spacing[: self.dimensions])

    @property
    def extent(self) -> tuple[Floats, Floats]:
        """Smallest and largest coordinates: half a cell beyond the first and last points, m."""
        spacing = np.asarray(self.spacing)
        low = np.asarray(self.origin) - spacing / 2
        return low, low + spacing * np.asarray(self.counts)

    def indices(self, positions: Floats) -> Floats:
        """Fractional indices (i, j, k) of positions, (n, 3)."""
        indices = (positions - np.asarray(self.origin)) / np.asarray(self.spacing)
        if self.dimensions == 2:
            indices[:, 2] = 0.0
        return np.asarray(indices)

    def flat(self, indices: Integers) -> Integers:
        """Indices into the flattened array (z, y, x) of periodic indices (i, j, k), (n, 3)."""
        i, j, k = (indices % np.asarray(self.counts)).T
        return np.asarray(i + self.counts[0] * (j + self.counts[1] * k))


class GridWeights(NamedTuple):
    """Weights of grid points.

    Attributes:
        points: indices into the flattened array (z, y, x), in ascending order, (m,).
        weights: weights, (m,).
    """

    points: Integers
    weights: Floats


def interpolate(
    surface: Surface,
    grid: PointGrid,
    upsampling: float = 2.0,
    tolerance: float = 0.05,
    layer: float | None = None,
) -> GridWeights:
    """Weights of grid points for a source on a surface.

    A source with the pressure or normal velocity s on the surface has the value s * weights at the
    points. A surface that covers a whole plane of a cubic grid has the weight 1 at each point of
    this plane. A point source has the weights of the band-limited delta function, which sum to 1.

    In general, an integration point with the area A contributes A layer / V, where V is the volume
    per grid point: the surface acts in a layer as thick as one cell. In a grid of D dimensions,
    lines and points contribute their measure times layer^(D - d) / V, where d is their dimension.

    Args:
        surface: the surface.
        grid: the grid.
        upsampling: integration points per cell edge in each direction of the surface. The default
            of 2, which is 4 points per cell face, keeps the error of the integration below 1e-3.
        tolerance: envelope of the sinc at which the kernel ends.
        layer: thickness of the layer in which the source acts, m; the spacing along x by default.
            It must be the length by which the solver divides the source.

    Raises:
        InputError: the surface leaves the grid or has too many dimensions for it, or a number is
            out of range.
    """
    _validate(surface, grid, upsampling, tolerance)
    thickness = grid.spacing[0] if layer is None else layer
    require_positive("Interpolation", layer=thickness)
    samples = surface.sample(min(grid.spacing[: grid.dimensions]) / upsampling)
    scale = thickness ** (grid.dimensions - surface.dimension) / grid.cell_volume
    cells = grid.indices(samples.points)
    return _spread(_snapped(cells), scale * samples.weights, grid, ceil(1 / (pi * tolerance)))


def interpolation_matrix(
    elements: Sequence[Surface],
    grid: PointGrid,
    upsampling: float = 2.0,
    tolerance: float = 0.05,
    layer: float | None = None,
) -> tuple[Integers, csr_matrix]:
    """Weights of grid points for sources on several surfaces; see `interpolate`.

    Returns:
        The points that have a weight in any element, (m,), and the sparse matrix (CSR) of the
        weights, (elements, m). Signals at the points are `signals @ matrix`, (samples, m), from
        signals of the elements, (samples, elements).

    Raises:
        InputError: there is no element, or see `interpolate`.
    """
    if not elements:
        raise InputError("the transducer has 0 elements; give at least one")
    rows = [interpolate(element, grid, upsampling, tolerance, layer) for element in elements]
    points = rows[0].points
    if len(rows) > 1:
        points = np.unique(np.concatenate([row.points for row in rows]))
    columns = np.concatenate([np.searchsorted(points, row.points) for row in rows])
    starts = np.cumsum([0, *(row.points.size for row in rows)])
    weights = np.concatenate([row.weights for row in rows])
    return points, csr_matrix((weights, columns, starts), shape=(len(rows), points.size))


# --- the kernel -----------------------------------------------------------------------------------


def _snapped(cells: Floats) -> Floats:
    """Fractional indices, with those on a grid plane rounded to it."""
    nearest = np.rint(cells)
    return np.where(np.abs(cells - nearest) < ON_PLANE, nearest, cells)


def _kernel(cells: Floats, first: int, count: int, half_width: int) -> Floats:
    """Weights of grid points along one axis, (n, count); each row has the sum 1.

    An index on a grid plane has the weight 1 there and 0 elsewhere.

    Args:
        cells: fractional indices, (n,).
        first, count: index of the first grid point, and their number.
        half_width: distance at which the kernel ends, cells.
    """
    from scipy.special import i0  # takes long to import

    distance = first + np.arange(count) - cells[:, None]
    squared = 1 - (distance / half_width) ** 2
    weights = np.sinc(distance) * i0(KAISER * np.sqrt(np.maximum(squared, 0)))
    weights[squared <= 0] = 0
    on_plane = cells == np.rint(cells)
    weights[on_plane] = distance[on_plane] == 0
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


# --- accumulation ---------------------------------------------------------------------------------


def _spread(cells: Floats, weights: Floats, grid: PointGrid, half_width: int) -> GridWeights:
    """Sum of the kernels of all integration points; threads compute slabs of tiles along z."""
    tiles = _tiles(cells)

    def find(slab: Integers) -> tuple[Integers, Floats]:
        groups = [slab[group] for group in _equal_rows(tiles[slab])]
        corner, box = _slab(cells, weights, groups, half_width)
        return grid.flat(corner + np.argwhere(box)[:, ::-1]), box[box != 0]

    parts = in_threads(find, _equal_rows(tiles[:, 2:]))
    flat, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    points, where = _unique(flat)
    return GridWeights(points, np.bincount(where, values, points.size).astype(float))


def _unique(flat: Integers) -> tuple[Integers, Integers]:
    """The different indices in ascending order, and where among them each one is.

    `numpy.unique` would take several times as long for indices that consist of sorted runs.
    """
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    is_first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    where = np.empty(len(flat), np.int64)
    where[order] = np.cumsum(is_first) - 1
    return ordered[is_first], where


def _slab(
    cells: Floats, weights: Floats, groups: Sequence[Integers], half_width: int
) -> tuple[Integers, Floats]:
    """Index (i, j, k) of the first point of a slab, and its weights (z, y, x).

    Args:
        groups: the integration points of each tile.
    """
    corners = [TILE * _tiles(cells[group[0]]) - half_width for group in groups]
    low = np.min(corners, axis=0)
    size = TILE + 2 * half_width
    box = np.zeros((np.max(corners, axis=0) - low + size)[::-1])
    for corner, group in zip(corners, groups, strict=True):
        place = tuple(slice(start, start + size) for start in (corner - low)[::-1])
        for chunk in np.split(group, range(CHUNK, group.size, CHUNK)):
            box[place] += _tile(cells[chunk], weights[chunk], corner, size, half_width)
    return low, box


def _tiles(cells: Floats) -> Integers:
    """Numbers along each axis of the tiles that contain points, given their fractional indices."""
    return np.floor(cells / TILE).astype(np.int64)


def _tile(cells: Floats, weights: Floats, corner: Integers, size: int, half_width: int) -> Floats:
    """Weights of the grid points around one tile, (z, y, x), as a product of matrices."""
    x, y, z = (_kernel(cells[:, a], int(corner[a]), size, half_width) for a in range(3))
    planes = z.T[:, None, :] * (y.T * weights)
    return np.asarray(planes @ x)


def _equal_rows(keys: Integers) -> list[Integers]:
    """Groups of indices of equal rows of `keys`, (n, k)."""
    order = np.lexsort(keys.T)
    changes = np.flatnonzero(np.any(np.diff(keys[order], axis=0), axis=1)) + 1
    return [np.asarray(group) for group in np.split(order, changes)]


# --- validation -----------------------------------------------------------------------------------


def _validate(surface: Surface, grid: PointGrid, upsampling: float, tolerance: float) -> None:
    if not (isfinite(upsampling) and upsampling >= 1):
        raise InputError(
            f"upsampling = {upsampling:g}, but it must be at least 1 integration point per cell; "
            "use 2, the default"
        )
    if not 0.005 <= tolerance <= 0.3:
        raise InputError(
            f"tolerance = {tolerance:g}, but it must be from 0.005 to 0.3; use 0.05, the default"
        )
    if surface.dimension >= grid.dimensions:
        raise InputError(
            f"{describe(surface)} is a surface, but the grid is two-dimensional; use a Point, a "
            "Line or an Arc, or more than one point along z"
        )
    _require_inside(surface, grid)


def _require_inside(surface: Surface, grid: PointGrid) -> None:
    slack = ON_PLANE * np.asarray(grid.spacing)
    (low, high), (least, most) = surface.extent, grid.extent
    for axis, name in enumerate("xyz"):
        if low[axis] < least[axis] - slack[axis] or high[axis] > most[axis] + slack[axis]:
            raise InputError(
                f"{describe(surface)} extends from {name} = {low[axis]:g} to {high[axis]:g} m, but "
                f"the grid reaches from {least[axis]:g} to {most[axis]:g} m; move the transducer, "
                f"or enlarge the grid along {name}"
            )
