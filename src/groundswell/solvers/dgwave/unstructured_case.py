"""The sections `[grid]`, `[medium]` and `[boundary]` of cases on a mesh from a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BeforeValidator, PlainValidator, ValidationInfo

from groundswell.case.common import DataFile, Section, TaggedUnion, by_file
from groundswell.case.problems import Violation, reject
from groundswell.case.units import Length, Positive
from groundswell.errors import listed
from groundswell.seismology.case.grid import Position
from groundswell.seismology.case.media import (
    ArraySection,
    AwpSection,
    HomogeneousSection,
    LayeredSection,
    NetcdfSection,
)
from groundswell.solvers.dgwave.mesh.case import BricksSection


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


def _with_kind(content: Any) -> Any:
    """Set the default kind of a table: a homogeneous medium."""
    is_table = isinstance(content, dict)
    return {"kind": "homogeneous", **content} if is_table else content


VolumeMedium = Annotated[
    Annotated[HomogeneousSection | LayeredSection | NetcdfSection, TaggedUnion()],
    BeforeValidator(_with_kind),
]


class VolumesSection(Section):
    """`kind = "volumes"`: a medium for each physical volume of the mesh, by name."""

    kind: Literal["volumes"]
    volumes: dict[str, VolumeMedium]

    @property
    def has_q(self) -> bool | None:
        """Whether all media have quality factors; None if that depends on a file."""
        found = [medium.has_q for medium in self.volumes.values()]
        return None if None in found and False not in found else all(found)


class SpongeSection(Section):
    """`{ kind = "sponge", width = "2 km" }`: all motion decays within this distance of a surface.

    The surface itself is an absorbing boundary.
    """

    kind: Literal["sponge"]
    width: Annotated[Length, Positive]


NamedCondition = Literal["absorbing", "free-surface", "rigid"]


def _condition(value: Any, info: ValidationInfo) -> str | SpongeSection:
    if isinstance(value, SpongeSection):
        return value
    if isinstance(value, dict) and value.get("kind") == "sponge":
        return SpongeSection.model_validate(value, context=info.context)
    if value not in get_args(NamedCondition):
        sponge = '{ kind = "sponge", width = "2 km" }'
        reject([((), f"must be {listed(get_args(NamedCondition))}, or a sponge such as {sponge}")])
    return str(value)


SurfaceCondition = Annotated[Any, PlainValidator(_condition)]

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
