"""Materials that vary from node to node inside elements, as tables for the kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Numbers
from groundswell.meshes.mesh_faces import TURNS, turned
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.elements import WHOLE, Links, RankElements
from groundswell.solvers.dgwave.equations import Equations

Floats = NDArray[np.float64]
MaterialOf = Callable[[Numbers], Material]


@dataclass(frozen=True, eq=False)
class NodalMaterial:
    """The material at the nodes of a rank's elements, and at those of their faces.

    Args:
        moduli: see `Equations.moduli_of`, (elements, n, nodes).
        beyond: impedances of the other side of faces, or of the element itself at boundaries,
            (elements, 6, n, nodes of a face).
        quarters: impedances of both sides of faces with finer neighbours, at the nodes of their
            quarters, (mortars, 4, 2, n, nodes of a face).
    """

    moduli: Floats
    beyond: Floats
    quarters: Floats


def nodal_material(
    equations: Equations, elements: RankElements, degree: int, material_of: MaterialOf
) -> NodalMaterial:
    """The material of a rank's elements.

    Args:
        elements: the elements.
        material_of: maps leaves, of any rank, to their material, arrays (leaves, nodes).
    """
    leaves = np.unique(np.append(elements.numbers, elements.links.beyond))
    material = material_of(leaves)
    own = np.searchsorted(leaves, elements.numbers)
    moduli = equations.moduli_of(material)[:, own].swapaxes(0, 1)
    at_faces = equations.impedances_of(material)[..., face_nodes(degree)]
    sides = _Sides(degree, leaves, np.moveaxis(at_faces, 0, 2))
    return NodalMaterial(moduli, _beyond(elements, sides, own), _quarters(elements, sides, own))


def face_nodes(degree: int) -> Numbers:
    """The nodes of each face, (6, nodes of a face); the lower axis of a face varies fastest."""
    n = degree + 1
    nodes = np.arange(n**AXES).reshape(n, n, n)
    ends = [nodes.take(end, axis) for axis in (2, 1, 0) for end in (0, -1)]
    return np.stack([face.ravel() for face in ends])


@dataclass(frozen=True, eq=False)
class _Sides:
    """Impedances at the nodes of faces.

    Args:
        leaves: leaf numbers, ascending, (leaves,).
        impedances: impedances at their faces, (leaves, 6, n, nodes of a face).
    """

    degree: int
    leaves: Numbers
    impedances: Floats

    def beyond(self, links: Links) -> Floats:
        """Impedances beyond links, at the face or quarter nodes of this side, (links, n, nodes)."""
        place = np.searchsorted(self.leaves, links.beyond)
        return self.on_quarters(self.impedances[place, links.face_beyond], links.quarter_beyond)

    def on_quarters(self, faces: Floats, quarters: Numbers) -> Floats:
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


def _beyond(elements: RankElements, sides: _Sides, own: Numbers) -> Floats:
    links = elements.links.take(elements.links.quarter == WHOLE)
    found = sides.impedances[own]
    order = np.stack([turned(turn, sides.degree + 1) for turn in range(TURNS)])
    nodes = order[elements.turns[links.element, links.face]]
    found[links.element, links.face] = np.take_along_axis(
        sides.beyond(links), nodes[:, None], axis=2
    )
    return found


def _quarters(elements: RankElements, sides: _Sides, own: Numbers) -> Floats:
    links = elements.links.take(elements.links.quarter != WHOLE)  # by mortar, then by quarter
    whole = sides.impedances[own[links.element], links.face]
    both = [sides.on_quarters(whole, links.quarter), sides.beyond(links)]
    return np.stack(both, axis=1).reshape(-1, QUARTERS, 2, *whole.shape[1:])
