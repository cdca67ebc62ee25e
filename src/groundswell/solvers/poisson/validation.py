"""Validation of arguments from Python; every function raises InputError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from groundswell.case.expressions import Expression
from groundswell.errors import InputError, did_you_mean, listed, quoted
from groundswell.meshes.assembly import MeshGroups
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import INSIDE, Hexahedra
from groundswell.solvers.poisson.case import AXES, BoxMesh
from groundswell.solvers.poisson.equation import Robin
from groundswell.spectral_elements.boundary import Function
from groundswell.spectral_elements.given_fields import GivenField, GivenValues

FunctionLike = Function | float | str  # of x, y, z in m; text as `Expression` parses it
# A boundary condition: its kind and its value, which may be a function.
ConditionTable = Mapping[str, Any]

# Kinds of boundary conditions, with the keys of their tables.
KEYS = {
    "fixed": {"kind", "value"},
    "flux": {"kind", "value"},
    "robin": {"kind", "h", "ambient"},
}
REQUIRED = {"fixed": {"kind"}, "flux": {"kind"}, "robin": {"kind", "h"}}
CHANGING = {"fixed": "value", "flux": "value", "robin": "ambient"}  # from solution to solution


class ElementCounts(NamedTuple):
    """Numbers of elements for which arrays may have values.

    Args:
        of_mesh, of_rank: all elements, and those of this rank.
        degree: of the polynomials.
    """

    of_mesh: int
    of_rank: int
    degree: int

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of values at nodes and of elements."""
        nodes, counts = (self.degree + 1) ** len(AXES), (self.of_mesh, self.of_rank)
        return [shape for count in counts for shape in ((count, nodes), (count,))]

    @property
    def allowed(self) -> str:
        """The shapes, for messages."""
        mesh, elements, *own = self.shapes
        text = f"values at nodes have shape {mesh}, values of elements {elements}"
        if self.of_mesh == self.of_rank:
            return text
        return f"{text}; those of this rank's elements alone {own[0]} and {own[1]}"


def box_sides(mesh: Hexahedra) -> Mapping[str, int]:
    """Boundary tags of a box's sides by name; empty for other meshes."""
    if not isinstance(mesh, Box):
        return {}
    periodic = tuple(axis for axis, wraps in zip(AXES, mesh.periodic, strict=True) if wraps)
    return BoxMesh(kind="box", counts=mesh.counts, periodic=periodic).sides


def require_faces(sides: Mapping[str, int], mesh: Hexahedra) -> None:
    """Refuse tags that no boundary face has."""
    tags = mesh.tags(np.arange(mesh.count))
    there = np.unique(tags[tags != INSIDE])
    for name, tag in sides.items():
        if tag not in there:
            raise InputError(f"sides: {name} = {tag!r}, which is not the tag of any face")


def require_boundaries(boundaries: Mapping[str, ConditionTable], tags: Mapping[str, int]) -> None:
    """Refuse sides that do not exist, and tables that are not boundary conditions."""
    if not isinstance(boundaries, Mapping):
        raise InputError(f"boundaries = {boundaries!r:.60}; give tables by the names of sides")
    for name, table in boundaries.items():
        if name not in tags:
            cure = "pass on the sides that read_mesh returns: sides=sides"
            known = f"its sides are {listed(tags)}" if tags else cure
            hint = did_you_mean(name, tags)
            raise InputError(f"{name!r} is not a side of the mesh{hint}; {known}")
        if not _is_condition(table):
            raise InputError(
                f'{name}: give a table with kind = "fixed" or "flux", and value; or with '
                'kind = "robin", h and ambient'
            )


def _is_condition(table: Any) -> bool:
    """Whether it is a table with the keys of its kind."""
    kind = table.get("kind") if isinstance(table, Mapping) else None
    if not isinstance(kind, str) or kind not in KEYS:
        return False
    return REQUIRED[kind] <= set(table) <= KEYS[kind]


def functions_by_tag(
    kind: str, boundaries: Mapping[str, ConditionTable], tags: Mapping[str, int]
) -> dict[int, Function]:
    """The functions of boundary conditions of one kind, by tag."""
    return {
        tags[name]: as_function(table.get("value", 0.0), f"the value of {name}")
        for name, table in boundaries.items()
        if table["kind"] == kind
    }


def robin_by_tag(
    boundaries: Mapping[str, ConditionTable], tags: Mapping[str, int]
) -> dict[int, Robin]:
    """The sides that exchange heat with their surroundings, by tag."""
    return {
        tags[name]: Robin(
            as_function(table["h"], f"h of {name}"),
            as_function(table.get("ambient", 0.0), f"the ambient value of {name}"),
        )
        for name, table in boundaries.items()
        if table["kind"] == "robin"
    }


def names_by_tag(tags: Mapping[str, int]) -> dict[int, str]:
    """Names of sides for messages, by tag; in quotes where they would not read as names."""
    return {tag: name if name.isidentifier() else quoted(name) for name, tag in tags.items()}


def replace_values(
    boundaries: Mapping[str, ConditionTable], values: Mapping[str, Any]
) -> dict[str, ConditionTable]:
    """Boundary conditions with other values for some sides."""
    if unknown := [name for name in values if name not in boundaries]:
        raise InputError(
            f"values for {unknown[0]!r}, which has no boundary condition; "
            f"allowed: {listed(boundaries) or 'none'}"
        )
    return {
        name: {**table, CHANGING[table["kind"]]: values[name]} if name in values else table
        for name, table in boundaries.items()
    }


def as_function(value: FunctionLike, name: str) -> Function:
    """A function of position from a function, a number or an expression."""
    if callable(value):
        return value
    try:
        return Expression(value)
    except ValueError as error:
        raise InputError(f"{name} = {value!r} {error}") from None
    except TypeError:
        cure = "give a function of x, y and z, an expression or a number"
        raise InputError(f"{name} = {value!r:.60}; {cure}") from None


def refuse_table(given: object, name: str) -> None:
    """Refuse values by the names of volumes."""
    if isinstance(given, Mapping):
        raise InputError(f"{name} is a table; for values by volume, give groups.by_volume(table)")


def require_mesh(mesh: object) -> None:
    """Refuse what is not a mesh."""
    if isinstance(mesh, MeshGroups):
        raise InputError("mesh has groups; give groups.mesh, and sides=groups.sides")
    if not isinstance(mesh, Hexahedra):
        raise InputError(f"mesh = {mesh!r:.60}; give a Box, or the Mesh that read_mesh returns")


def given_field(given: FunctionLike | ArrayLike, name: str, counts: ElementCounts) -> GivenField:
    """A function, a number, an expression, or values of elements or at their nodes."""
    refuse_table(given, name)
    if isinstance(given, str) or callable(given) or np.ndim(given) == 0:
        return as_function(given, name)  # type: ignore[arg-type]
    values = np.asarray(given)
    if values.shape not in counts.shapes:
        raise InputError(f"{name} has shape {values.shape}; {counts.allowed}")
    if values.dtype.kind not in "biuf":
        raise InputError(f"the {name} is {given!r:.60}; give a real number for each")
    return GivenValues(values.astype(float), of_rank=len(values) != counts.of_mesh)
