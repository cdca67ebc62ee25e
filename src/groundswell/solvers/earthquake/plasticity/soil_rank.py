"""Yield of soft soil: the arrays of kernels/soil.h, and the launches that use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import DeviceArray, Reals
from groundswell.backends import Backend, Cells, Launch, Source
from groundswell.exchange.decomposition import Block, Decomposition
from groundswell.exchange.ghost_field import GhostField
from groundswell.grids.cartesian import Field, Layout, Part
from groundswell.outputs.distributed_array import DistributedArray, span
from groundswell.seismology.case.plasticity import STRAIN
from groundswell.solvers.earthquake.interpolation import SHEAR_REACH
from groundswell.solvers.earthquake.materials import Materials
from groundswell.solvers.earthquake.plasticity.rheology import Exchanges, MakeExchange, Rheology
from groundswell.solvers.earthquake.plasticity.soil_model import SoilModel
from groundswell.solvers.earthquake.plasticity.soil_ranks import EDGES, rows_of_soil, strain_ghosts
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.step_source import KERNELS, common_constants, differences

COMPONENTS = ("xx", "yy", "xy", "xz", "yz")
LANES = 32  # of a warp, whose cells are whole cache lines


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
        row = -(-(block.start[2] + block.shape[2] - start) // LANES) * LANES
        return cls(block, start, row)

    @property
    def is_empty(self) -> bool:
        """Whether the part has no soil."""
        return not all(self.block.shape)

    @property
    def rows(self) -> int:
        """Depth rows of the fields of plastic strain: down to the first below the soil."""
        return 1 if self.is_empty else self.block.start[0] + self.block.shape[0] + 1

    def parameters(self) -> dict[str, int]:
        """Those of kernels."""
        names = [f"SOIL_{axis}" for axis in "KJIZYX"]
        extent = dict(zip(names, (*self.block.start, *self.block.shape), strict=True))
        return {**extent, "SOIL_START": self.start, "SOIL_ROW": self.row}

    def beside(self, box: Block) -> Block | None:
        """The cells of a box whose edges touch the soil, those of the low sides of cells."""
        low = [max(a, b) for a, b in zip(box.start, self.block.start, strict=True)]
        high = [
            min(a + n, b + m + 1)
            for a, n, b, m in zip(box.start, box.shape, *self._extent, strict=True)
        ]
        shape = tuple(b - a for a, b in zip(low, high, strict=True))
        return Block(tuple(low), shape) if min(shape) > 0 and not self.is_empty else None

    @property
    def _extent(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.block.start, self.block.shape


class SoilYield(Rheology):
    """The elements of a rank's soil, and what they take from its stresses.

    Attributes:
        strain: accumulated plastic strain of all cells of the part.
    """

    def __init__(
        self, setup: Setup, soil: SoilModel, backend: Backend, part: Part, materials: Materials
    ) -> None:
        self._setup, self._soil, self._backend, self._part = setup, soil, backend, part
        self._layout = Layout(part.cells, np.dtype(setup.dtype).itemsize)
        self._where = SoilBlock.of(soil, part)
        self.strain = Field(backend, self._layout, setup.dtype)
        self.fields = {STRAIN: self.strain}
        nx, ny, _ = part.cells
        thin = Layout((nx, ny, self._where.rows), self._layout.itemsize)
        self._lost = {name: Field(backend, thin, setup.dtype) for name in COMPONENTS}
        self._materials = materials.arguments("compliance")
        if not self._where.is_empty:
            self._allocate()
            self._module = backend.compile(soil_source(setup, part, materials, self._where))

    def _allocate(self) -> None:
        backend, dtype, (nz, ny, _) = self._backend, self._setup.dtype, self._where.block.shape
        shape = (nz, ny, self._soil.surfaces * len(COMPONENTS), self._where.row)
        self._elements = backend.zeros(shape, dtype)
        tables = {**self._cell_tables(), **self._tables()}
        self._tables_on_device = {name: backend.to_device(table) for name, table in tables.items()}

    def _tables(self) -> dict[str, Reals]:
        """What the elements of each curve have, (curves, elements), and rows carry, (nz,)."""
        elements, rows = self._soil.elements, self._own_rows
        tables = {
            "shares": np.stack([each.shares for each in elements]),
            "strengths": np.stack([each.strengths for each in elements]),
            "carried": self._soil.carried[rows],
        }
        return {name: table.astype(self._setup.dtype) for name, table in tables.items()}

    def _cell_tables(self) -> dict[str, np.ndarray]:
        """Reference strains and numbers of curves of the cells, (nz, ny, row)."""
        _, y, x = self._in_region
        (nz, ny, nx), first = self._where.block.shape, self._where.block.start[2]
        cells = slice(first - self._where.start, first - self._where.start + nx)
        reference = np.full((nz, ny, self._where.row), np.inf, self._setup.dtype)
        curves = np.zeros(reference.shape, np.uint16)
        for n, k in enumerate(self._own_rows):
            reference[n, :, cells] = self._soil.reference_strains(int(k))[y, x]
            curves[n] = self._soil.number(int(k))
        return {"reference": reference, "curves": curves}

    @property
    def _in_region(self) -> tuple[slice, slice, slice]:
        """The slices of the block in arrays of the region."""
        before, start = self._part.grid.before[::-1], self._part.start[::-1]
        z, y, x = (
            slice(a + s - b, a + s - b + n)
            for a, s, b, n in zip(
                self._where.block.start, start, before, self._where.block.shape, strict=True
            )
        )
        return z, y, x

    @property
    def _own_rows(self) -> np.ndarray:
        """The rows of the region that the block has."""
        rows = self._in_region[0]
        return np.arange(rows.start, rows.stop)

    # --- launches ---------------------------------------------------------------------------------

    def advance(self, velocities: Mapping[str, DeviceArray], exchanges: Exchanges) -> list[Launch]:
        """The launches that advance the elements by a step and exchange plastic strains."""
        return exchanges[2].overlap_with(boundary=self._yield(velocities), interior=[])

    def _yield(self, velocities: Mapping[str, DeviceArray]) -> list[Launch]:
        if self._where.is_empty:
            return []
        arrays = {**velocities, **self._taken, **self._materials, **self._tables_on_device}
        nz, ny, nx = self._where.block.shape
        cells = Cells(self._where.block.start[2] - self._where.start + nx, ny, nz)
        arrays |= {"elements": self._elements, STRAIN: self.strain.interior}
        return [self._module.launch("yield_soil", cells, **arrays)]

    def release(self, stresses: Mapping[str, DeviceArray], box: Block) -> list[Launch]:
        """The launch that corrects the stresses of a box which have been advanced by a step."""
        own = self._where.beside(box)
        if own is None:
            return []
        names = ("first_k", "first_j", "first_i", "count_k", "count_j", "count_i")
        where = dict(zip(names, (*own.start, *own.shape), strict=True))
        arrays = {**stresses, **self._taken, **self._materials}
        cells = Cells(*own.shape[::-1])
        return [self._module.launch("release_soil", cells, **arrays, **where)]

    @property
    def _taken(self) -> dict[str, DeviceArray]:
        return {f"lost_{name}": field.interior for name, field in self._lost.items()}

    # --- ranks and checkpoints --------------------------------------------------------------------

    def exchanges(
        self, fields: Mapping[str, Field], decomposition: Decomposition, make: MakeExchange
    ) -> Exchanges:
        """That of plastic shear strains, which the edges of other blocks read."""
        return (make(self._ghost_fields(), rows_of_soil(decomposition, self._soil.layer)),)

    def _ghost_fields(self) -> list[GhostField]:
        return [
            GhostField(
                self._lost[axes].array,
                self._lost[axes].origin,
                strain_ghosts(self._soil.layer, axes),
            )
            for axes in EDGES
        ]

    def state(self) -> dict[str, DistributedArray]:
        """The stresses of all elements, (z, y, elements and components, x), for checkpoints."""
        x, y, z = self._soil.layer.cells
        count = self._soil.surfaces * len(COMPONENTS)
        shape = (z, y, count, x)
        if self._where.is_empty:
            empty = self._backend.zeros((0,), self._setup.dtype)
            return {"soil/elements": DistributedArray(empty, shape, (), ())}
        own = DistributedArray.of_boxes(self._elements, shape, [*self._spans(count)])
        return {"soil/elements": own}

    def _spans(self, count: int) -> Iterator[list[tuple[slice, slice]]]:
        block, first = self._where.block, self._soil.layer.first
        here = (0, 0, block.start[2] - self._where.start)
        there = [
            block.start[n] + self._part.start[axis] - first[axis]
            for n, axis in enumerate((2, 1, 0))
        ]
        z, y, x = zip(here, there, block.shape, strict=True)
        yield from ([span(*z)], [span(*y)], [span(0, 0, count)], [span(*x)])


def soil_source(setup: Setup, part: Part, materials: Materials, where: SoilBlock) -> Source:
    """The kernels of the soil in a part of the grid."""
    soil, layout = setup.soil, Layout(part.cells, np.dtype(setup.dtype).itemsize)
    assert soil is not None
    constants = {
        **common_constants(setup, part, materials),
        "SHEAR_REACH": SHEAR_REACH,
        "ELEMENTS": soil.surfaces,
        "CURVES": len(soil.elements),
    }
    parameters = {**layout.parameters(), **differences(part), **where.parameters()}
    generic = layout.is_short_run(setup.steps)
    return Source(KERNELS / "soil.h", constants, parameters | {"DT": setup.dt}, generic=generic)
