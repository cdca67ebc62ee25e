"""Tiles of rows of cells; see kernels/tiles.h."""

from __future__ import annotations

from groundswell.grids.cartesian import Triple

TILE = 32  # cells: a warp, with a bit each in a word


def tiles_of(nx: int) -> int:
    """Tiles of a row of cells; the first one has the ghosts before them."""
    return -(-nx // TILE) + 1


def tiles_shape(cells: Triple) -> Triple:
    """Shape of an array of tiles, (planes, rows, tiles), ghosts before a part included."""
    nx, ny, nz = cells
    return nz + 1, ny + 1, tiles_of(nx)


def peaks_shape(cells: Triple) -> Triple:
    """Shape of an array of peaks, which has one more of each."""
    planes, rows, tiles = tiles_shape(cells)
    return planes + 1, rows + 1, tiles + 1
