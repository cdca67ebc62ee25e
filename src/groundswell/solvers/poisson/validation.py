"""What callers from Python give, seen to be what it must be; every function raises InputError."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from typing import Any

import numpy as np

from groundswell.case.expressions import Expression
from groundswell.errors import InputError, did_you_mean, listed
from groundswell.exchange.routes import ROUTES
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import INSIDE, Hexahedra, Numbers
from groundswell.solvers.poisson.boundary_conditions import Field
from groundswell.solvers.poisson.case import BoxMesh

Function = Field | float | str  # of position: x, y, z in m; as text what `Expression` knows
Table = Mapping[str, Any]  # of a case file, whose values may be functions

KINDS = ("fixed", "flux")


def whole(what: str, value: Any) -> int:
    """A number of something, 1 or more."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 1:
        return int(value)
    raise InputError(f"{what} = {value!r:.60}; allowed: a whole number, 1 or more")


def real(what: str, value: Any, below: float = inf) -> float:
    """A number from 0 up to `below`."""
    if _is_finite(value) and 0 <= value < below:
        return float(value)
    bound = f"0 and more, below {below:g}" if below < inf else "0 and more, in SI units"
    raise InputError(f"{what} = {value!r:.60}; allowed: a number, {bound}")


def mean_of(value: Any) -> float | None:
    """u's, if it is given."""
    if value is None:
        return None
    if _is_finite(value):
        return float(value)
    raise InputError(f"mean = {value!r:.60}; allowed: a finite number")


def route_of(value: Any) -> str:
    """A route by its name."""
    if value in ("auto", *ROUTES):
        return str(value)
    raise InputError(f"route = {value!r:.60}; allowed: auto, {', '.join(ROUTES)}")


def _is_finite(value: Any) -> bool:
    if not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    try:
        return isfinite(value)
    except OverflowError:
        return False


def sides_of(mesh: Hexahedra) -> Mapping[str, int]:
    """Tags of a box's sides by name."""
    if not isinstance(mesh, Box):
        return {}
    periodic = tuple(axis for axis, wraps in zip("xyz", mesh.periodic, strict=True) if wraps)
    return BoxMesh(kind="box", counts=mesh.counts, periodic=periodic).sides


def require_faces(sides: Mapping[str, int], mesh: Hexahedra) -> None:
    """See that sides are somewhere."""
    tags = mesh.tags(np.arange(mesh.count))
    there = np.unique(tags[tags != INSIDE])
    for name, tag in sides.items():
        if tag not in there:
            raise InputError(f"sides: {name} = {tag!r}, which is no face's tag in the mesh")


def require_sides(boundaries: Mapping[str, Table], tags: Mapping[str, int]) -> None:
    """See that sides are there, and given what they can be given."""
    if not isinstance(boundaries, Mapping):
        raise InputError(f"boundaries = {boundaries!r:.60}; give tables by the names of sides")
    for name, table in boundaries.items():
        if name not in tags:
            known = f"its sides are {listed(tags)}" if tags else "give their tags as sides"
            raise InputError(f"{name!r} is no side of the mesh{did_you_mean(name, tags)}; {known}")
        keys = set(table) if isinstance(table, Mapping) else set()
        if not {"kind"} <= keys <= {"kind", "value"} or table["kind"] not in KINDS:
            raise InputError(f'{name}: give a table with kind = "fixed" or "flux", and value')


def of_kind(
    kind: str, boundaries: Mapping[str, Table], tags: Mapping[str, int]
) -> dict[int, Field]:
    """What sides of a kind are given, by tag."""
    return {
        tags[name]: function_of(table.get("value", 0.0), f"the value of {name}")
        for name, table in boundaries.items()
        if table["kind"] == kind
    }


def with_values(
    boundaries: Mapping[str, Table], values: Mapping[str, Function]
) -> dict[str, Table]:
    """Sides of which some are given other values."""
    if unknown := [name for name in values if name not in boundaries]:
        raise InputError(
            f"values for {unknown[0]!r}, which the problem is given nothing for; "
            f"allowed: {listed(boundaries) or 'none'}"
        )
    return {
        name: {**table, "value": values.get(name, table.get("value", 0.0))}
        for name, table in boundaries.items()
    }


def function_of(given: Any, what: str) -> Field:
    """A function of position, from what callers may give as one."""
    if callable(given):
        return given  # type: ignore[no-any-return]
    try:
        return Expression(given)
    except (ValueError, TypeError) as error:
        raise InputError(f"{what} = {given!r} {error}") from None


def source_of(given: Any, mesh: Hexahedra, degree: int, elements: Numbers) -> Field:
    """The source as a function that this rank's nodes are handed to."""
    if callable(given) or isinstance(given, str) or np.ndim(given) == 0:
        return function_of(given, "source")
    values, shape = np.asarray(given), (mesh.count, (degree + 1) ** 3)
    if values.shape != shape:
        raise InputError(f"source has shape {values.shape}; values at nodes have {shape}")
    return lambda x, y, z: values[elements]  # seen to be real numbers where it is called
