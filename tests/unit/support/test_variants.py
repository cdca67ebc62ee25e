"""Which variants of a test a quick run takes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from variants import evenly_spaced, quick_run, with_each_value


@dataclass(frozen=True)
class Shape:
    degree: int
    curved: bool


class Item:
    """What a quick run knows of a test."""

    def __init__(self, marks: tuple[str, ...] = (), test: str = "test", **params: Any) -> None:
        self.nodeid, self.marks = f"{test}[{params}]", marks
        self.callspec = SimpleNamespace(params=params)

    def get_closest_marker(self, name: str) -> Any:
        return next((mark for mark in self.iter_markers() if mark.name == name), None)

    def iter_markers(self) -> list[Any]:
        parts = (mark.partition(" ") for mark in self.marks)
        return [SimpleNamespace(name=name, args=(int(to),) if to else ()) for name, _, to in parts]


def items(*marks: str, **values: list[Any]) -> Any:
    return [Item(marks, **dict(zip(values, v, strict=True))) for v in product(*values.values())]


def found(variants: Any, name: str) -> list[Any]:
    return [item.callspec.params[name] for item in variants]


def test_each_value_occurs_in_as_few_variants_as_can_be() -> None:
    chosen = with_each_value(items(a=["x", "y"], b=[1, 2, 3, 4], c=[True, False]))
    assert sorted(found(chosen, "b")) == [1, 2, 3, 4]
    assert sorted(found(chosen, "a")) == ["x", "x", "y", "y"]
    assert sum(found(chosen, "c")) == 2


def test_each_value_of_each_field_occurs() -> None:
    """1 and True, which Python holds to be equal, are two values of different fields."""
    shapes = [Shape(degree, curved) for degree in (1, 2, 3) for curved in (False, True)]
    chosen = found(with_each_value(items(shape=shapes)), "shape")
    assert len(chosen) == 3 and {shape.degree for shape in chosen} == {1, 2, 3}
    assert {shape.curved for shape in chosen} == {False, True}


def test_values_need_not_be_hashable() -> None:
    arrays = [np.zeros(2), np.ones(2)]
    chosen = with_each_value(items(array=arrays, table=[{}, {"a": 1}]))
    assert len(chosen) == 2 and {id(array) for array in found(chosen, "array")} == {
        *map(id, arrays)
    }


@pytest.mark.parametrize(
    ("marks", "count"),
    [
        ((), 4),
        (("each_value",), 2),
        (("each_value", "gpu"), 4),
        (("full",), 0),
        (("most 3",), 2),
        (("most 4",), 4),
        (("most 1", "gpu"), 4),
        (("each_value", "most 1"), 1),
    ],
)
def test_what_marks_leave_out(marks: tuple[str, ...], count: int) -> None:
    variants = items(*marks, a=[1, 2], b=[3, 4])
    assert len(list(quick_run(variants))) == count


def test_variants_are_evenly_spaced() -> None:
    variants = items(a=[*range(10)])
    for most, expected in ((1, [0]), (2, [0, 5]), (3, [0, 4, 8]), (9, [0, 2, 4, 6, 8])):
        assert found(evenly_spaced(variants, most), "a") == expected


def test_other_tests_are_not_variants() -> None:
    one, other = (Item(("each_value",), test, a=1) for test in ("one", "other"))
    alone: Any = Item(("each_value",))
    assert list(quick_run([one, other, alone])) == [one, other, alone]  # type: ignore[list-item]
