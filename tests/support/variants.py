"""Variants of a test that the quick run leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
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
    """The tests of a quick run: none that is marked `full`, and few of those marked `each_value`.

    Variants of a test come one after another.
    """
    short = (item for item in items if not item.get_closest_marker("full"))
    for _, variants in groupby(short, lambda item: item.nodeid.partition("[")[0]):
        first, *others = variants
        covering = others and first.get_closest_marker("each_value")
        yield from with_each_value([first, *others]) if covering else [first, *others]


def with_each_value(variants: list[pytest.Item]) -> list[pytest.Item]:
    """So few variants of a test that each value of each of its parameters occurs.

    A greedy choice: always one with the most values that have not occurred yet, and of these one
    whose other values have occurred least.
    """
    values = {item: _values(item) for item in variants}
    occurred, chosen = Counter[tuple[str, int]](), set()
    while missing := set().union(*values.values()) - set(occurred):

        def merit(item: pytest.Item) -> tuple[int, int]:
            return len(values[item] & missing), -sum(occurred[v] for v in values[item])

        best = max(variants, key=merit)
        occurred.update(values[best])
        chosen.add(best)
    return [item for item in variants if item in chosen]


def _values(item: Any) -> set[tuple[str, int]]:
    """Names and identities of parameters' values, which need not be hashable."""
    return {(name, id(value)) for name, value in item.callspec.params.items()}
