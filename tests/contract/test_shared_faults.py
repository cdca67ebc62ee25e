"""Faults that solvers cannot use: a mistake has one message, the same in all solvers of faults."""

from __future__ import annotations

from typing import Any

import pytest
from fault_cases import TPV104

from groundswell import registry
from groundswell.errors import CaseError, InputError
from groundswell.seismology.case.base import SeismicCase
from groundswell.simulation.preparation import prepare

SOLVERS = ("earthquake", "dgwave")
ROCK = {"kind": "homogeneous", "vp": 6000.0, "vs": 3464.0, "rho": 2670.0}
# Planes at the centres of cells, and between elements.
ACROSS = {"earthquake": 500.0, "dgwave": 600.0}
WEAKENING = {"static": 0.6, "dynamic": 0.5, "distance": 0.1}
STRESS = {"normal": 50e6, "shear": 31e6, "rake": 170}
RATE = {name: value for name, value in TPV104["friction"].items() if name != "direct"}
CIRCLE = {"shape": "circle", "center": [600, 0, 600], "radius": 100}
RISE = {"kind": "stress", "shear": 1e7, "radius": 300, "duration": 0.1}

solvers = pytest.mark.parametrize("solver", SOLVERS)


def make_case(solver: str, plane: dict[str, Any] | None = None, **fault: Any) -> SeismicCase:
    """A case with a fault; keys replace those of its section, and None removes one."""
    extent = {"y": ACROSS[solver], "x": [200.0, 1000.0], "depth": [0.0, 800.0], **(plane or {})}
    section: dict[str, Any] = {
        "plane": extent,
        "law": "slip-weakening",
        "friction": WEAKENING,
        "stress": STRESS,
        **fault,
    }
    case: type[SeismicCase] = registry.find(solver).load("case")  # type: ignore[assignment]
    return case.from_dict(
        {
            "solver": solver,
            "grid": {"size": [1200.0] * 3, "spacing": 200.0},
            "time": {"duration": 0.1},
            "medium": ROCK,
            "boundary": {"width": 2 if solver == "dgwave" else 4},
            "fault": [{key: value for key, value in section.items() if value is not None}],
        }
    )


# Sections that are invalid whatever the grid.
IN_CASES = [
    ({"friction": {**WEAKENING, "static": -0.1}}, "friction.static = -0.1: must be at least 0"),
    ({"friction": {**WEAKENING, "cohesion": -1e6}}, "friction.cohesion = -1000000.0: must be at"),
    ({"friction": {"static": 0.6, "distance": 0.1}}, "friction.dynamic: is required; give a plain"),
    ({"law": "slip", "initial_rate": 1e-9}, 'friction: has static, dynamic, distance of law = "sl'),
    (
        {"law": "fast-weakening", "friction": RATE, "initial_rate": 1e-9},
        "friction.direct: is required; give a plain number",
    ),
    (
        {"law": "fast-weakening", "friction": TPV104["friction"]},
        'initial_rate: is required for law = "fast-weakening"',
    ),
    ({"stress": {**STRESS, "normal": -5e7}}, "stress.normal = -50000000.0: must be at least 0 Pa"),
    ({"plane": {"x": [200, 1400]}}, ": leaves the region, x from 0 to 1200 m; move it"),
    ({"plane": {"depth": [0, 1300]}}, ": leaves the region, depth from 0 to 1200 m"),
    ({"plane": {"y": 1300}}, ": leaves the region"),
    ({"nucleation": RISE}, "hypocenter: is required for nucleation"),
    ({"law": "slip-weaking"}, 'law = "slip-weaking": must be "slip-weakening"'),
]


@solvers
@pytest.mark.parametrize(("changes", "text"), IN_CASES, ids=range(len(IN_CASES)))
def test_invalid_faults_have_one_message(solver: str, changes: dict[str, Any], text: str) -> None:
    with pytest.raises(CaseError) as found:
        make_case(solver, **changes)
    (message,) = found.value.problems
    assert str(message).startswith("fault[0]") and text in str(message)


# Sections that the points of a fault do not fit.
AT_POINTS = [
    ({"plane": {"y": 533.0}}, r"y = 533 m is not (at the centres of cells|between elements)"),
    ({"plane": {"x": [250, 1000]}}, "end at x = 250 m is not between (cells|elements)"),
    ({"plane": {"depth": [0, 730]}}, "end at depth = 730 m is not between (cells|elements)"),
    (
        {"friction": {**WEAKENING, "static": "0.6 - depth / 600"}},
        "friction.static = -0.[0-9]+ at x, y, depth = .* m: must be at least 0",
    ),
    ({"friction": {**WEAKENING, "distance": "0 * x"}}, "friction.distance = 0 at .* greater than"),
    ({"stress": {**STRESS, "normal": "1e8 - x * 2e5"}}, "stress.normal = -.* must be at least 0"),
    ({"patch": [{**CIRCLE, "radius": 1e-3, "stress": {"shear": 1}}]}, "contains no point of the"),
    ({"plane": {"depth": [200, 800]}, "medium": "sea"}, "which has no friction"),
]


@solvers
@pytest.mark.parametrize(("changes", "text"), AT_POINTS, ids=range(len(AT_POINTS)))
def test_faults_that_do_not_fit_are_named(solver: str, changes: dict[str, Any], text: str) -> None:
    given = dict(changes)
    is_wet = given.pop("medium", None)
    for patch in given.get("patch", []):
        patch["center"] = [630, ACROSS[solver], 630]
    case = make_case(solver, **given)
    if is_wet:
        layers = [{"top": 0, "vp": 1500, "vs": 0, "rho": 1000}, {**ROCK, "top": 400}]
        layers[1].pop("kind")
        given = case.model_dump(exclude_unset=True)
        case = type(case).from_dict({**given, "medium": {"kind": "layered", "layers": layers}})
    with pytest.raises(InputError, match=text) as found:
        prepare(case)
    assert str(found.value).startswith("fault[0] (main): ")
