"""Injection of point sources: their moments and forces as increments of grid values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import DeviceArray, Floats, Integers
from groundswell.backends import Backend, Items, Launch, Module
from groundswell.grids.cartesian import GHOSTS, Layout, Part, Triple
from groundswell.seismology.sources.entries import Point
from groundswell.seismology.sources.moment import has_shear
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.solvers.earthquake.effective import DepthRows
from groundswell.solvers.earthquake.ground import Ground
from groundswell.solvers.earthquake.interpolation import SHEAR_REACH, STRESS_OFFSETS
from groundswell.solvers.earthquake.phase_interpolation import Interpolation
from groundswell.solvers.earthquake.phases import TOUCHING, Phases
from groundswell.solvers.earthquake.setup import Setup

Contribution = tuple[int, Triple, float]  # component, cell (i, j, k), weight

X, Y, Z = range(3)
# 1 / mass of a row-0 velocity cell over that of an interior one: at a free surface the cell of vz
# is half as high.
_BUOYANCY_FACTORS = (1, 1, 2)
ON_SURFACE = (4, 5)  # stress components that vanish on a free surface: sxz and syz
ZZ, FIRST_SHEAR = 2, 3  # among the stress components


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
    source_weight: Floats


def distribute_sources(
    ground: Ground, part: Part, layout: Layout, sources: Sequence[PointSource], *, forces: bool
) -> InjectionTable:
    """Distribute the moments (or forces) of point sources over the grid values of each component.

    Rows are sorted by component and offset, and the contributions to a value by source, so that
    sums are reproducible. Values outside `part` are left out.
    """
    grid = part.grid
    rows = [
        (component, i + layout.row * j + layout.plane * k, n, weight)
        for n, source in enumerate(sources)
        for component, cell, weight in contributions(ground, source, forces=forces)
        for i, j, k in _local_cells(part, cell, ground.periodic)
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


def contributions(ground: Ground, source: PointSource, *, forces: bool) -> Iterator[Contribution]:
    """Yield the force of a source on velocities, or its moment as stresses."""
    if forces:
        if source.force is not None:
            yield from spread_force(ground.interpolation, source.position, source.force)
    elif source.moment is not None:
        found = spread_moment(ground.interpolation, source.position, source.moment)
        beside = ground.phases and BesideFluid.of(ground, source.position)
        yield from beside.corrected(found) if beside else found


@dataclass(frozen=True)
class BesideFluid:
    """Depth rows next to a fluid, whose stiffness along z is not that of their material.

    It compensates for the position of the boundary (effective.py). A moment Mzz does work on the
    strain ezz of the material, not of the row. At the same stress szz, they differ by
    (1/M' - 1/M) szz, where M and M' are the stiffnesses of the material and of the row. The
    stress of this difference is subtracted from the injected one.

    Args:
        rows: parameters of all depth rows, ghosts included.
        stiffness: lambda + 2 mu of the material at a source, Pa.
    """

    rows: DepthRows
    stiffness: float

    @classmethod
    def of(cls, ground: Ground, position: Point) -> BesideFluid | None:
        """The rows of a medium that varies with depth only, for a source at a position (m)."""
        profile = ground.phases.profile if ground.phases else None
        if profile is None or ground.rows is None:
            return None
        nearby = position[Z] + TOUCHING * ground.grid.spacing[Z] * np.array([-1.0, 1.0])
        material = ground.properties(profile.sample(np.maximum(nearby, 0.0)))
        stiffness = np.add(material["lam"], 2 / material["compliance"])
        return cls(ground.rows, float(stiffness[material["compliance"].argmin()]))

    def corrected(self, contributions: Iterable[Contribution]) -> Iterator[Contribution]:
        """Yield the contributions of a source, corrected next to a fluid."""
        is_fluid = np.isinf(self.rows.properties["compliance"])
        for component, cell, weight in contributions:
            row = cell[Z] + GHOSTS
            if component != ZZ or not is_fluid[row - 1 : row + 2].any():
                yield component, cell, weight
                continue
            lam, compliance = (self.rows.properties[n][row] for n in ("lam", "compliance"))
            stiffness = lam + 2 / compliance + self.rows.corrections[row, 2]
            more = stiffness / self.stiffness - 1
            yield ZZ, cell, weight * (1 + more)
            for level in (0, 1):
                yield level, cell, weight * more * lam / stiffness


def spread_force(
    interpolation: Interpolation, position: Point, force: Floats
) -> Iterator[Contribution]:
    """Yield a force (3,) as forces on velocities: the adjoint of interpolation.

    Near a free surface, interpolation also reads vx and vy above it, which extrapolate from vx and
    vy of row 0 and the slope of vz (kernels/surface.h). The adjoint applies a force there to row 0,
    and turns part of it into a couple of vertical forces.
    """
    stencils = interpolation.velocity_stencils(position) if force.any() else []
    for axis, stencil in enumerate(stencils):
        for cell, share in stencil.points() if force[axis] else ():
            for target, at, weight in _unit_force(interpolation, axis, cell):
                yield target, at, force[axis] * (share * weight)


def _unit_force(interpolation: Interpolation, axis: int, cell: Triple) -> Iterator[Contribution]:
    """Yield a unit force on a velocity; above a free surface, as forces on velocities below."""
    (i, j, k), spacing = cell, interpolation.grid.spacing
    if not interpolation.free_surface or k > 0:
        yield axis, cell, 1.0
    elif k == 0:
        yield axis, cell, _BUOYANCY_FACTORS[axis]
    else:
        couple = SHEAR_REACH * spacing[Z] / spacing[axis] * _BUOYANCY_FACTORS[Z]
        yield axis, (i, j, 0), 1.0
        yield Z, (i, j, 0), couple
        yield Z, (i - (axis == X), j - (axis == Y), 0), -couple


def spread_moment(
    interpolation: Interpolation, position: Point, moment: Floats
) -> Iterator[Contribution]:
    """Yield a moment (6,) as stresses; none where shear stress stays zero.

    It stays zero on the free surface and on boundaries of fluids. A moment with shear is in the
    solid, wherever in the cell the medium has its boundary.
    """
    phases, free_surface = interpolation.phases, interpolation.free_surface
    solid = phases is None or bool(has_shear(moment)) or phases.is_solid(position)
    for component, stencil in enumerate(interpolation.stress_stencils(position, solid)):
        for cell, share in stencil.points() if moment[component] else ():
            on_surface = free_surface and cell[Z] == 0 and component in ON_SURFACE
            if not on_surface and _resists(phases, component, cell):
                yield component, cell, moment[component] * share


def _resists(phases: Phases | None, component: int, cell: Triple) -> bool:
    """Whether a stress can stay at its place in a cell: not if it is shear stress next to fluid."""
    if phases is None or component < FIRST_SHEAR:
        return True
    x, y, z = (along == 0 for along in STRESS_OFFSETS[component])
    return phases.resists_shear((x, y, z), cell)


def _local_cells(part: Part, cell: Triple, periodic: bool) -> list[Triple]:
    """The part's own cell for a cell of the grid, wrapped around if periodic; empty outside."""
    nx, ny, _ = part.grid.cells
    i, j, k = cell
    local = part.local((i % nx, j % ny, k) if periodic else cell)
    return [local] if local else []


def injection_tables(
    setup: Setup, part: Part, layout: Layout, *, forces: bool
) -> dict[str, NDArray[np.generic]]:
    """The arguments of `kernels/sources.h` for all forces, or all moments; empty without any."""
    sources = [s for s in setup.survey.sources if (s.force if forces else s.moment) is not None]
    table = distribute_sources(setup.ground, part, layout, sources, forces=forces)
    if not len(table.targets):
        return {}
    start = setup.time_axis.start  # the clock counts steps
    firsts = np.cumsum([0, *(len(source.samples) for source in sources)])
    return {
        "targets": table.targets,
        "components": table.components,
        "starts": table.starts,
        "source_index": table.source_index,
        "source_weight": table.source_weight.astype(setup.dtype),
        "times": np.array([[source.start - start, source.step] for source in sources], float),
        "firsts": firsts.astype(np.int64),  # first sample of each source
        "samples": np.concatenate([source.samples for source in sources]).astype(setup.dtype),
    }


def inject(
    backend: Backend,
    module: Module,
    kernel: str,
    fields: Mapping[str, DeviceArray],
    tables: Mapping[str, NDArray[np.generic]],
) -> list[Launch]:
    """The launch that adds forces or moments to fields; none without any.

    Args:
        tables: see `injection_tables`.
    """
    if not tables:
        return []
    on_device = {name: backend.to_device(table) for name, table in tables.items()}
    count = len(tables["targets"])
    return [module.launch(kernel, Items(count), **fields, **on_device, count=count)]
