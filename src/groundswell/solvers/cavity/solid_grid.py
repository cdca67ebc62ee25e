"""Solid blocks on the points of a grid: which points are in them, and how well faces conduct.

A point on the surface of a block is in it. The cell of a point reaches halfway to its neighbours,
so that cells at a surface are partly solid. The face between two cells conducts like the material
on the way from point to point: slabs across the way in series, and those along it in parallel
(Patankar 1980, Numerical Heat Transfer and Fluid Flow, section 4.2). Conduction through layers is
therefore exact wherever the layers end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from math import floor, log10

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import counted
from groundswell.grids.cartesian import GHOSTS, Part, Triple
from groundswell.solvers.cavity.case import AXES
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.solids import Ends, SolidSection
from groundswell.solvers.cavity.walls import Wall

Bools = np.ndarray
SNAP = 1e-6  # spacings: points this close to a surface are on it


@dataclass(frozen=True)
class SolidGrid:
    """The blocks on a part of a grid, with its ghosts."""

    grid: LevelGrid
    part: Part

    @property
    def solids(self) -> tuple[SolidSection, ...]:
        """The blocks."""
        return self.grid.case.solid

    def fields(self) -> dict[str, Floats]:
        """The arrays of kernels/solids.h by name, with ghosts, (nz, ny, nx)."""
        names = ("kx", "ky", "kz")
        faces = {name: self.conductivity(axis) for axis, name in enumerate(names)}
        rest = {"capacity": self.capacity(), "source": self.source()}
        return {"fluid": 1.0 - self.is_solid(), **faces, **rest}

    def is_solid(self) -> Floats:
        """1 at points in solids, 0 at others and beyond walls and planes of symmetry."""
        found = np.zeros([n + 2 * GHOSTS for n in self.part.shape])
        for solid in self.solids:
            inside = [on_points(self.grid, solid, a)[self._indices(a)] for a in (2, 1, 0)]
            found[np.ix_(*map(np.flatnonzero, inside))] = 1.0
        return found

    def conductivity(self, axis: int) -> Floats:
        """Conductivity between each point and the next along an axis, m^2/s."""
        diffusivity = self.grid.fluid.diffusivity
        resistance: Floats = np.zeros([n + 2 * GHOSTS for n in self.part.shape])
        for low, high in pairwise(self._breaks(axis)):
            shares = self._shares((low, high), axis)
            if shares.any():
                middle = (max(low, -1e300) + min(high, 1e300)) / 2
                resistance += _along(shares, axis) / self.across(middle, axis)
        return diffusivity / resistance

    def capacity(self) -> Floats:
        """Heat capacity of cells over that of the fluid; 1 in steady flow."""
        excess = [capacity_ratio(self.grid, solid) - 1 for solid in self.solids]
        return 1.0 + self._mean(excess if self.grid.is_unsteady else [0.0] * len(excess))

    def source(self) -> Floats:
        """Released heat over the heat capacity of the fluid, K/s."""
        by_heat = self.grid.fluid.diffusivity / self.grid.case.conductivity
        return self._mean([by_heat * solid.power / solid.volume for solid in self.solids])

    def _mean(self, values: list[float]) -> Floats:
        """Means over cells of a quantity with these values in the blocks, 0 elsewhere."""
        total: Floats = np.zeros([n + 2 * GHOSTS for n in self.part.shape])
        for value, solid in zip(values, self.solids, strict=True):
            if value:
                z, y, x = (self.in_cells(solid, axis) for axis in (2, 1, 0))
                total += value * z[:, None, None] * y[:, None] * x
        return total

    def across(self, at: float, axis: int) -> Floats:
        """Mean conductivity, over the fluid's, of the cross-sections of cells at a position."""
        total: Floats = np.ones(
            [1 if a == axis else self.part.cells[a] + 2 * GHOSTS for a in (2, 1, 0)]
        )
        for solid in self.solids:
            if any(low < at < high for low, high in _images(self.grid, solid, axis)):
                parts = [self.in_cells(solid, a) if a != axis else np.ones(1) for a in (2, 1, 0)]
                z, y, x = parts
                ratio = solid.conductivity / self.grid.case.conductivity
                total = total + (ratio - 1) * z[:, None, None] * y[:, None] * x
        return total

    def _breaks(self, axis: int) -> list[float]:
        """Positions at which the material changes along an axis, m, with infinite ends."""
        images = [each for solid in self.solids for each in _images(self.grid, solid, axis)]
        return sorted({-np.inf, np.inf, *(end for image in images for end in image)})

    def _shares(self, ends: Ends, axis: int) -> Floats:
        """Shares of the way between each point and the next that lie between two positions."""
        points = self._points(axis)
        after = np.append(points[1:], 2 * points[-1] - points[-2])
        return _shared(points, after, ends)

    def in_cells(self, solid: SolidSection, axis: int) -> Floats:
        """Shares of cells along an axis that a block fills."""
        points = self._points(axis)
        middles = (points[1:] + points[:-1]) / 2
        low = np.append(2 * points[0] - middles[0], middles)
        high = np.append(middles, 2 * points[-1] - middles[-1])
        shares = [_shared(low, high, image) for image in _images(self.grid, solid, axis)]
        return np.asarray(np.sum(shares, axis=0))

    def _points(self, axis: int) -> Floats:
        return self.grid.axes[axis].extended(GHOSTS)[self._indices(axis)]

    def _indices(self, axis: int) -> slice:
        """Of the part's points and ghosts among those of the whole grid."""
        start = self.part.start[axis]
        return slice(start, start + self.part.cells[axis] + 2 * GHOSTS)


def capacity_ratio(grid: LevelGrid, solid: SolidSection) -> float:
    """Heat capacity of a block over that of the same volume of fluid."""
    if solid.heat_capacity is None or grid.case.fluid.kind != "properties":
        return solid.heat_capacity or 1.0
    return solid.heat_capacity * grid.fluid.diffusivity / grid.case.conductivity


def fluid_centre(grid: LevelGrid) -> Triple:
    """The point in fluid nearest to the centre of the box along one of the axes."""
    centre = grid.centre
    reached = [
        [on_points(grid, solid, a)[GHOSTS:-GHOSTS] for a in range(3)] for solid in grid.case.solid
    ]
    if not any(all(r[a][centre[a]] for a in range(3)) for r in reached):
        return centre
    found = []
    for axis in range(3):
        others = [a for a in range(3) if a != axis]
        on_line = [r[axis] for r in reached if all(r[a][centre[a]] for a in others)]
        free = np.flatnonzero(~np.any(on_line, axis=0))
        if len(free):
            at = int(free[np.argmin(abs(free - centre[axis]))])
            i, j, k = (at if a == axis else centre[a] for a in range(3))
            found.append((_distance(grid, axis, at), (i, j, k)))
    return min(found)[1] if found else centre


def _distance(grid: LevelGrid, axis: int, n: int) -> float:
    """Distance of a point along an axis from the centre, m, without rounding errors."""
    positions = grid.interior_positions(axis)
    digits = 9 - floor(log10(max(grid.case.grid.size)))
    return round(float(abs(positions[n] - positions[grid.centre[axis]])), digits)


def on_points(grid: LevelGrid, solid: SolidSection, axis: int) -> Bools:
    """Whether a block reaches each point along an axis, ghosts included."""
    points = grid.axes[axis].extended(GHOSTS)
    close = SNAP * grid.axes[axis].extremes[0]
    found = np.zeros(len(points), bool)
    for low, high in _images(grid, solid, axis):
        found |= (points > low - close) & (points < high + close)
    if not grid.periodic[axis]:
        found[:GHOSTS] = found[-GHOSTS:] = False
    return found


def off_points(grid: LevelGrid, solid: SolidSection, axis: int) -> bool:
    """Whether a surface of a block across an axis lies inside the box and between points."""
    along, close = grid.axes[axis], SNAP * grid.axes[axis].extremes[0]
    inside = [along.index(s) for s in solid.ends(axis) if close < s < along.size - close]
    return any(abs(n - round(n)) > 1e-3 for n in inside)


def thickness(grid: LevelGrid, solid: SolidSection, axis: int) -> float:
    """Number of spacings that a block spans along an axis."""
    low, high = map(grid.axes[axis].index, solid.ends(axis))
    return high - low


def _images(grid: LevelGrid, solid: SolidSection, axis: int) -> Iterator[Ends]:
    """The ends of a block along an axis, and of its periodic images next to the box, m."""
    low, high = solid.ends(axis)
    for n in (-1, 0, 1) if grid.periodic[axis] else (0,):
        shift = n * grid.case.grid.size[axis]
        yield low + shift, high + shift


def _shared(low: Floats, high: Floats, ends: Ends) -> Floats:
    """Shares of intervals between two positions."""
    inside = np.minimum(high, ends[1]) - np.maximum(low, ends[0])
    return np.asarray(np.maximum(inside, 0.0) / (high - low))


def _along(values: Floats, axis: int) -> Floats:
    shape = [1, 1, 1]
    shape[2 - axis] = -1
    return values.reshape(shape)


# --- what a grid can represent --------------------------------------------------------------------

THINNEST = 2  # spacings of a block
FEWEST = 2  # points of fluid between blocks, or between a block and a wall


def misfits(grid: LevelGrid) -> Iterator[str]:
    """Why a grid cannot represent the blocks."""
    for n, axis in product(range(len(grid.case.solid)), range(3)):
        yield from _block_misfits(grid, n, axis)
    for axis in filter(grid.varies, range(3) if grid.case.solid else ()):
        for points, beside in sorted(_gaps(grid, axis))[:1]:
            if points < FEWEST:
                names = " and ".join(f"solid[{n}]" for n in beside)
                yield (
                    f"a gap along {AXES[axis]} next to {names} has {counted(points, 'point')} in "
                    f"fluid, but must have {FEWEST} or more; close it, widen it, or use more points"
                )


def _block_misfits(grid: LevelGrid, n: int, axis: int) -> Iterator[str]:
    """Why a grid cannot represent a block along an axis."""
    solid, name, length = grid.case.solid[n], AXES[axis], grid.case.grid.size[axis]
    low, high = solid.ends(axis)
    if not grid.varies(axis):
        if low > SNAP * length or high < length * (1 - SNAP):
            yield (
                f"solid[{n}] must reach from 0 to {length:g} along {name}, along which the flow "
                "does not vary"
            )
        return
    spanned, index = thickness(grid, solid, axis), grid.axes[axis].index
    if spanned < THINNEST * (1 - SNAP):
        yield (
            f"solid[{n}] is {spanned:.3g} spacings thick along {name}, but must be at least "
            f"{THINNEST}; make it thicker, or use more points"
        )
    gaps = index(low) - index(0.0), index(length) - index(high)
    for side, gap in zip(grid.case.walls.pair(axis), gaps, strict=True):
        if isinstance(side, Wall) and SNAP < gap < 1 + SNAP:
            yield (
                f"solid[{n}] ends {gap:.3g} spacings before a wall along {name}; let it touch the "
                f"wall, or leave {FEWEST + 1} spacings or more"
            )


def _gaps(grid: LevelGrid, axis: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Points of the narrowest gap on lines along an axis, and the blocks on each line."""
    reached = [
        [on_points(grid, solid, a)[GHOSTS:-GHOSTS] for a in range(3)] for solid in grid.case.solid
    ]
    first, second = (a for a in range(3) if a != axis)
    lines = {
        tuple(n for n, r in enumerate(reached) if r[first][i] and r[second][j])
        for i in _changes([r[first] for r in reached])
        for j in _changes([r[second] for r in reached])
    }
    for line in filter(None, lines):
        solid = np.any([reached[n][axis] for n in line], axis=0)
        yield _narrowest(solid, grid.periodic[axis]), line


def _changes(reached: list[Bools]) -> list[int]:
    """Points along an axis at which the set of blocks changes, and the first."""
    changed = np.any(np.diff(np.array(reached), axis=1), axis=0)
    return [0, *(np.flatnonzero(changed) + 1).tolist()]


def _narrowest(solid: Bools, periodic: bool) -> int:
    """Points of the shortest run of fluid on a line that meets a block."""
    if periodic:
        solid = np.roll(solid, -int(np.argmax(solid)))
    ends = np.flatnonzero(np.diff(np.concatenate([[1], solid.astype(int), [1]])))
    runs = ends[1::2] - ends[::2]
    return int(runs.min(initial=len(solid)))
