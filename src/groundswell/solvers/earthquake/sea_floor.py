"""Differences of velocity and stress next to boundaries between fluids and solids.

A fourth-order difference reaches two cells to either side. Across the boundary of a fluid it would
combine unrelated values: the solid slips along the fluid, and its permanent stresses would
accelerate the fluid indefinitely. Therefore:

- A cell on the boundary has the second-order difference of the velocity normal to the boundary.
- An edge inside the solid, next to an edge on the boundary, has the difference SHEAR (b - a) of the
  velocities a and b along the boundary. With 1 instead of SHEAR it is second-order as well. The
  energy of the rows next to the boundary is a midpoint rule. Its error makes the waves that the
  boundary guides too slow, as at a free surface (kernels/surface.h). The smaller factor compensates
  for this: Scholte waves with wavelengths of 10, 20 and 40 cells on soft ground are 1.1 %, 0.05 %
  and -0.03 % too slow, not 1.6 %, 0.3 % and 0.1 %.

The main kernels take fourth-order differences everywhere. Other kernels then correct them at the
boundary and, in the equation of motion, add the negative transpose of this correction, so that
energy is conserved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Floats, Integers, Mask
from groundswell.exchange.decomposition import Block
from groundswell.grids.cartesian import Layout, Part
from groundswell.solvers.earthquake.phases import Phases

SHEAR = 11 / 12
FOURTH_ORDER = np.array([1 / 24, -9 / 8, 9 / 8, -1 / 24])
# Corrections to FOURTH_ORDER: across the boundary, along it, and in solids or water of one or two
# rows, where an extrapolation replaces the last value only.
NORMAL, ALONG, THIN = range(3)
CHANGES = (
    np.array([[0, -1, 1, 0], [0, -SHEAR, SHEAR, 0], [1 / 24, -13 / 12, 25 / 24, 0]]) - FOURTH_ORDER
)
X, Y, Z = range(3)
# Slot of the strain, component of the velocity and axis of each derivative.
DERIVATIVES = np.array(
    [
        *((0, X, X), (1, Y, Y), (2, Z, Z)),
        *((3, X, Y), (3, Y, X), (4, X, Z), (4, Z, X), (5, Y, Z), (5, Z, Y)),
    ]
)
VALUES = 4  # of a difference
FIRST = np.where(DERIVATIVES[:, 1] == DERIVATIVES[:, 2], -1, -2)  # cell of the first value
# Code of a term: its derivative, number and kind, and whether its cell is half as high.
CODED = (len(DERIVATIVES), VALUES, len(CHANGES), 2)
CODES = int(np.prod(CODED))
EDGES = {3: (X, Y), 4: (X, Z), 5: (Y, Z)}
REACH = 2  # cells around a part whose differences its velocities depend on
MARGIN = 2 * REACH  # cells around a part that these differences depend on


@dataclass(frozen=True)
class CorrectionTerms:
    """Weighted values that are added to the rates of cells.

    A sea floor repeats few patterns, so cells with the same terms share a stencil.

    Args:
        cells: cells (k, j, i) in the part, (n, 3).
        stencils: stencil of each cell, (n,).
        starts: first term of each derivative of each stencil, and the number of all terms,
            (stencils x derivatives + 1,).
        steps: cells from a cell to the value of each term, along (z, y, x), (terms, 3).
        weights: of the terms, 1/m, (terms,).
    """

    cells: Integers
    stencils: Integers
    starts: Integers
    steps: Integers
    weights: Floats

    def tables(self, box: Block, layout: Layout, dtype: str) -> dict[str, NDArray[np.generic]]:
        """CORRECTIONS in kernels/sea_floor.h for the cells of a box, without the count."""
        low, high = np.array(box.start), np.add(box.start, box.shape)
        here = ((self.cells >= low) & (self.cells < high)).all(axis=1)
        strides = np.array([layout.plane, layout.row, 1])
        return {
            "targets": self.cells[here] @ strides,
            "stencils": self.stencils[here].astype(np.int32),
            "starts": self.starts.astype(np.int32),
            "steps": self.steps @ strides,
            "weights": self.weights.astype(dtype),
        }


@dataclass(frozen=True)
class Differences:
    """Differences that are not of fourth order.

    Args:
        cells: cell (k, j, i) of each in the part, (n, 3).
        derivative: index into DERIVATIVES, (n,).
        kind: index into CHANGES, (n,).
    """

    cells: Integers
    derivative: Integers
    kind: Integers

    def stress_terms(self, part: Part) -> CorrectionTerms:
        """Corrections of the strain rates of the part's cells."""
        keys = [self._keys(part, self.cells, n) for n in range(VALUES)]
        return _terms(part, keys, FIRST, CHANGES)

    def velocity_terms(self, part: Part, free_surface: bool) -> CorrectionTerms:
        """Corrections of the forces on the part's velocities: the negative transpose."""
        first = 1 - VALUES - FIRST
        towards = np.eye(3, dtype=np.int64)[2 - DERIVATIVES[self.derivative, 2]]
        steps = first[self.derivative][:, None] * towards
        keys = [
            self._keys(part, self.cells - steps - n * towards, n, free_surface)
            for n in range(VALUES)
        ]
        return _terms(part, keys, first, -CHANGES[:, ::-1])

    def _keys(self, part: Part, cells: Integers, n: int, free_surface: bool = False) -> Integers:
        """Keys of term `n` of each difference, for the part's own cells: cell and code.

        Args:
            free_surface: whether the cells of vz on the surface are half as high.
        """
        own = ((cells >= 0) & (cells < part.shape)).all(axis=1)
        cells, derivative = cells[own], self.derivative[own]
        is_half = (cells[:, 0] + part.start[Z] == 0) & (DERIVATIVES[derivative, 1] == Z)
        terms = derivative, np.full(len(cells), n), self.kind[own], is_half & free_surface
        index = np.ravel_multi_index(tuple(cells.T), part.shape)
        return index * CODES + np.ravel_multi_index(terms, CODED)


def _terms(part: Part, keys: list[Integers], first: Integers, changes: Floats) -> CorrectionTerms:
    """Terms in an order that does not depend on the part.

    Args:
        keys: of the terms, see `Differences._keys`.
        first: steps from a cell to the first value of each derivative.
        changes: weights of the values times the spacing, by kind.
    """
    derivative, n, kind, is_half = np.unravel_index(np.arange(CODES), CODED)
    axis = DERIVATIVES[derivative, 2]
    weights = changes[kind, n] / np.array(part.grid.spacing)[axis] * (1 + is_half)
    cells, codes = np.divmod(np.sort(np.concatenate(keys)), CODES)
    cells, codes = cells[weights[codes] != 0], codes[weights[codes] != 0]
    begin = np.flatnonzero(np.diff(cells, prepend=-1))
    stencils, used, counts = _stencils(codes, begin)
    places = np.repeat(np.arange(len(counts)), counts) * len(DERIVATIVES) + derivative[used]
    return CorrectionTerms(
        np.column_stack(np.unravel_index(cells[begin], part.shape)),
        stencils,
        np.searchsorted(places, np.arange(len(counts) * len(DERIVATIVES) + 1)),
        ((first[derivative] + n)[:, None] * np.eye(3, dtype=np.int64)[2 - axis])[used],
        weights[used],
    )


def _stencils(codes: Integers, begin: Integers) -> tuple[Integers, Integers, Integers]:
    """The stencil of each cell, the codes of all stencils, and their number in each stencil.

    Args:
        codes: of the terms of one cell after another.
        begin: first term of each cell.
    """
    # Different codes have different sums of random numbers. Even among a million stencils, two
    # sums are equal with a probability of only 1e-7.
    marks = np.random.default_rng(1).integers(1 << 63, size=CODES, dtype=np.uint64)
    sums = np.add.reduceat(marks[codes], begin) if len(begin) else marks[:0]
    _, example, stencils = np.unique(sums, return_index=True, return_inverse=True)
    counts = np.diff(begin, append=len(codes))[example]
    used = [codes[start : start + n] for start, n in zip(begin[example], counts, strict=True)]
    return stencils, np.concatenate([codes[:0], *used]), counts


def find_differences(phases: Phases, part: Part, *, free_surface: bool) -> Differences:
    """The differences of a part, and around it, that would reach across a boundary of a fluid."""
    found = [
        (derivative, kind, np.column_stack([np.full(len(cells), k - part.start[Z]), cells]))
        for k in _rows(part)
        for derivative, kind, cells in _in_row(phases, part, k, free_surface)
    ]
    counts = [len(cells) for *_, cells in found]
    return Differences(
        np.concatenate([np.empty((0, 3), np.int64), *(cells for *_, cells in found)]),
        np.repeat(np.array([derivative for derivative, *_ in found], np.int64), counts),
        np.repeat(np.array([kind for _, kind, _ in found], np.int64), counts),
    )


def _rows(part: Part) -> range:
    start, count = part.start[Z], part.cells[Z]
    return range(max(start - REACH, 0), min(start + count + REACH, part.grid.cells[Z]))


def _in_row(
    phases: Phases, part: Part, k: int, free_surface: bool
) -> Iterator[tuple[int, int, Integers]]:
    """Yield the derivative, the kind, and cells (j, i) in the part of differences in row `k`."""
    y, x = (
        np.arange(part.start[axis] - MARGIN, part.start[axis] + part.cells[axis] + MARGIN)
        for axis in (Y, X)
    )
    solid = np.stack([phases.solid(k + row, y, x) for row in (-2, -1, 0, 1)])
    slips = [phases.slips(k + row) for row in (-1, 0, 1)]
    if not solid.any() or (solid.all() and not any(slips)):
        return
    ground = CellPlanes(solid, slips)
    inside = phases.contains(y, x)
    for n, (slot, component, axis) in enumerate(DERIVATIVES.tolist()):
        normal = component == axis
        if free_surface and k == 0 and slot in (4, 5):
            continue  # these stresses are on the surface, where they vanish
        touched = ground.across(axis) if normal else ground.beside(slot, axis)
        cells = np.argwhere((touched & inside)[REACH:-REACH, REACH:-REACH]) - (MARGIN - REACH)
        thin = free_surface and axis == Z and k == (0 if normal else 1)
        yield n, THIN if thin else NORMAL if normal else ALONG, cells


@dataclass(frozen=True)
class CellPlanes:
    """Four planes of cells, for the differences in the third.

    Args:
        solid: whether cells are solid, (4, ny, nx).
        slips: whether the upper faces of the last three planes touch a fluid, even where both cells
            are solid.
    """

    solid: Mask
    slips: list[bool]

    def across(self, axis: int) -> Mask:
        """Whether a face of a cell normal to the axis is the boundary of a fluid, (ny, nx)."""
        if axis == Z:
            low, high = (self.solid[2] != self.solid[2 + n] for n in (-1, 1))
            return low | high | self.slips[1] | self.slips[2]
        low = self.solid[2] != _before(self.solid[2], axis)
        return np.asarray(low | _after(low, axis))

    def beside(self, slot: int, axis: int) -> Mask:
        """Whether an edge in the solid is next to one that is not, along an axis, (ny, nx)."""
        if axis == Z:
            above, here, below = (self._in_solid(slot, plane) for plane in (1, 2, 3))
            return np.asarray(here & ~(above & below))
        here = self._in_solid(slot, 2)
        return np.asarray(here & ~(_before(here, axis) & _after(here, axis)))

    def _in_solid(self, slot: int, plane: int) -> Mask:
        """Whether all four cells around the edges of a plane are solid, (ny, nx)."""
        cells = self.solid[plane]
        if Z in EDGES[slot]:
            cells = cells & self.solid[plane - 1] & (not self.slips[plane - 1])
        for axis in set(EDGES[slot]) - {Z}:
            cells = cells & _before(cells, axis)
        return cells


def _before(values: Mask, axis: int) -> Mask:
    """Values of the cells before, along x or y; the first ones are meaningless."""
    return np.roll(values, 1, 1 - axis)


def _after(values: Mask, axis: int) -> Mask:
    return np.roll(values, -1, 1 - axis)
