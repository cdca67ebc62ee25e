"""The weight of the rock above: the mean density of elements by depth."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.plasticity.initial_stress import Overburden
from groundswell.solvers.dgwave.geometry import Geometry
from groundswell.spectral_elements.geometry import chunks

DIGITS = 3  # of depths in m: elements of a layer differ by less


def overburden(geometry: Geometry, rho: Floats) -> Overburden:
    """The density averaged over all elements at a depth.

    Args:
        rho: mean density of all elements, (elements,), kg/m^3.
    """
    tops, bottoms, areas = _extents(geometry)
    below = bottoms > np.maximum(tops, 0.0)
    tops, bottoms, areas = np.maximum(tops[below], 0.0), bottoms[below], areas[below]
    edges = np.unique([0.0, *tops, *bottoms])
    first, last = np.searchsorted(edges, tops), np.searchsorted(edges, bottoms)
    area, mass = (
        _sums(first, last, values, len(edges) - 1) for values in (areas, areas * rho[below])
    )
    return Overburden(edges, mass / area)


def _extents(geometry: Geometry) -> tuple[Floats, Floats, Floats]:
    """Least and greatest depth of elements, m, and the area below which they lie, m^2."""
    mesh = geometry.hexahedra
    found = np.empty((3, geometry.count))
    for part in chunks(geometry.count, (mesh.order + 1) ** AXES):
        nodes = mesh.geometry_nodes(np.arange(geometry.count)[part])
        depths = geometry.below_surface(nodes.reshape(-1, AXES))[:, 2].reshape(nodes.shape[:2])
        sizes = np.ptp(nodes, axis=1)
        found[:, part] = depths.min(axis=1), depths.max(axis=1), sizes[:, 0] * sizes[:, 1]
    return found[0].round(DIGITS), found[1].round(DIGITS), found[2]


def _sums(first: Integers, last: Integers, values: Floats, count: int) -> Floats:
    """The sum, for each interval, of values whose range (`first` to before `last`) has it."""
    changes = np.zeros(count + 1)
    np.add.at(changes, first, values)
    np.add.at(changes, last, -values)
    return np.asarray(np.cumsum(changes)[:-1])
