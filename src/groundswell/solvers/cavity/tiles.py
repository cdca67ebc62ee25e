"""Tiling of a box of points for the threads of a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from groundswell.backends import Blocks
from groundswell.exchange.decomposition import Block

WARP = 32
MAX_RESIDENT_THREADS = 512  # per multiprocessor, with 128 registers each
MAX_PLANES = 8
MIN_BLOCKS_PER_PROCESSOR = 4  # if there are enough points


@dataclass(frozen=True)
class Tile:
    """A block of x times y threads, each of which computes a column of z points.

    Tiles along y form bands. One layer of a band has as many blocks as the device runs at once, so
    the planes that it shares with the next layer are read from memory only once. Measured on an
    H200 with 512^3 points and 32 tiles per band (256 blocks of 264), in billion points per second:
    42.5 with tiles of 64 x 4 x 8, 41.8 with 64 x 4 x 16, 40.0 with 64 x 4 x 32, 42.3 with
    32 x 8 x 8; 42.1 and 41.5 with 24 and 40 tiles per band, 41.0 with one band (64 x 4 x 16).

    Args:
        x, y: threads along x and y.
        z: points of a column.
        band: tiles along y in a band.
    """

    x: int
    y: int
    z: int
    band: int

    @classmethod
    def of(cls, points: tuple[int, int, int], processors: int) -> Tile:
        """The tile for a block of points (x, y, z) on `processors` multiprocessors."""
        nx, ny, nz = points
        x, y = 2 * WARP if nx > 4 * WARP else WARP, 4
        across, rows = -(-nx // x), -(-ny // y)
        z = across * rows * nz // (MIN_BLOCKS_PER_PROCESSOR * processors)
        at_once = processors * MAX_RESIDENT_THREADS // (x * y)
        bands = -(-rows * across // at_once)
        return cls(x, y, max(1, min(z, MAX_PLANES)), -(-rows // bands))

    def cover(self, box: Block) -> Blocks:
        """The launch that covers a box."""
        tiles = (-(-n // t) for n, t in zip(box.shape, (self.z, self.y, self.x), strict=True))
        return Blocks(prod(tiles), self.x * self.y)

    def parameters(self) -> dict[str, int]:
        """Parameters of the kernels."""
        threads = self.x * self.y
        return {
            "TILE_X": self.x,
            "TILE_Y": self.y,
            "TILE_Z": self.z,
            "TILE_BAND": self.band,
            "MAX_THREADS_PER_BLOCK": threads,
            "MIN_BLOCKS_PER_SM": MAX_RESIDENT_THREADS // threads,
        }
