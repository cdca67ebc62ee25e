"""The elements of a grid: bricks, refined by wavelength or like a p4est forest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.backends.host_memory import host_memory
from groundswell.case.quantities import byte_size
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.grids.axis import Axis
from groundswell.grids.cartesian import format_extent
from groundswell.meshes.octree import Forest, uniform_forest
from groundswell.meshes.octree_refinement import (
    Criterion,
    balance,
    longest_edges,
    refine,
    resolve_wavelength,
)
from groundswell.meshes.p4est import read_p4est
from groundswell.seismology.case.fault import FaultSection
from groundswell.seismology.media.material import Medium
from groundswell.seismology.media.statistics import physical_plane
from groundswell.solvers.dgwave.mesh.bricks import Bricks
from groundswell.solvers.dgwave.mesh.case import ForestSection, RefinementSection
from groundswell.solvers.dgwave.mesh.fault_refinement import near_planes
from groundswell.solvers.dgwave.mesh.topography import SurfacePolynomials

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.case import DgWaveCase

TREE_ROUNDING = 1e-6  # of the size of a forest
SETUP_BYTES = 640  # of memory for an element during the set-up, as measured
_REFINEMENT = "refinement", "fewer levels, or a larger grid.spacing"
_GRID = "grid", "a larger spacing or a smaller size"


def build_forest(
    case: DgWaveCase,
    grid: Bricks,
    media: Sequence[Medium],
    surface: SurfacePolynomials | None,
    comm: Communicator | None = None,
) -> Forest:
    """The elements of a case.

    Args:
        grid: bricks of the region and of absorbing layers.
        media: see `build_media`.
        surface: the surface along which elements are stretched; None if it is flat.
        comm: the ranks, each of which reads a part of the media; None for a single rank.
    """
    sides = case.boundary.sides == "periodic"
    bricks = uniform_forest(grid.faces, 0, (sides, sides, False))
    if isinstance(case.refinement, ForestSection):
        wanted = _divided_in(_read_forest(case.refinement, grid), grid)
        return balance(refine(bricks, wanted, len(media) - 1))
    if section := case.refinement:
        if section.frequency:
            speeds = _slowest(media[: section.levels + 1], comm or SerialCommunicator())
            edges = case.method.degree / section.points
            wanted = _waves_too_short(grid, speeds, section.frequency, edges, surface)
            bricks = refine(bricks, _if_memory(wanted), section.levels)
        return balance(_resolve_faults(bricks, section, case.fault, grid))
    return bricks


def _resolve_faults(
    forest: Forest, section: RefinementSection, faults: Sequence[FaultSection], grid: Bricks
) -> Forest:
    if section.faults is None:
        return forest
    planes = [fault.plane for fault in faults if fault.plane]
    wanted = near_planes(planes, section.distance, partial(_nearest_boxes, grid))
    return refine(forest, _if_memory(wanted), section.faults)


def require_memory(case: DgWaveCase, grid: Bricks) -> None:
    """Check that the set-up of the elements fits into memory, before anything is allocated.

    Raises:
        InputError: there are too many elements.
    """
    if isinstance(case.refinement, RefinementSection) and case.refinement.frequency:
        cells = [n << case.refinement.levels for n in grid.region]
        what = f"the wave speeds of {format_extent(cells)} smallest elements"
        _require_free(8 * prod(cells), what, _REFINEMENT)
    _require_free(SETUP_BYTES * grid.count, f"{grid.count:,} elements", _GRID)


def deepest_level(case: DgWaveCase, grid: Bricks) -> int:
    """The largest number of times that elements may be halved."""
    if isinstance(case.refinement, ForestSection):
        return int(_read_forest(case.refinement, grid).levels.max())
    return int(case.refinement.deepest) if case.refinement else 0


def _read_forest(section: ForestSection, grid: Bricks) -> Forest:
    """Read the forest of a file; z points down.

    Raises:
        InputError: it cannot be read, or its trees are not the elements of the grid.
    """
    found = read_p4est(section.file)
    if found.roots != grid.region:
        trees, cells = format_extent(found.roots), format_extent(grid.region)
        raise InputError(
            f"{section.file}: the forest has {trees} trees, but [grid] has {cells} elements; "
            "change grid.size or grid.spacing"
        )
    down = found if section.vertical == "down" else found.mirrored(2)
    if not all(map(_has_trees_of, down.edges, grid.axes)):
        raise InputError(
            f"{section.file}: the trees have different sizes; allowed: equal sizes, or sizes "
            "in proportion to the elements of [grid]"
        )
    return down


def _has_trees_of(faces: Floats, axis: Axis) -> bool:
    """Whether trees have equal sizes, or sizes in proportion to the elements of an axis."""
    numbers = np.arange(len(faces))
    trees = (faces - faces[0]) / np.ptp(faces)
    return any(
        np.allclose(trees, line / line[-1], rtol=0, atol=TREE_ROUNDING)
        for line in (numbers, axis.at(numbers))
    )


def _divided_in(forest: Forest, grid: Bricks) -> Criterion:
    """A criterion for `refine` that divides elements of the region like those of another forest.

    Elements of absorbing layers are divided like the nearest ones of the region.
    """

    def wanted(lower: Floats, upper: Floats) -> Mask:
        found = np.empty(len(lower), bool)
        for level, chosen, cells in _by_level(grid, lower, upper):
            leaves = forest.find(cells << (forest.max_level - level))
            found[chosen] = forest.levels[leaves] > level
        return found

    return wanted


def _waves_too_short(
    grid: Bricks,
    speeds: Sequence[Floats],
    frequency: float,
    edges: float,
    surface: SurfacePolynomials | None,
) -> Criterion:
    """A criterion for `refine` that divides elements with too few points per wavelength.

    Args:
        speeds: see `_slowest`.
        frequency: that of the shortest waves, Hz.
        edges: largest length of an edge in wavelengths.
    """

    def shortest_wave(lower: Floats, upper: Floats) -> Floats:
        found = np.empty(len(lower))
        for level, chosen, cells in _by_level(grid, lower, upper):
            x, y, z = cells.T
            found[chosen] = speeds[level][z, y, x]
        return found / float(frequency)

    longest = surface.longest_edges if surface else longest_edges
    return resolve_wavelength(shortest_wave, edges, longest)


def _if_memory(is_wanted: Criterion) -> Criterion:
    """A criterion that raises InputError if the elements that it divides would not fit."""

    def wanted(lower: Floats, upper: Floats) -> Mask:
        found = is_wanted(lower, upper)
        count = 8 * int(found.sum())
        _require_free(SETUP_BYTES * count, f"{count:,} elements of the next level", _REFINEMENT)
        return found

    return wanted


def _require_free(needed: int, what: str, section: tuple[str, str]) -> None:
    """Check that a part of the set-up fits into the available memory.

    Args:
        section: the section of the case that asks for it, and a change that needs less.

    Raises:
        InputError: it does not fit.
    """
    free, (name, cure) = host_memory()[0], section
    if needed > free:
        raise InputError(
            f"[{name}]: {what} would take {byte_size(needed)} of memory, but {byte_size(free)} "
            f"are free; give {cure}"
        )


def _slowest(media: Sequence[Medium], comm: Communicator) -> list[Floats]:
    """The slowest wave speed in each element of the region, by level, (nz, ny, nx), m/s."""
    rows = np.array_split(np.arange(media[-1].cells[2]), comm.size)[comm.rank]
    own = comm.collective_try(lambda: _slowest_in(media[-1], rows))
    found = [np.concatenate(comm.allgather(own))]
    for _ in media[1:]:
        z, y, x = (n // 2 for n in found[0].shape)
        found.insert(0, found[0].reshape(z, 2, y, 2, x, 2).min(axis=(1, 3, 5)))
    return found


def _slowest_in(medium: Medium, rows: Integers) -> Floats:
    """The slowest wave speed in each cell of some depth rows, (rows, ny, nx), m/s."""
    nx, ny, _ = medium.cells
    speeds = np.empty((len(rows), ny, nx))
    for n, k in enumerate(rows.tolist()):
        material = physical_plane(medium, k)
        speeds[n] = np.where(material.vs > 0, material.vs, material.vp)
    return speeds


def _by_level(
    grid: Bricks, lower: Floats, upper: Floats
) -> Iterator[tuple[int, Integers, Integers]]:
    """Yield each level, the indices of its elements, and the nearest elements of the region.

    Args:
        lower, upper: corners of the elements, (n, 3), m.
    """
    first, end = grid.indices(lower), grid.indices(upper)
    levels = np.rint(-np.log2(end - first)[:, 0]).astype(int)
    for level in np.unique(levels).tolist():
        chosen = np.flatnonzero(levels == level)
        cells = np.rint(first[chosen] * 2**level).astype(np.int64)
        yield level, chosen, grid.nearest(cells, level)


def _nearest_boxes(grid: Bricks, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """The corners of the nearest elements of the region, halved like others, (n, 3) each, m."""
    low, high = np.empty_like(lower), np.empty_like(upper)
    for level, chosen, cells in _by_level(grid, lower, upper):
        for n, axis in enumerate(grid.axes):
            low[chosen, n] = axis.at(cells[:, n] / 2**level)
            high[chosen, n] = axis.at((cells[:, n] + 1) / 2**level)
    return low, high
