"""The Poisson benchmark: its tables and its picture, on problems of a few elements."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest
from dense_spectral_elements import space_on
from ranks import run_on_ranks

from groundswell.backends import open_backend
from groundswell.bench import Session, measure
from groundswell.bench.tables import show
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.meshes.box import Box
from groundswell.solvers.poisson.benchmarks import BENCHMARK, Sizes, Sweep, draw
from groundswell.solvers.poisson.benchmarks.bakeoff import (
    PROBLEMS,
    BakeoffProblem,
    make_solver,
)
from groundswell.solvers.poisson.benchmarks.problems import Cubes, processes
from groundswell.solvers.poisson.benchmarks.speed import time_iterations
from groundswell.solvers.poisson.benchmarks.tables import SOLVES, _peaks
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.element_operator import ElementOperator
from groundswell.solvers.poisson.fused_cg import FusedConjugateGradients
from groundswell_rivals.poisson.bakeoff import PROBLEMS as GAUSS_PROBLEMS

SMALL = Sizes(
    stream=4096,
    dofs=1000,
    degrees=(1, 3),
    edges={3: (1, 2), 15: (1,)},
    bakeoff=Sweep((7,), (14**3,), iterations=20),
    solves={7: (2,)},
)
KINDS = ("stored", "affine")  # of metrics, on a CPU
ON_RANKS = """
import sys
from groundswell.bench import run_bench
from groundswell.solvers.poisson import benchmarks as poisson
poisson.SIZES["cpu"] = poisson.Sizes(
    4096, 0, (), {3: (1, 2)}, poisson.Sweep((3,), (200.0,), 20), {7: (3,)}
)
run_bench("poisson", backend="cpu", output=sys.argv[1])
"""


@pytest.fixture(scope="module")
def said() -> list[str]:
    return []


@pytest.fixture(scope="module")
def alone(said: list[str]) -> dict[str, Any]:
    return measure(
        BENCHMARK, Session(open_backend("cpu"), SerialCommunicator(), SMALL, said.append)
    )


def test_what_is_measured_next_is_told(alone: dict[str, Any], said: list[str]) -> None:
    assert said == ["operator", "iterations", "peaks", "bp5", "bp6", "bp_peaks", "solves"]
    assert all(alone[name] for name in said)


def test_the_operator_and_its_roofline(alone: dict[str, Any]) -> None:
    """A roofline is what eq. 4 of Chalmers et al. says of so many elements."""
    assert [(row["degree"], row["metric"]) for row in alone["operator"]] == [
        (n, metric) for n in (1, 3) for metric in KINDS
    ]
    for row in alone["operator"]:
        n, elements = row["degree"] + 1, row["elements"]
        flops = elements * (12 * n**4 + 18 * n**3)
        assert row["gflops"] == pytest.approx(flops / row["seconds"] / 1e9)
        nodes = (row["degree"] * round(elements ** (1 / 3)) + 1) ** 3
        moved = 8 * nodes + {"stored": 68}.get(row["metric"], 12) * elements * n**3
        limit = min(flops * row["rate"] / moved, row["peak"])
        assert row["peak"] <= alone["peak"]
        assert row["roofline"] == pytest.approx(limit / 1e9)
        assert row["share"] == pytest.approx(row["gflops"] / row["roofline"])


def test_iterations(alone: dict[str, Any]) -> None:
    rows = alone["iterations"]
    assert [(r["degree"], r["edge"]) for r in rows[::2]] == [(3, 1), (3, 2), (15, 1)]
    for row in rows:
        n, e = row["degree"], row["edge"]
        assert (row["assembled"], row["dofs"]) == ((n * e + 1) ** 3, (n * e) ** 3)
        merit = e**3 * (12 * (n + 1) ** 4 + 34 * (n + 1) ** 3)
        assert row["fom"] == pytest.approx(merit / row["seconds"] / 1e9)
        assert row["throughput"] == pytest.approx(row["dofs"] / row["seconds"])
    assert rows[0]["residual"] < 1e-12  # more iterations than values


def test_one_count_of_degrees_of_freedom(alone: dict[str, Any]) -> None:
    """N^3 per element in all tables."""
    for name in ("operator", "iterations", "bp5", "bp6", "solves"):
        for row in alone[name]:
            components = 3 if name == "bp6" else 1
            assert row["dofs"] == components * row["degree"] ** 3 * row["elements"]


def test_efficiency_of_the_best_figure_of_merit() -> None:
    """That of the largest cubes, which each rank also has alone."""
    kind = {"degree": 15, "metric": "stored"}
    measured = {
        "iterations": [kind | {"fom": 90.0}, kind | {"fom": 80.0}],
        "weak": [kind | {"efficiency": 0.8}],
    }
    [row] = _peaks(Mock(measured=measured, comm=Mock(size=2)))
    assert (row["fom"], row["efficiency"]) == (90, 0.8)


def test_solutions_to_a_tolerance(alone: dict[str, Any]) -> None:
    jacobi, multigrid = alone["solves"]
    assert (jacobi["preconditioner"], multigrid["preconditioner"]) == ("jacobi", "multigrid")
    assert jacobi["converged"] and multigrid["converged"]
    assert jacobi["iterations"] > 3 * multigrid["iterations"] > 0
    assert jacobi["dofs"] == 14**3 and jacobi["seconds"] > 0
    [column] = [c for c in SOLVES.columns if c.head == "a million DOFs"]
    assert column.cell(jacobi | {"seconds": 14**3 * 2e-9}) == "2 ms"


@pytest.mark.full
def test_on_two_ranks(tmp_path: Path) -> None:
    """Two cubes, with the residual that one rank finds on both."""
    done = run_on_ranks(2, "-c", ON_RANKS, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((tmp_path / "bench_poisson_2_ranks.json").read_text())
    assert "operator" not in found and len(found["devices"]) == 2
    for row in found["iterations"]:
        elements, e = 2 * row["edge"] ** 3, row["edge"]
        assert (row["elements"], row["assembled"]) == (elements, (3 * e + 1) ** 2 * (6 * e + 1))
        assert row["throughput"] == pytest.approx(row["dofs"] / row["seconds"] / 2)
        # In a hundred iterations rounding grows to some tens of percent of so small a residual.
        assert row["residual"] == pytest.approx(residual(e, row["metric"]), rel=1, abs=1e-10)
    assert [row["metric"] for row in found["weak"]] == [*KINDS]
    for row in found["weak"]:
        assert row["edge"] == 2
        assert row["efficiency"] == pytest.approx(row["alone"] / row["seconds"])
    counts = [row["iterations"] for row in found["solves"]]
    assert counts[0] > 3 * counts[1] > 0
    for problem in (*GAUSS_PROBLEMS, *PROBLEMS):
        [row, *_] = found[problem.key]
        assert row["residual"] == pytest.approx(residual_of(problem), rel=1e-6)
        assert 1e-5 < row["residual"] < 0.5


def residual(edge: int, metric: str) -> float:
    """Of one rank, on the two cubes of two."""
    box = Box((edge, edge, 2 * edge))
    space = space_on(box, 3)
    backend = open_backend("cpu")
    cubes = Cubes(SerialCommunicator(), 3, edge, box, space)
    elements = ElementOperator(backend, space, Coefficients.screened(0.1), "f8", metric=metric)
    solver = FusedConjugateGradients(backend, elements, max_iterations=100)
    backend.assign(solver.b, cubes.load)
    residuals = solver.solve().residuals
    return float(residuals[-1] / residuals[0])


def residual_of(problem: BakeoffProblem) -> float:
    """After 20 iterations on one rank, on the two cubes of two."""
    box, comm, backend = Box((2, 2, 4)), SerialCommunicator(), open_backend("cpu")
    cubes = Cubes(comm, 3, 2, box, space_on(box, 3))
    session = Session(backend, comm, SMALL)
    solver = make_solver(session, problem, cubes, "stored")
    load = cubes.load * (cubes.inside if problem.is_fixed else 1.0)
    return time_iterations(backend, solver, load, comm)[1]


def test_a_load_knows_no_ranks() -> None:
    cubes = Cubes.on(open_backend("cpu"), SerialCommunicator(), 2, 2)
    ids = cubes.space.sharing.ids
    assert np.array_equal(
        cubes.load[np.argsort(ids)], np.sin(0.7 * np.arange(125)) + np.cos(1e-3 * np.arange(125))
    )


@pytest.mark.parametrize(
    ("ranks", "grid"),
    [(1, (1, 1, 1)), (2, (1, 1, 2)), (4, (1, 2, 2)), (8, (2, 2, 2)), (6, (1, 2, 3))],
)
def test_ranks_as_cubes(ranks: int, grid: tuple[int, int, int]) -> None:
    assert processes(ranks) == grid


def test_tables_and_picture(
    alone: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show(BENCHMARK.tables, alone)
    said = capsys.readouterr().out
    assert "1,051.5" in said and "MI100" in said  # theirs on one rank
    assert "2,101.4" in said and "2,774.9" in said  # their operators of degree 15
    [summit] = [line for line in said.splitlines() if "V100" in line and "45,294.6" in line]
    assert summit.endswith("943.6     89.7 %")  # as their text says of 48 ranks
    more = alone | {"ranks": 2, "devices": alone["devices"] * 2}
    (tmp_path / "bench_benchmark_2_ranks.json").write_text(json.dumps(more))
    module = sys.modules[draw.__module__]
    with patch.object(module, "_sweep", wraps=module._sweep) as sweep:
        draw(json.loads(json.dumps(alone)), tmp_path / "bench.png")
    assert [run["ranks"] for run in sweep.call_args.args[1]] == [1, 2]
    assert (tmp_path / "bench.png").stat().st_size > 20_000
