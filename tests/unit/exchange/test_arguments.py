"""What users may give to domains, fields and plans: all else is refused, and the cure is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from groundswell.errors import InputError, counted
from groundswell.exchange import Domain, Field, Ghosts


@pytest.fixture
def domain() -> Domain:
    return Domain((6, 5), 1)


# --- domains --------------------------------------------------------------------------------------

BAD_DOMAINS: list[tuple[dict[str, Any], str]] = [
    ({"shape": (0, 3)}, "above zero"),
    ({"shape": (2, 2, 2, 2)}, "one to 3"),
    ({"shape": 5}, "one to 3"),
    ({"shape": {6, 5}}, "one to 3"),
    ({"shape": (2.5, 3)}, "whole numbers"),
    ({"ghosts": (1, 2, 3)}, "2 axes"),
    ({"ghosts": ((1, 2, 3), 1)}, "2 sides"),
    ({"ghosts": -1}, "at least 0"),
    ({"ghosts": 1.5}, "one whole number per axis"),
    ({"ghosts": True}, "one whole number per axis"),
    ({"ghosts": "12"}, "one whole number per axis"),
    ({"ghosts": None}, "one whole number per axis"),
    ({"ghosts": Ghosts((1,), (1,))}, "has 1 axis, and the domain 2"),
    ({"periodic": (True,)}, "2 axes"),
    ({"periodic": "no"}, "True or False"),
    ({"periodic": (2, True)}, "True or False"),
    ({"corners": "no"}, "True or False"),
    ({"aggregate": "no"}, "True or False"),
    ({"aggregate": None}, "True or False"),
    ({"poison": [True]}, "True or False"),
    ({"transport": "pear"}, "peer, mpi, mpi-thread, or two of them"),
    ({"transport": "direct"}, "device 'cpu'"),
    ({"transport": "auto+mpi"}, "peer"),
    ({"transport": ["peer"]}, "peer"),
    ({"transport": None}, "auto"),
    ({"processes": (2, 1)}, "2 blocks for 1 rank;"),
    ({"processes": np.array([2, 2])}, "4 blocks for 1 rank;"),
    ({"processes": (-1, -1)}, "each of 2 axes, 0 or more"),
    ({"processes": (1,)}, "whole number for each of 2 axes"),
    ({"processes": (1.0, 1)}, "whole number for each of 2 axes"),
    ({"processes": 0}, "whole number for each of 2 axes"),
    ({"blocks": ((3, 3), (5,))}, "2 x 1 = 2 blocks for 1 rank;"),
    ({"blocks": ((6,), (4,))}, "add up to the 5 points"),
    ({"blocks": (1, 1)}, "the lengths of its blocks"),
    ({"blocks": ((6,), (5,)), "processes": (2, 1)}, "give only one of them"),
    ({"ghost": 2}, "ghost: no such argument; .* ghosts, .* transport, .* processes, blocks"),
    ({"comm": "world"}, "mpi4py"),
    ({"device": "gpu"}, "cpu"),
    ({"device": "cuda:x"}, "cuda:0"),
    ({"device": None}, "cuda:0"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD_DOMAINS, ids=lambda v: str(v)[:40])
def test_a_domain_that_cannot_be(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Domain(**({"shape": (6, 5), "ghosts": 1} | arguments))


def test_numbers_and_flags_of_numpy_will_do() -> None:
    given = {
        "processes": np.array([0, 1]),
        "periodic": np.array([True, False]),
        "aggregate": np.True_,
        "corners": 0,
    }
    domain = Domain(np.array([6, 5]), np.array([[1, 2], [0, 1]]), **given)  # type: ignore[arg-type]
    assert domain.dims == (1, 1) and domain.periodic == (True, False)
    assert domain.ghosts == Ghosts((1, 0), (2, 1), corners=False)
    assert Ghosts((1, 0), (2, 1)) == Ghosts([1, 0], np.array([2, 1]))  # type: ignore[arg-type]
    assert Domain((6, 5), processes=[np.int64(1), np.int64(0)]).dims == (1, 1)


BAD_GHOSTS: list[tuple[Any, ...]] = [
    (1, 1),
    ((1, 1), (1,)),
    ((1.5, 1), (1, 1)),
    (("a", 1), (1, 1)),
    ((1, 1), (1, 1), "no"),
    ((1, 1), (1, 1), True, ((0, 2),)),
    ((1, 1), (1, 1), True, ((0,), None)),
]


@pytest.mark.parametrize("arguments", BAD_GHOSTS, ids=str)
def test_ghosts_that_cannot_be(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(InputError, match=r"give (one|for each|True)"):
        Ghosts(*arguments)


def test_parts_of_layers_may_be_given_in_lists() -> None:
    ghosts = Ghosts((1, 1), (1, 1), within=[[0, 3], None])  # type: ignore[arg-type]
    assert ghosts == Ghosts((1, 1), (1, 1), within=((0, 3), None)) and hash(ghosts)


# --- arrays ---------------------------------------------------------------------------------------

BAD_CALLS: list[tuple[Callable[[Domain], Any], str]] = [
    (lambda d: d.zeros("float3"), "float32"),
    (lambda d: d.zeros(object), "plain numbers"),
    (lambda d: d.zeros("f4,f4"), "plain numbers"),
    (lambda d: d.zeros(("f4", 2)), "plain numbers"),
    (lambda d: d.zeros("complex256"), "16 bytes"),
    (lambda d: d.zeros(components=-1), "0 or more"),
    (lambda d: d.zeros(components=(1.0, 2)), "whole numbers"),
    (lambda d: d.local_index((1,)), "each of 2 axes"),
    (lambda d: d.local_index((1, 2, 3)), "each of 2 axes"),
    (lambda d: d.local_index((1.5, 2)), "whole number"),
    (lambda d: d.local_index(3), "whole number"),
    (lambda d: d.local_index((-1, 0)), "0 or more"),
    (lambda d: d.local_index((6, 0)), r"below \(6, 5\)"),
    (lambda d: d.split(-1), "0 or more"),
    (lambda d: d.split((1, 2.5)), "whole number"),
    (lambda d: d.split((1, 2, 3)), "2 axes"),
    (lambda d: d.coordinates("a"), "spacing = 'a'"),
    (lambda d: d.coordinates(1, (0, None)), "origin"),
    (lambda d: d.coordinates(float("nan")), "finite"),
    (lambda d: d.interior([1, 2]), "points on rank 0; create"),
    (lambda d: d.interior(np.zeros((6, 5))), "points on rank 0; create"),
    (lambda d: d.exchange(), "at least one"),
    (lambda d: d.exchange(d.zeros(), stream=0), "no streams"),
    (lambda d: d.plan(d.zeros(), transport="pear"), "mpi-thread"),
    (lambda d: d.plan(d.zeros(), aggregate=np.array([True, False])), "True or False"),
    (lambda d: d.plan(d.zeros(), poison="no"), "True or False"),
    (lambda d: d.plan(d.zeros(), transport=None), "auto, or fastest"),  # type: ignore[arg-type]
    (lambda d: d.plan(d.zeros(), ghost=None), "ghost: no such argument"),  # type: ignore[call-arg]
    (lambda d: d.indices(ghosts=2), "True or False"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("call", BAD_CALLS, ids=lambda v: str(v[1])[:40])
def test_what_a_domain_cannot_do(domain: Domain, call: tuple[Any, str]) -> None:
    act, words = call
    with pytest.raises(InputError, match=words):
        act(domain)


def test_numbers_of_numpy_index_arrays(domain: Domain) -> None:
    found = domain.local_index(np.array([5, 4]))
    assert found == (6, 5) and all(type(n) is int for n in found)
    assert domain.zeros("int8", np.int64(2)).shape == (2, 8, 7)
    assert domain.zeros(np.float32, np.array([2, 1])).shape == (2, 1, 8, 7)
    assert domain.split(np.array([1, 2])) == domain.split((1, 2))
    z, x = domain.coordinates(np.array([2.0, 1.0]), np.float32(1))
    assert z[1, 0] == 3 and x[0, 1] == 2


def test_arrays_that_do_not_suit_a_domain(domain: Domain) -> None:
    for wrong in (np.zeros((6, 5)), np.zeros(7), np.float64(3)):
        with pytest.raises(InputError, match="but rank 0 has"):
            domain.exchange(wrong)
    with pytest.raises(InputError, match="but rank 0 has"):
        domain.exchange(Field(np.zeros(7), origin=(1, 1)))
    with pytest.raises(InputError, match="cannot be sent"):
        domain.exchange(Field(domain.zeros("int32"), sent_as="float16"))
    torus = Domain((6, 5), 1, periodic=True)
    with pytest.raises(InputError, match="no room"):
        torus.exchange(Field(torus.zeros(), ghosts=3, origin=(1, 1)))


@pytest.mark.parametrize(
    "origin", [(1,), (1, 1, 1), (-1, 1), (1.0, 1), "11", 1, (None, 1)], ids=str
)
def test_where_no_own_point_can_be(domain: Domain, origin: Any) -> None:
    with pytest.raises(InputError, match=r"origin = .* whole number for each of 2 axes, 0 or more"):
        domain.exchange(Field(domain.zeros(), origin=origin))


def test_own_points_beyond_the_array(domain: Domain) -> None:
    for origin in ((7, 1), (1, 100)):
        with pytest.raises(InputError, match="no room"):
            domain.exchange(Field(domain.zeros(), origin=origin))


@pytest.mark.parametrize("name", ["flaot16", "", "float64", 3, ["float16"], np.dtype("float16")])
def test_a_type_that_nothing_is_sent_as(domain: Domain, name: Any) -> None:
    with pytest.raises(InputError, match=r"cannot be sent as .*; allowed: float16, bfloat16"):
        domain.exchange(Field(domain.zeros("float32"), sent_as=name))


@pytest.mark.parametrize(
    "fields",
    [[("int32", None)], [("float32", None), ("float64", None)], [("float32", "float16")]],
    ids=str,
)
def test_values_that_no_codec_compresses_on_any_number_of_ranks(fields: Any) -> None:
    domain = Domain((6, 5), 1, codec="mpc")
    domain.exchange(domain.zeros("float32"))
    arrays = [Field(domain.zeros(dtype), sent_as=narrow) for dtype, narrow in fields]
    with pytest.raises(InputError, match="compressed"):
        domain.plan(*arrays)


def test_the_environment_asks_for_poison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDSWELL_DEBUG", "1")
    domain = Domain((6, 5), 1, periodic=True, corners=False)
    u = domain.zeros()
    domain.exchange(u)
    assert np.isnan(u[0, 0]) and np.all(u[0, 1:-1] == 0)


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 axes"), (1, "1 axis"), (2, "2 axes"), (12_345, "12,345 axes")]
)
def test_one_thing_is_singular(count: int, text: str) -> None:
    assert counted(count, "axis", "axes") == text
    assert counted(count, "cell") == text.replace("axes", "cells").replace("axis", "cell")
