"""The mesh of a case: bricks, refined by wavelength or like a p4est forest, and materials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.grids.axis import Axis
from groundswell.grids.cartesian import format_extent
from groundswell.meshes.hexahedra import Numbers
from groundswell.meshes.octree import Forest, uniform_forest
from groundswell.meshes.octree_refinement import (
    Criterion,
    balance,
    longest_edges,
    refine,
    resolve_wavelength,
)
from groundswell.meshes.p4est import read_p4est
from groundswell.seismology.case.boundaries import cells_across
from groundswell.seismology.media.build import build_medium
from groundswell.seismology.media.material import Material, Medium
from groundswell.seismology.media.statistics import physical_plane
from groundswell.solvers.dgwave.bricks import Bricks
from groundswell.solvers.dgwave.case import LAYERS, ForestSection
from groundswell.solvers.dgwave.topography import Surface

Floats = NDArray[np.float64]
USED = ("vp", "vs", "rho")  # of a material
QUALITY = ("qp", "qs")  # with attenuation too
TREE_ROUNDING = 1e-6  # of the size of a forest


def build_grid(case: Any) -> Bricks:
    """The elements of a case: those of the region and of the absorbing layers around it."""
    boundary, axes = case.boundary, map(Axis, case.grid.spacing)
    x, y, z = ([cells_across(boundary.width, edge) for edge in axis.ends] for axis in axes)
    if boundary.sides not in LAYERS:
        x = y = [0, 0]
    top = z[0] if boundary.top in LAYERS else 0
    bottom = z[1] if boundary.bottom in LAYERS else 0
    low, high = (x[0], y[0], top), (x[1], y[1], bottom)
    return Bricks(case.grid.cells, case.grid.spacing, before=low, after=high)


def build_media(case: Any, grid: Bricks) -> list[Medium]:
    """The media of the region's elements, and of elements halved once, twice and so on.

    Raises:
        InputError: the data are unreadable, incomplete or do not cover the region.
    """
    return [_medium(case, grid, level) for level in range(_levels(case, grid) + 1)]


def _levels(case: Any, grid: Bricks) -> int:
    """The largest number of times that elements may be halved."""
    if isinstance(case.refinement, ForestSection):
        return int(_read_forest(case.refinement, grid).levels.max())
    return int(case.refinement.levels) if case.refinement else 0


def _medium(case: Any, grid: Bricks, level: int) -> Medium:
    nx, ny, nz = (n << level for n in grid.region)
    hx, hy, hz = (axis.divided(2**level).spacing for axis in grid.axes)
    return build_medium(case.medium, (nx, ny, nz), (hx, hy, hz), case.grid.frame)


def build_forest(
    case: Any, grid: Bricks, media: Sequence[Medium], surface: Surface | None
) -> Forest:
    """The elements of a case.

    Args:
        grid: bricks of the region and of absorbing layers.
        media: see `build_media`.
        surface: the surface along which elements are stretched; None if it is flat.
    """
    sides = case.boundary.sides == "periodic"
    bricks = uniform_forest(grid.faces, 0, (sides, sides, False))
    if not (section := case.refinement):
        return bricks
    if isinstance(section, ForestSection):
        wanted = _divided_in(_read_forest(section, grid), grid)
    else:
        wanted = _waves_too_short(case, grid, media, surface)
    return balance(refine(bricks, wanted, len(media) - 1))


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

    def wanted(lower: Floats, upper: Floats) -> NDArray[np.bool_]:
        found = np.empty(len(lower), bool)
        for level, chosen, cells in _by_level(grid, lower, upper):
            leaves = forest.find(cells << (forest.max_level - level))
            found[chosen] = forest.levels[leaves] > level
        return found

    return wanted


def _waves_too_short(
    case: Any, grid: Bricks, media: Sequence[Medium], surface: Surface | None
) -> Criterion:
    """A criterion for `refine` that divides elements with too few points per wavelength."""
    speeds, section = _slowest(media), case.refinement

    def shortest_wave(lower: Floats, upper: Floats) -> Floats:
        found = np.empty(len(lower))
        for level, chosen, cells in _by_level(grid, lower, upper):
            x, y, z = cells.T
            found[chosen] = speeds[level][z, y, x]
        return found / float(section.frequency)

    longest = surface.longest_edges if surface else longest_edges
    return resolve_wavelength(shortest_wave, case.method.degree / section.points, longest)


def _slowest(media: Sequence[Medium]) -> list[Floats]:
    """The slowest wave speed in each element of the region, by level, (nz, ny, nx), m/s."""
    nx, ny, nz = media[-1].cells
    speeds = np.empty((nz, ny, nx))
    for k in range(nz):
        material = physical_plane(media[-1], k)
        speeds[k] = np.where(material.vs > 0, material.vs, material.vp)
    found = [speeds]
    for _ in media[1:]:
        z, y, x = (n // 2 for n in found[0].shape)
        found.insert(0, found[0].reshape(z, 2, y, 2, x, 2).min(axis=(1, 3, 5)))
    return found


def _by_level(grid: Bricks, lower: Floats, upper: Floats) -> Iterator[tuple[int, Numbers, Numbers]]:
    """Yield each level, the indices of its elements, and the nearest elements of the region.

    Args:
        lower, upper: corners of the elements, (n, 3), m.
    """
    first, end = grid.indices(lower), grid.indices(upper)
    levels = np.rint(-np.log2(end - first)[:, 0]).astype(int)
    for level in np.unique(levels).tolist():
        chosen = np.flatnonzero(levels == level)
        cells = np.rint(first[chosen] * 2**level).astype(np.int64)
        yield level, chosen, _inside(grid, cells, level)


def read_material(
    forest: Forest, grid: Bricks, media: Sequence[Medium], leaves: Numbers, names: Sequence[str]
) -> Material:
    """Properties of elements; absorbing layers continue the outermost elements of the region."""
    found = {name: np.empty(len(leaves)) for name in names}
    levels, anchors = forest.levels[leaves], forest.anchors(leaves)
    for level in np.unique(levels):
        chosen = np.flatnonzero(levels == level)
        cells = anchors[chosen] >> (forest.max_level - int(level))
        inside = _inside(grid, cells - np.array(grid.before) * 2**level, level)
        _read(media[level], inside, {name: (v, chosen) for name, v in found.items()})
    return Material(**found)


def _inside(grid: Bricks, cells: Numbers, level: int) -> Numbers:
    """The nearest elements of the region at a level; indices count from the region's corner."""
    return np.clip(cells, 0, np.array(grid.region) * 2**level - 1)


def _read(medium: Medium, cells: Numbers, into: Mapping[str, tuple[Floats, Numbers]]) -> None:
    """Read properties of cells, (n, 3), into arrays at given indices, by name.

    Quality factors that the medium lacks are infinite.
    """
    nx, ny, _ = medium.cells
    for k in np.unique(cells[:, 2]):
        row = np.flatnonzero(cells[:, 2] == k)
        plane, (x, y) = physical_plane(medium, int(k)).given(), cells[row, :2].T
        for name, (array, places) in into.items():
            values = plane.get(name, np.array(np.inf))
            array[places[row]] = np.broadcast_to(values, (ny, nx))[y, x]
