"""Injection of point sources: their moments and forces as increments of grid values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Items, Launch
from groundswell.backends.base import Array
from groundswell.grids.cartesian import Grid, Layout, Part
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.solvers.earthquake import interpolation as lattice
from groundswell.solvers.earthquake.interpolation import Cell, Position

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup
    from groundswell.solvers.earthquake.solver import Earthquake

Integers = NDArray[np.int64]
Contribution = tuple[int, Cell, float]  # component, cell (i, j, k), weight

X, Y, Z = range(3)
# 1 / mass of a row-0 velocity cell over that of an interior one: at a free surface the cell of vz
# is half as high.
_BUOYANCY_FACTORS = (1, 1, 2)
ON_SURFACE = (4, 5)  # stress components that vanish on a free surface: sxz and syz


@dataclass(frozen=True)
class InjectionTable:
    """Sparse matrix from sources to grid values, row by row; see `kernels/sources.h`.

    Args:
        targets: memory offset of each grid value, (n,).
        components: field of each grid value, (n,).
        starts: index of each value's first contribution, (n + 1,).
        source_index: source of each contribution, (m,).
        source_weight: weight of each contribution, 1/m^3, (m,).
    """

    targets: Integers
    components: Integers
    starts: Integers
    source_index: Integers
    source_weight: NDArray[np.float64]


def distribute_sources(
    setup: Setup, part: Part, layout: Layout, sources: Sequence[PointSource], *, forces: bool
) -> InjectionTable:
    """Distribute the moments (or forces) of point sources over the grid values of each component.

    Rows are sorted by component and offset, and the contributions to a value by source, so that
    sums are reproducible. Values outside `part` are left out.
    """
    grid = part.grid
    rows = [
        (component, i + layout.row * j + layout.plane * k, n, weight)
        for n, source in enumerate(sources)
        for component, cell, weight in _contributions(grid, source, forces, setup.free_surface)
        for i, j, k in _local_cells(part, cell, setup.periodic)
    ]
    rows.sort()
    component, offset, source, weight = (
        (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.empty(0),) * 4
    )
    keys = np.stack([component, offset], axis=1).astype(np.int64)
    unique, first = np.unique(keys, axis=0, return_index=True)
    return InjectionTable(
        targets=unique[:, 1].copy(),
        components=unique[:, 0].copy(),
        starts=np.append(first, len(rows)).astype(np.int64),
        source_index=source.astype(np.int64),
        source_weight=weight.astype(float) / float(np.prod(grid.spacing)),
    )


def _contributions(
    grid: Grid, source: PointSource, forces: bool, free_surface: bool
) -> Iterator[Contribution]:
    amplitudes = source.force if forces else source.moment
    spread = spread_force if forces else spread_moment
    for component, amplitude in enumerate(() if amplitudes is None else amplitudes):
        if amplitude:
            for target, cell, weight in spread(grid, source.position, component, free_surface):
                yield target, cell, amplitude * weight


def spread_force(
    grid: Grid, position: Position, axis: int, free_surface: bool
) -> Iterator[Contribution]:
    """Yield a unit force along an axis as forces on velocities: the adjoint of interpolation.

    Near a free surface, interpolation also reads vx and vy above it, which extrapolate from vx and
    vy of row 0 and the slope of vz (kernels/surface.h). The adjoint applies a force there to row 0,
    and turns part of it into a couple of vertical forces.
    """
    stencil = lattice.velocity_stencils(grid, position, free_surface)[axis]
    for (i, j, k), weight in stencil.points():
        if not free_surface or k > 0:
            yield axis, (i, j, k), weight
        elif k == 0:
            yield axis, (i, j, 0), weight * _BUOYANCY_FACTORS[axis]
        else:
            slope = lattice.SHEAR_REACH * grid.spacing[Z] / grid.spacing[axis]
            couple = weight * slope * _BUOYANCY_FACTORS[Z]
            yield axis, (i, j, 0), weight
            yield Z, (i, j, 0), couple
            yield Z, (i - (axis == X), j - (axis == Y), 0), -couple


def spread_moment(
    grid: Grid, position: Position, component: int, free_surface: bool
) -> Iterator[Contribution]:
    """Yield a unit moment as stresses; none on a free surface, where shear stress stays zero."""
    stencil = lattice.stress_stencils(grid, position, free_surface)[component]
    for (i, j, k), weight in stencil.points():
        if not (free_surface and k == 0 and component in ON_SURFACE):
            yield component, (i, j, k), weight


def _local_cells(part: Part, cell: Cell, periodic: bool) -> list[Cell]:
    """The part's own cell for a cell of the grid, wrapped around if periodic; empty outside."""
    nx, ny, _ = part.grid.cells
    i, j, k = cell
    local = part.local((i % nx, j % ny, k) if periodic else cell)
    return [local] if local else []


def injection_launches(
    solver: Earthquake, kernel: str, fields: Sequence[Array], *, forces: bool
) -> list[Launch]:
    """The launch that adds all forces, or all moments, to fields; none if there are none here."""
    setup = solver.setup
    sources = [s for s in setup.sources if (s.force if forces else s.moment) is not None]
    table = distribute_sources(setup, solver.part, solver.layout, sources, forces=forces)
    count = len(table.targets)
    if not count:
        return []
    start = setup.time_axis.start  # the clock counts steps
    firsts = np.cumsum([0, *(len(source.samples) for source in sources)])
    tables = (
        *(table.targets, table.components, table.starts, table.source_index),
        table.source_weight.astype(setup.dtype),
        np.array([[source.start - start, source.step] for source in sources], float),
        firsts.astype(np.int64),  # first sample of each source
        np.concatenate([source.samples for source in sources]).astype(setup.dtype),
    )
    on_device = map(solver.backend.to_device, tables)
    arguments = (*fields, *on_device, solver.clock, count)
    return [solver.module.launch(kernel, Items(count), *arguments)]
