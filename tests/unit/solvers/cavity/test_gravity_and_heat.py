"""The solver's numbers for every pair of the directions of gravity and of heating."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from turns import AXES, TURNS, Turn

from groundswell.backends import open_backend
from groundswell.solvers.cavity.case import FIELDS, CavityCase
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.solver import Cavity

DIRECTIONS = [sign + axis for sign, axis in product(("", "-"), AXES)]
HOT, COLD = ({"kind": "fixed", "temperature": t} for t in (0.5, -0.5))
STILL = {"kind": "adiabatic"}
CLOSED = dict.fromkeys(("west", "east", "south", "north", "bottom", "top"), STILL)
# Heat flows along x, up and down; gravity points down.
HEATED: dict[str, dict[str, Any]] = {
    "x": CLOSED | {"west": HOT, "east": COLD},
    "z": CLOSED | {"bottom": HOT, "top": COLD},
    "-z": CLOSED | {"bottom": COLD, "top": HOT},
}


def case_of(heat: str) -> dict[str, Any]:
    return {
        "fluid": {"kind": "rayleigh", "rayleigh": 1e4, "down": "-z"},
        "walls": HEATED[heat],
        "grid": {"points": [13, 10, 11], "size": [1.0, 0.8, 1.2]},
        "time": {"levels": 2},
    }


def turn_to(down: str, heat: str) -> tuple[str, Turn]:
    """The cavity that becomes the one with these directions, and the turn that makes it so."""
    for before, turn in product(HEATED, TURNS):
        if turn.direction("-z") == down and turn.direction(before) == heat:
            return before, turn
    raise AssertionError(f"no turn for gravity {down} and heat {heat}")


def after_cycles(content: dict[str, Any], flow: dict[str, np.ndarray]) -> Cavity:
    solver = Cavity(prepare(CavityCase(**content)), open_backend("cpu"))
    solver.fill(flow)
    solver.step()
    return solver


def numbers(solver: Cavity) -> dict[str, float]:
    """All that `heat.json` says, less positions and directions."""
    flow = solver.outputs.flow()
    assert flow is not None
    found = flow.summary()
    peaks = sorted(peak["value"] for peak in found.pop("peaks").values())
    heat = sorted(found.pop("heat_in").values())
    numbered = {"peak": peaks, "heat": heat}
    return {
        **found,
        **{f"{key} {n}": v for key, of in numbered.items() for n, v in enumerate(of)},
    }


@pytest.fixture(scope="module")
def flow() -> dict[str, np.ndarray]:
    """Values without any symmetry."""
    rng = np.random.default_rng(3)
    return {name: 0.1 * rng.standard_normal((11, 10, 13)) for name in FIELDS}


@pytest.fixture(scope="module")
def originals(flow: dict[str, np.ndarray]) -> dict[str, Cavity]:
    return {heat: after_cycles(case_of(heat), flow) for heat in HEATED}


@pytest.mark.most(3)
@pytest.mark.parametrize("down", DIRECTIONS)
def test_numbers_are_those_of_the_cavity_that_is_turned(
    down: str, flow: dict[str, np.ndarray], originals: dict[str, Cavity]
) -> None:
    """To the rounding of a cycle, in which only the order of the sums over axes differs."""
    for heat in DIRECTIONS:
        before, turn = turn_to(down, heat)
        found = after_cycles(turn.cavity(case_of(before)), turn.flow(flow))
        original = originals[before]
        wanted = turn.flow({name: original.snapshot(name) for name in FIELDS})
        for name in FIELDS:
            assert np.abs(found.snapshot(name) - wanted[name]).max() < 1e-11, (name, down, heat)
        assert numbers(found) == pytest.approx(numbers(original), rel=1e-9, abs=1e-11), (down, heat)
