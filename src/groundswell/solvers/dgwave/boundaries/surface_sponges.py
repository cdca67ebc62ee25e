"""Sponges of a mesh: all fields decay near some of its surfaces.

The rate of decay depends on the distance from a surface as in the sponges of a grid, see
layers.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from groundswell.errors import InputError
from groundswell.meshes.hexahedra import AXES, Numbers
from groundswell.meshes.mesh import Mesh
from groundswell.solvers.dgwave.boundaries.layers import sponge_decay
from groundswell.solvers.dgwave.mesh.elements import face_nodes
from groundswell.spectral_elements.curl_form import element_nodes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SurfaceSponges:
    """Sponges at surfaces of a mesh.

    Args:
        mesh: the elements.
        degree: degree of their nodes.
        sides: tag of each physical surface by name.
        widths: thickness of each sponge by the name of its surface, m.

    Raises:
        InputError: a sponge fills the whole mesh, or reaches the middle of no element.
    """

    mesh: Mesh
    degree: int
    sides: Mapping[str, int]
    widths: Mapping[str, float]

    @cached_property
    def elements(self) -> Numbers:
        """The elements with nodes in sponges, ascending."""
        return np.unique(np.concatenate([np.empty(0, np.int64), *(e for e, _ in self._depths)]))

    def decay(self, speed: float) -> Floats:
        """Rates of decay at the nodes of `elements`, (elements, nodes), 1/s.

        Where sponges overlap, the rates add up, as at the corners of a grid.

        Args:
            speed: of the fastest wave, m/s.
        """
        rates = np.zeros((len(self.elements), (self.degree + 1) ** AXES))
        for (elements, depths), width in zip(self._depths, self.widths.values(), strict=True):
            rates[np.searchsorted(self.elements, elements)] += sponge_decay(depths, width, speed)
        return rates

    @cached_property
    def _depths(self) -> list[tuple[Numbers, Floats]]:
        """The elements in each sponge, and the depths of their nodes; see `sponge_decay`."""
        return [self._depths_in(name, width) for name, width in self.widths.items()]

    def _depths_in(self, name: str, width: float) -> tuple[Numbers, Floats]:
        surface = cKDTree(self._surface_nodes(self.sides[name]))
        middles = self.mesh.nodes.mean(axis=1)
        reach = np.linalg.norm(self.mesh.nodes - middles[:, None], axis=-1).max(axis=1)
        distances = surface.query(middles)[0]
        _require_layer(name, width, distances)
        near = np.flatnonzero(distances < width + reach)
        nodes = element_nodes(self.mesh, self.degree, near)
        depths = np.maximum(1 - surface.query(nodes)[0] / width, 0.0)
        inside = depths.any(axis=1)
        return near[inside], depths[inside]

    def _surface_nodes(self, tag: int) -> Floats:
        """Positions of the nodes on a surface, (n, 3), m."""
        element, face = np.nonzero(self.mesh.tags(np.arange(self.mesh.count)) == tag)
        nodes = element_nodes(self.mesh, self.degree, element)
        on_face = face_nodes(self.degree)[face][..., None]
        return np.take_along_axis(nodes, on_face, axis=1).reshape(-1, AXES)


def _require_layer(name: str, width: float, distances: Floats) -> None:
    """Check that a sponge fills some elements, but not all, by the distances of their middles."""
    nearest, farthest = float(distances.min()), float(distances.max())
    at = f"boundary.surfaces.{name}.width = {width:g} m"
    if farthest < width:
        raise InputError(
            f"{at}: the sponge would fill the mesh, whose elements are at most {farthest:.4g} m "
            "from this surface; use a smaller width"
        )
    if width < nearest:
        raise InputError(
            f"{at}: the sponge would reach the middle of no element, of which the nearest is "
            f"{nearest:.4g} m from this surface; use the width of several elements"
        )
