"""What flows in through sides, and what a run reports of its solution."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import shuffled, space_on
from ranks import run_cases, run_to_json

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.errors import InputError
from groundswell.meshes.box import Box
from groundswell.report.html import write_report
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem
from groundswell.solvers.poisson.case import MethodSection, PoissonCase
from groundswell.solvers.poisson.equation import Equation, Robin

K, H = 3.0, 7.0
METHOD = MethodSection()


def flows_on(mesh: Any, equation: Equation, degree: int = 5) -> tuple[dict[Any, float], float]:
    """The flows, and what the source yields less what the screening takes."""
    problem = BoundaryValueProblem(open_backend("cpu"), space_on(mesh, degree), equation, METHOD)
    terms = problem.evaluate()
    u, _ = problem.solve(terms, 1e-13)
    flows, mass = problem.measure_flows(terms, u), problem.system.mass
    rest = (mass * (terms.source - problem.system.coefficients.screening * u)).sum()
    problem.close()
    return flows, float(rest)


def bent(points: Any) -> Any:
    return points + 0.1 * points[..., ::-1] * points[..., [1, 2, 0]]


def test_heat_through_a_plate_is_the_difference_over_the_resistances() -> None:
    """From u = 1 at the bottom to air of 0 at the top; nothing flows through other sides."""
    box = Box((2, 1, 3), high=(2.0, 3.0, 0.5))
    air, floor = {6: Robin(lambda x, y, z: H, lambda x, y, z: 0.0)}, {5: lambda x, y, z: 1.0}
    flows, _ = flows_on(box, Equation(fixed=floor, robin=air, conductivity=K))
    heat = 2.0 * 3.0 / (0.5 / K + 1 / H)
    assert flows == pytest.approx({(5,): heat, (6,): -heat}, rel=1e-10)


def test_flows_balance_exactly() -> None:
    """Whatever k, c and the source are, and also where u is far from resolved."""
    mesh = shuffled(Box((2, 2, 2), deform=bent, order=2), np.random.default_rng(3))
    tags = mesh.tags(np.arange(mesh.count))
    assert set(np.unique(tags)) == {0, 1}
    equation = Equation(
        lambda x, y, z: np.sin(20 * x) + 3,
        lambda x, y, z: x + y,
        {1: lambda x, y, z: np.where(x > 0.4, y, 9.0)},
        conductivity=lambda x, y, z: 1 + x * y,
    )
    flows, rest = flows_on(mesh, equation, 3)
    assert abs(flows[1,] + rest) < 1e-9 * abs(rest)


def test_fixed_sides_that_meet_have_a_sum() -> None:
    """u = x + 2 y through all sides but the top, and an east side apart from them."""
    u = lambda x, y, z: x + 2 * y  # noqa: E731
    equation = Equation(fixed={1: u, 3: u, 2: u}, fluxes={4: lambda x, y, z: 2 * K}, conductivity=K)
    flows, _ = flows_on(Box((2, 2, 1)), equation)
    # West and east meet south: together they have what north lets in.
    assert flows == pytest.approx({(4,): 2 * K, (1, 3, 2): -2 * K}, rel=1e-9)
    fluxes = {3: lambda x, y, z: -2 * K, **equation.fluxes}
    flows, _ = flows_on(Box((2, 2, 1)), Equation(fixed={1: u, 2: u}, fluxes=fluxes, conductivity=K))
    assert flows[1,] == pytest.approx(-K, rel=1e-9) and flows[2,] == pytest.approx(K, rel=1e-9)


CASE: dict[str, Any] = {
    "solver": "poisson",
    "title": "A warm plate",
    "mesh": {"kind": "box", "counts": [3, 2, 2], "size": [2, 1, 0.5]},
    "equation": {"conductivity": K, "source": "1 + x"},
    "boundaries": {
        "west": {"kind": "fixed", "value": 1.0},
        "top": {"kind": "robin", "h": H, "ambient": "y"},
    },
    "method": {"degree": 4},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plate") / "results"
    return gs.run(PoissonCase.from_dict(CASE), folder=folder, quiet=True).folder


def test_a_run_reports_its_solution_first(finished: Path) -> None:
    found = json.loads((finished / "solution.json").read_text())
    assert sum(found["flows"].values()) == pytest.approx(-2.0, rel=1e-8)  # the source
    assert found["smallest"] < found["mean"] < found["largest"]
    summary = json.loads((finished / "summary.json").read_text())
    findings = summary["findings"]
    assert findings["mean"] == found["mean"]
    assert findings["flow_top"] == found["flows"]["top"]
    page = write_report(finished).read_text()
    assert page.index("largest u") < page.index("throughput")
    assert "of the wall time: solve" in page and "time steps" not in page


def test_ranks_find_the_same(finished: Path, tmp_path: Path, on_ranks: Callable[..., str]) -> None:
    run_cases(on_ranks, 3, {"plate": CASE}, tmp_path)
    found, other = (
        json.loads((folder / "solution.json").read_text())
        for folder in (finished, tmp_path / "plate")
    )
    assert other["flows"] == pytest.approx(found["flows"], rel=1e-8)
    assert other["mean"] == pytest.approx(found["mean"], rel=1e-9)


# --- from Python ----------------------------------------------------------------------------------

BOX = Box((2, 2, 3))
SIDES: dict[str, Any] = {
    "west": {"kind": "fixed"},
    "east": {"kind": "fixed", "value": 1.0},
    "north": {"kind": "flux", "value": "z"},
    "top": {"kind": "robin", "h": H, "ambient": "y"},
}
# What a rank knows about its own elements alone, or about all of the mesh.
ON_RANKS = """
import json, sys
import numpy as np
import groundswell as gs
from groundswell.errors import InputError
from groundswell.exchange.mpi_communicator import get_communicator

box, degree = gs.poisson.Box((2, 2, 3)), 4
sides = json.loads('''SIDES''')

def flows(elements):
    at = gs.poisson.nodes(box, degree, elements)
    by_element = gs.poisson.nodes(box, 1, elements).mean(axis=1)
    given = {"conductivity": 1 + by_element[:, 0], "screening": at[..., 2]}
    with gs.poisson.Problem(box, degree, sides, **given, tolerance=1e-13) as problem:
        both = problem.flows(problem.solve(np.stack([at[..., 0], 3 * at[..., 1]])))
        alone = problem.flows(problem.solve(by_element[:, 2]))
        assert (problem.elements == gs.poisson.own_elements(box)).all()
        try:
            problem.solve(np.zeros(7))
        except InputError as error:
            return [{side: each.tolist() for side, each in both.items()}, alone, str(error)]

found = [flows(gs.poisson.own_elements(box)), flows(np.arange(box.count))]
if get_communicator().first:
    open(sys.argv[1], "w").write(json.dumps(found))
""".replace("SIDES", json.dumps(SIDES))


def test_flows_of_a_problem() -> None:
    """Of several solutions and components, against the balance and single solutions."""
    with gs.poisson.Problem(BOX, 4, SIDES, conductivity=K, tolerance=1e-13) as problem:
        both = problem.solve([1.0, "x"], values={"east": [1.0, 2.0]})
        flows = problem.flows(both)
        assert [*flows] == ["north", "top", "west", "east"]
        first, second = problem.solve(1.0), problem.solve("x", values={"east": 2.0})
        for n, alone in enumerate((problem.flows(first, 1.0), problem.flows(second))):
            assert {side: both[n] for side, both in flows.items()} == pytest.approx(alone, rel=1e-9)
        assert sum(problem.flows(first.values, 1.0).values()) == pytest.approx(-1.0, rel=1e-9)
        assert problem.flows(second.values, "x", values={"east": 2.0}) == problem.flows(second)
        again = problem.flows(both.values, [1.0, "x"], values={"east": [1.0, 2.0]})
        np.testing.assert_equal(again, flows)


@pytest.mark.parametrize(
    ("choose", "said"),
    [
        (lambda first, last: first, "u is not the last solution .* give also the source and"),
        (lambda first, last: last.values, "u is not the last solution"),
        (lambda first, last: (last.values[:2], 1.0), r"u has shape \(2, 8\); give \(12, 8\)"),
    ],
)
def test_flows_that_cannot_be_found(choose: Any, said: str) -> None:
    with gs.poisson.Problem(BOX, 1, SIDES) as problem:
        chosen = choose(problem.solve(1.0), problem.solve(2.0))
        with pytest.raises(InputError, match=said):
            problem.flows(*chosen if isinstance(chosen, tuple) else (chosen,))


def test_ranks_give_values_of_their_own_elements(
    tmp_path: Path, on_ranks: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run_to_json(on_ranks, 3, ON_RANKS, tmp_path)
    monkeypatch.setattr(sys, "argv", ["alone", str(tmp_path / "alone.json")])
    exec(ON_RANKS, {})
    (wanted, whole) = json.loads((tmp_path / "alone.json").read_text())
    assert wanted == whole and "(12,)" in wanted[2] and "alone" not in wanted[2]
    for flows, alone, said in found:
        for side, each in flows.items():
            assert each == pytest.approx(wanted[0][side], rel=1e-8)
        assert alone == pytest.approx(wanted[1], rel=1e-8)
        assert "those of this rank's elements alone (4, 125) and (4,)" in said
