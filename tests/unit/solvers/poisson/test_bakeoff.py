"""Bake-off problems and the storage of vectors in the benchmark, on problems of a few elements."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from dense_spectral_elements import assembled

from groundswell.backends import Backend, open_backend
from groundswell.bench import Session, benchmark, measure
from groundswell.bench.tables import show
from groundswell.errors import InputError
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.solvers.poisson.benchmarks import FULL, Sizes, Sweep, restrict
from groundswell.solvers.poisson.benchmarks.bakeoff import KEYS, make_solver, shared_cubes, size_at
from groundswell.solvers.poisson.benchmarks.draw import draw
from groundswell.solvers.poisson.benchmarks.problems import Cubes
from groundswell_rivals.poisson.bakeoff import PROBLEMS
from groundswell_rivals.poisson.gauss_operator import MASS
from groundswell_rivals.poisson.storage import (
    STORAGES,
    Nekbone,
    assembled_cg,
    fused_cg,
    scattered_cg,
)

SWEEP = Sweep((1, 3), (8.0, 27.0, 216.0), iterations=20)
SMALL = Sizes(stream=0, dofs=0, degrees=(), edges={3: (1, 2)}, bakeoff=SWEEP)


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


@pytest.fixture(scope="module")
def session(backend: Backend) -> Session:
    return Session(backend, SerialCommunicator(), SMALL)


@pytest.fixture(scope="module")
def measured(session: Session) -> dict[str, Any]:
    """All tables of a clone that these sizes have rows of."""
    every = benchmark("poisson")
    chosen = [table for table in every.tables if table.name in (*KEYS, "bp_peaks", "storage")]
    some = replace(every, tables=chosen, prepare=lambda session: {"bandwidth": 1e9})
    with patch.object(Backend, "measure_bandwidth", lambda backend: 1e9):  # it takes a second
        return measure(some, session, subject="poisson")


def test_sizes_of_all_problems(measured: dict[str, Any]) -> None:
    for key in KEYS:
        metrics = ["stored"] if key < "bp5" else ["stored", "affine"]
        kinds = [
            (n, e, metric)
            for n, e in ((1, 2), (1, 3), (1, 6), (3, 1), (3, 2))
            for metric in metrics
        ]
        rows = measured[key]
        assert [(row["degree"], row["edge"], row["metric"]) for row in rows] == kinds
        components = 3 if int(key[2]) % 2 == 0 else 1
        for row in rows:
            n, e = row["degree"], row["edge"]
            assert (row["problem"], row["dofs"]) == (key.upper(), components * (n * e) ** 3)
            assert row["assembled"] == components * (n * e + 1) ** 3
            assert row["throughput"] == pytest.approx(row["dofs"] / row["seconds"])
            assert row["share"] == pytest.approx(
                row["bytes_per_dof"] * row["throughput"] / measured["bandwidth"]
            )


def test_bytes_of_an_iteration(measured: dict[str, Any]) -> None:
    """As docs/performance/poisson.md counts them, with factors at (N + 2)^3 points."""
    counts = {"bp1": (1, 8, 1), "bp3": (1, 48, 1), "bp4": (3, 48, 1), "bp5": (1, 48, 0)}
    for key, (components, factors, more) in counts.items():
        row = next(row for row in measured[key] if (row["degree"], row["edge"]) == (3, 2))
        nodes, values, points = 8 * 4**3, 7**3, 8 * (4 + more) ** 3
        moved = factors * points + 8 * nodes + components * (16 * nodes + 8 * 6.3 * values)
        assert row["bytes_per_dof"] * row["dofs"] == pytest.approx(moved, rel=1e-3)


def test_components_converge_alike(measured: dict[str, Any]) -> None:
    """All components have the same load; the larger meshes need more than 20 iterations."""
    for scalar, vector in (("bp1", "bp2"), ("bp3", "bp4"), ("bp5", "bp6")):
        pairs = [*zip(measured[scalar], measured[vector], strict=True)]
        compared = [pair for pair in pairs if (pair[0]["degree"], pair[0]["edge"]) == (3, 2)]
        assert compared
        for one, several in compared:
            assert several["residual"] == pytest.approx(one["residual"], rel=1e-3)
            assert 1e-8 < one["residual"] < 0.1


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_solutions_of_problems_with_gauss_points(session: Session, problem: Any) -> None:
    """More iterations than values solve exactly: the product with the solution is the load."""
    every = shared_cubes(session, 3, 1)
    longer = replace(session, sizes=replace(SMALL, bakeoff=replace(SWEEP, iterations=200)))
    backend, mask = session.backend, every.inside if problem.is_fixed else np.ones(4**3)
    solver = make_solver(longer, problem, every, "stored")
    load = np.broadcast_to(every.load * mask, solver.b.shape)
    backend.assign(solver.b, load)
    solver.solve(1e-13)
    x = np.array(backend.to_host(solver.x))
    operator = problem.operator(backend, problem.on(every), "stored")
    y = backend.zeros((*x.shape[:-1], every.space.dofs.size), "f8")
    energies = backend.zeros((1,), "f8")
    for launch in operator.launches(np.arange(1), backend.to_device(x), y, energies):
        launch()
    product = np.zeros_like(x)
    product[..., every.space.dofs.ravel()] = y
    assert np.abs(product * mask - load).max() <= 1e-9 * np.abs(load).max()
    assert np.abs(x).max() > 0 and np.all(x * (1 - mask) == 0)


# --- peaks ----------------------------------------------------------------------------------------


def test_size_at_a_share_of_the_peak() -> None:
    assert size_at([10.0, 1000.0], [0.0, 10.0], 0.8) == (pytest.approx(10 * 100**0.8), False)
    assert size_at([1.0, 10.0, 100.0], [9.0, 10.0, 8.0], 0.8) == (1.0, True)
    assert size_at([1.0, 10.0, 100.0, 1000.0], [1.0, 10.0, 2.0, 9.0], 0.5)[0] < 10
    assert size_at([5.0], [3.0], 0.8) == (5.0, True)


def test_peaks(measured: dict[str, Any]) -> None:
    kinds = {(row["problem"], row["degree"], row["metric"]) for row in measured["bp_peaks"]}
    assert len(kinds) == len(measured["bp_peaks"]) == 2 * (4 + 2 * 2)
    for row in measured["bp_peaks"]:
        rows = [
            r
            for r in measured[row["problem"].lower()]
            if (r["degree"], r["metric"]) == (row["degree"], row["metric"])
        ]
        assert row["peak"] == max(r["throughput"] for r in rows)
        assert min(r["dofs"] for r in rows) <= row["n_80"] <= row["dofs"]


# --- storage --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nekbone(backend: Backend) -> Nekbone:
    return Nekbone(backend, Cubes.on(backend, SerialCommunicator(), 3, 2))


def test_every_storage_solves_nekbones_problem(nekbone: Nekbone) -> None:
    """(S + 0.1 I) u = b inside, by a dense solver."""
    space, inside = nekbone.cubes.space, nekbone.cubes.inside > 0
    matrix, _, ids = assembled(nekbone.cubes.box, 3, 0.0)
    places = np.searchsorted(ids, space.sharing.ids)
    dense = (np.asarray(matrix) + 0.1 * np.eye(len(ids)))[np.ix_(places, places)]
    exact = np.zeros(space.size)
    exact[inside] = np.linalg.solve(dense[np.ix_(inside, inside)], nekbone.load[inside])
    found = {}
    for make in (scattered_cg, assembled_cg, fused_cg):
        solver = make(nekbone, 200)
        load = nekbone.split(nekbone.load) if make is scattered_cg else nekbone.load
        nekbone.backend.assign(solver.b, load)
        solver.solve()
        found[make] = np.array(nekbone.backend.to_host(solver.x))
    assert np.abs(found[scattered_cg] - exact[space.dofs.ravel()]).max() <= 1e-9
    for make in (assembled_cg, fused_cg):
        assert np.abs(found[make] - exact).max() <= 1e-9


def test_storages_beside_each_other(measured: dict[str, Any]) -> None:
    rows = measured["storage"]
    assert [row["storage"] for row in rows] == [*STORAGES]
    assert {(row["degree"], row["edge"]) for row in rows} == {(3, 2)}
    assert rows[0]["gain"] == 1
    for row in rows:
        assert row["gain"] == pytest.approx(rows[0]["seconds"] / row["seconds"])
        assert row["residual"] < 1e-12
    moved = [row["bytes_per_dof"] for row in rows]
    assert moved[0] > moved[1] > moved[2]


def test_tables_and_pictures(
    measured: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show(benchmark("poisson").tables, measured)
    said = capsys.readouterr().out
    assert "nekRS, GH200" in said and "N + 2 Gauss points" in said and "scattered" in said
    path = tmp_path / "bench_poisson.png"
    draw(measured, path)
    assert (tmp_path / "bench_poisson_bakeoff.png").stat().st_size > 50_000
    assert not path.exists()


# --- sizes ----------------------------------------------------------------------------------------


def test_sizes_that_are_selected() -> None:
    every = FULL["cpu"]
    some = restrict(every, [3, 9], 3e4)
    assert some.bakeoff.degrees == (3, 9) and max(some.bakeoff.dofs) == 3e4
    assert some.degrees == (3, 9) and some.dofs == 30_000
    assert not some.edges and some.solves == {}
    assert restrict(every, [7], None).edges == {7: every.edges[7]}
    assert restrict(every, [], inf) == every
    assert Sweep((1,), (1e7,)).edges(1) == []  # too many elements


@pytest.mark.parametrize(("degrees", "most"), [([0], None), ([16], None), ([], 0.5), ([], np.nan)])
def test_sizes_that_there_are_not(degrees: list[int], most: float | None) -> None:
    with pytest.raises(InputError, match="allowed: 1"):
        restrict(FULL["cpu"], degrees, most)


def test_masses_are_not_fixed() -> None:
    assert [p.is_fixed for p in PROBLEMS] == [MASS not in p.title for p in PROBLEMS]
