"""Validation of arguments from Python; every function raises InputError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.case.expressions import Expression
from groundswell.errors import InputError, did_you_mean, listed
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import INSIDE, Hexahedra
from groundswell.solvers.poisson.case import AXES, BoxMesh
from groundswell.spectral_elements.boundary import Function
from groundswell.spectral_elements.space import FunctionSpace

FunctionLike = Function | float | str  # of x, y, z in m; text as `Expression` parses it
# A boundary condition: its kind and its value, which may be a function.
ConditionTable = Mapping[str, Any]

KINDS = ("fixed", "flux")


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
            known = f"its sides are {listed(tags)}" if tags else "give their tags as sides"
            hint = did_you_mean(name, tags)
            raise InputError(f"{name!r} is not a side of the mesh{hint}; {known}")
        keys = set(table) if isinstance(table, Mapping) else set()
        if not {"kind"} <= keys <= {"kind", "value"} or table["kind"] not in KINDS:
            raise InputError(f'{name}: give a table with kind = "fixed" or "flux", and value')


def functions_by_tag(
    kind: str, boundaries: Mapping[str, ConditionTable], tags: Mapping[str, int]
) -> dict[int, Function]:
    """The functions of boundary conditions of one kind, by tag."""
    return {
        tags[name]: as_function(table.get("value", 0.0), f"the value of {name}")
        for name, table in boundaries.items()
        if table["kind"] == kind
    }


def replace_values(
    boundaries: Mapping[str, ConditionTable], values: Mapping[str, FunctionLike]
) -> dict[str, ConditionTable]:
    """Boundary conditions with other values for some sides."""
    if unknown := [name for name in values if name not in boundaries]:
        raise InputError(
            f"values for {unknown[0]!r}, which has no boundary condition; "
            f"allowed: {listed(boundaries) or 'none'}"
        )
    return {
        name: {**table, "value": values.get(name, table.get("value", 0.0))}
        for name, table in boundaries.items()
    }


def as_function(value: FunctionLike, name: str) -> Function:
    """A function of position from a function, a number or an expression."""
    if callable(value):
        return value
    try:
        return Expression(value)
    except (ValueError, TypeError) as error:
        raise InputError(f"{name} = {value!r} {error}") from None


def source_function(source: FunctionLike | ArrayLike, space: FunctionSpace) -> Function:
    """The source at this rank's nodes, as a function that ignores its arguments for arrays."""
    if callable(source) or isinstance(source, str) or np.ndim(source) == 0:
        return as_function(source, "source")  # type: ignore[arg-type]
    values, shape = np.asarray(source), (space.mesh.count, (space.degree + 1) ** 3)
    if values.shape != shape:
        raise InputError(f"source has shape {values.shape}; values at nodes have shape {shape}")
    return lambda x, y, z: values[space.elements]
