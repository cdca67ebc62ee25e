"""The section `[medium]`: one medium, or one for each physical volume of a mesh."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator

from groundswell.case.common import Section, TaggedUnion
from groundswell.seismology.case.media import (
    ArraySection,
    AwpSection,
    HomogeneousSection,
    LayeredSection,
)
from groundswell.seismology.case.model_files import GriddedSection

CellwiseSection = AwpSection | ArraySection


def _with_kind(content: object) -> object:
    """Set the default kind of a table: a homogeneous medium."""
    return {"kind": "homogeneous", **content} if isinstance(content, dict) else content


VolumeMedium = Annotated[
    Annotated[HomogeneousSection | LayeredSection | GriddedSection, TaggedUnion()],
    BeforeValidator(_with_kind),
]


class VolumesSection(Section):
    """`kind = "volumes"`: a medium for each physical volume of the mesh, by name."""

    kind: Literal["volumes"]
    volumes: dict[str, VolumeMedium]
    """Medium of each volume of the mesh, by name; without a kind it is homogeneous."""

    @property
    def has_q(self) -> bool | None:
        """Whether all media have quality factors; None if that depends on a file."""
        found = [medium.has_q for medium in self.volumes.values()]
        return None if None in found and False not in found else all(found)


AnyMedium = Annotated[
    HomogeneousSection
    | LayeredSection
    | GriddedSection
    | AwpSection
    | ArraySection
    | VolumesSection,
    TaggedUnion(),
]
