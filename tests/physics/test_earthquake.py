"""The earthquake solver against problems with known answers, and those problems against mistakes.

Every tolerance has to mean something, so the second half breaks the kernels on purpose, by a per
cent or half a step, and requires that a problem notices.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from variants import short_and_long

from groundswell import registry
from groundswell.backends import open_backend
from groundswell.errors import InputError, install
from groundswell.solvers.earthquake import source_injection, step_source
from groundswell.verify import (
    Check,
    Row,
    lacks,
    load_problem,
    needs,
    problem_names,
    run_problems,
)

NAMES = problem_names("earthquake")
LONG = [
    "earthquake/absorption:long_run",
    "earthquake/absorption:reflection",
    "earthquake/absorption:static_offset",
    "earthquake/attenuation:quality",
    "earthquake/green:moments",
    "earthquake/half_memory:seismograms",
    "earthquake/layered:gaussian",
    "earthquake/layered:loh1",
    "earthquake/layered:loh3",
    "earthquake/layered_halfspace:interfaces_off_faces",
    "earthquake/layered_halfspace:interfaces_on_faces",
    "earthquake/layered_halfspace:model_file",
    "earthquake/reciprocity:exchange",
    "earthquake/ruptures:tpv3",
    "earthquake/sea:ice_on_water",
    "earthquake/sea:sources_below_water",
    "earthquake/yielding:shear_pulse",
]


def show(checks: list[Check]) -> list[str]:
    return [f"{c.name}: {c.value:.4g} {c.unit} ({c.tolerance}) {c.note}" for c in checks]


@pytest.mark.parametrize("name", short_and_long(NAMES, LONG))
def test_the_solver_comes_close_enough(name: str) -> None:
    checks = list(load_problem(name)(open_backend("cpu"), False))
    print(*show(checks), sep="\n")
    assert checks
    assert not show([check for check in checks if not check.passed])


# --- what the problems notice --------------------------------------------------------------------

# Kernel file, what stands there, what is put in its place, and the problem that must fail.
MISTAKES = {
    "near coefficient 1 % too large": (
        "stencil.h",
        "return FMA(near_weight<A>(),",
        "return FMA(REAL(1.01) * near_weight<A>(),",
        "waves:plane_waves",
    ),
    "far coefficient 1 % too large": (
        "stencil.h",
        "-far_weight<A>() *",
        "-REAL(1.01) * far_weight<A>() *",
        "waves:plane_waves",
    ),
    "shear modulus on edges 1 % too large": (
        "stress.h",
        "REAL(4) * RECIPROCAL(soft.xz)",
        "REAL(4.04) * RECIPROCAL(soft.xz)",
        "waves:plane_waves",
    ),
    "interfaces without corrections": (
        "rows.h",
        "return rows[static_cast<index_t>(CORRECTIONS) * k + C];",
        "return C < ALONG_Z ? REAL(1) : REAL(0);",
        "interfaces:normal_incidence",
    ),
    "isotropic rows": (
        "stress.h",
        "FMA(matter.across_z, d.dx_vx + d.dy_vy, bulk)",
        "bulk",
        "energy:conservation",
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
    "rock that yields where four shear stresses have a mean 1 % larger": (
        "yield_condition.h",
        "quarter = REAL(0.25)",
        "quarter = REAL(0.2525)",
        "yielding:shear_pulse",
    ),
    "a normal stress that grows where rock yields": (
        "relax_yielding.h",
        "set(yy, c, FMA(-own,",
        "set(yy, c, FMA(own,",
        "yielding:dissipation",
    ),
    "soil whose edges lose 1 % more": (
        "soil.h",
        "lost = FMA(part, trial, lost);\n  own",
        "lost = FMA(REAL(1.01) * part, trial, lost);\n  own",
        "soil:shear_pulse",
    ),
    "layers that forget the free surface": (
        "surface.h",
        "if (LAYERS_X > 0 &&",
        "if (false &&",
        "reciprocity:exchange",
    ),
}


EVERY_DAY = ("far coefficient 1 % too large",)
RARE = [mistake for mistake in MISTAKES if mistake not in EVERY_DAY]


@pytest.mark.parametrize("mistake", short_and_long(MISTAKES, RARE))
def test_a_problem_notices(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, right, wrong, problem = MISTAKES[mistake]
    kernels = shutil.copytree(step_source.KERNELS, tmp_path / "kernels")
    text = (kernels / file).read_text()
    assert right in text
    (kernels / file).write_text(text.replace(right, wrong))
    monkeypatch.setattr(step_source, "KERNELS", kernels)
    expect_failure(problem)


@pytest.mark.full
def test_a_problem_notices_that_surface_forces_move_half_a_cell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_injection, "_BUOYANCY_FACTORS", (1, 1, 1))
    expect_failure("reciprocity:exchange")
    expect_failure("lamb:vertical_force")


def expect_failure(problem: str) -> None:
    checks = list(load_problem(f"earthquake/{problem}")(open_backend("cpu"), False))
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


def passes(backend: object, full: bool) -> Iterator[Check]:
    yield Check.at_most(f"full {full}", 1.0, 2.0)


@needs("no_such_library", extra="tides")
def misses(backend: object, full: bool) -> Iterator[Check]:
    raise AssertionError("it must not be run")
    yield


def breaks(backend: object, full: bool) -> Iterator[Check]:
    yield Check.at_most("the first", 3.0, 2.0)
    raise ValueError("the second is broken")


PROBLEMS = {"a/x:passes": passes, "a/x:breaks": breaks, "a/x:lacks": misses, "b/y:passes": passes}


@pytest.fixture
def problems(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two solvers whose problems pass, fail, break and cannot be run."""
    monkeypatch.setattr("groundswell.verify.problem_names", lambda solver: [*PROBLEMS, "b/gone:x"])

    def load(name: str) -> object:
        return PROBLEMS[name]

    monkeypatch.setattr("groundswell.verify.load_problem", load)


@pytest.mark.usefixtures("problems")
def test_rows_come_one_by_one_and_go_on_after_failures() -> None:
    """What cannot be run is told before anything runs."""
    begun: list[str] = []
    rows = run_problems(None, full=True, progress=begun.append)
    skipped, gone = next(rows), next(rows)
    assert (skipped.problem, skipped.status, begun) == ("a/x:lacks", "skipped", [])
    assert skipped.message == f"needs no_such_library; {install('tides')}"
    assert (gone.problem, gone.status, begun) == ("b/gone:x", "failed", [])
    assert gone.message == "KeyError: 'b/gone:x'"
    assert next(rows).check == Check.at_most("full True", 1.0, 2.0)
    assert begun == ["a/x:passes"]
    wrong, broken, last = rows
    assert (wrong.status, broken.status, last.status) == ("failed", "failed", "passed")
    assert (broken.check, broken.message) == (None, "ValueError: the second is broken")
    assert last.problem == "b/y:passes" == begun[-1]


@pytest.mark.usefixtures("problems")
def test_rows_as_json() -> None:
    rows = [row.as_dict() for row in run_problems(None)]
    json.dumps(rows, allow_nan=False)
    assert rows[2] | {"passed": True, "status": "passed", "value": 1.0} == rows[2]
    assert rows[0]["status"] == "skipped" and "value" not in rows[0]
    infinite = Row("a/x:y", "failed", Check.at_most("a", float("inf"), 1.0))
    assert infinite.as_dict()["value"] is None


def test_problems_of_all_solvers() -> None:
    every = [name for solver in registry.names() for name in problem_names(solver)]
    assert sorted(problem_names(None)) == sorted(every)


def test_misfits_need_obspy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundswell.verify.find_spec", lambda module: None)
    problem = load_problem("earthquake/layered:loh1")
    assert lacks(problem) == [f"needs obspy; {install('seismology')}"]


def test_a_solver_without_problems_is_refused() -> None:
    with pytest.raises(InputError, match='no solver is called "tides"'):
        run_problems("tides")


LONG_OF_CAVITIES = [
    "cavity/convection:cube",
    "cavity/lid:reynolds_100",
    "cavity/lid:reynolds_1000",
    "cavity/lid_profiles:cube_1000",
    "cavity/solids:block",
    "cavity/solids:layers",
    "cavity/stretched:cube",
    "cavity/stretched:lid",
    "cavity/symmetry:centre",
]


# These take minutes to hours without a GPU, and check nothing if not in full.
ONLY_IN_FULL = ("cavity/tall:oscillating", "cavity/lid_profiles:square_5000")
OF_CAVITIES = [name for name in problem_names("cavity") if name not in ONLY_IN_FULL]


@pytest.mark.parametrize("name", short_and_long(OF_CAVITIES, LONG_OF_CAVITIES))
def test_the_cavity_comes_close_enough(name: str) -> None:
    checks = list(load_problem(name)(open_backend("cpu"), False))
    print(*show(checks), sep="\n")
    assert checks and all(check.passed for check in checks)
