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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, isfinite, pi, prod
from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander
from scipy.sparse import csr_matrix

from groundswell.arrays import Floats, Integers
from groundswell.backends.host_threads import in_threads, take
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
DEGREE = 18  # of the polynomials of the kernel: their errors are 4e-15 of its maximum
CHUNK = 512  # integration points per matrix product: small products run faster, on one thread
BATCH = 16  # chunks whose kernels are found at once


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

    def flat(self, first: Integers, shape: Sequence[int]) -> Integers:
        """Indices into the flattened array (z, y, x) of a periodic box of points, (z, y, x).

        Args:
            first: indices (i, j, k) of its first point.
            shape: its shape (z, y, x).
        """
        along = (start + np.arange(n) for start, n in zip(first, shape[::-1], strict=True))
        i, j, k = (at % count for at, count in zip(along, self.counts, strict=True))
        return np.asarray(i + self.counts[0] * (j[:, None] + self.counts[1] * k[:, None, None]))


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


def _kernels(cells: Floats, half_width: int) -> Floats:
    """Weights of the grid points around fractional indices along one axis, (2 half_width, n).

    The first row belongs to the point floor(index) - half_width + 1; each column has the sum 1. An
    index on a grid plane has the weight 1 there and 0 elsewhere.
    """
    below = np.floor(cells)
    weights = _polynomials(half_width).T @ chebvander(2 * (cells - below) - 1, DEGREE).T
    on_plane = np.flatnonzero(cells == below)
    weights[:, on_plane] = 0
    weights[half_width - 1, on_plane] = 1
    return np.asarray(weights / weights.sum(axis=0))


@cache
def _polynomials(half_width: int) -> Floats:
    """Chebyshev coefficients of the kernel at each grid point, (DEGREE + 1, 2 half_width).

    They are functions of the distance to the point below, from 0 to 1, stretched to [-1, 1].
    Between two grid points the kernel is smooth, and a polynomial takes much less time than its
    sines and Bessel functions.
    """
    nodes, points = chebpts1(DEGREE + 1), np.arange(1 - half_width, half_width + 1)
    values = _kernel(points - (nodes[:, None] + 1) / 2, half_width)
    return np.asarray(np.linalg.solve(chebvander(nodes, DEGREE), values))


def _kernel(distance: Floats, half_width: int) -> Floats:
    """The tapered kernel at distances of up to `half_width` cells."""
    inside = np.maximum(1 - (distance / half_width) ** 2, 0)
    return np.asarray(np.sinc(distance) * np.i0(KAISER * np.sqrt(inside)) / np.i0(KAISER))


# --- accumulation ---------------------------------------------------------------------------------


def _spread(cells: Floats, weights: Floats, grid: PointGrid, half_width: int) -> GridWeights:
    """Sum of the kernels of all integration points; threads compute slabs of tiles along z."""
    tiles = _tiles(cells)

    def find(slab: Integers) -> tuple[Integers, Floats]:
        groups = [slab[group] for group in _equal_rows(tiles[slab])]
        corner, box = _slab(cells, weights, groups, half_width)
        used = box != 0
        return grid.flat(corner, box.shape)[used], box[used]

    parts = in_threads(find, _equal_rows(tiles[:, 2:]))
    flat, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return _merged(flat, values)


def _merged(flat: Integers, values: Floats) -> GridWeights:
    """The different flat indices in ascending order, and the sum of the values of each.

    `numpy.unique` would take several times as long for indices that consist of sorted runs.
    """
    order = np.argsort(flat, kind="stable")
    ordered = take(flat, order)
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return GridWeights(ordered[first], np.add.reduceat(take(values, order), first))


def _slab(
    cells: Floats, weights: Floats, groups: Sequence[Integers], half_width: int
) -> tuple[Integers, Floats]:
    """Index (i, j, k) of the first point of a slab, and its weights (z, y, x).

    Args:
        groups: the integration points of each tile.
    """
    cuts = ((group, range(CHUNK, len(group), CHUNK)) for group in groups)
    chunks = [chunk for cut in cuts for chunk in np.split(*cut)]
    corners = TILE * _tiles(cells[[chunk[0] for chunk in chunks]]) - half_width + 1
    low, size = corners.min(axis=0), TILE + 2 * half_width - 1
    box = np.zeros((corners.max(axis=0) - low + size)[::-1])
    for n in range(0, len(chunks), BATCH):
        tiles = _tile_weights(cells, weights, chunks[n : n + BATCH], half_width)
        for corner, tile in zip(corners[n:], tiles, strict=False):
            box[tuple(slice(start, start + size) for start in (corner - low)[::-1])] += tile
    return low, box


def _tiles(cells: Floats) -> Integers:
    """Numbers along each axis of the tiles that contain points, given their fractional indices."""
    return np.floor(cells / TILE).astype(np.int64)


def _tile_weights(
    cells: Floats, weights: Floats, chunks: Sequence[Integers], half_width: int
) -> Iterator[Floats]:
    """Weights of the grid points around the tile of each chunk, (z, y, x), as products of matrices.

    The kernels of all chunks are found at once: threads then spend less time on waiting for Python.
    """
    chosen = np.concatenate(chunks)
    x, y, z = (_in_tiles(cells[chosen, axis], half_width) for axis in range(3))
    y *= weights[chosen]
    ends = np.cumsum([len(chunk) for chunk in chunks])
    for part in map(slice, [0, *ends[:-1]], ends):
        yield (z[:, None, part] * y[:, part]) @ x[:, part].T


def _in_tiles(cells: Floats, half_width: int) -> Floats:
    """Weights along one axis of all grid points around the tile of each index, (points, n)."""
    found = np.zeros((TILE + 2 * half_width - 1, len(cells)))
    first = np.floor(cells).astype(np.int64) % TILE
    rows = first + np.arange(2 * half_width)[:, None]
    found[rows, np.arange(len(cells))] = _kernels(cells, half_width)
    return found


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
            f"{describe(surface)} is a surface, but the grid is two-dimensional; use a point, a "
            "line or an arc, or more than one point along z"
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
