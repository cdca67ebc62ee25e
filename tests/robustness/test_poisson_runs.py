"""Runs of Poisson's equation: on several ranks, stopped, and asked for what cannot be done."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import Any

import h5py
import numpy as np
import pytest
from matplotlib.image import imread
from ranks import run_cases
from variants import long_variants

import groundswell
from groundswell.cli import main
from groundswell.errors import InputError
from groundswell.report.html import write_report
from groundswell.simulation.solve import Solve
from groundswell.spectral_elements.vtkhdf import LagrangeElements

pytestmark = pytest.mark.timeout(120)

Command = Callable[..., subprocess.CompletedProcess[str]]
FINAL = {"convergence.csv", "solution.json", "solution.vtkhdf", "summary.json"}
ROD = Path(__file__).parents[2] / "examples" / "poisson" / "cylinder.msh"


def write_case(folder: Path, **sections: str) -> Path:
    """A box with sides of all kinds, which meet at an edge; sections may be given as text."""
    given = {
        "mesh": 'kind = "box"\ncounts = [3, 2, 2]\nperiodic = ["z"]',
        "equation": 'source = "x * y"\nexact = "x"',
        "boundaries": """
            west = { kind = "fixed", value = "y" }
            south = { kind = "fixed", value = "2 + x" }
            east = { kind = "flux", value = "y" }
            """,
        "method": "degree = 4",
        "output": "",
        "run": "",
    } | sections
    path = folder / "case.toml"
    tables = "".join(f"[{name}]\n{text}\n" for name, text in given.items())
    path.write_text(f'solver = "poisson"\ntitle = "t"\n{tables}')
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def numbers(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "solution.json").read_text()))


# --- what is left behind --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return groundswell.run(write_case(tmp_path_factory.mktemp("alone"))).folder


def test_results_fit_together(alone: Path) -> None:
    assert names(alone) == FINAL
    found, solution = numbers(alone), LagrangeElements.read(alone / "solution.vtkhdf")
    table = np.loadtxt(alone / "convergence.csv", delimiter=",", skiprows=1)
    assert found["converged"] and table[-1, 0] == found["iterations"] == len(table) - 1
    assert table[-1, 2] == pytest.approx(found["relative_residual"]) and table[-1, 2] <= 1e-10
    u, error = solution.fields["u"], solution.fields["error"]
    assert np.allclose(u - error, solution.points[:, 0], atol=1e-12)  # "exact" says x
    assert found["error_max"] == pytest.approx(np.abs(error).max(), rel=0.05)
    x, y, _ = solution.points.T
    west, south = (x == 0) & (y >= 0.5), y == 0  # what jumps at their edge is not linear beside it
    assert np.allclose(u[west], y[west], atol=1e-12)
    assert np.allclose(u[south], 2 + x[south], atol=1e-12)  # at the edge the last side counts
    summary = json.loads((alone / "summary.json").read_text())
    assert summary["throughput"]["unit"] == "MDOF/s" and summary["case"]["unknowns"] == 13 * 9 * 8


def test_the_ends_of_a_period_are_apart(alone: Path) -> None:
    """In the file: elements would reach from one end to the other."""
    solution = LagrangeElements.read(alone / "solution.vtkhdf")
    assert len(solution.points) == 13 * 9 * 9
    widths = np.ptp(solution.points[solution.connectivity], axis=1)
    assert np.allclose(widths, [1 / 3, 1 / 2, 1 / 2])


def test_pictures_and_the_report(alone: Path) -> None:
    page = write_report(alone).read_text()
    assert "The solution from outside, and cut open" in page and "Residuals by iteration" in page
    for name in ("solution.png", "convergence.png"):
        assert imread(alone / name)[..., :3].std() > 0.05
        (alone / name).unlink()
    (alone / "report.html").unlink()


def test_fields_that_are_not_wanted(tmp_path: Path) -> None:
    found = groundswell.run(write_case(tmp_path, output="fields = false")).folder
    assert names(found) == FINAL - {"solution.vtkhdf"}


@pytest.mark.parametrize("quiet", [[], *long_variants((["-q"],))])
def test_a_solution_that_is_none_yet(tmp_path: Path, command: Command, quiet: list[str]) -> None:
    """It is written, and a warning goes with it."""
    case, folder = write_case(tmp_path, method="iterations = 2"), tmp_path / "results"
    done = command("run", case, "--output", folder, "--no-pictures", *quiet)
    assert done.returncode == 0
    assert "not converged: after 2 iterations" in " ".join(done.stderr.split())
    assert not numbers(folder)["converged"]
    summary = json.loads((folder / "summary.json").read_text())
    (warning,) = summary["warnings"]
    assert warning.startswith("not converged: after 2 iterations")
    assert "not converged: after 2" in write_report(folder).read_text()


# --- several ranks --------------------------------------------------------------------------------


@pytest.mark.full
def test_two_ranks_find_the_same(on_ranks: Callable[..., str], tmp_path: Path, alone: Path) -> None:
    """In blocks of a box, and parts of a file."""
    rod = write_case(
        tmp_path,
        mesh=f'kind = "gmsh"\nfile = "{ROD}"',
        equation='source = 4\nexact = "1 - x**2 - y**2"',
        boundaries='wall = { kind = "fixed", value = "1 - x**2 - y**2" }',
    )
    apart = groundswell.run(rod, folder=tmp_path / "apart").folder
    cases = {"rod": tomllib.loads(rod.read_text())}
    box = write_case(tmp_path, run="processes = [2, 1, 1]")
    cases["box"] = tomllib.loads(box.read_text())
    run_cases(on_ranks, 2, cases, tmp_path)
    assert_same(tmp_path / "box", alone)
    assert_same(tmp_path / "rod", apart)
    assert numbers(tmp_path / "rod")["error_max"] < 1e-9
    summary = json.loads((tmp_path / "box" / "summary.json").read_text())
    assert summary["ranks"]["processes"] == [2, 1, 1] and names(tmp_path / "box") == FINAL


def assert_same(folder: Path, other: Path) -> None:
    """To rounding, which the tolerance lets through."""
    with h5py.File(folder / "solution.vtkhdf") as a, h5py.File(other / "solution.vtkhdf") as b:
        for name in ("Points", "Connectivity", "PointData/u"):
            assert np.allclose(a["VTKHDF"][name], b["VTKHDF"][name], rtol=0, atol=1e-9), name
    found, wanted = numbers(folder), numbers(other)
    assert abs(found["iterations"] - wanted["iterations"]) <= 2
    for name in ("smallest", "largest", "error_max", "error_l2"):
        assert found[name] == pytest.approx(wanted[name], abs=1e-9)


# --- what cannot be done --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({"boundaries": ""}, "screening: must be above 0 where no side is fixed or robin"),
        ({"equation": 'source = "foo(x)"'}, 'has the unknown name "foo"'),
        ({"equation": 'source = "1 / x"'}, "the source is inf at (0, 0, 0)"),
        ({"equation": 'exact = "log(x - 1)"'}, "equation.exact is nan at (0, 0, 0)"),
        (
            {"boundaries": 'west = { kind = "fixed", value = "1 / y" }'},
            "the value of side west is inf at (0, 0, 0)",
        ),
        ({"mesh": 'kind = "file"\nfile = "case.toml"'}, "an unknown format, .toml; allowed: .msh"),
        ({"mesh": f'kind = "gmsh"\nfile = "{ROD}"'}, "its sides are wall, bottom or top"),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, sections: dict[str, str], said: str) -> None:
    """Before anything is written."""
    with pytest.raises(InputError, match=re.escape(said)):
        groundswell.run(write_case(tmp_path, **sections))
    assert not (tmp_path / "results").exists()


def test_bad_input_ends_with_one_message(tmp_path: Path, command: Command) -> None:
    done = command("run", write_case(tmp_path, equation='source = "1 / x"'), "-q")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert done.stderr.count("\n") == done.stderr.count("groundswell:") == 1


def test_runs_stop_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing could be kept, and nothing is left that a later run would stumble over."""

    def stopped_soon(solve: Solve, *arguments: Any) -> None:
        Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
        run(solve, *arguments)

    run = Solve.run
    monkeypatch.setattr(Solve, "run", stopped_soon)
    many = 'kind = "box"\ncounts = [14, 14, 14]'
    case = write_case(tmp_path, mesh=many, method="degree = 4\ntolerance = 1e-300")
    assert main(["run", str(case), "-q"]) == 130
    said = capsys.readouterr().err
    assert "stopped by SIGTERM; a direct solve keeps no checkpoint" in said
    assert not (tmp_path / "results").exists()


def test_too_few_iterations_are_told(tmp_path: Path, command: Command) -> None:
    case = write_case(tmp_path, method="degree = 4\niterations = 7")
    done = command("run", case, "--no-pictures")
    assert done.returncode == 0, done.stderr
    assert "7 iterations, residual" in done.stderr and "not converged" in done.stderr
    found = numbers(tmp_path / "results")
    assert found["iterations"] == 7 and not found["converged"]
