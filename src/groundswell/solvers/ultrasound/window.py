"""The points that a rank transforms: its block of the grid and overlaps with its neighbours.

A local Fourier basis replaces the transform of the whole grid by transforms of overlapping blocks
(Israeli, Vozovoi & Averbuch 1993, J. Sci. Comput. 8, 135-149; Jaros, Vaverka & Treeby 2016,
Supercomput. Front. Innov. 3, 40-55). Before a transform, a bell function reduces the values in the
overlaps smoothly to zero. The derivatives in the block are then close to those of the whole grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log10, sqrt

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.grids.cartesian import Triple


@dataclass(frozen=True)
class Window:
    """A block of a periodic grid with overlaps.

    Args:
        whole: number of points of the grid (x, y, z).
        start: index of the first point of the block.
        cells: number of points of the block.
        overlap: number of points on either side of the block; 0 along axes that are not divided.
        wavenumber: smallest wavenumber for which the bell function is chosen; see `bell_shape`.
    """

    whole: Triple
    start: Triple
    cells: Triple
    overlap: Triple = (0, 0, 0)
    wavenumber: float | None = None

    @classmethod
    def whole_of(cls, cells: Triple) -> Window:
        """The window of a whole grid."""
        return cls(cells, (0, 0, 0), cells)

    @property
    def extended(self) -> Triple:
        """Number of points with the overlaps (x, y, z)."""
        nx, ny, nz = (n + 2 * o for n, o in zip(self.cells, self.overlap, strict=True))
        return nx, ny, nz

    @property
    def own(self) -> tuple[slice, slice, slice]:
        """Slices of the block in an array (z, y, x) of the window."""
        x, y, z = (slice(o, o + n) for n, o in zip(self.cells, self.overlap, strict=True))
        return z, y, x

    def edge(self, axis: int) -> Floats:
        """Values of the bell function in an overlap, from the block outwards, (overlap,)."""
        overlap = self.overlap[axis]
        return bell(overlap, bell_shape(overlap, self.wavenumber))

    def indices(self, axis: int) -> Integers:
        """Indices in the grid of the points along an axis, overlaps included, (n,)."""
        first = self.start[axis] - self.overlap[axis]
        points: Integers = np.arange(first, first + self.extended[axis])
        return points % self.whole[axis]

    def runs(self, axis: int) -> list[slice]:
        """The same points as slices: several if the window wraps around the grid."""
        cells, left = self.whole[axis], self.extended[axis]
        first, found = (self.start[axis] - self.overlap[axis]) % cells, []
        while left:
            run = slice(first, min(first + left, cells))
            found.append(run)
            left, first = left - (run.stop - run.start), 0
        return found

    def locate(self, points: Integers) -> tuple[Integers, Integers]:
        """Find points of the grid in the window, which may contain a point several times.

        Args:
            points: flat indices in an array (z, y, x) of the grid, (n,).

        Returns:
            Entries of `points`, and flat indices in an array (z, y, x) of the window, (m,) each.
        """
        found = np.unravel_index(points, self.whole[::-1])
        entries, places = np.arange(len(points)), np.zeros(len(points), np.int64)
        for axis, coordinate in zip((2, 1, 0), found, strict=True):
            match, along = _occurrences(coordinate[entries], self.indices(axis))
            entries = entries[match]
            places = places[match] * self.extended[axis] + along
        return entries, places


def _occurrences(wanted: Integers, among: Integers) -> tuple[Integers, Integers]:
    """All pairs (n, m) with wanted[n] == among[m]."""
    order = np.argsort(among, kind="stable")
    first, last = (np.searchsorted(among[order], wanted, side) for side in ("left", "right"))
    counts = last - first
    entries = np.repeat(np.arange(len(wanted)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return entries, order[np.repeat(first, counts) + within]


def bell(overlap: int, shape: float | None = None) -> Floats:
    """Values of the bell function in an overlap, from the block outwards, (overlap,).

    The bell function is (1 + erf(L xi / sqrt(1 - xi^2))) / 2. Here xi falls from 1 at the last
    point of the block to -1 one point beyond the overlap (Boyd 2006, J. Sci. Comput. 29, 1-24).

    Args:
        shape: the parameter L; by default that of `bell_shape`.
    """
    from scipy.special import erf  # takes long to import

    xi = 1 - 2 * np.arange(1, overlap + 1) / (overlap + 1)
    steepness = bell_shape(overlap) if shape is None else shape
    values: Floats = (1 + erf(steepness * xi / np.sqrt(1 - xi**2))) / 2
    return values


def bell_along(window: Window, axis: int) -> Floats:
    """Values of the bell function along an axis, 1 in the block, (n,)."""
    edge = window.edge(axis)
    return np.concatenate([edge[::-1], np.ones(window.cells[axis]), edge])


def bell_shape(overlap: int, wavenumber: float | None = None) -> float:
    """Parameter L of the bell function: the best one for waves of 3 to 6 points per wavelength.

    Args:
        wavenumber: if given, waves of this wavenumber (rad per point) must not mix with very long
            ones either, for which power-law absorption is not local. The bell is then less steep.
    """
    shape = 0.5 * sqrt(overlap) + 1
    return shape if wavenumber is None else min(shape, 0.5 * sqrt(wavenumber * overlap))


def overlap_for(accuracy: float) -> int:
    """Smallest overlap for a wanted error of the pressure of waves far from sources and interfaces.

    The rule has a margin: in `groundswell verify ultrasound`, a ball in a uniform three-dimensional
    torus has errors of 4e-3, 6e-4 and 2e-5 with 4, 8 and 16 points of overlap.
    """
    return max(4, ceil(4.8 * -log10(accuracy)) + 1)
