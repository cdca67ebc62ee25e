"""The sections `[grid]` and `[medium]` of cases on a mesh from a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from groundswell.case.common import DataFile, Section, TaggedUnion, by_file
from groundswell.case.problems import Violation
from groundswell.seismology.case.grid import Position
from groundswell.seismology.case.media import (
    ArraySection,
    AwpSection,
    HomogeneousSection,
    LayeredSection,
    MaterialBase,
    NetcdfSection,
)
from groundswell.solvers.dgwave.bricks_case import BricksSection


class MeshSection(Section):
    """`[grid]` with a `file`: hexahedra from a Gmsh file, in m.

    `vertical` is the direction of the mesh's third axis. Positions are given by the x and y of the
    mesh and the depth below its surface.
    """

    geography: ClassVar[None] = None  # meshes have no position on Earth
    frame: ClassVar[None] = None

    file: DataFile
    vertical: Literal["up", "down"] = "up"

    def locate(self, position: Position) -> tuple[float, float, float]:
        """A position as (x, y, depth), m."""
        x, y = position.horizontal
        return x, y, position.depth

    def misplaced(self, position: Position) -> Iterator[Violation]:
        """Yield the violations of a position that can be found without the mesh."""
        if position.geographic:
            yield ("longitude",), "meshes have no position on Earth; give x and y"
        elif position.depth < 0:
            yield ("depth",), "lies above the surface; depth is positive downwards"


class VolumesSection(Section):
    """`kind = "volumes"`: a material for each physical volume of the mesh, by name."""

    kind: Literal["volumes"]
    volumes: dict[str, MaterialBase]

    @property
    def has_q(self) -> bool | None:
        """Whether all materials have quality factors."""
        return all(material.qs is not None for material in self.volumes.values())


AnyGrid = Annotated[Any, by_file(MeshSection, BricksSection)]
AnyMedium = Annotated[
    HomogeneousSection
    | LayeredSection
    | NetcdfSection
    | AwpSection
    | ArraySection
    | VolumesSection,
    TaggedUnion(),
]
