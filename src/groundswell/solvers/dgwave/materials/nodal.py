"""Materials that vary from node to node inside elements, as tables for the kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import DeviceArray, Floats, Integers, Reals
from groundswell.backends import Backend
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.mesh_faces import TURNS, turned
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.equations import Equations
from groundswell.solvers.dgwave.mesh.elements import (
    FACES,
    WHOLE,
    FaceLinks,
    RankElements,
    face_nodes,
)

MaterialOf = Callable[[Integers], Material]


# Number of nodes in a part of the tables. Computing a part takes about 50 MB.
PART = 2**18


@dataclass(frozen=True, eq=False)
class NodalMaterial:
    """The material at the nodes of a rank's elements, and at those of their faces.

    Its tables are computed part by part, because their double-precision intermediates are larger
    than the fields of a run. Each part includes the neighbours of its elements.

    Args:
        elements: the elements.
        degree: degree of the elements.
        material_of: maps leaves, of any rank, to their material, arrays (leaves, nodes).
    """

    equations: Equations
    elements: RankElements
    degree: int
    material_of: MaterialOf

    def tables(self, backend: Backend, dtype: str) -> tuple[DeviceArray, DeviceArray]:
        """The tables of NODAL_ARGUMENTS in kernels/elements.h, in device memory.

        Returns:
            Moduli, see `Equations.moduli_of`, (elements, n, nodes); and impedances of the other
            side of faces, or of the element itself at boundaries, (elements, 6, n, nodes of a
            face).
        """
        n, count, equations = self.degree + 1, self.elements.count, self.equations
        moduli = backend.zeros((count, equations.moduli, n**AXES), dtype)
        beyond = backend.zeros((count, FACES, equations.impedances, n**2), dtype)
        links = self._links(whole=True)
        for part in self._parts(count):
            first, last = np.searchsorted(links.element, [part.start, part.stop])
            of_nodes, of_faces = self._of_elements(part, links.take(slice(first, last)))
            backend.assign(moduli[part], of_nodes.astype(dtype, order="C"))
            backend.assign(beyond[part], of_faces.astype(dtype, order="C"))
        return moduli, beyond

    def quarters(self, dtype: str) -> Reals:
        """Impedances of both sides of faces with finer neighbours, at the nodes of their quarters.

        Returns:
            Array (mortars, 4, 2, n, nodes of a face).
        """
        links = self._links(whole=False)  # by mortar, then by quarter
        shape = (2, self.equations.impedances, (self.degree + 1) ** 2)
        found = np.empty((links.count, *shape), dtype)
        for part in self._parts(links.count):
            found[part] = self._of_quarters(links.take(part))
        return found.reshape(-1, QUARTERS, *shape)

    def _parts(self, count: int) -> list[slice]:
        """Split a number of elements, or of links, into parts."""
        step = max(1, PART // (self.degree + 1) ** AXES)
        return [slice(first, first + step) for first in range(0, count, step)]

    def _of_elements(self, part: slice, links: FaceLinks) -> tuple[Floats, Floats]:
        """Moduli of elements, and impedances beyond their faces; links: those of whole faces."""
        numbers = self.elements.numbers[part]
        leaves = np.unique(np.append(numbers, links.beyond))
        material, own = self.material_of(leaves), np.searchsorted(leaves, numbers)
        sides = self._sides(leaves, material)
        beyond = sides.impedances[own]
        turns = self._turned[self.elements.turns[links.element, links.face]]
        found = np.take_along_axis(sides.beyond(links), turns[:, None], axis=2)
        beyond[links.element - part.start, links.face] = found
        return self.equations.moduli_of(material)[:, own].swapaxes(0, 1), beyond

    def _of_quarters(self, links: FaceLinks) -> Floats:
        """Impedances of both sides of links, (links, 2, n, nodes of a face)."""
        numbers = self.elements.numbers[links.element]
        leaves = np.unique(np.append(numbers, links.beyond))
        sides = self._sides(leaves, self.material_of(leaves))
        whole = sides.impedances[np.searchsorted(leaves, numbers), links.face]
        return np.stack([sides.on_quarters(whole, links.quarter), sides.beyond(links)], axis=1)

    @cached_property
    def _turned(self) -> Integers:
        """Nodes of a neighbour's face in the order of an element's face, (turns, nodes)."""
        return np.stack([turned(turn, self.degree + 1) for turn in range(TURNS)])

    def _links(self, *, whole: bool) -> FaceLinks:
        """The links of whole faces, or of quarters, in the order of elements."""
        links = self.elements.links
        return links.take((links.quarter == WHOLE) == whole)

    def _sides(self, leaves: Integers, material: Material) -> _Sides:
        at_faces = self.equations.impedances_of(material)[..., face_nodes(self.degree)]
        return _Sides(self.degree, leaves, np.moveaxis(at_faces, 0, 2))


@dataclass(frozen=True, eq=False)
class _Sides:
    """Impedances at the nodes of faces.

    Args:
        leaves: leaf numbers, ascending, (leaves,).
        impedances: impedances at their faces, (leaves, 6, n, nodes of a face).
    """

    degree: int
    leaves: Integers
    impedances: Floats

    def beyond(self, links: FaceLinks) -> Floats:
        """Impedances beyond links, at the face or quarter nodes of this side, (links, n, nodes)."""
        place = np.searchsorted(self.leaves, links.beyond)
        return self.on_quarters(self.impedances[place, links.face_beyond], links.quarter_beyond)

    def on_quarters(self, faces: Floats, quarters: Integers) -> Floats:
        """Interpolate from the nodes of whole faces to those of quarters; WHOLE changes nothing.

        Linear interpolation keeps impedances positive.
        """
        found = faces.copy()
        n = self.degree + 1
        for quarter in range(QUARTERS):
            chosen = quarters == quarter
            values = faces[chosen].reshape(-1, faces.shape[1], n, n)
            slow, fast = self._halves[quarter // 2], self._halves[quarter % 2]
            found[chosen] = (slow @ values @ fast.T).reshape(found[chosen].shape)
        return found

    @cached_property
    def _halves(self) -> list[Floats]:
        """Linear interpolation from the nodes of a line to those of its lower and upper half."""
        points = gll(self.degree).points
        units = np.eye(len(points))
        return [
            np.stack([np.interp((points + shift) / 2, points, unit) for unit in units], axis=1)
            for shift in (-1, 1)
        ]
