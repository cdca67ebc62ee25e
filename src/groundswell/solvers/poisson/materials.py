"""Coefficients of a case as fields: one for all elements, or one for each material of a mesh."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from groundswell.arrays import Integers
from groundswell.case.expressions import AXES, TIME, Expression, depends_on_time
from groundswell.case.problems import Violation
from groundswell.errors import counted, did_you_mean, listed
from groundswell.meshes.assembly import MeshGroups
from groundswell.solvers.poisson.case import EquationSection, MaterialSection
from groundswell.solvers.poisson.equation import Conductivity
from groundswell.spectral_elements.boundary import Function
from groundswell.spectral_elements.given_fields import FieldsByMaterial, GivenField

Entries = tuple[GivenField, ...]


def field_of(value: str | float | Function) -> GivenField:
    """A number or a function of position; text without coordinates is a number."""
    if callable(value):
        return value
    expression = Expression(value)
    if not isinstance(value, str) or not expression.names & {*AXES}:
        return float(expression(*(np.zeros(1),) * len(AXES))[0])
    return expression


def mismatches(materials: Mapping[str, MaterialSection], groups: MeshGroups) -> Iterator[Violation]:
    """Violations of `[material]` that is not one table for each named volume of a mesh."""
    there = [*groups.volume_names.values()]
    for name in materials:
        if name not in there:
            has = f"its volumes are {listed(there)}" if there else "it has none"
            text = f"is not a named volume of the mesh{did_you_mean(name, there)}; {has}"
            yield ("material", name), text
    for name in there:
        if materials and name not in materials:
            yield ("material",), f"lacks the volume {name} of the mesh; add it"
    if materials and (outside := int((groups.volumes == 0).sum())):
        elements = counted(outside, "element")
        yield ("material",), f"is by volume, but {elements} in none; put each in one"


def number_elements(materials: Mapping[str, MaterialSection], groups: MeshGroups) -> Integers:
    """The number of each element's material, (elements,), in the order of the case."""
    order = {name: n for n, name in enumerate(materials)}
    tags = [*groups.volume_names]
    numbers = np.array([order[name] for name in groups.volume_names.values()], np.int64)
    return numbers[np.searchsorted(tags, groups.volumes)]


def find_conductivity(
    section: EquationSection, materials: Mapping[str, MaterialSection], numbers: Integers | None
) -> Conductivity:
    """k of all elements, or by material; a tensor if one of the materials has one."""
    given = [each.conductivity for each in materials.values()]
    entries = [_entries(section.conductivity if k is None else k) for k in given]
    if numbers is None:
        (*found,) = _entries(section.conductivity)
        return found[0] if len(found) == 1 else tuple(found)
    if all(len(each) == 1 for each in entries):
        return FieldsByMaterial(numbers, [k for (k,) in entries])
    tensors = [_as_tensor(each) for each in entries]
    return tuple(FieldsByMaterial(numbers, entry) for entry in zip(*tensors, strict=True))


def find_field(
    name: str,
    section: EquationSection,
    materials: Mapping[str, MaterialSection],
    numbers: Integers | None,
    default: float = 0.0,
    time: float = 0.0,
) -> GivenField:
    """The screening, the source or another field of all elements, or by material.

    Args:
        default: the field if neither the section nor the material gives it.
        time: at which to evaluate functions of time, s.
    """
    usual = getattr(section, name)
    values = [usual] if numbers is None else [getattr(m, name) for m in materials.values()]
    given = (usual if value is None else value for value in values)
    fields = [field_of(at_time(default if v is None else v, time)) for v in given]
    return fields[0] if numbers is None else FieldsByMaterial(numbers, fields)


def at_time(value: str | float, time: float) -> str | float | Function:
    """A value of a case at a time, s: a function of position if it depends on the time."""
    if not depends_on_time(value):
        return value
    expression = Expression(value, (*AXES, TIME))
    return lambda x, y, z: expression(x, y, z, np.full(np.shape(x), time))


def _entries(value: str | float | tuple[str | float, ...]) -> Entries:
    return tuple(map(field_of, value if isinstance(value, tuple) else (value,)))


def _as_tensor(entries: Entries) -> Entries:
    """The six entries of a tensor, or of a number times the identity."""
    if len(entries) > 1:
        return entries
    (k,) = entries
    return (k, 0.0, 0.0, k, 0.0, k)
