"""Point sources spread over grid values, as flat tables that a kernel walks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Items, Launch, Module
from groundswell.backends.base import Array
from groundswell.grids.cartesian import Grid, Layout, Part
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.solvers.earthquake import interpolation as lattice
from groundswell.solvers.earthquake.interpolation import Cell, Position

Integers = NDArray[np.int64]
Contribution = tuple[int, Cell, float]  # component, cell (i, j, k), weight

X, Y, Z = range(3)
_LIGHTNESS = (1, 1, 2)  # of the velocities of row 0: at a free surface vz moves half a cell
ON_SURFACE = (4, 5)  # of the stresses: sxz and syz


@dataclass(frozen=True)
class InjectionTable:
    """Which sources reach which values; see `kernels/sources.h` for the tables."""

    targets: Integers
    components: Integers
    starts: Integers
    source_index: Integers
    source_weight: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.targets)


def distribute_sources(
    part: Part,
    layout: Layout,
    sources: Sequence[PointSource],
    *,
    forces: bool,
    free_surface: bool,
    periodic: bool,
) -> InjectionTable:
    """Spread moments (or forces) over the values of each component, per unit volume.

    Rows are sorted by component and place, and the shares of one value by source, so that sums
    come out alike in every run. What falls into other parts, or outside the grid, is left out.
    """
    grid = part.grid
    rows = [
        (component, i + layout.row * j + layout.plane * k, n, weight)
        for n, source in enumerate(sources)
        for component, cell, weight in _spread(grid, source, forces, free_surface)
        for i, j, k in _inside(part, cell, periodic)
    ]
    rows.sort()
    component, place, source, weight = (
        (np.array(column) for column in zip(*rows, strict=True)) if (rows) else (np.empty(0),) * 4
    )
    keys = np.stack([component, place], axis=1).astype(np.int64)
    unique, first = np.unique(keys, axis=0, return_index=True)
    return InjectionTable(
        targets=unique[:, 1].copy(),
        components=unique[:, 0].copy(),
        starts=np.append(first, len(rows)).astype(np.int64),
        source_index=source.astype(np.int64),
        source_weight=weight.astype(float) / float(np.prod(grid.spacing)),
    )


def _spread(
    grid: Grid, source: PointSource, forces: bool, free_surface: bool
) -> Iterator[Contribution]:
    strengths = source.force if forces else source.moment
    spread = spread_force if forces else spread_moment
    for component, strength in enumerate(() if strengths is None else strengths):
        if strength:
            for target, cell, share in spread(grid, source.position, component, free_surface):
                yield target, cell, strength * share


def spread_force(
    grid: Grid, position: Position, axis: int, free_surface: bool
) -> Iterator[Contribution]:
    """A unit force along an axis as forces on velocities: the transpose of reading one there.

    Beside a free surface a force on vx above it acts through what sets that value, vx below and the
    slope of vz (kernels/surface.h): the slope turns part of the force into a couple.
    """
    stencil = lattice.velocity_stencils(grid, position, free_surface)[axis]
    for (i, j, k), weight in stencil.points():
        if not free_surface or k > 0:
            yield axis, (i, j, k), weight
        elif k == 0:
            yield axis, (i, j, 0), weight * _LIGHTNESS[axis]
        else:
            slope = lattice.SHEAR_REACH * grid.spacing[Z] / grid.spacing[axis]
            couple = weight * slope * _LIGHTNESS[Z]
            yield axis, (i, j, 0), weight
            yield Z, (i, j, 0), couple
            yield Z, (i - (axis == X), j - (axis == Y), 0), -couple


def spread_moment(
    grid: Grid, position: Position, component: int, free_surface: bool
) -> Iterator[Contribution]:
    """A unit moment as stresses; none on a free surface, where shear stress stays zero."""
    stencil = lattice.stress_stencils(grid, position, free_surface)[component]
    for (i, j, k), weight in stencil.points():
        if not (free_surface and k == 0 and component in ON_SURFACE):
            yield component, (i, j, k), weight


def _inside(part: Part, cell: Cell, periodic: bool) -> list[Cell]:
    """The part's cell that answers for a cell of the grid; none outside."""
    nx, ny, _ = part.grid.cells
    i, j, k = cell
    here = part.local((i % nx, j % ny, k) if periodic else cell)
    return [here] if here else []


class Histories:
    """The time functions of all sources, packed on the device."""

    def __init__(self, backend: Backend, sources: Sequence[PointSource], dtype: str) -> None:
        times = np.array([[s.start, s.step] for s in sources], float).reshape(-1, 2)
        samples = np.concatenate([s.samples for s in sources]) if sources else np.zeros(1)
        firsts = np.cumsum([0, *(len(s.samples) for s in sources)])
        self.times = backend.to_device(times)
        self.firsts = backend.to_device(firsts.astype(np.int64))
        self.samples = backend.to_device(samples.astype(dtype))


def injection(
    backend: Backend,
    module: Module,
    name: str,
    fields: Sequence[Array],
    shares: InjectionTable,
    histories: Histories,
    clock: Array,
) -> list[Launch]:
    """The launch that adds the shares to `fields`; none if no source has any."""
    if not len(shares):
        return []
    dtype = fields[0].dtype
    tables = [shares.targets, shares.components, shares.starts, shares.source_index]
    on_device = [backend.to_device(table) for table in tables]
    weights = backend.to_device(shares.source_weight.astype(dtype))
    return [
        module.launch(
            name,
            Items(len(shares)),
            *fields,
            *on_device,
            weights,
            histories.times,
            histories.firsts,
            histories.samples,
            clock,
            len(shares),
        )
    ]
