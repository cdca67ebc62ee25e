"""Arguments of kernels and members of their structs by name."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_kernels import stencil_source

from groundswell.backends import Backend, Items, KernelLaunch, Module, Source, open_backend
from groundswell.backends.named_arguments import members, stack_members
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


# --- structs --------------------------------------------------------------------------------------

STRUCTS = """
struct Flat {
  real x, y;  // not z, of course
  real more[3];
};
template <class Value> struct OfValues { Value only; };
struct Flatter : Flat { real further; };
struct WithFunctions { real x; METHOD real twice() const { return 2 * x; } };
"""


@pytest.fixture
def header(tmp_path: Path) -> Path:
    path = tmp_path / "structs.h"
    path.write_text(STRUCTS)
    return path


def test_members_have_the_order_of_the_source(header: Path) -> None:
    assert members(header, "Flat") == ("x", "y", "more")
    assert members(header, "OfValues") == ("only",)


@pytest.mark.parametrize("struct", ["Flatter", "WithFunctions", "Fla", "Missing"])
def test_other_structs_are_refused(header: Path, struct: str) -> None:
    with pytest.raises(TypeError, match=rf"structs.h declares no plain struct {struct}"):
        members(header, struct)


@pytest.mark.parametrize("axis", [0, -1])
def test_values_are_stacked_by_name(header: Path, axis: int) -> None:
    x, y, more = np.random.default_rng(4).random((3, 5, 2))
    stacked = stack_members(header, "Flat", axis, more=more, y=y, x=x)
    np.testing.assert_array_equal(stacked, np.stack([x, y, more], axis))


def test_each_member_needs_a_value(header: Path) -> None:
    with pytest.raises(TypeError, match="struct Flat: more, z missing or unknown"):
        stack_members(header, "Flat", 0, x=np.ones(1), y=np.ones(1), z=np.ones(1))
