"""The section `[boundary]`: conditions at the sides of a grid, or at the surfaces of a mesh."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, PlainValidator, ValidationInfo

from groundswell.case.common import Section
from groundswell.case.problems import reject
from groundswell.case.units import Accepts, Length, Positive
from groundswell.case.value_text import words
from groundswell.errors import listed
from groundswell.seismology.case.boundaries import Width

LAYERS = ("pml", "sponge")
Boundary = Literal["pml", "sponge", "absorbing", "free-surface", "rigid"]


class SpongeSection(Section):
    """`{ kind = "sponge", width = "2 km" }`: all motion decays within this distance of a surface.

    The surface itself is an absorbing boundary.
    """

    kind: Literal["sponge"]
    width: Annotated[Length, Positive]
    """Distance from the surface within which all motion decays."""


NamedCondition = Literal["absorbing", "free-surface", "rigid"]


def _condition(value: object, info: ValidationInfo) -> str | SpongeSection:
    if isinstance(value, SpongeSection):
        return value
    if isinstance(value, dict) and value.get("kind") == "sponge":
        return SpongeSection.model_validate(value, context=info.context)
    if value not in get_args(NamedCondition):
        sponge = '{ kind = "sponge", width = "2 km" }'
        reject([((), f"must be {listed(get_args(NamedCondition))}, or a sponge such as {sponge}")])
    return str(value)


_CONDITIONS = f"a table, each entry {words(get_args(NamedCondition))} or a table"
SurfaceCondition = Annotated[Any, PlainValidator(_condition)]
Surfaces = Annotated[
    dict[str, SurfaceCondition], Accepts(_CONDITIONS, tables=(("", SpongeSection),))
]


class BoundarySection(Section):
    """`[boundary]`: conditions at the top, the sides and the bottom of the region.

    "pml" adds perfectly matched layers outside the region, and "sponge" layers in which all motion
    decays. Both are `width` elements or metres wide. "absorbing" absorbs waves at normal incidence
    only. On a mesh from a file, `surfaces` gives the conditions on its physical surfaces, by name:
    "absorbing", "free-surface", "rigid" or a `SpongeSection`.
    """

    top: Boundary = "free-surface"
    """Condition at the surface."""
    sides: Literal[Boundary, "periodic"] = "pml"
    """Condition at the four sides."""
    bottom: Boundary = "pml"
    """Condition at the bottom."""
    width: Width = 4
    """Width of the layers "pml" and "sponge": a number of elements, or a length."""
    surfaces: Surfaces = Field(default_factory=dict)
    """Conditions on the surfaces of a mesh, by name, instead of the other keys: "absorbing", "free-
    surface", "rigid" or a sponge."""
