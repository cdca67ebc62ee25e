"""Which cells of a part of the grid can yield, and their strength."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from groundswell.arrays import DeviceArray, Floats, HostArray, Indices, Mask, Reals
from groundswell.backends.host_threads import for_each, in_threads
from groundswell.grids.cartesian import GHOSTS, Part
from groundswell.seismology.plasticity import DruckerPrager
from groundswell.solvers.earthquake.faults.plane import FaultPlane
from groundswell.solvers.earthquake.plasticity.model import Plasticity
from groundswell.solvers.earthquake.plasticity.tiles import TILE, tiles_of

Pair = tuple[HostArray, HostArray]  # cohesion times cosine, Pa, and sine of the friction angle

# sqrt(J2) of stresses of magnitude 1 is at most this, and so is the mean stress 1.
LARGEST_SHEAR = np.sqrt(13 / 3)
ROUNDING = 1e-5  # of a strength, relative to the stresses of which it is a difference


class RockCells:
    """Strength of a part's cells, and of the ghosts before them.

    Attributes:
        masks: for each tile from row -1 and plane -1, a bit for each cell that can yield.
        limits: for each tile, the magnitude of all stresses in and around it below which none of
            its cells yields, Pa; 0 where other ranks have some of them.
    """

    def __init__(
        self, plasticity: Plasticity, part: Part, dtype: str, faults: Sequence[FaultPlane] = ()
    ) -> None:
        self._plasticity, self._part, self._dtype = plasticity, part, dtype
        wraps = (plasticity.ground.periodic, plasticity.ground.periodic, False)
        self._indices = [_of_region(part, axis, wraps[axis]) for axis in range(3)]
        nx, ny, nz = part.cells
        shape = nz + 1, ny + 1, tiles_of(nx) * TILE
        can, self.limits = np.zeros(shape, bool), np.full((*shape[:2], tiles_of(nx)), np.inf, "f4")

        def fill(k: int) -> None:
            can[k], limits = self._row(int(self._indices[2][k]), shape[1:])
            self.limits[k] = limits.reshape(ny + 1, -1, TILE).min(axis=2)

        for_each(fill, np.flatnonzero(self._indices[2] >= 0).tolist())
        self._search_always(part, faults)
        self._any = [np.flatnonzero(can.any(axis=axes)) for axes in ((1, 2), (0, 2), (0, 1))]
        self.masks = np.packbits(can, axis=2, bitorder="little").view("<u4")

    def _row(self, row: int, shape: tuple[int, int]) -> tuple[Mask, Floats]:
        """Which cells of a row of the region can yield, and their limits, in tiles; of `shape`."""
        rock = self._plasticity.strength(row)
        can, limits = np.zeros(shape, bool), np.full(shape, np.inf)
        cells = slice(TILE - 1, TILE - 1 + len(self._indices[0]))
        can[:, cells] = self._can_yield(rock, row)
        limits[:, cells] = np.where(can[:, cells], self._limits_of(rock, row), np.inf)
        return can, limits

    def _limits_of(self, rock: DruckerPrager, row: int) -> Floats:
        """The limit of each cell of a row of the region, (ny + 1, nx + 1)."""
        cohesion, sine = np.asarray(rock.cohesion_cos), np.asarray(rock.sine)
        mean, tau = self._plasticity.initial_load(row)
        with np.errstate(invalid="ignore"):
            margin = np.maximum(cohesion - mean * sine, 0) - tau
            margin = margin - ROUNDING * (abs(mean) + cohesion + tau)
            limit = np.maximum(margin, 0) / (LARGEST_SHEAR + sine)
        return np.asarray(self._taken(limit))

    def _search_always(self, part: Part, faults: Sequence[FaultPlane]) -> None:
        """Set limits of 0 where stresses around tiles are ghosts, or are changed later."""
        always = np.zeros(self.limits.shape, bool)
        always[0] = always[:, 0] = always[:, :, 0] = True
        has_more = [self._has_more(part, axis) for axis in range(3)]
        always[-1] |= has_more[2]
        always[:, -1] |= has_more[1]
        always[:, :, -1] |= has_more[0]
        for plane in faults:
            always[_tiles_beside(plane, part)] = True
        always |= self._plasticity.ground.phases is not None  # corrections at boundaries of fluids
        self.limits[always & np.isfinite(self.limits)] = 0

    def _has_more(self, part: Part, axis: int) -> bool:
        """Whether ghosts after the part are cells of the grid."""
        wraps = self._plasticity.ground.periodic and axis < 2
        return wraps or part.start[axis] + part.cells[axis] < part.grid.cells[axis]

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

    def _can_yield(self, rock: DruckerPrager, row: int) -> Mask:
        """Which cells of a row of the region can yield, (ny + 1, nx + 1)."""
        can = np.isfinite(np.asarray(rock.cohesion))
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
        rows, columns = slice(GHOSTS - 1, GHOSTS + ny), slice(GHOSTS - 1, GHOSTS + nx)
        inside = np.flatnonzero(self._indices[2] >= 0).tolist()

        def pair(k: int) -> Pair:
            cohesion, sine = self._pair(int(self._indices[2][k]))
            return np.array(self._taken(cohesion)), np.array(self._taken(sine))

        for k, found in zip(inside, in_threads(pair, inside), strict=True):
            yield _at((GHOSTS - 1 + k, rows, columns)), found


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


def _tiles_beside(plane: FaultPlane, part: Part) -> tuple[slice, slice, slice]:
    """The tiles of a part whose cells are around a fault, which changes their stresses later."""
    first, count = plane.box
    x, y, z = (
        (max(f - s - 1, -1), max(f - s + n + 1, 0))
        for f, n, s in zip(first, count, part.start, strict=True)
    )
    tiles = slice(x[0] // TILE + 1, (x[1] - 1) // TILE + 2)
    return slice(z[0] + 1, z[1] + 1), slice(y[0] + 1, y[1] + 1), tiles
