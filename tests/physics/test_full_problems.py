"""The problems of `verify --full` at full size can be set up; they compute nothing here.

The cases of a problem are set up until one needs the results of those before it.
"""

from __future__ import annotations

from typing import Any, NoReturn

import pytest
from variants import short_and_long

from groundswell.case import Case
from groundswell.simulation.preparation import prepare
from groundswell.verify import lacks, load_problem, problem_names


class Computing(Exception):
    """The set-up is done."""


class Gpu:
    """The properties of a GPU, which computes nothing."""

    name, device, on_host, has_bulk_copy = "cuda", "none", False, False
    processors, vector_length, shared_bytes_per_block, cache_bytes = 132, 1, 232_448, 50_000_000

    def __getattr__(self, name: str) -> NoReturn:
        raise Computing


class NoResult:
    """What a run returns that was only set up."""

    def __getattr__(self, name: str) -> NoReturn:
        raise Computing


def set_up(case: Case, **options: Any) -> NoResult:
    prepare(case)
    return NoResult()


def open_none(*arguments: object, **options: object) -> NoReturn:
    raise Computing


# These load meshes of millions of elements. Those of tpv5 are built in the same way.
LONG = ["dgwave/rupture_methods:tpv104"]


@pytest.mark.parametrize("name", short_and_long(problem_names(None), LONG))
def test_a_full_problem_can_be_set_up(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = load_problem(name)
    if missing := lacks(problem):
        pytest.skip("; ".join(missing))
    monkeypatch.setattr("groundswell.simulation.temporary.run", set_up)
    monkeypatch.setattr("groundswell.exchange.devices.open_backend", open_none)
    gpu: Any = Gpu()
    with pytest.raises(Computing):
        list(problem(gpu, True))
