"""Arguments of kernels by the names of their parameters."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from sample_kernels import stencil_source

from groundswell.backends import Backend, Items, KernelLaunch, Module, Source, open_backend
from groundswell.backends.source import INCLUDE

TRIAD = Source(INCLUDE / "triad.h", {})
COUNT = 5


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


@pytest.fixture(scope="module")
def module(backend: Backend) -> Module:
    return backend.compile(TRIAD)


@pytest.fixture
def given(backend: Backend) -> dict[str, Any]:
    """The arguments of triad, whose parameters are a, b, c and count."""
    rng = np.random.default_rng(3)
    arrays = {name: backend.to_device(rng.random(COUNT, np.float32)) for name in "abc"}
    return {**arrays, "count": COUNT}


def test_names_may_have_any_order(module: Module, given: dict[str, Any]) -> None:
    expected = np.float32(given["b"] + 3 * given["c"])
    for order in permutations(given):
        given["a"][:] = np.nan
        module.launch("triad", Items(COUNT), **{name: given[name] for name in order})()
        np.testing.assert_allclose(given["a"], expected, rtol=3e-7)  # two roundings


@pytest.mark.parametrize("positions", range(5))
def test_the_first_arguments_may_have_no_names(
    module: Module, given: dict[str, Any], positions: int
) -> None:
    values = [*given.values()]
    named = {name: given[name] for name in [*given][positions:]}
    launch = module.launch("triad", Items(COUNT), *values[:positions], **named)
    assert isinstance(launch, KernelLaunch)
    assert [id(each) for each in launch.arguments] == [id(each) for each in values]


def test_a_missing_argument_is_refused(module: Module, given: dict[str, Any]) -> None:
    del given["b"]
    with pytest.raises(TypeError, match="kernel triad: b missing or unknown"):
        module.launch("triad", Items(COUNT), **given)


def test_an_unknown_argument_is_refused(module: Module, given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="kernel triad: d missing or unknown"):
        module.launch("triad", Items(COUNT), **given, d=given["c"])


def test_an_argument_is_given_once(module: Module, given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="kernel triad: a missing or unknown"):
        module.launch("triad", Items(COUNT), given["a"], **given)


def test_a_kernel_without_readable_names_needs_positions(backend: Backend) -> None:
    module = backend.compile(stencil_source("float32", (4, 4, 4)))
    with pytest.raises(TypeError, match="kernel unheard_of: the names of its parameters"):
        module.launch("unheard_of", Items(1), x=backend.zeros((1,), np.float32))
