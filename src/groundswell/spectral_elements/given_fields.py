"""Coefficients as users give them: numbers, functions, values of elements or nodes, materials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.errors import InputError
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, interpolate
from groundswell.spectral_elements.boundary import Function, evaluate
from groundswell.spectral_elements.space import FunctionSpace

INWARDS = 1e-7  # of an element's half edge
STEEPEST = 4.0  # times as much as in the next step may a function change in the last one
ROUNDING = 1e-12  # relative, of functions


@dataclass(frozen=True, eq=False)
class GivenValues:
    """Values of elements, (elements,), or at their nodes, (elements, (N + 1)^3).

    Args:
        of_rank: whether they are those of this rank's elements, instead of all of the mesh.
    """

    array: Floats
    of_rank: bool = False


@dataclass(frozen=True, eq=False)
class FieldsByMaterial:
    """A field for each material.

    Args:
        numbers: of each element's material, (elements,) of the mesh.
        fields: of the materials.
    """

    numbers: Integers
    fields: Sequence[GivenField]


GivenField = float | Function | GivenValues | FieldsByMaterial


def is_number(field: object) -> TypeGuard[float]:
    """Whether a field is one number for all elements."""
    return isinstance(field, float | int)


def varies_within_elements(field: GivenField) -> bool:
    """Whether a field may have several values in an element."""
    if isinstance(field, FieldsByMaterial):
        return any(map(varies_within_elements, field.fields))
    return callable(field) or (isinstance(field, GivenValues) and field.array.ndim > 1)


def sample(field: GivenField, space: FunctionSpace, some: Integers, name: str) -> Floats:
    """Values at the nodes of some elements of a rank, (some or 1, nodes or 1).

    Functions may jump between elements: each element has their limits from within.

    Args:
        some: local numbers of the elements.
        name: what error messages call the field.

    Raises:
        InputError: values are not finite, not real, or of another degree.
    """
    if isinstance(field, FieldsByMaterial):
        return _sample_materials(field, space, some, name)
    if isinstance(field, GivenValues):
        chosen = some if field.of_rank else space.elements[some]
        return _sample_values(field.array, chosen, (space, some), name)
    if callable(field):
        return limits_within(field, space, some, name)
    return np.full((1, 1), float(field))


def _sample_materials(
    field: FieldsByMaterial, space: FunctionSpace, some: Integers, name: str
) -> Floats:
    numbers = field.numbers[space.elements[some]]
    here = [np.flatnonzero(numbers == n) for n in range(len(field.fields))]
    parts = [
        sample(each, space, some[chosen], name)
        for each, chosen in zip(field.fields, here, strict=True)
    ]
    found = np.empty((len(some), max(part.shape[1] for part in parts)))
    for chosen, part in zip(here, parts, strict=True):
        found[chosen] = part
    return found


def _sample_values(
    array: Floats, chosen: Integers, where: tuple[FunctionSpace, Integers], name: str
) -> Floats:
    nodes = (where[0].degree + 1) ** AXES
    values = array.reshape(len(array), -1)[chosen]
    if values.shape[1] not in (1, nodes):
        raise InputError(f"{name} has {values.shape[1]} values per element; allowed: 1 or {nodes}")
    require(np.isfinite(values), values, where, f"{name} is {{}}", "finite values")
    return values


def limits_within(function: Function, space: FunctionSpace, some: Integers, name: str) -> Floats:
    """Limits of a function at the nodes of elements from within, (some, nodes).

    They are its values, except at nodes on faces where it jumps: there they are extrapolated
    linearly from one and two small steps inwards.
    """
    shapes, line = space.shapes, gll(space.shapes.order)
    nodes, at = shapes.geometry_nodes(some), gll(space.degree).points
    lines = [at.clip(step - 1, 1 - step) for step in (0.0, INWARDS, 2 * INWARDS)]
    here, near, farther = (
        evaluate(function, interpolate(nodes, line.interpolation(points)), name) for points in lines
    )
    steps = STEEPEST * np.abs(near - farther) + ROUNDING * np.abs(near)
    limits = 2 * near - farther
    limits = np.where(limits * near < 0, near, limits)  # no values of another sign
    return np.asarray(np.where(np.abs(here - near) <= steps, here, limits))


def require(
    valid: Mask,
    values: Floats,
    where: tuple[FunctionSpace, Integers],
    text: str,
    allowed: str,
) -> None:
    """Refuse the first value that is not valid.

    Args:
        valid, values: (some or 1, nodes or 1).
        where: the space, and local numbers of the elements, (some,).
        text: what is wrong, with {} for the value.
        allowed: what to give instead.
    """
    if np.all(valid):
        return
    space, some = where
    row, node = np.argwhere(~valid)[0]
    if values.size == 1:
        raise InputError(f"{text.format(f'{values[row, node]:g}')}; give {allowed}")
    matrix = gll(space.shapes.order).interpolation(gll(space.degree).points)
    nodes = interpolate(space.shapes.geometry_nodes(some[[row]]), matrix)[0]
    at = ", ".join(f"{x:.6g}" for x in nodes[node])
    raise InputError(f"{text.format(f'{values[row, node]:g}')} at ({at}); give {allowed}")
