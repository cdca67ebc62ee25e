"""A solver in a package of its own gets all commands, ranks and checkpoints without a line here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import plugin
import pytest
import xarray
from ranks import COMMAND, run_on_ranks
from source_collector import SourceCollector

import groundswell as gs
from groundswell import registry
from groundswell.case import read_case
from groundswell.errors import InputError, RunFailed

pytestmark = pytest.mark.timeout(240)

Run = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = Path(__file__).parents[1] / "support" / "interrupted_run_program.py"
WAVE = "cells 20 24 16\nspacing 0.1\nspeed 340\n\nduration 0.02\npulse 1 1.2 0.8 0.3\n"


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> str:
    return plugin.python_path(tmp_path_factory.mktemp("metadata"))


@pytest.fixture(scope="module")
def groundswell(command: Run, searched: str) -> Run:
    """The command where the package is installed."""
    return lambda *arguments: command(*arguments, PYTHONPATH=searched)


@pytest.fixture
def known(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with plugin.available(tmp_path_factory.mktemp("metadata")):
        yield


@pytest.fixture(scope="module")
def case(groundswell: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `new` has written."""
    path = tmp_path_factory.mktemp("case") / "case.toml"
    done = groundswell("new", "acoustics", path)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def results(groundswell: Run, case: Path) -> Path:
    """What `run` has left."""
    done = groundswell("run", case)
    assert done.returncode == 0, done.stderr
    assert "step 66 of 66, t = 10 of 10 ms" in done.stderr  # a line of progress
    return case.parent / "results"


def pressure(folder: Path) -> np.ndarray:
    with xarray.open_dataset(folder / "pressure.nc", engine="h5netcdf") as found:
        return found["p_final"].values


def test_check_tells_what_the_solver_says(groundswell: Run, case: Path) -> None:
    done = groundswell("check", case, "--ranks", "3", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["cells"] == [48, 48, 48] and found["steps"] == 66
    assert found["sharing"]["processes"] == [1, 1, 3]
    assert found["sharing"]["largest_block"] == [48, 48, 16]
    assert found["sharing"]["bytes_sent"] == 2 * 48 * 48 * 4  # both faces of a slab


def test_a_run_leaves_results_pictures_and_a_report(groundswell: Run, results: Path) -> None:
    summary = json.loads((results / "summary.json").read_text())
    assert summary["files"] == ["pressure.nc", "pressure.png"]
    assert summary["versions"]["groundswell-acoustics"] == "1.0.0"
    p = pressure(results)
    assert p.shape == (48, 48, 48) and 0.01 < np.abs(p).max() < 1
    assert groundswell("report", results).returncode == 0
    page = (results / "report.html").read_text()
    assert "A pulse in a periodic box" in page and "Pressure in the middle plane" in page


def test_ranks_change_no_bit(case: Path, results: Path, searched: str) -> None:
    folder = case.parent / "two"
    arguments = ("run", case, "--output", folder, "-q", "--no-pictures")
    done = run_on_ranks(2, COMMAND, *arguments, PYTHONPATH=searched)
    assert done.returncode == 0, done.stderr
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["ranks"]["count"] == 2 and summary["tuning"]["measurements"]
    assert pressure(folder).tobytes() == pressure(results).tobytes()


@pytest.mark.full
def test_a_stopped_run_goes_on_with_fewer_ranks(
    groundswell: Run, tmp_path: Path, searched: str
) -> None:
    path = tmp_path / "pulse.wave"
    path.write_text(WAVE)
    whole = groundswell("run", path, "--output", tmp_path / "whole", "-q", "--no-pictures")
    assert whole.returncode == 0, whole.stderr
    program = (PROGRAM, "SIGTERM", "1", "10")
    stopped = run_on_ranks(2, *program, "run", path, "-q", PYTHONPATH=searched)
    assert stopped.returncode == 130, stopped.stderr
    assert groundswell("run", path, "-q").returncode == 2  # nothing is lost by forgetting
    done = groundswell("run", path, "--resume", "-q", "--no-pictures")
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert 10 <= summary["resumed_at"] < summary["steps"]
    assert pressure(tmp_path / "results").tobytes() == pressure(tmp_path / "whole").tobytes()


def test_verify_compares_with_the_exact_wave(groundswell: Run) -> None:
    done = groundswell("verify", "acoustics", "--json")
    assert done.returncode == 0, done.stderr
    checks = json.loads(done.stdout)
    assert len(checks) == 2 and all(check["passed"] for check in checks)


def test_its_own_tests_pass(searched: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(plugin.PACKAGE)]
    environment = {**os.environ, "PYTHONPATH": searched}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cells 20 24\n", "line 1: give cells, spacing"),
        ("\ncells 20 x 16\n", "line 2: 'x' is not a finite number"),
        ("cells 20 24 16\n", "lacks duration, pulse, spacing, speed"),
        (WAVE.replace("16", "0"), r"grid.cells\[2\] = 0: must be at least 1"),
        (WAVE.replace("speed", "spead"), "line 3: give cells"),
    ],
)
@pytest.mark.usefixtures("known")
def test_bad_waves_are_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "bad.wave"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        gs.check(path)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.usefixtures("known")
def test_its_kernels_compile_for_gpus(precision: str) -> None:
    nvrtc = pytest.importorskip("groundswell.backends.nvrtc")
    pytest.importorskip("cuda.bindings.nvrtc", reason="needs nvidia-cuda-nvrtc and cuda-core")
    backend, info = SourceCollector(), registry.find("acoustics")
    case = read_case(info.read_template()).with_run(precision=precision)
    info.load("solver")(info.load("prepare")(case), backend)
    (text,) = {source.text() for source in backend.sources if source.path.name == "wave.h"}
    _, found = nvrtc.compile_cubin(text, "sm_90")
    assert {kernel.kernel for kernel in found} == {"update_q", "update_p"}
    assert all(kernel.registers <= 40 and not kernel.spill_bytes for kernel in found)


@pytest.mark.usefixtures("known")
def test_values_that_are_not_finite_end_the_run(tmp_path: Path) -> None:
    """Without a line in the solver; the field, the position and the time are named."""
    path = tmp_path / "pulse.wave"
    path.write_text(WAVE)
    with gs.Simulation(path) as simulation:
        simulation.advance(3)
        h, solver = simulation.setup.grid.spacing[0], simulation.solver
        solver.fields["p"].array[:2] = np.nan  # ghosts do not count
        solver.enqueue_finite_check()
        solver.check_health(3)
        simulation.fields["q"][5, 7, 11] = np.nan
        solver.enqueue_finite_check()
        where = f"x = {11.5 * h:.6g} m, y = {7.5 * h:.6g} m, z = {5.5 * h:.6g} m"
        with pytest.raises(RunFailed, match=f"^q is not finite at {where}, at or before t = "):
            solver.check_health(3)
    with gs.Simulation(path) as simulation:
        simulation.fields["p"][...] = np.inf
        with pytest.raises(RunFailed, match="not finite"):
            simulation.advance()


@pytest.mark.usefixtures("known")
def test_python_has_the_solver_too(tmp_path: Path) -> None:
    """Under its name, live, from its own file format, and as a result."""
    assert "acoustics" in dir(gs) and gs.acoustics.info.name == "acoustics"
    path = tmp_path / "pulse.wave"
    path.write_text(WAVE)
    with gs.Simulation(path) as simulation:
        first = simulation.fields["p"].copy()
        assert simulation.advance(7) == 7
        assert simulation.fields["p"].shape == (16, 24, 20)
        assert (simulation.fields["p"] != first).any()
    result = gs.run(path, precision="double")
    assert result.folder == tmp_path / "results" and result.fields["p_final"].dtype == np.float64
