"""Yield of soft soil: the arrays of kernels/soil.h, and the launches that use them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray, HostArray, Indices, Reals
from groundswell.backends import Backend, Cells, Launch, Source
from groundswell.exchange.decomposition import Block, Decomposition
from groundswell.exchange.ghost_field import GhostField
from groundswell.grids.cartesian import Field, Layout, Part
from groundswell.outputs.distributed_array import ArrayIndex, DistributedArray, span
from groundswell.seismology.case.plasticity import STRAIN
from groundswell.solvers.earthquake import step_source
from groundswell.solvers.earthquake.interpolation import SHEAR_REACH
from groundswell.solvers.earthquake.materials import Materials
from groundswell.solvers.earthquake.plasticity.rheology import Exchanges, MakeExchange, Rheology
from groundswell.solvers.earthquake.plasticity.soil_block import SoilBlock
from groundswell.solvers.earthquake.plasticity.soil_margins import SoilMargins
from groundswell.solvers.earthquake.plasticity.soil_model import SoilModel
from groundswell.solvers.earthquake.plasticity.soil_ranks import part_ghosts, rows_of_soil
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.step_source import common_constants, differences

COMPONENTS = ("xx", "yy", "xy", "xz", "yz")
COUNTS = ("cell_counts", "edge_counts")


class SoilYield(Rheology):
    """The elements of a rank's soil, and what it loses of its stresses.

    Attributes:
        strain: accumulated plastic strain of all cells of the part.
    """

    def __init__(
        self, setup: Setup, soil: SoilModel, backend: Backend, part: Part, materials: Materials
    ) -> None:
        self._setup, self._soil, self._backend, self._part = setup, soil, backend, part
        self._where = SoilBlock.of(soil, part)
        self._margins = SoilMargins.of(soil.layer, part)
        layout = Layout(part.cells, np.dtype(setup.dtype).itemsize)
        self.strain = Field(backend, layout, setup.dtype)
        self.fields = {STRAIN: self.strain}
        nx, ny, _ = part.cells
        self._thin = Layout((nx, ny, self._where.depth_rows), layout.itemsize)
        self._parts = self._stacked(soil.surfaces)
        self._materials = {**materials.arguments("compliance"), "rows": materials.corrections}
        if not self._where.is_empty:
            self._allocate()
            self._module = backend.compile(soil_source(setup, part, materials))

    def _stacked(self, count: int) -> list[DeviceArray]:
        """Fields of the uppermost rows, with ghosts, at equal distances in memory."""
        thin, dtype = self._thin, self._setup.dtype
        nx, ny, nz = thin.padded
        whole = self._backend.zeros((count * thin.size,), dtype).reshape(count, thin.size)
        fields = whole[:, thin.first :][:, : thin.plane * nz].reshape(count, nz, ny, thin.row)
        return [field[:, :, :nx] for field in fields]

    def _allocate(self) -> None:
        backend, dtype, (nz, ny, row) = self._backend, self._setup.dtype, self._where.shape
        count = (1 + self._soil.surfaces) * len(COMPONENTS)
        self._elements = backend.zeros((nz, ny, count, row), dtype)
        self._counts = {name: backend.zeros((nz, ny, row), np.uint8) for name in COUNTS}
        self._lost = {name: Field(backend, self._thin, dtype) for name in COMPONENTS}
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

    def _cell_tables(self) -> dict[str, HostArray]:
        """Reference strains of cells, (nz, ny, row), and the numbers of the rows' curves, (nz,)."""
        _, y, x = self._in_region
        ny = self._where.block.shape[1]
        reference = np.full(self._where.shape, np.inf, self._setup.dtype)
        curves = np.zeros(len(reference), np.int32)
        for n, k in enumerate(self._own_rows.tolist()):
            reference[n, :ny, self._where.columns] = self._soil.reference_strains(k)[y, x]
            curves[n : n + 2] = self._soil.number(k)
        return {"reference": reference, "curves": curves}

    @property
    def _in_region(self) -> tuple[slice, slice, slice]:
        """The slices of the block in arrays of the region."""
        before, start = self._part.grid.before[::-1], self._part.start[::-1]
        block = self._where.block
        z, y, x = (
            slice(a + s - b, a + s - b + n)
            for a, s, b, n in zip(block.start, start, before, block.shape, strict=True)
        )
        return z, y, x

    @property
    def _own_rows(self) -> Indices:
        """The rows of the region that the block has."""
        rows = self._in_region[0]
        return np.arange(rows.start, rows.stop)

    # --- launches ---------------------------------------------------------------------------------

    def advance(self, velocities: Mapping[str, DeviceArray], exchanges: Exchanges) -> list[Launch]:
        """The launches that advance the elements by a step: of cells, then of their edges."""
        if self._where.is_empty:
            return exchanges[2].overlap_with(boundary=[], interior=[])
        cells, edges = self.launches(velocities)
        exchanged = exchanges[2].overlap_with(boundary=[cells], interior=[])
        return [*exchanged, *self._repeat_parts(), edges, *self._repeat_lost()]

    def _repeat_parts(self) -> list[Launch]:
        """The launches after which cells beside the soil lose the parts of the outermost cells."""
        parts = {"parts": self._interior(self._parts[0])}
        return [self._in_box("repeat_parts", box, parts) for box in self._margins.beside]

    def _repeat_lost(self) -> list[Launch]:
        """The launches after which absorbing layers lose what the outermost cells lose."""
        lost = self._lost_stresses
        return [self._in_box("repeat_lost", box, lost) for box in self._margins.layers]

    def _in_box(self, kernel: str, box: Block, arrays: Mapping[str, DeviceArray]) -> Launch:
        names = ("first_k", "first_j", "first_i", "count_k", "count_j", "count_i")
        where = dict(zip(names, (*box.start, *box.shape), strict=True))
        return self._module.launch(kernel, Cells(*box.shape[::-1]), **arrays, **where)

    def launches(self, velocities: Mapping[str, DeviceArray]) -> tuple[Launch, Launch]:
        """The launches that let cells yield, and edges lose what cells have found."""
        cell_bytes = self._elements.shape[2] * self._elements.dtype.itemsize
        tables = dict(self._tables_on_device)
        carried = {"carried": tables.pop("carried"), STRAIN: self.strain.interior}
        arrays = {**velocities, **self._materials, **tables, **self._counts}
        arrays["elements"] = self._elements
        arrays["parts"] = self._interior(self._parts[0])
        lost = self._lost_stresses
        normal = {name: lost.pop(name) for name in ("lost_xx", "lost_yy")}
        cells, edges = (self._where.launched(edges, cell_bytes) for edges in (False, True))
        return (
            self._module.launch("yield_soil", cells, **arrays, **normal, **carried),
            self._module.launch("yield_edges", edges, **arrays, **lost),
        )

    def release(self, stresses: Mapping[str, DeviceArray], box: Block) -> list[Launch]:
        """The launch that corrects the stresses of a box which have been advanced by a step."""
        own = self._where.within(box)
        if own is None:
            return []
        return [self._in_box("release_soil", own, {**stresses, **self._lost_stresses})]

    @property
    def _lost_stresses(self) -> dict[str, DeviceArray]:
        return {f"lost_{name}": field.interior for name, field in self._lost.items()}

    def _interior(self, array: DeviceArray) -> DeviceArray:
        """A stacked field without its ghosts."""
        z, y, x = self._thin.low[::-1]
        return array[z : array.shape[0] - z, y : array.shape[1] - y, x : array.shape[2] - x]

    # --- ranks and checkpoints --------------------------------------------------------------------

    def exchanges(
        self, fields: Mapping[str, Field], decomposition: Decomposition, make: MakeExchange
    ) -> Exchanges:
        """That of the parts that cells lose, which the edges of other blocks lose, too."""
        ghosts, origin = part_ghosts(self._soil.layer), self._thin.low[::-1]
        parts = [GhostField(part, origin, ghosts) for part in self._parts]
        return (make(parts, rows_of_soil(decomposition, self._soil.layer)),)

    def state(self) -> dict[str, DistributedArray]:
        """What elements have lost, and how many, for checkpoints: (z, y, ..., x).

        Neighbours both have the edges between them.
        """
        arrays = {f"soil/{name}": each for name, each in self._arrays.items()}
        return {name: self._distributed(*each) for name, each in arrays.items()}

    @property
    def _arrays(self) -> dict[str, tuple[DeviceArray | None, tuple[int, ...], DTypeLike]]:
        """The arrays of a block, the axes that they have besides its own, and their types."""
        components = (1 + self._soil.surfaces) * len(COMPONENTS)
        counts: dict[str, DeviceArray | None] = dict.fromkeys(COUNTS)
        elements = None
        if not self._where.is_empty:
            elements, counts = self._elements, {**self._counts}
        return {
            "elements": (elements, (components,), self._setup.dtype),
            **{name: (array, (), np.uint8) for name, array in counts.items()},
        }

    def _distributed(
        self, array: DeviceArray | None, more: tuple[int, ...], dtype: DTypeLike
    ) -> DistributedArray:
        x, y, z = (n + 1 for n in self._soil.layer.cells)
        shape = (z, y, *more, x)
        if array is None:
            return DistributedArray(self._backend.zeros((0,), dtype), shape, (), ())
        window, own = (self._place((z, y, x), more, shared) for shared in (True, False))
        return DistributedArray(array, shape, (window,), (own,))

    def _place(
        self, shape: tuple[int, ...], more: tuple[int, ...], shared: bool
    ) -> tuple[ArrayIndex, ArrayIndex]:
        """Where values are here and in the whole; `shared` ones at high sides, too."""
        block, first, spans = self._where.block, self._soil.layer.first, []
        for n, lead in enumerate((0, 0, self._where.columns.start)):
            start = block.start[n] + self._part.start[2 - n] - first[2 - n]
            is_last = start + block.shape[n] + 1 == shape[n]
            spans.append(span(lead, start, block.shape[n] + (shared or is_last)))
        spans[2:2] = [span(0, 0, n) for n in more]
        here, there = zip(*spans, strict=True)
        return here, there


def soil_source(setup: Setup, part: Part, materials: Materials) -> Source:
    """The kernels of the soil in a part of the grid."""
    soil, layout = setup.soil, Layout(part.cells, np.dtype(setup.dtype).itemsize)
    assert soil is not None
    where = SoilBlock.of(soil, part)
    nx, ny, _ = part.cells
    constants = {
        **common_constants(setup, part, materials),
        "CORRECTED_ROWS": materials.are_corrected,
        "SHEAR_REACH": SHEAR_REACH,
        "ELEMENTS": soil.surfaces,
        "CURVES": len(soil.elements),
        "SHARED_X": setup.ground.periodic or nx < setup.grid.cells[0],
        "SHARED_Y": setup.ground.periodic or ny < setup.grid.cells[1],
    }
    parameters = {
        **layout.parameters(),
        **differences(part),
        **where.parameters(),
        **SoilMargins.of(soil.layer, part).parameters(),
        "PARTS_APART": Layout((nx, ny, where.depth_rows), layout.itemsize).size,
        "DT": setup.dt,
    }
    generic = layout.is_short_run(setup.steps)
    return Source(step_source.KERNELS / "soil.h", constants, parameters, generic=generic)
