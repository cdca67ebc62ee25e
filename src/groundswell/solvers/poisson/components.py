"""Arguments of several components, for which one iteration solves: sources, sides and guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from groundswell.errors import InputError

Split = Sequence[Any] | None  # what each component has; None if all have the same


def split_list(given: Any) -> Split:
    """The entries of a list or tuple."""
    return list(given) if isinstance(given, list | tuple) else None


def split_source(source: Any, elements: int) -> Split:
    """The sources of the components: of a list, or of an array (components, elements, nodes).

    A list of as many numbers as there are elements has their values, of one component.
    """
    if isinstance(source, list | tuple):
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
