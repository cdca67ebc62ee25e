"""What a case is said to take of memory, beside what a run of it asks for."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from checked import cost
from counting_backend import Counted
from variants import long_variants

from groundswell.backends import Backend, open_backend
from groundswell.case.load import load_case
from groundswell.linear.coarse import factor_bytes
from groundswell.meshes.box import Box
from groundswell.solvers.poisson.make_solver import make_solver
from groundswell.solvers.poisson.setup import Setup, prepare
from groundswell.solvers.poisson.solver import Poisson
from groundswell.solvers.poisson.time_section import TimeSection
from groundswell.solvers.poisson.unsteady import UnsteadyPoisson

pytestmark = pytest.mark.each_value

BENT = "kershaw = { eps_y = 0.3, eps_z = 0.3 }"
CASES = [
    (1, 24, BENT, "multigrid", "double"),
    (3, 12, BENT, "jacobi", "single"),
    (7, 8, BENT, "none", "double"),
    (7, 6, "", "multigrid", "single"),
]
LONG = [
    (2, 14, "", "multigrid", "double"),
    (15, 3, "", "jacobi", "double"),
    (1, 24, "", "jacobi", "double"),
    (1, 30, "", "multigrid", "double"),
    (2, 27, "", "multigrid", "double"),
    (3, 12, "", "multigrid", "double"),
    (7, 6, BENT, "multigrid", "double"),
]


def setup_of(folder: Path, backend: str, *case: Any) -> Setup:
    degree, edge, deformed, preconditioner, precision = case
    (folder / "case.toml").write_text(f"""
        solver = "poisson"
        title = "t"
        [mesh]
        kind = "box"
        counts = [{edge}, {edge}, {edge}]
        {deformed}
        [equation]
        screening = 1.0
        source = "x"
        [method]
        degree = {degree}
        preconditioner = "{preconditioner}"
        iterations = 4
        [run]
        backend = "{backend}"
        precision = "{precision}"
        """)
    return prepare(load_case(folder / "case.toml"))


@pytest.mark.parametrize("case", [*CASES, *long_variants((case,) for case in LONG)])
@pytest.mark.parametrize("curved", [False, True])
def test_it_is_what_a_run_asks_for(
    tmp_path: Path, case: Any, curved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test uses one thread: how much several need at the same time depends on chance."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    if curved and (case[2] or case[0] == 1):
        pytest.skip("is bent otherwise")
    setup = setup_of(tmp_path, "cpu", *case)
    if curved:
        bent = Box(setup.mesh.counts, deform=lambda p: p + 0.1 * p[..., ::-1] ** 2, order=2)
        setup = replace(setup, mesh=bent)
    backend = require_estimate(setup)
    if not case[2] and not curved:  # else a GPU stores less
        device = cost(setup_of(tmp_path, "cuda", *case)).memory
        assert 0.65 * device <= backend.most <= 1.05 * device


TENSOR = ("2 + x", 0.1, 0.0, 3.0, "0.2 * y", 1.0)


@pytest.mark.parametrize(
    ("case", "coefficients"),
    [
        (CASES[2], {"conductivity": TENSOR}),
        (CASES[1], {"conductivity": "1 + x", "screening": "1 + y"}),
        *long_variants([(LONG[-1], {"conductivity": "1 + x", "screening": "1 + y"})]),
    ],
)
def test_coefficients_need_memory(
    tmp_path: Path, case: Any, coefficients: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    setup = setup_of(tmp_path, "cpu", *case)
    varying = setup.case.equation.model_copy(update=coefficients)
    require_estimate(replace(setup, case=setup.case.model_copy(update={"equation": varying})))


def test_steps_in_time_need_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    setup = setup_of(tmp_path, "cpu", *CASES[1])
    time = TimeSection(step=0.1, duration=1.0, order=3)
    require_estimate(replace(setup, case=setup.case.model_copy(update={"time": time})))


def make_and_use(setup: Setup, backend: Backend) -> Poisson | UnsteadyPoisson:
    """A solver that has found a solution, or has made its first steps and a later one."""
    run = make_solver(setup, backend)
    if isinstance(run, Poisson):
        run.solve()
        return run
    for _ in range(3):
        run.step()
    return run


def require_estimate(setup: Setup) -> Counted:
    """The memory that a run takes is what its estimate says; what it takes on the device."""
    backend = Counted()
    make_and_use(setup, open_backend("cpu")).close()  # imports and compiles what it needs
    tracemalloc.start()
    run = make_and_use(setup, backend)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    run.close()
    factors = factor_bytes(setup.mesh.count_nodes(1)) * setup.has_multigrid
    said = cost(setup).memory - factors  # which a library keeps where nobody counts
    assert 0.75 * said <= peak <= 1.05 * said
    return backend


def test_each_thread_needs_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only threads with work need memory: there are 32 shares of 128,000 nodes."""

    def of(threads: str) -> int:
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        return cost(setup_of(tmp_path, "cpu", 7, 20, BENT, "jacobi", "double")).memory

    one, two, many, more = map(of, ("1", "2", "32", "1000"))
    assert two > one and many - one == 31 * (two - one) and more == many


def test_gpus_store_nothing_of_straight_elements(tmp_path: Path) -> None:
    plain, bent = (
        cost(setup_of(tmp_path, "cuda", 7, 6, how, "jacobi", "double")).memory for how in ("", BENT)
    )
    assert plain == bent
