"""Variants of a test that the quick run leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from itertools import groupby
from typing import Any

import pytest


def long_variants(parameters: Iterable[Any]) -> list[Any]:
    """Parameters of a test, each one value or a tuple of them, for `--full` alone."""
    return [
        pytest.param(*(p if isinstance(p, tuple) else (p,)), marks=pytest.mark.full)
        for p in parameters
    ]


def short_and_long(parameters: Iterable[Any], long: Container[Any]) -> list[Any]:
    """The same of all parameters, of which some are for `--full` alone."""
    return [long_variants([p])[0] if p in long else p for p in parameters]


def quick_run(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """The tests of a quick run: none that is marked `full`, and few marked `each_value` or `most`.

    Variants of a test come one after another. Those on a GPU take little time, and all run.
    """
    short = (item for item in items if not item.get_closest_marker("full"))
    for _, variants in groupby(short, lambda item: item.nodeid.partition("[")[0]):
        yield from _few_of(list(variants))


def _few_of(variants: list[pytest.Item]) -> list[pytest.Item]:
    """The variants of one test that its marks leave."""
    marks = {mark.name for mark in variants[0].iter_markers()}
    if len(variants) == 1 or "gpu" in marks:
        return variants
    if "each_value" in marks:
        variants = with_each_value(variants)
    if most := variants[0].get_closest_marker("most"):
        return evenly_spaced(variants, *most.args)
    return variants


def evenly_spaced(variants: list[pytest.Item], most: int) -> list[pytest.Item]:
    """At most so many variants of a test, from the first to one that is near the last."""
    return variants[:: -(-len(variants) // most)]


def with_each_value(variants: list[pytest.Item]) -> list[pytest.Item]:
    """So few variants of a test that each value of each parameter, or of its fields, occurs.

    A greedy choice: always one with the most values that have not occurred yet, and of these one
    whose other values have occurred least.
    """
    values = {item: set(_values(item)) for item in variants}
    occurred, chosen = Counter[Hashable](), set()
    while missing := set().union(*values.values()) - set(occurred):

        def merit(item: pytest.Item, missing: set[Hashable] = missing) -> tuple[int, int]:
            return len(values[item] & missing), -sum(occurred[value] for value in values[item])

        best = max(variants, key=merit)
        occurred.update(values[best])
        chosen.add(best)
    return [item for item in variants if item in chosen]


def _values(item: Any) -> Iterator[Hashable]:
    """Names and values of parameters, or of the fields of those that are dataclasses."""
    for name, value in item.callspec.params.items():
        if not is_dataclass(value) or isinstance(value, type):
            yield name, _hashable(value)
            continue
        for field in fields(value):
            yield name, field.name, _hashable(getattr(value, field.name))


def _hashable(value: Any) -> Hashable:
    """The value and its type, or its identity."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value
