"""Rock that yields in a rank's part of the grid: arrays and launches of kernels/plasticity.h."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from math import prod

import numpy as np

from groundswell.arrays import DeviceArray, HostArray, Indices, Mask, Reals
from groundswell.backends import Backend, Blocks, Launch, Source
from groundswell.backends.source import Constant, precision
from groundswell.errors import InputError
from groundswell.exchange.decomposition import Block, Decomposition
from groundswell.exchange.halo import HaloExchange
from groundswell.grids.cartesian import GHOSTS, Field, Layout, Part
from groundswell.seismology.case.plasticity import STRAIN as STRAIN
from groundswell.simulation.material_classes import ClassTable
from groundswell.solvers.earthquake import step_source
from groundswell.solvers.earthquake.halo import halo_fields, unrelaxed_halo
from groundswell.solvers.earthquake.materials import Materials
from groundswell.solvers.earthquake.plasticity.model import Plasticity
from groundswell.solvers.earthquake.plasticity.rheology import (
    Boxes,
    Exchanges,
    MakeExchange,
    Rheology,
)
from groundswell.solvers.earthquake.setup import Setup

TILE = 32  # cells of a row for a warp, with a bit each in a word
# Of blocks: columns through which a GPU's warps walk, whole rows on a CPU.
GPU_SIZES = {"BLOCK_TILES": 1, "BLOCK_ROWS": 8, "BLOCK_PLANES": 8}
CPU_SIZES = {"BLOCK_TILES": 1 << 20, "BLOCK_ROWS": 8, "BLOCK_PLANES": 1}
BLOCK_WARPS, WARP_TILES = 8, TILE
# Blocks of threads that fit on a multiprocessor, by bytes of a number, which limits registers.
MIN_BLOCKS = {4: 4, 8: 2}
BY_ROW, BY_CLASS, BY_CELL = range(3)

Pair = tuple[HostArray, HostArray]  # cohesion times cosine, Pa, and sine of the friction angle


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
        self._cells = RockCells(plasticity, part, setup.dtype)
        nx, ny, nz = part.cells
        self._flags = backend.zeros((nz + 1, ny + 1, tiles_of(nx)), np.uint8)
        self._may_yield = backend.to_device(self._cells.masks)
        rows = plasticity.initial_rows(part.start[2] - 1, nz + 1)
        self._initial = backend.to_device(rows.astype(setup.dtype))
        self._module = backend.compile(self._source(plasticity))

    @property
    def _sizes(self) -> dict[str, int]:
        return CPU_SIZES if self._backend.on_host else GPU_SIZES

    def _source(self, plasticity: Plasticity) -> Source:
        setup, part = self._setup, self._part
        constants: dict[str, Constant] = {
            **precision(setup.dtype),
            "CLASSES": self._materials.record > 0,
            "MODULI": self._materials.record,
            "ATTENUATION": setup.ground.relaxation is not None,
            "FREE_SURFACE": setup.ground.free_surface and part.start[2] == 0,
            "STRENGTH": self._strength[0],
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
            *update(exchanges[2]),
            *(self.find(stresses) if yields else []),
            *exchanges[1].overlap_with(boundary=boundary, interior=interior),
        ]

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


def tiles_of(nx: int) -> int:
    """Tiles of a row of cells; the first one has the ghosts before them."""
    return -(-nx // TILE) + 1


class RockCells:
    """Strength of a part's cells, and of the ghosts before them.

    Attributes:
        masks: for each tile from row -1 and plane -1, a bit for each cell that can yield.
    """

    def __init__(self, plasticity: Plasticity, part: Part, dtype: str) -> None:
        self._plasticity, self._part, self._dtype = plasticity, part, dtype
        wraps = (plasticity.ground.periodic, plasticity.ground.periodic, False)
        self._indices = [_of_region(part, axis, wraps[axis]) for axis in range(3)]
        nx, ny, nz = part.cells
        can = np.zeros((nz + 1, ny + 1, tiles_of(nx) * TILE), bool)
        for k, row in enumerate(self._indices[2].tolist()):
            if row >= 0:
                can[k, :, TILE - 1 : TILE + nx] = self._can_yield(row)
        self._any = [np.flatnonzero(can.any(axis=axes)) for axes in ((1, 2), (0, 2), (0, 1))]
        self.masks = np.packbits(can, axis=2, bitorder="little").view("<u4")

    @property
    def ends(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """First cell (k, j, i) of the box of all cells that can yield, and its end; or None."""
        if not all(map(len, self._any)):
            return None
        lead = (1, 1, TILE)
        low, high = (
            tuple(int(at[n]) - a + (n < 0) for at, a in zip(self._any, lead, strict=True))
            for n in (0, -1)
        )
        return low, high

    def remembered(self, dt: float) -> float:
        """The part of an excess that remains after a step."""
        return float(np.asarray(self._plasticity.strength(0).remembered(dt)))

    def _can_yield(self, row: int) -> Mask:
        """Which cells of a row of the region can yield, (ny + 1, nx + 1)."""
        can = np.isfinite(np.asarray(self._plasticity.strength(row).cohesion))
        if (spared := self._plasticity.spared(row)) is not None:
            can = can & ~spared
        i, j = self._indices[:2]
        inside = (j >= 0)[:, None] & (i >= 0)
        return np.logical_and(self._taken(can), inside)

    def _taken(self, plane: HostArray) -> HostArray:
        """The values of a plane of the region, (ny, nx) or (1, 1), in the part's cells."""
        i, j = self._indices[:2]
        if plane.shape == (1, 1):
            return np.broadcast_to(plane, (len(j), len(i)))
        return np.asarray(plane[np.ix_(np.maximum(j, 0), np.maximum(i, 0))])

    def _pair(self, row: int) -> Pair:
        rock = self._plasticity.strength(row)
        cohesion, sine = np.broadcast_arrays(rock.cohesion_cos, rock.sine)
        return cohesion, sine

    def rows(self) -> Reals | None:
        """The strength of each row from row -1, (nz + 1, 2); None if it may vary within rows."""
        if not self._plasticity.varies_by_depth_only:
            return None
        table = np.zeros((len(self._indices[2]), 2), self._dtype)
        for k, row in enumerate(self._indices[2].tolist()):
            if row >= 0:
                table[k] = [np.asarray(a).flat[0] for a in self._pair(row)]
        return table

    def planes(self) -> Iterator[tuple[Callable[[DeviceArray], DeviceArray], Pair]]:
        """Yield the place of each plane in an array with ghosts, and its strength."""
        nx, ny, _ = self._part.cells
        for k, row in enumerate(self._indices[2].tolist()):
            if row < 0:
                continue
            cohesion, sine = (np.array(self._taken(a)) for a in self._pair(row))
            rows, columns = slice(GHOSTS - 1, GHOSTS + ny), slice(GHOSTS - 1, GHOSTS + nx)
            yield _at((GHOSTS - 1 + k, rows, columns)), (cohesion, sine)


def _at(index: tuple[int | slice, ...]) -> Callable[[DeviceArray], DeviceArray]:
    """A function that takes this part of an array."""
    return lambda array: array[index]


def _of_region(part: Part, axis: int, periodic: bool) -> Indices:
    """Index in the region of each cell along an axis, from the ghost before them; -1 outside."""
    grid = part.grid
    cells = np.arange(part.start[axis] - 1, part.start[axis] + part.cells[axis])
    if periodic:
        cells = cells % grid.cells[axis]
    found = cells - grid.before[axis]
    return np.where((found >= 0) & (found < grid.region[axis]), found, -1)
