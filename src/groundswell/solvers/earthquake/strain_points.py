"""Strain at points: the transpose of the injection of moments there.

A moment is injected into stresses around its point with certain weights. With the same weights, the
strains there add up to the strain at the point, so that a moment and a force are interchangeable,
as the scheme is self-adjoint. Within four cells of a fluid, where the stress update corrects its
differences (sea_floor.py), this strain leaves the corrections out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import DeviceArray, Floats, Integers, Mask
from groundswell.backends import Backend, Items, Launch, Module
from groundswell.errors import InputError
from groundswell.grids.cartesian import Layout, Part
from groundswell.seismology.green.point_files import KEY
from groundswell.seismology.green.points import StrainPoints
from groundswell.seismology.green.recording import RankStrain, WeightedRows
from groundswell.seismology.sources.entries import Point
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.solvers.earthquake.ground import Ground
from groundswell.solvers.earthquake.source_injection import contributions

Term = tuple[float, ...]  # component, k, j, i and weight

STENCIL = 4**3  # grid values around a point
VALUE, TERM = 24, 16  # bytes of a value with its place, and of a term of a sum


@dataclass(frozen=True, eq=False)
class StrainTable:
    """The grid values around all points, and their weights.

    Args:
        components: stress components of the values, (values,).
        cells: their cells (i, j, k), (values, 3).
        rows: the weights, with a row for each point and component.
    """

    components: Integers
    cells: Integers
    rows: WeightedRows

    @classmethod
    def of(cls, ground: Ground, points: StrainPoints) -> StrainTable:
        """The table of points in the ground.

        Raises:
            InputError: a point is so near to an absorbing layer that its values lie in it.
        """
        found = [
            _combined(terms, tensor)
            for position, basis in zip(points.positions.tolist(), points.basis, strict=True)
            for terms in [_terms(ground, position)]
            for tensor in basis.tolist()
        ]
        lengths = np.array([len(terms) for terms in found])
        flat = np.array([term for terms in found for term in terms])
        keys = flat[:, :4].astype(np.int64)
        _require_outside_layers(ground, keys[:, :0:-1], np.repeat(np.arange(len(found)), lengths))
        unique, index = np.unique(keys, axis=0, return_inverse=True)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        rows = WeightedRows(starts, index.reshape(-1).astype(np.int64), flat[:, 4].copy())
        return cls(unique[:, 0].copy(), unique[:, :0:-1].copy(), rows)

    def owned(self, part: Part) -> Mask:
        """Which values are in a part of the grid."""
        local = self.cells - part.start
        return np.asarray(((local >= 0) & (local < part.cells)).all(axis=1))


def _combined(terms: Sequence[Sequence[Term]], tensor: Sequence[float]) -> list[Term]:
    """The values of a tensor, sorted, from those of its six components."""
    chosen = zip(terms, tensor, strict=True)
    return sorted((*place, size * w) for of, size in chosen if size for *place, w in of)


def _terms(ground: Ground, position: Point) -> list[list[Term]]:
    """Component, k, j, i and weight of the values of unit moments xx, yy, zz, xy, xz and yz."""
    if ground.phases is not None:
        return [[*_injected(ground, position, unit)] for unit in np.eye(6)]
    found: list[list[Term]] = [[] for _ in range(6)]  # without fluids, components do not mix
    for term in _injected(ground, position, np.ones(6)):
        found[int(term[0])].append(term)
    return found


def _injected(ground: Ground, position: Point, moment: Floats) -> Iterator[Term]:
    x, y, z = position
    source = PointSource((x, y, z), moment, None, 0, 1, np.zeros(1))
    for which, (i, j, k), weight in contributions(ground, source, forces=False):
        yield (which, k, *_wrapped(ground, (i, j)), weight)


def _wrapped(ground: Ground, place: tuple[int, int]) -> tuple[int, int]:
    """Indices (j, i) of a cell of the grid, which repeats if it is periodic."""
    (i, j), (nx, ny, _) = place, ground.grid.cells
    return (j % ny, i % nx) if ground.periodic else (j, i)


def _require_outside_layers(ground: Ground, cells: Integers, rows: Integers) -> None:
    """Check that all cells (i, j, k) of rows are outside absorbing layers.

    Raises:
        InputError: some are not.
    """
    grid = ground.grid
    local = cells - grid.before
    wrong = ((local < 0) | (local >= grid.region)).any(axis=1)
    if wrong.any():
        count = len(np.unique(rows[wrong]))
        raise InputError(
            f"{KEY}: {count} of {rows[-1] + 1} strains would be recorded in an absorbing layer, "
            "where they are damped; keep all points two cells away from layers, or enlarge "
            "grid.size"
        )


def load_strain(backend: Backend, table: StrainTable, part: Part, clock: DeviceArray) -> RankStrain:
    """Zero strains at the values of a rank."""
    own = np.flatnonzero(table.owned(part))
    return RankStrain(backend.zeros((len(own),), "float64"), own, len(table.cells), clock)


def accumulate_strain(
    backend: Backend,
    module: Module,
    velocities: Mapping[str, DeviceArray],
    table: StrainTable,
    rank: RankStrain,
    where: tuple[Part, Layout],
) -> list[Launch]:
    """The launch that adds a step's strain; none on ranks without values."""
    if not len(rank.numbers):
        return []
    part, layout = where
    local = table.cells[rank.numbers] - part.start
    targets = local @ np.array([1, layout.row, layout.plane])
    arrays = {
        "strain": rank.values,
        **velocities,
        "targets": backend.to_device(targets.astype(np.int64)),
        "components": backend.to_device(table.components[rank.numbers].astype(np.int64)),
    }
    count = len(rank.numbers)
    return [module.launch("accumulate_strain", Items(count), **arrays, count=count)]


def strain_bytes(points: StrainPoints) -> int:
    """Device memory of the strains around points if they share none, bytes."""
    terms = np.count_nonzero(points.basis, axis=(1, 2)).sum() * STENCIL
    values = np.count_nonzero(points.basis.any(axis=1), axis=1).sum() * STENCIL
    return int(TERM * terms + VALUE * values)
