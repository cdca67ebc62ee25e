"""The soft soil in one part of the grid, and the layout of its elements."""

from __future__ import annotations

from dataclasses import dataclass

from groundswell.backends import Cells
from groundswell.exchange.decomposition import Block
from groundswell.grids.cartesian import Part
from groundswell.solvers.earthquake.plasticity.soil_model import SoilModel

LANES = 32  # of a warp, whose cells are whole cache lines
BAND_BYTES = 2_000_000  # of elements in a plane of a band; see bands.h


@dataclass(frozen=True)
class SoilBlock:
    """The soil in one part of the grid, and the layout of its elements.

    Args:
        block: its cells in the part, (z, y, x).
        start: first cell along x of rows of elements, a multiple of LANES.
        row: their length, another one.
    """

    block: Block
    start: int
    row: int

    @classmethod
    def of(cls, soil: SoilModel, part: Part) -> SoilBlock:
        """The soil in a part."""
        block = soil.layer.block(part)
        start = block.start[2] // LANES * LANES
        row = -(-(block.start[2] + block.shape[2] + 1 - start) // LANES) * LANES
        return cls(block, start, row)

    @property
    def is_empty(self) -> bool:
        """Whether the part has no soil."""
        return not all(self.block.shape)

    @property
    def edges(self) -> Block:
        """The cells whose low sides have the edges of the soil; some are ghosts or below it."""
        return Block(self.block.start, tuple(n + 1 for n in self.block.shape))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape (z, y, x) of an array with one value per cell of `edges`."""
        z, y, _ = self.edges.shape
        return z, y, self.row

    @property
    def columns(self) -> slice:
        """The cells of the block in rows of such an array."""
        first = self.block.start[2] - self.start
        return slice(first, first + self.block.shape[2])

    @property
    def depth_rows(self) -> int:
        """Depth rows of the fields of what the soil loses: down to the first below it."""
        return 1 if self.is_empty else self.block.start[0] + self.block.shape[0] + 1

    def parameters(self) -> dict[str, int]:
        """Those of kernels."""
        names = [f"SOIL_{axis}" for axis in "KJIZYX"]
        extent = dict(zip(names, (*self.block.start, *self.block.shape), strict=True))
        return {**extent, "SOIL_START": self.start, "SOIL_ROW": self.row}

    def within(self, box: Block) -> Block | None:
        """The cells of a box in the depth rows of the soil and of the edges below, if any."""
        low = max(box.start[0], self.block.start[0])
        end = min(box.start[0] + box.shape[0], self.block.start[0] + self.edges.shape[0])
        if self.is_empty or low >= end:
            return None
        return Block((low, *box.start[1:]), (end - low, *box.shape[1:]))

    def launched(self, edges: bool, cell_bytes: int) -> Cells:
        """The cells of a launch, or also those at their edges, in bands of rows.

        Args:
            cell_bytes: bytes of the elements of a cell.
        """
        nz, ny, nx = (self.edges if edges else self.block).shape
        nx += self.block.start[2] - self.start
        bands = max(1, round(nx * ny * cell_bytes / BAND_BYTES))
        return Cells(nx, ny, nz, band=-(-ny // bands))
