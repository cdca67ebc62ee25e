"""The absorbing layers beside soft soil in a part of the grid, which lose what the soil loses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from groundswell.exchange.decomposition import Block
from groundswell.grids.cartesian import Part
from groundswell.solvers.earthquake.plasticity.soil_layer import SoilLayer

Range = tuple[int, int]


@dataclass(frozen=True)
class SoilMargins:
    """The layers beside the soil in a part of the grid, in its cells.

    Args:
        x, y: the first and the last cell of the grid that yield along an axis.
        cells: of the part along x and y.
        rows: first and number of depth rows of the soil.
    """

    x: Range
    y: Range
    cells: tuple[int, int]
    rows: Range

    @classmethod
    def of(cls, layer: SoilLayer, part: Part) -> SoilMargins:
        """The margins of the soil in a part."""
        x, y = (
            (first - part.start[axis], last - part.start[axis])
            for axis, (first, last) in enumerate(layer.yielding)
        )
        block = layer.block(part)
        return cls(x, y, part.cells[:2], (block.start[0], block.shape[0]))

    def parameters(self) -> dict[str, int]:
        """Those of kernels."""
        return dict(zip(("LOW_X", "HIGH_X", "LOW_Y", "HIGH_Y"), (*self.x, *self.y), strict=True))

    @property
    def beside(self) -> Iterator[Block]:
        """Yield the cells that adjoin the soil, also in ghosts."""
        (low, high), (nx, ny) = self.x, self.cells
        ends, (start, stop) = (max(low, -1), min(high, nx) + 1), self.y
        columns = [(n, n + 1) for n in (low - 1, high + 1) if -1 <= n <= nx]
        rows = [(n, n + 1) for n in (start - 1, stop + 1) if -1 <= n <= ny]
        yield from (self._block(each, (-1, ny + 1), 0) for each in columns)
        yield from (self._block(ends, each, 0) for each in rows)

    @property
    def layers(self) -> Iterator[Block]:
        """Yield the cells of the layers, with the edges below the soil."""
        (low, high), (start, stop), (nx, ny) = self.x, self.y, self.cells
        ends = max(low, 0), min(high + 1, nx)
        for columns in ((0, low), (high + 1, nx)):
            if columns[0] < columns[1]:
                yield self._block(columns, (0, ny), 1)
        for rows in ((0, start), (stop + 1, ny)):
            if rows[0] < rows[1]:
                yield self._block(ends, rows, 1)

    def _block(self, x: Range, y: Range, below: int) -> Block:
        first, count = self.rows
        return Block((first, y[0], x[0]), (count + below, y[1] - y[0], x[1] - x[0]))
