"""The material of elements and at positions in them; a base class of the set-up."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Numbers
from groundswell.meshes.mesh import CORNERS
from groundswell.seismology.anelasticity import fit_case
from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.case.media import HomogeneousSection
from groundswell.seismology.media.material import (
    Mask,
    Material,
    Values,
    sample_points,
    solid_at_points,
)
from groundswell.solvers.dgwave.attenuation import MaxwellBodies, unrelaxed
from groundswell.solvers.dgwave.materials.brick_media import (
    INWARDS,
    QUALITY,
    SAMPLES,
    USED,
    read_material,
)
from groundswell.solvers.dgwave.materials.case import CellwiseSection
from groundswell.solvers.dgwave.setup.geometry import ElementGeometry

Floats = NDArray[np.float64]


class ElementMaterials(ElementGeometry):
    """Materials of elements; see `Setup` for the attributes.

    Materials are averages over elements or, with `method.material = "node"`, the values of the
    medium at the nodes. An element is either fluid or solid. If its nodes and its average are not
    all fluid or all solid, it has its average at all nodes, which is fluid if any part of it is.
    Quality factors are always averages.
    """

    @cached_property
    def relaxation(self) -> Relaxation | None:
        """Relaxation mechanisms; None without attenuation."""
        settings, mechanisms = self.case.attenuation, self.case.method.mechanisms
        return fit_case(settings, self.statistics, mechanisms)

    @property
    def is_nodal(self) -> bool:
        """Whether the material varies inside elements."""
        return bool(self.case.method.material == "node")

    def material(self, leaves: Numbers) -> Material:
        """The average material of elements, at the reference frequency of attenuation.

        Absorbing layers continue the outermost elements of the region. Averages are kept, so
        the medium of an element is read only once.
        """
        averages, is_read = self._averages
        if (new := leaves[~is_read[leaves]]).size:
            found = read_material(self.forest, self.grid, self.media, new, self._properties)
            for name, values in averages.items():
                values[new] = getattr(found, name)
            is_read[new] = True
        return Material(**{name: values[leaves] for name, values in averages.items()})

    @cached_property
    def _averages(self) -> tuple[dict[str, Values], Mask]:
        """The average materials read so far, and a mask of the elements that have one."""
        averages: dict[str, Values] = {name: np.empty(self.count) for name in self._properties}
        return averages, np.zeros(self.count, np.bool_)

    @property
    def _properties(self) -> tuple[str, ...]:
        """The properties of the material that a run needs."""
        return USED if self.case.attenuation.model == "none" else (*USED, *QUALITY)

    def material_at(self, leaves: Numbers, places: Floats | None = None) -> Material:
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
            found |= _average_if_mixed(is_mixed, found, self._sample(leaves, places))
        return Material(**found)

    def at_nodes(self, leaves: Numbers) -> tuple[Material, NDArray[np.bool_]]:
        """The material at the nodes of elements, and whether they contain fluid and solid.

        Elements that contain both have their average at all nodes.

        Returns:
            Arrays (elements, nodes); and (elements,), False unless the material varies by node.
        """
        averages = self.material(leaves)
        shape = (len(leaves), self._nodes.shape[1])
        found = {n: np.broadcast_to(v[:, None], shape) for n, v in averages.given().items()}
        if not self.is_nodal:
            return Material(**found), np.zeros(len(leaves), bool)
        nodes = self._sample(leaves, self._nodes)
        is_mixed = _is_mixed(nodes, averages)
        return Material(**found | _average_if_mixed(is_mixed, found, nodes)), is_mixed

    def fluid_with_solid(self, leaves: Numbers) -> NDArray[np.bool_]:
        """Which elements are fluid on average, but solid at a corner, (elements,).

        A corner may lie in a gap of a model, because averages need no values there.
        """
        found = self.material(leaves).vs == 0
        if not self._varies_inside:
            return np.zeros_like(found)
        found[found] = self._is_solid(leaves[found], _places(1)).any(axis=1)
        return found

    @property
    def _varies_inside(self) -> bool:
        """Whether the medium may vary inside elements."""
        return not isinstance(self.case.medium, CellwiseSection | HomogeneousSection)

    def unrelaxed(self, leaves: Numbers) -> Material:
        """The average material of elements, with the wave speeds at infinite frequency."""
        return self._unrelaxed(self.material(leaves))

    def unrelaxed_nodes(self, leaves: Numbers) -> Material:
        """The same at their nodes, arrays (elements, nodes)."""
        return self._unrelaxed(self.material_at(leaves))

    def bodies(self, leaves: Numbers) -> MaxwellBodies | None:
        """The Maxwell bodies of elements; None without attenuation."""
        if self.relaxation is None:
            return None
        return MaxwellBodies.of(self.material(leaves), self.relaxation)

    @cached_property
    def fastest(self) -> Floats:
        """Speed of the fastest wave in each element at infinite frequency, (elements,), m/s."""
        vp, qp = self.statistics.vp, self.statistics.qp
        if self.relaxation is None:
            return vp
        return vp * np.sqrt(self.relaxation.modulus_ratio(1 / qp, self._reference))

    # --- at positions -----------------------------------------------------------------------------

    def rigidity(self, x: Any, y: Any, z: Any) -> Any:
        """mu at positions, Pa."""
        found = self._material_at(x, y, z)
        return found.rho * found.vs**2

    def lame(self, x: Any, y: Any, z: Any) -> Any:
        """lambda at positions, Pa."""
        found = self._material_at(x, y, z)
        return found.rho * (found.vp**2 - 2 * found.vs**2)

    def density(self, x: Any, y: Any, z: Any) -> Any:
        """rho at positions, kg/m^3."""
        return self._material_at(x, y, z).rho

    def _material_at(self, x: Any, y: Any, z: Any) -> Material:
        points = np.stack(np.broadcast_arrays(x, y, z), axis=-1).reshape(-1, AXES)
        leaves, places = self._locate_inside(points)
        found = self.material_at(leaves, places[:, None])
        return Material(**{n: values[:, 0] for n, values in found.given().items()})

    def _locate_inside(self, points: Floats) -> tuple[Numbers, Floats]:
        """See `locate`."""
        return self.locate(points)

    # --- at nodes ---------------------------------------------------------------------------------

    def _unrelaxed(self, material: Material) -> Material:
        if self.relaxation is None:
            return material
        return unrelaxed(material, self.relaxation, self._reference)

    @property
    def _reference(self) -> float:
        """Reference frequency of attenuation, Hz."""
        return float(self.case.attenuation.reference)

    @cached_property
    def _nodes(self) -> Floats:
        """Positions at which materials vary in an element, (1, places, 3); see `material_at`."""
        return _places(self.degree) if self.is_nodal else np.zeros((1, 1, AXES))

    def chunks(self, leaves: Numbers) -> list[Numbers]:
        """Split elements into chunks, so that the material at their nodes takes little memory."""
        step = max(1, SAMPLES // max(self._nodes.shape[1], CORNERS))
        return [leaves[first : first + step] for first in range(0, len(leaves), step)]

    def _sample(self, leaves: Numbers, places: Floats) -> Material:
        """The medium at positions in elements; layers continue the region, see `material_at`."""
        points = self._points(leaves, places)
        found = sample_points(self.media[0], points.reshape(-1, AXES))
        shape = points.shape[:2]
        return Material(**{n: getattr(found, n).reshape(shape) for n in USED})

    def _is_solid(self, leaves: Numbers, places: Floats) -> Mask:
        """Whether the medium is solid at positions in elements, (elements, places)."""
        points = self._points(leaves, places)
        found = solid_at_points(self.media[0], points.reshape(-1, AXES))
        return found.reshape(points.shape[:2])

    def _points(self, leaves: Numbers, places: Floats) -> Floats:
        """Positions in the region, or nearest in it, of places in elements, (elements, places, 3).

        They lie slightly inside the elements, see `INWARDS`.
        """
        lower, upper = self.forest.boxes(leaves)
        half = (upper - lower)[:, None] / 2
        points = lower[:, None] + half * (1 + (1 - INWARDS) * places)
        low, high = INWARDS * np.array([axis.ends for axis in self.grid.axes]).T / 2
        return np.clip(points, low, np.array(self.extent) - high)


def _places(degree: int) -> Floats:
    """Reference coordinates of the nodes of an element, (1, nodes, 3); of degree 1, the corners."""
    line = gll(degree).points
    z, y, x = np.meshgrid(line, line, line, indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()], axis=-1)[None]


def _average_if_mixed(
    is_mixed: NDArray[np.bool_], averages: Mapping[str, Values], sampled: Material
) -> dict[str, Values]:
    """The averages in mixed elements, and the sampled values elsewhere, (elements, places)."""
    mixed = is_mixed[:, None]
    return {n: np.where(mixed, averages[n], getattr(sampled, n)) for n in USED}


def _is_mixed(nodes: Material, averages: Material) -> NDArray[np.bool_]:
    """Which elements contain fluid and solid, from materials (elements, nodes) and (elements,)."""
    fluid = np.column_stack([nodes.vs, averages.vs]) == 0
    return np.asarray(fluid.any(axis=1) & ~fluid.all(axis=1))
