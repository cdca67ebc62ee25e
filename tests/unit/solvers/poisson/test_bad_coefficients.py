"""Coefficients that are zero, negative or not finite: one message each, in every form."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.errors import InputError
from groundswell.meshes.box import Box
from groundswell.solvers.poisson.case import PoissonCase
from groundswell.solvers.poisson.setup import prepare
from groundswell.solvers.poisson.unsteady import UnsteadyPoisson

BOX, DEGREE, NODES = Box((2, 2, 2)), 2, 27
FIXED = {"west": {"kind": "fixed"}}
BAD = (0.0, -1.0, np.nan, np.inf)
# Values that are allowed after all.
ALLOWED = {"conductivity": (), "screening": (0.0,), "source": (0.0, -1.0)}


def at_nodes(bad: float) -> Any:
    values = np.ones((BOX.count, NODES))
    values[3, 5] = bad
    return values


def of_elements(bad: float) -> Any:
    return np.array([1.0] * (BOX.count - 1) + [bad])


def by_position(bad: float) -> Callable[..., Any]:
    return lambda x, y, z: np.where(x > 0.4, bad, 1.0)


FORMS: dict[str, Callable[[float], Any]] = {
    "number": lambda bad: bad,
    "function": by_position,
    "elements": of_elements,
    "nodes": at_nodes,
}


def require_message(run: Callable[[], Any], *words: str) -> None:
    """One message with these words, and no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError) as caught:
            run()
    lines = str(caught.value).splitlines()
    assert len(lines) == 1 or (len(lines) == 2 and lines[0] == "the arguments cannot be used:")
    assert all(word in lines[-1] for word in words), lines[-1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ALLOWED)
def test_fields(name: str, form: str) -> None:
    for bad in BAD:
        options: dict[str, Any] = {name: FORMS[form](bad)}
        run = lambda options=options: gs.poisson.solve(BOX, DEGREE, boundaries=FIXED, **options)  # noqa: E731
        if bad in ALLOWED[name]:
            assert run().converged
            continue
        place = [] if form == "number" and name != "source" else [" at ("]
        require_message(run, name, f"{bad:g}", *place)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("key", ["h", "ambient", "fixed", "flux"])
def test_sides(key: str, bad: float) -> None:
    """The message names the side, and a position on it."""
    if bad < 0 and key != "h":
        pytest.skip("is allowed")
    for value in (bad, lambda x, y, z: np.where(y > 0.4, bad, 1.0)):
        robin = {"kind": "robin", "h": 1.0, "ambient": 1.0} | {key: value}
        side = robin if key in ("h", "ambient") else {"kind": key, "value": value}
        sides = FIXED | {"east": side}
        run = lambda sides=sides: gs.poisson.solve(BOX, DEGREE, 1.0, sides)  # noqa: E731
        require_message(run, "side east", f"{bad:g} at (1, ")


@pytest.mark.parametrize("bad", ["0 * x", "x - 0.5", "log(x - 2)", "1 / x"])
def test_capacities(bad: str) -> None:
    case = PoissonCase.from_dict(
        {
            "solver": "poisson",
            "mesh": {"kind": "box", "counts": [2, 2, 2]},
            "equation": {"capacity": bad},
            "time": {"step": 1.0, "duration": 2.0},
            "method": {"degree": DEGREE},
        }
    )
    setup = prepare(case)
    require_message(lambda: UnsteadyPoisson(setup, open_backend("cpu")), "the capacity is ")
