"""Differences of velocity and stress next to boundaries between fluids and solids.

A fourth-order difference reaches two cells to either side. Across the boundary of a fluid it would
combine unrelated values: the solid slips along the fluid, and its permanent stresses would
accelerate the fluid for ever. Therefore:

- A cell on the boundary has the second-order difference of the velocity normal to the boundary.
- An edge inside the solid, next to an edge on the boundary, has the difference SHEAR (b - a) of the
  velocities a and b along the boundary. With 1 instead of SHEAR it is second-order as well. The
  energy of the rows next to the boundary is a midpoint rule. Its error makes the waves that the
  boundary guides too slow, as at a free surface (kernels/surface.h). The smaller factor compensates
  for this: Scholte waves of 10, 20 and 40 cells on soft ground are 1.1 %, 0.05 % and -0.03 % too
  slow, not 1.6 %, 0.3 % and 0.1 %.

The hot kernels take fourth-order differences everywhere. Other kernels then correct them at the
boundary and, in the equation of motion, add the negative transpose of this correction, so that
energy is conserved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundswell.exchange.pattern import Box
from groundswell.grids.cartesian import Layout, Part
from groundswell.solvers.earthquake.phases import Phases

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

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
FIRST = np.where(DERIVATIVES[:, 1] == DERIVATIVES[:, 2], -1, -2)  # cell of the first of four values
EDGES = {3: (X, Y), 4: (X, Z), 5: (Y, Z)}
REACH = 2  # cells around a part whose differences its velocities depend on
MARGIN = 2 * REACH  # cells around a part that these differences depend on


@dataclass(frozen=True)
class Terms:
    """Weighted values that are added to the rates of cells.

    Args:
        cells: cell (k, j, i) of each term in the part, (n, 3).
        sources: cell (k, j, i) of its value, (n, 3).
        slots: rate that it is added to, (n,).
        fields: component of its value, (n,).
        weights: its weight, 1/m, (n,).
    """

    cells: Integers
    sources: Integers
    slots: Integers
    fields: Integers
    weights: NDArray[np.float64]

    def tables(self, box: Box, layout: Layout, dtype: str) -> list[NDArray[np.generic]]:
        """The arguments TERMS of kernels/sea_floor.h for the cells of a box, without the count."""
        low, high = np.array(box.start), np.add(box.start, box.shape)
        here = ((self.cells >= low) & (self.cells < high)).all(axis=1)
        strides = np.array([layout.plane, layout.row, 1])
        targets, first = np.unique(self.cells[here] @ strides, return_index=True)
        return [
            targets,
            np.append(first, here.sum()),
            self.sources[here] @ strides,
            self.slots[here].astype(np.int32),
            self.fields[here].astype(np.int32),
            self.weights[here].astype(dtype),
        ]


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

    def stress_terms(self, part: Part) -> Terms:
        """Corrections of the strain rates of the part's cells."""
        cells, nodes, weights = self._nodes(part)
        slot, component, _ = DERIVATIVES[self.derivative].T
        return _sorted(part, cells, nodes, slot, component, weights)

    def velocity_terms(self, part: Part, free_surface: bool) -> Terms:
        """Corrections of the forces on the part's velocities: the negative transpose."""
        cells, nodes, weights = self._nodes(part)
        slot, component, _ = DERIVATIVES[self.derivative].T
        # At a free surface the cell of vz is half as high.
        on_surface = (nodes[..., 0] + part.start[Z] == 0) & (component == Z)[:, None]
        weights = -weights * np.where(on_surface & free_surface, 2, 1)
        return _sorted(part, nodes, cells, component, slot, weights)

    def _nodes(self, part: Part) -> tuple[Integers, Integers, NDArray[np.float64]]:
        """Cells of the differences and of their values, (n, 4, 3), and weights, (n, 4)."""
        axis = DERIVATIVES[self.derivative, 2]
        steps = np.eye(3, dtype=np.int64)[2 - axis][:, None]
        places = FIRST[self.derivative][:, None] + np.arange(4)
        nodes = self.cells[:, None] + places[..., None] * steps
        spacing = np.array(part.grid.spacing)[axis][:, None]
        return (
            np.broadcast_to(self.cells[:, None], nodes.shape),
            nodes,
            CHANGES[self.kind] / spacing,
        )


def _sorted(
    part: Part,
    targets: Integers,
    sources: Integers,
    slots: Integers,
    fields: Integers,
    weights: NDArray[np.float64],
) -> Terms:
    """The terms of the part's own cells, in an order that does not depend on the part."""
    own = ((targets >= 0) & (targets < part.shape)).all(axis=-1) & (weights != 0)
    slots, fields = (np.broadcast_to(a[:, None], own.shape)[own] for a in (slots, fields))
    cells, values = targets[own], sources[own]
    order = np.lexsort((*(values - cells).T, fields, slots, *cells.T[::-1]))
    places = cells[order], values[order], slots[order], fields[order]
    return Terms(*places, weights[own][order])


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
    ground = Ground(solid, slips)
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
class Ground:
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
