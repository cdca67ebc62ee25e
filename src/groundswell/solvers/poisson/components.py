"""Arguments of several components, for which one iteration solves: sources, sides and guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from groundswell.backends.array_interop import is_foreign
from groundswell.errors import InputError
from groundswell.meshes.hexahedra import Floats
from groundswell.solvers.poisson.solution import Solution
from groundswell.solvers.poisson.validation import (
    CHANGING,
    ConditionTable,
    FunctionLike,
    as_function,
)
from groundswell.spectral_elements.boundary import Function

Split = Sequence[Any] | None  # what each component has; None if all have the same
Tables = Mapping[str, ConditionTable]  # boundary conditions by side


def split_list(given: Any) -> Split:
    """The entries of a list or tuple."""
    return list(given) if isinstance(given, list | tuple) else None


def split_source(source: Any, elements: int) -> Split:
    """The sources of the components: of a list, or of an array (components, elements, nodes).

    A list of as many numbers as there are elements has their values, of one component.

    Raises:
        InputError: the list has arrays of other libraries.
    """
    if isinstance(source, list | tuple):
        if any(map(is_foreign, source)):
            raise InputError(
                "source is a list of arrays of another library than NumPy; stack them to one array "
                "(components, elements, nodes)"
            )
        is_field = all(isinstance(f, int | float | np.number) for f in source)
        return None if is_field and len(source) == elements else list(source)
    return list(source) if getattr(source, "ndim", 0) == 3 else None


def require_count(given: Mapping[str, Split]) -> int | None:
    """The number of components of arguments by name; None if they have none.

    Raises:
        InputError: they have different numbers of components.
    """
    counts = {name: len(each) for name, each in given.items() if each is not None}
    if len(set(counts.values())) > 1 or 0 in counts.values():
        found = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise InputError(
            f"numbers of components differ or are 0: {found}; give as many of each, or one value "
            "for all components"
        )
    return next(iter(counts.values()), None)


def pick(value: Any, split: Split, component: int) -> Any:
    """What one component has of an argument."""
    return value if split is None else split[component]


def split_sides(tables: Tables) -> dict[str, Split]:
    """The values of the components on each side."""
    return {name: split_list(_value_of(table)) for name, table in tables.items()}


def sides_of(tables: Tables, component: int) -> dict[str, ConditionTable]:
    """The boundary conditions of one component."""
    found = {}
    for name, table in tables.items():
        split = split_list(_value_of(table))
        chosen = {CHANGING[table["kind"]]: pick(None, split, component)}
        found[name] = table if split is None else {**table, **chosen}
    return found


def _value_of(table: ConditionTable) -> object:
    return table.get(CHANGING[table["kind"]])


def initial_guess(
    start: Solution | FunctionLike | Sequence[FunctionLike] | None,
) -> Function | list[Function] | None:
    """Initial guesses as functions, a list of several components."""
    if start is None:
        return None
    if isinstance(start, Solution):
        named: list[Function] = [partial(_constant, u) for u in start.named.values()]
        return named if "u" not in start.named else named[0]
    if isinstance(start, str) or not isinstance(start, Sequence):
        return as_function(start, "start")
    return [as_function(guess, "start") for guess in start]


def _constant(u: Floats, *position: Floats) -> Floats:
    """Values at the nodes, whose positions are known."""
    return u
