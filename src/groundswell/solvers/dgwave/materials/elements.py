"""The material of elements, and at positions in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Integers, Mask, Reals
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.mesh import CORNERS
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.geometry import Geometry
from groundswell.solvers.dgwave.materials.properties import SAMPLES, USED
from groundswell.spectral_elements.point_location import NOWHERE


class ElementMedium(Protocol):
    """What differs between the media of a grid and those of a mesh's volumes."""

    @property
    def varies(self) -> bool:
        """Whether the medium may vary inside elements."""
        ...

    @property
    def has_dry_surface(self) -> bool:
        """Whether there is a surface that no water reaches."""
        ...

    def average(self, elements: Integers) -> Material:
        """The average material of elements, arrays (elements,)."""
        ...

    def sample(self, elements: Integers, places: Floats) -> Material:
        """The medium at positions slightly inside elements, arrays (elements, places).

        Args:
            places: reference coordinates, (elements or 1, places, 3).
        """
        ...

    def is_solid(self, elements: Integers, places: Floats) -> Mask:
        """Whether the medium is solid at positions in elements, (elements, places)."""
        ...


@dataclass(frozen=True, eq=False)
class ElementMaterials:
    """The material of elements, with the wave speeds at the reference frequency of attenuation.

    Materials are averages over elements or, if they are nodal, the values of the medium at the
    nodes. An element is either fluid or solid. If its nodes and its average are not all fluid or
    all solid, it has its average at all nodes, which is fluid if any part of it is. Quality factors
    are always averages.

    Args:
        geometry: the elements.
        medium: what they contain.
        is_nodal: whether the material varies inside elements.
    """

    geometry: Geometry
    medium: ElementMedium
    is_nodal: bool

    def average(self, leaves: Integers) -> Material:
        """The average material of elements, arrays (elements,).

        Absorbing layers continue the outermost elements of the region.
        """
        return self.medium.average(leaves)

    def at(self, leaves: Integers, places: Floats | None = None) -> Material:
        """The material at positions in elements, arrays (elements, places).

        Args:
            places: reference coordinates, (elements or 1, places, 3); None for the nodes, or for
                one place if elements are uniform.
        """
        nodes, is_mixed = self.at_nodes(leaves)
        if places is None:
            return nodes
        shape = (len(leaves), places.shape[1])
        found = {n: np.broadcast_to(v[:, :1], shape) for n, v in nodes.given().items()}
        if self.is_nodal:
            found |= _average_if_mixed(is_mixed, found, self.medium.sample(leaves, places))
        return Material(**found)

    def at_nodes(self, leaves: Integers) -> tuple[Material, Mask]:
        """The material at the nodes of elements, and whether they contain fluid and solid.

        Elements that contain both have their average at all nodes.

        Returns:
            Arrays (elements, nodes); and (elements,), False unless the material varies by node.
        """
        averages = self.average(leaves)
        shape = (len(leaves), self._nodes.shape[1])
        found = {n: np.broadcast_to(v[:, None], shape) for n, v in averages.given().items()}
        if not self.is_nodal:
            return Material(**found), np.zeros(len(leaves), bool)
        nodes = self.medium.sample(leaves, self._nodes)
        is_mixed = _is_mixed(nodes, averages)
        return Material(**found | _average_if_mixed(is_mixed, found, nodes)), is_mixed

    def fluid_with_solid(self, leaves: Integers) -> Mask:
        """Which elements are fluid on average, but solid at a corner, (elements,).

        A corner may lie in a gap of a model, because averages need no values there.
        """
        found = self.average(leaves).vs == 0
        if not self.medium.varies:
            return np.zeros_like(found)
        found[found] = self.medium.is_solid(leaves[found], _places(1)).any(axis=1)
        return found

    @cached_property
    def _nodes(self) -> Floats:
        """Positions at which materials vary in an element, (1, places, 3); see `at`."""
        return _places(self.geometry.degree) if self.is_nodal else np.zeros((1, 1, AXES))

    def chunks(self, leaves: Integers) -> list[Integers]:
        """Split elements into chunks, so that the material at their nodes takes little memory."""
        step = max(1, SAMPLES // max(self._nodes.shape[1], CORNERS))
        return [leaves[first : first + step] for first in range(0, len(leaves), step)]

    # --- at positions in elements -----------------------------------------------------------------

    def rigidity(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Reals:
        """mu at positions x, y and depth z below the surface (m), Pa."""
        found = self._at_positions(x, y, z)
        return found.rho * found.vs**2

    def is_fluid(self, points: Floats) -> Mask:
        """Whether positions x, y and depth, (n, 3), m, lie in a fluid; False outside a mesh."""
        leaves, places = self.geometry.locate(points)
        found = leaves != NOWHERE
        found[found] = self.at(leaves[found], places[found, None]).vs[:, 0] == 0
        return found

    def lame(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Reals:
        """lambda at positions, Pa; see `rigidity`."""
        found = self._at_positions(x, y, z)
        return found.rho * (found.vp**2 - 2 * found.vs**2)

    def density(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Reals:
        """rho at positions, kg/m^3; see `rigidity`."""
        return self._at_positions(x, y, z).rho

    def _at_positions(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Material:
        leaves, places = self.geometry.locate(as_points(x, y, z))
        found = self.at(leaves, places[:, None])
        return Material(**{n: values[:, 0] for n, values in found.given().items()})


def as_points(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Floats:
    """Positions of given coordinates, which are broadcast, (n, 3)."""
    return np.stack(np.broadcast_arrays(x, y, z), axis=-1).reshape(-1, AXES)


def _places(degree: int) -> Floats:
    """Reference coordinates of the nodes of an element, (1, nodes, 3); of degree 1, the corners."""
    line = gll(degree).points
    z, y, x = np.meshgrid(line, line, line, indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()], axis=-1)[None]


def _average_if_mixed(
    is_mixed: Mask, averages: Mapping[str, Reals], sampled: Material
) -> dict[str, Reals]:
    """The averages in mixed elements, and the sampled values elsewhere, (elements, places)."""
    mixed = is_mixed[:, None]
    return {n: np.where(mixed, averages[n], getattr(sampled, n)) for n in USED}


def _is_mixed(nodes: Material, averages: Material) -> Mask:
    """Which elements contain fluid and solid, from materials (elements, nodes) and (elements,)."""
    fluid = np.column_stack([nodes.vs, averages.vs]) == 0
    return np.asarray(fluid.any(axis=1) & ~fluid.all(axis=1))
