"""Sponges of a mesh: all fields decay near some of its surfaces.

The rate of decay depends on the distance from a surface as in the sponges of a grid, see
layers.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Floats, Integers
from groundswell.case.quantities import Quantity
from groundswell.errors import InputError, counted
from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.survey import Survey
from groundswell.solvers.dgwave.boundaries.absorption import Absorption
from groundswell.solvers.dgwave.boundaries.layers import sponge_decay
from groundswell.solvers.dgwave.geometry import MESH
from groundswell.solvers.dgwave.geometry.meshes import MeshGeometry
from groundswell.solvers.dgwave.mesh.elements import RankElements, face_nodes
from groundswell.spectral_elements.curl_form import element_nodes


@dataclass(frozen=True, eq=False)
class SurfaceSponges(Absorption):
    """Sponges at surfaces of a mesh; see `Absorption`.

    Args:
        geometry: the elements.
        widths: thickness of each sponge by the name of its surface, m.
        speed: of the fastest wave, m/s.

    Raises:
        InputError: a sponge fills the whole mesh, or reaches the middle of no element.
    """

    geometry: MeshGeometry
    widths: Mapping[str, float]
    speed: float

    @cached_property
    def elements(self) -> Integers:
        """The elements with nodes in sponges, ascending."""
        return np.unique(np.concatenate([np.empty(0, np.int64), *(e for e, _ in self._depths)]))

    @cached_property
    def rates(self) -> Floats:
        """Rates of decay at the nodes of `elements`, (elements, nodes), 1/s.

        Where sponges overlap, the rates add up, as at the corners of a grid.
        """
        found = np.zeros((len(self.elements), (self.geometry.degree + 1) ** AXES))
        for (elements, depths), width in zip(self._depths, self.widths.values(), strict=True):
            rows = np.searchsorted(self.elements, elements)
            found[rows] += sponge_decay(depths, width, self.speed)
        return found

    @property
    def decay(self) -> float:
        """The largest rate at which fields or memory variables decay, 1/s."""
        return float(self.rates.max(initial=0.0))

    def damping(self, elements: RankElements) -> tuple[NDArray[np.int32] | None, Floats]:
        """Damping of all fields: rows and rates, see `Terms`; no rows if no rank has any."""
        if not self.widths:
            return None, self.rates
        _, own, rows = np.intersect1d(
            elements.numbers, self.elements, assume_unique=True, return_indices=True
        )
        damped = np.full(elements.count, -1, np.int32)
        damped[own] = np.arange(len(own))
        return damped, self.rates[rows]

    def damping_rows(self, elements: RankElements) -> int:
        """Number of the rows of rates that `damping` returns."""
        return len(np.intersect1d(elements.numbers, self.elements, assume_unique=True))

    @property
    def layer_axes(self) -> Integers:
        """See `Absorption`: none."""
        return np.zeros(self.geometry.count, np.int64)

    @property
    def tables(self) -> float:
        """See `Absorption`: each element in a sponge has its own."""
        return len(self.elements) / self.geometry.count

    def quantities(self) -> Iterator[Quantity]:
        """What absorbs waves, for `groundswell check`, besides the cells of a grid."""
        damped = len(self.elements)
        text = f"{counted(damped, 'element')} next to {', '.join(self.widths)}"
        yield Quantity("sponges", damped, "sponges" * bool(damped), "elements", text, MESH)

    def warnings(self, survey: Survey) -> Iterator[str]:
        """See `Absorption`: sources and receivers in sponges."""
        if not survey.places:
            return
        names, points = zip(*survey.places, strict=True)
        damped = np.isin(self.geometry.locate(np.array(points))[0], self.elements)
        if count := int(damped.sum()):
            what = f"{count} of {len(names)} sources and receivers"
            yield (
                f"a sponge, which damps all motion, contains {what}; the first is "
                f"{names[damped.argmax()]}. Move them, or reduce the width of the sponge"
            )

    @cached_property
    def _depths(self) -> list[tuple[Integers, Floats]]:
        """The elements in each sponge, and the depths of their nodes; see `sponge_decay`."""
        return [self._depths_in(name, width) for name, width in self.widths.items()]

    def _depths_in(self, name: str, width: float) -> tuple[Integers, Floats]:
        from scipy.spatial import cKDTree  # takes long to import

        mesh, surface = (
            self.geometry.mesh,
            cKDTree(self._surface_nodes(self.geometry.groups.sides[name])),
        )
        middles = mesh.nodes.mean(axis=1)
        reach = np.linalg.norm(mesh.nodes - middles[:, None], axis=-1).max(axis=1)
        distances = surface.query(middles)[0]
        _require_layer(name, width, distances)
        near = np.flatnonzero(distances < width + reach)
        nodes = element_nodes(mesh, self.geometry.degree, near)
        depths = np.maximum(1 - surface.query(nodes)[0] / width, 0.0)
        inside = depths.any(axis=1)
        return near[inside], depths[inside]

    def _surface_nodes(self, tag: int) -> Floats:
        """Positions of the nodes on a surface, (n, 3), m."""
        mesh, degree = self.geometry.mesh, self.geometry.degree
        element, face = np.nonzero(mesh.tags(np.arange(mesh.count)) == tag)
        nodes = element_nodes(mesh, degree, element)
        on_face = face_nodes(degree)[face][..., None]
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
