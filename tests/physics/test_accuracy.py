"""The earthquake solver against problems with known answers, and those problems against mistakes.

Every tolerance has to mean something, so the second half breaks the kernels on purpose, by a per
cent or half a step, and requires that a problem notices.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from groundswell.backends import open_backend
from groundswell.errors import InputError
from groundswell.solvers.earthquake import solver, source_injection
from groundswell.verify import SOLVERS, Check, load_problem, problem_names, run_checks

NAMES = problem_names("earthquake")


def show(checks: list[Check]) -> list[str]:
    return [f"{c.name}: {c.value:.4g} {c.unit} ({c.tolerance}) {c.note}" for c in checks]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_solver_comes_close_enough(name: str) -> None:
    checks = load_problem(name)(open_backend("cpu"), False)
    print(*show(checks), sep="\n")
    assert checks
    assert not show([check for check in checks if not check.passed])


# --- what the problems notice --------------------------------------------------------------------

# Kernel file, what stands there, what is put in its place, and the problem that must fail.
MISTAKES = {
    "near coefficient 1 % too large": (
        "stencil.h",
        "return FMA(near_weight<STEP>(),",
        "return FMA(REAL(1.01) * near_weight<STEP>(),",
        "waves:plane_waves",
    ),
    "far coefficient 1 % too large": (
        "stencil.h",
        "-far_weight<STEP>() *",
        "-REAL(1.01) * far_weight<STEP>() *",
        "waves:plane_waves",
    ),
    "shear modulus on edges 1 % too large": (
        "stress.h",
        "REAL(4) * RECIPROCAL(soft.xz)",
        "REAL(4.04) * RECIPROCAL(soft.xz)",
        "waves:plane_waves",
    ),
    "density on faces of one cell": (
        "update.h",
        "rho[c] + rho[c - STEP_X]",
        "rho[c] + rho[c]",
        "energy:conservation",
    ),
    "moment half a step late": (
        "sources.h",
        "const double when = static_cast<double>(clock[0]) * DT_EXACT",
        "const double when = (static_cast<double>(clock[0]) - 0.5) * DT_EXACT",
        "waves:time_order",
    ),
    "force half a step late": (
        "sources.h",
        "(static_cast<double>(clock[0]) + 0.5) * DT_EXACT",
        "static_cast<double>(clock[0]) * DT_EXACT",
        "waves:time_order",
    ),
    "moment 1 % too large": (
        "sources.h",
        "-= DT * injected_rate",
        "-= REAL(1.01) * DT * injected_rate",
        "fullspace:double_couple",
    ),
    "force 2 % too large": (
        "sources.h",
        "+= DT * REAL(2) /",
        "+= DT * REAL(2.04) /",
        "lamb:vertical_force",
    ),
    "velocities above the surface one row up their slope": (
        "surface.h",
        "SHEAR_REACH * HZ * d",
        "HZ * d",
        "energy:conservation",
    ),
    "surface without reach": (
        "surface.h",
        "SHEAR_REACH",
        "REAL(1)",
        "lamb:vertical_force",
    ),
    "free surface 1 % off its transpose": (
        "surface.h",
        "REAL(2) * SHEAR_REACH * HZ * pull",
        "REAL(2.02) * SHEAR_REACH * HZ * pull",
        "energy:conservation",
    ),
    "layers that forget the free surface": (
        "surface.h",
        "if (LAYERS_X > 0 &&",
        "if (false &&",
        "reciprocity:exchange",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_problem_notices(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, right, wrong, problem = MISTAKES[mistake]
    kernels = shutil.copytree(solver.KERNELS, tmp_path / "kernels")
    text = (kernels / file).read_text()
    assert right in text
    (kernels / file).write_text(text.replace(right, wrong))
    monkeypatch.setattr(solver, "KERNELS", kernels)
    expect_failure(problem)


@pytest.mark.slow
def test_a_problem_notices_that_surface_forces_move_half_a_cell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_injection, "_BUOYANCY_FACTORS", (1, 1, 1))
    expect_failure("reciprocity:exchange")
    expect_failure("lamb:vertical_force")


def expect_failure(problem: str) -> None:
    checks = load_problem(f"earthquake/{problem}")(open_backend("cpu"), False)
    print(*show(checks), sep="\n")
    assert not all(check.passed for check in checks)


# --- the framework -------------------------------------------------------------------------------


def test_a_check_passes_on_its_limit_and_never_without_a_number() -> None:
    assert Check.at_most("a", 2.0, 2.0).passed and not Check.at_most("a", 2.1, 2.0).passed
    assert Check.at_least("a", 3.8, 3.8).passed and not Check.at_least("a", 3.7, 3.8).passed
    assert Check.near("a", 1.5, 2.0, 0.5).passed and not Check.near("a", 1.4, 2.0, 0.5).passed
    for value in (float("nan"), float("inf")):
        assert not Check.at_most("a", value, 2.0).passed
        assert not Check.at_least("a", value, 2.0).passed
        assert not Check.near("a", value, 2.0, 0.5).passed


def test_checks_run_in_order_and_say_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def problem(backend: object, full: bool) -> list[Check]:
        return [Check.at_most(f"full {full}", 1.0, 2.0)]

    monkeypatch.setattr("groundswell.verify.load_problem", lambda name: problem)
    seen: list[str] = []
    checks = run_checks("earthquake", full=True, progress=seen.append)
    assert seen == NAMES
    assert problem_names(None) == [name for solver in SOLVERS for name in problem_names(solver)]
    assert [check.name for check in checks] == ["full True"] * len(NAMES)


def test_a_solver_without_problems_is_refused() -> None:
    with pytest.raises(
        InputError, match="'tides' has no verification; allowed: earthquake, cavity, poisson"
    ):
        run_checks("tides")


@pytest.mark.slow
@pytest.mark.parametrize("name", problem_names("cavity"))
def test_the_cavity_comes_close_enough(name: str) -> None:
    checks = load_problem(name)(open_backend("cpu"), False)
    print(*show(checks), sep="\n")
    assert checks and all(check.passed for check in checks)
