"""Where the elements of a run lie: bricks of a grid, or the hexahedra of a mesh from a file.

All other parts of a set-up take a `Geometry`; what only one kind has is known to its own parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.case.quantities import Quantity
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.octree import Forest
from groundswell.seismology.survey import Survey
from groundswell.solvers.dgwave.mesh.curved import CurvedElements
from groundswell.solvers.dgwave.mesh.elements import RankElements
from groundswell.spectral_elements.surface_location import LocatedOnFaces

# Distance from an interface into an element over the smallest edge, far above rounding.
OFFSET = 1e-6
MESH = "Elements and time steps"  # group of the quantities


class Geometry(Protocol):
    """Positions and shapes of the elements of all ranks, absorbing layers included.

    Positions of sources and receivers are x, y and depth below the surface.

    Attributes:
        degree: degree of the elements.
    """

    degree: int

    @property
    def count(self) -> int:
        """Number of elements."""
        ...

    @property
    def connectivity(self) -> Forest | Mesh:
        """The mesh that defines the neighbours of elements."""
        ...

    @property
    def hexahedra(self) -> Hexahedra:
        """The elements with their geometry, for output."""
        ...

    @property
    def outline(self) -> Hexahedra:
        """A mesh that fills the same space, as coarse as possible."""
        ...

    @property
    def is_curved(self) -> bool:
        """Whether elements are not bricks."""
        ...

    @cached_property
    def shapes(self) -> CurvedElements:
        """Geometry of elements that are not bricks."""
        return CurvedElements(self.hexahedra, self.degree)

    @property
    def edges(self) -> Floats:
        """Edge lengths that limit time steps, (elements, 3), m; see `CurvedElements`."""
        return self.shapes.edges

    @property
    def volumes(self) -> Floats:
        """Volumes of the elements, (elements,), m^3."""
        return self.shapes.volumes if self.is_curved else self.edges.prod(axis=1)

    @property
    def longest(self) -> Floats:
        """The longest edge of each element, (elements,), m."""
        return self.shapes.longest if self.is_curved else self.edges.max(axis=1)

    @property
    def smallest(self) -> float:
        """The shortest edge of an element, m."""
        return float(self.edges.min())

    def locate(self, points: Floats) -> tuple[Integers, Floats]:
        """The elements that hold positions, and reference coordinates in them.

        Args:
            points: x, y and depth below the surface, (n, 3), m. Bricks move positions outside to
                their boundary; on a mesh, the element of such a position is NOWHERE.

        Returns:
            (n,) and (n, 3).
        """
        ...

    def place(self, points: Floats) -> Floats:
        """Coordinates x, y, z of positions (x, y, depth below the surface), (n, 3), m.

        They are NaN outside a mesh.
        """
        ...

    def below_surface(self, points: Floats) -> Floats:
        """The inverse of `place`: x, y and depth below the surface of positions, (n, 3), m."""
        ...

    def keep_inside(self, points: Floats, origins: Floats) -> Floats:
        """Move positions (x, y, depth below the surface) that lie outside back into the elements.

        Args:
            origins: where they were before they were moved.
        """
        ...

    def require_inside(self, survey: Survey) -> None:
        """Check that sources and receivers lie in the elements, or in the region of a grid.

        Raises:
            InputError: some lie outside; lists them.
        """
        ...

    def locate_surface(self, points: Floats) -> LocatedOnFaces:
        """The faces of the surface at positions (x, y), (n, 2), m.

        The element of a position beside a mesh is NOWHERE.
        """
        ...

    @property
    def has_surface(self) -> bool:
        """Whether there is a surface, of rock or of water."""
        return True

    @property
    def surface_axes(self) -> tuple[Floats, Floats]:
        """x and y of the surface points at which motion is recorded, m.

        Raises:
            InputError: there is no surface.
        """
        ...

    def in_region(self, elements: Integers) -> Mask:
        """Which elements lie in the region rather than in layers around it, (elements,)."""
        ...

    def outside_layers(self, elements: Integers) -> Integers:
        """The elements that are not in absorbing layers, or all if none lies outside the layers."""
        inside = self.in_region(elements)
        return elements[inside] if inside.any() else elements

    def describe(self, element: int) -> str:
        """The middle of an element and its depth below the surface, for messages."""
        middle = self.hexahedra.geometry_nodes(np.array([element])).mean(axis=1)
        x, y, depth = self.below_surface(middle)[0]
        return f"x = {x:.6g} m, y = {y:.6g} m, depth = {depth:.6g} m"

    def reflection(self, elements: RankElements) -> Floats:
        """Reflection coefficients that faces have if they are boundaries, (elements, 6)."""
        ...

    def quantities(self) -> Iterator[Quantity]:
        """Number and size of the elements, for `groundswell check`."""
        ...

    def warnings(self, wavelength: float) -> Iterator[str]:
        """Reasons to expect poor results, each with its remedy.

        Args:
            wavelength: the shortest one of waves from the sources that elements resolve, m.
        """
        ...
