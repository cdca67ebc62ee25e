"""How a GPU's threads share a box of points."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from groundswell.backends import Blocks
from groundswell.exchange.overlap import Box

WARP = 32
REGISTERS = 512  # threads whose registers a processor has room for, 128 each
TALLEST = 8  # planes
BLOCKS_A_PROCESSOR = 4  # at least, if there are points enough


@dataclass(frozen=True)
class Tile:
    """A block of x times y threads, each of which computes z points above each other.

    So many tiles along y are a band that one layer of it is what runs at once; then the planes that
    a layer shares with the next are read from memory once. Trials on an H200 with 512^3 points, 32
    tiles to a band (256 blocks of 264): 42.5 thousand million points a second in tiles of
    64 x 4 x 8, 41.8 in 64 x 4 x 16, 40.0 in 64 x 4 x 32, 42.3 in 32 x 8 x 8; 42.1 and 41.5 with 24
    and 40 tiles to a band, 41.0 with all (64 x 4 x 16).
    """

    x: int
    y: int
    z: int
    band: int

    @classmethod
    def of(cls, points: tuple[int, int, int], processors: int) -> Tile:
        """The tile for a block of points (x, y, z)."""
        nx, ny, nz = points
        x, y = 2 * WARP if nx > 4 * WARP else WARP, 4
        across, rows = -(-nx // x), -(-ny // y)
        z = across * rows * nz // (BLOCKS_A_PROCESSOR * processors)
        at_once = processors * REGISTERS // (x * y)
        bands = -(-rows * across // at_once)
        return cls(x, y, max(1, min(z, TALLEST)), -(-rows // bands))

    def cover(self, box: Box) -> Blocks:
        """The launch that covers a box."""
        tiles = (-(-n // t) for n, t in zip(box.shape, (self.z, self.y, self.x), strict=True))
        return Blocks(prod(tiles), self.x * self.y)

    def constants(self) -> dict[str, int]:
        """What kernels call these numbers."""
        threads = self.x * self.y
        return {
            "TILE_X": self.x,
            "TILE_Y": self.y,
            "TILE_Z": self.z,
            "TILE_BAND": self.band,
            "MOST_THREADS": threads,
            "BLOCKS_AT_ONCE": REGISTERS // threads,
        }
