"""What flows in through sides, and what a run reports of its solution."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import shuffled, space_on
from ranks import run_cases

import groundswell as gs
from groundswell.backends import open_backend
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
    u, _ = problem.solve(1e-13)
    flows, mass = problem.measure_flows(u), problem.system.mass
    terms = problem.evaluate()
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
