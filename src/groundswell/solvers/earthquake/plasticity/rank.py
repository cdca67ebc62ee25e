"""Rock that yields in a rank's part of the grid: arrays and launches of kernels/plasticity.h."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import chain
from math import prod

import numpy as np

from groundswell.arrays import DeviceArray, Reals
from groundswell.backends import Backend, Blocks, Items, Launch, Source
from groundswell.backends.source import Constant
from groundswell.errors import InputError
from groundswell.exchange.decomposition import Block, Decomposition
from groundswell.exchange.halo import HaloExchange
from groundswell.grids.cartesian import Field, Layout, Part
from groundswell.seismology.case.plasticity import STRAIN as STRAIN
from groundswell.simulation.material_classes import ClassTable
from groundswell.solvers.earthquake import step_source
from groundswell.solvers.earthquake.halo import halo_fields, unrelaxed_halo
from groundswell.solvers.earthquake.materials import Materials
from groundswell.solvers.earthquake.plasticity.cells import RockCells
from groundswell.solvers.earthquake.plasticity.model import Plasticity
from groundswell.solvers.earthquake.plasticity.rheology import (
    Boxes,
    Exchanges,
    MakeExchange,
    Rheology,
)
from groundswell.solvers.earthquake.plasticity.tiles import TILE, peaks_shape, tiles_shape
from groundswell.solvers.earthquake.setup import Setup

# Of blocks: columns through which a GPU's warps walk, whole rows on a CPU.
GPU_SIZES = {"BLOCK_TILES": 1, "BLOCK_ROWS": 8, "BLOCK_PLANES": TILE}
CPU_SIZES = {"BLOCK_TILES": 1 << 20, "BLOCK_ROWS": 8, "BLOCK_PLANES": 1}
BLOCK_WARPS, WARP_TILES = 8, TILE
# Blocks of threads that fit on a multiprocessor, by bytes of a number, which limits registers.
MIN_BLOCKS = {4: 4, 8: 2}
BY_ROW, BY_CLASS, BY_CELL = range(3)


class RankPlasticity(Rheology):
    """Yield of the rock in a rank's part of the grid.

    Attributes:
        strain: accumulated plastic strain.
        lost: the part of their deviator that cells lose in a step.
    """

    def __init__(
        self,
        setup: Setup,
        plasticity: Plasticity,
        backend: Backend,
        part: Part,
        materials: Materials,
    ) -> None:
        self._setup, self._backend, self._part = setup, backend, part
        self._layout = Layout(part.cells, np.dtype(setup.dtype).itemsize)
        self._materials = materials
        self.lost, self.strain = (Field(backend, self._layout, setup.dtype) for _ in range(2))
        self.fields = {STRAIN: self.strain}
        planes = [fault.plane for fault in setup.faults]
        self._cells = RockCells(plasticity, part, setup.dtype, planes)
        self._flags = backend.zeros(tiles_shape(part.cells), np.uint8)
        self._may_yield = backend.to_device(self._cells.masks)
        self._limits = backend.to_device(self._cells.limits)
        self._peaks = backend.zeros(peaks_shape(part.cells), np.uint32)
        self.peaks = {"peaks": self._peaks} if keeps_peaks(setup, backend) else {}
        rows = plasticity.initial_rows(part.start[2] - 1, part.cells[2] + 1)
        self._initial = backend.to_device(rows.astype(setup.dtype))
        self._module = backend.compile(self._source(plasticity))

    @property
    def _sizes(self) -> dict[str, int]:
        return CPU_SIZES if self._backend.on_host else GPU_SIZES

    def _source(self, plasticity: Plasticity) -> Source:
        setup, part = self._setup, self._part
        constants: dict[str, Constant] = {
            **step_source.common_constants(setup, part, self._materials),
            "STRENGTH": self._strength[0],
            "PEAKS": bool(self.peaks),
            "TILE": TILE,
            **self._sizes,
            "BLOCK_WARPS": BLOCK_WARPS,
            "WARP_TILES": WARP_TILES,
            "MIN_BLOCKS_PER_SM": MIN_BLOCKS[self._layout.itemsize],
        }
        remembered = float(self._cells.remembered(setup.dt))
        parameters = {
            **self._layout.parameters(),
            **step_source.differences(part),
            "REMEMBERED": remembered,
        }
        generic = self._layout.is_short_run(setup.steps)
        return Source(step_source.KERNELS / "plasticity.h", constants, parameters, generic=generic)

    @cached_property
    def _strength(self) -> tuple[int, dict[str, DeviceArray]]:
        """How the strength is stored, and the arguments that contain it."""
        backend, nothing = self._backend, self._backend.zeros((1,), self._setup.dtype)
        unused = {"sine": nothing, "kinds": nothing}
        if (rows := self._cells.rows()) is not None:
            return BY_ROW, {**unused, "strength": backend.to_device(rows)}
        try:
            kinds, table = self._classes()
        except InputError:  # more classes than a table has
            cohesion, sine = self._in_cells()
            return BY_CELL, {**unused, "strength": cohesion, "sine": sine}
        return BY_CLASS, {**unused, "strength": backend.to_device(table), "kinds": kinds}

    def _classes(self) -> tuple[DeviceArray, Reals]:
        """The class of each cell, and the table of classes."""
        table, field = ClassTable(2, self._setup.dtype), Field(self._backend, self._layout, "u2")
        for plane, pair in self._cells.planes():
            self._backend.assign(plane(field.array), table.classify(pair))
        return field.interior, table.records

    def _in_cells(self) -> tuple[DeviceArray, DeviceArray]:
        fields = [Field(self._backend, self._layout, self._setup.dtype) for _ in range(2)]
        for plane, pair in self._cells.planes():
            for field, values in zip(fields, pair, strict=True):
                self._backend.assign(plane(field.array), values.astype(self._setup.dtype))
        return fields[0].interior, fields[1].interior

    # --- launches ---------------------------------------------------------------------------------

    def exchanges(
        self, fields: Mapping[str, Field], decomposition: Decomposition, make: MakeExchange
    ) -> Exchanges:
        """That of exact stresses, so that ranks find the same cells to yield."""
        return (make(halo_fields(fields, unrelaxed_halo(), None)),)

    def complete(
        self,
        update: Callable[[HaloExchange], list[Launch]],
        stresses: Mapping[str, DeviceArray],
        boxes: Boxes,
        exchanges: Exchanges,
        *,
        yields: bool,
    ) -> list[Launch]:
        boundary, interior = ([*chain(*(self.relax(stresses, b) for b in part))] for part in boxes)
        return [
            *self._clear_peaks(),
            *update(exchanges[2]),
            *(self.find(stresses) if yields else []),
            *exchanges[1].overlap_with(boundary=boundary, interior=interior),
        ]

    def _clear_peaks(self) -> list[Launch]:
        count = int(self._peaks.size)
        launch = self._module.launch("clear_peaks", Items(count), peaks=self._peaks, count=count)
        return [launch] if self.peaks else []

    def find(self, stresses: Mapping[str, DeviceArray]) -> list[Launch]:
        """The launch that finds out which cells yield, ghosts included, and by how much."""
        ends = self._cells.ends
        if ends is None:
            return []
        (k, j, i), (end_k, end_j, end_i) = ends
        first_t, end_t = i // TILE + 1, (end_i - 1) // TILE + 2
        extents = (end_t - first_t, end_j - j, end_k - k)
        sizes = zip(extents, self._sizes.values(), strict=True)
        blocks = prod(-(-extent // size) for extent, size in sizes)
        where = {"first_t": first_t, "first_j": j, "first_k": k}
        where |= {"end_t": end_t, "end_j": end_j, "end_k": end_k, "blocks": blocks}
        arrays = {
            **stresses,
            **self._strength[1],
            **self._materials.arguments("compliance"),
            "lost": self.lost.interior,
            "strain": self.strain.interior,
            "flags": self._flags,
            "may_yield": self._may_yield,
            "peaks": self._peaks,
            "limits": self._limits,
            "initial": self._initial,
        }
        extent = Blocks(blocks, TILE * self._sizes["BLOCK_ROWS"])
        return [self._module.launch("find_yielding", extent, **arrays, **where)]

    def relax(self, stresses: Mapping[str, DeviceArray], box: Block) -> list[Launch]:
        """The launch that relaxes the stresses of a box, where cells yield."""
        if self._cells.ends is None:
            return []
        names = ("first_k", "first_j", "first_i", "count_k", "count_j", "count_i")
        where = dict(zip(names, (*box.start, *box.shape), strict=True))
        (nz, ny, nx), first = box.shape, box.start[2]
        tiles = (first + nx - 1) // TILE - first // TILE + 1
        blocks = -(-(tiles * ny * nz) // (WARP_TILES * BLOCK_WARPS))
        arrays = {
            **stresses,
            "lost": self.lost.interior,
            "flags": self._flags,
            "initial": self._initial,
        }
        extent = Blocks(blocks, TILE * BLOCK_WARPS)
        return [self._module.launch("relax_yielding", extent, **arrays, **where, blocks=blocks)]


def keeps_peaks(setup: Setup, backend: Backend) -> bool:
    """Whether the update of stresses keeps peaks: on GPUs, where a warp has their tiles."""
    return setup.plasticity is not None and not backend.on_host
