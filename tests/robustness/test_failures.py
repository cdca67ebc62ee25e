"""Machines that lack something, folders that cannot be written and runs that fail: clear ends."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from result_comparison import assert_same_results, explosion_source, result_arrays
from small_cases import write_small_case

import groundswell
from groundswell.case import load_case
from groundswell.cli import main
from groundswell.errors import GroundswellError, RunFailed
from groundswell.simulation import checkpoint
from groundswell.solvers.earthquake.setup import prepare

pytestmark = pytest.mark.timeout(120)

Write = Callable[..., Path]
Command = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]


# --- machines that lack something ---------------------------------------------------------------


def test_no_gpu(write_case: Write, tmp_path: Path, command: Command) -> None:
    done = command("run", write_case(tmp_path), "--backend", "cuda", CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 2
    assert "CUDA backend does not work" in done.stderr and 'backend = "cpu"' in done.stderr
    assert not (tmp_path / "results").exists()


def test_no_compiler(write_case: Write, tmp_path: Path, command: Command) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = command("run", write_case(tmp_path), CXX="/nowhere/c++", PATH=str(empty))
    assert done.returncode == 2
    assert "no C++ compiler" in done.stderr and "apt install g++" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_compiler_that_fails(write_case: Write, tmp_path: Path, command: Command) -> None:
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\necho 'internal compiler error: gremlins' >&2\nexit 1\n")
    compiler.chmod(0o755)
    done = command(
        "run", write_case(tmp_path), CXX=str(compiler), GROUNDSWELL_CACHE=str(tmp_path / "cache")
    )
    assert done.returncode == 2 and "gremlins" in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_kernel_cache_that_cannot_be_written(
    write_case: Write, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "file").touch()
    done = command("run", write_case(tmp_path), GROUNDSWELL_CACHE=str(tmp_path / "file" / "cache"))
    assert done.returncode == 2 and "GROUNDSWELL_CACHE" in done.stderr
    assert not (tmp_path / "results").exists()


def test_processes_that_start_together_with_an_empty_cache(tmp_path: Path, start: Start) -> None:
    """Poisson has many small kernels, so the processes often compile the same one at once."""
    case, cache = write_small_case(tmp_path, "poisson"), tmp_path / "cache"
    quiet = ("-q", "--no-pictures")
    running = [
        start("run", case, "--output", tmp_path / str(n), *quiet, GROUNDSWELL_CACHE=str(cache))
        for n in range(3)
    ]
    for process in running:
        _, error = process.communicate(timeout=90)
        assert process.returncode == 0, error
    for n in (1, 2):
        assert_same_results(tmp_path / str(n), tmp_path / "0")
    assert len(list(cache.glob("*.so"))) > 5
    left = [path.name for path in cache.iterdir() if path.suffix != ".so"]
    assert [name for name in left if not name.endswith(".lock")] == []


# --- places that cannot be written --------------------------------------------------------------


def test_no_folder_can_be_made(
    write_case: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["run", str(write_case(tmp_path)), "--output", str(tmp_path / "file" / "r")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_no_permission(
    write_case: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(**_: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("groundswell.simulation.results_folder.TemporaryFile", refuse)
    assert main(["run", str(write_case(tmp_path)), "-q"]) == 2
    assert "no permission to write" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_a_checkpoint_of_a_run_that_is_still_going_is_not_to_be_deleted(
    write_case: Write, tmp_path: Path, start: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    case = write_case(tmp_path, time={"duration": "200 s"}, run={"checkpoint": {"steps": 20}})
    saved = tmp_path / "results" / checkpoint.NAME
    going = start("run", case, "-q", "--no-pictures")
    try:
        until = time.monotonic() + 60
        while not saved.exists() and going.poll() is None:
            assert time.monotonic() < until
            time.sleep(0.01)
        for flags in ([], ["--resume"]):
            assert main(["run", str(case), "-q", "--no-pictures", *flags]) == 2
            told = capsys.readouterr().err
            assert "another run (process " in told
            assert "delete" not in told and going.poll() is None
    finally:
        going.kill()
        going.communicate()


# --- runs that fail -----------------------------------------------------------------------------


def names(folder: Path) -> set[str]:
    """Names in a folder; none if there is no folder."""
    return {path.name for path in folder.glob("*")}


def overflowing() -> list[dict[str, Any]]:
    """Each source alone stays within single precision; their sum does not."""
    force = {"kind": "force", "force": ["1e50 N", 0, 0], "x": 1150, "y": 1150, "depth": 1150}
    return [force | {"time_function": {"kind": "brune", "rise": "0.1 s"}}] * 8


def test_a_field_that_overflows(
    write_case: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = write_case(tmp_path, source=overflowing())
    assert main(["run", str(case), "-q"]) == 1
    error = capsys.readouterr().err
    assert "not finite at any point" in error and "t = " in error
    assert any(name in error for name in ("vx", "vy", "vz"))
    assert names(tmp_path / "results") == set()


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_a_field_that_overflows_on_a_gpu(
    write_case: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = write_case(tmp_path, source=overflowing(), run={"backend": "cuda"})
    assert main(["run", str(case), "-q"]) == 1
    assert "is not finite at" in capsys.readouterr().err


def test_the_first_bad_value_is_named(tiny: Callable[..., dict[str, Any]]) -> None:
    from groundswell.backends import open_backend
    from groundswell.solvers.earthquake.case import EarthquakeCase
    from groundswell.solvers.earthquake.solver import Earthquake

    setup = prepare(EarthquakeCase.from_dict(tiny()))
    found = Earthquake(setup, open_backend("cpu"))
    found.enqueue_finite_check()
    found.check_health(0)
    found.fields["vy"].interior[4, 9, 11] = np.inf  # 4 layer cells before x and y, none above z
    found.enqueue_finite_check()
    with pytest.raises(
        RunFailed, match=r"^vy is not finite at x = 750 m, y = 550 m, depth = 450 m"
    ):
        found.check_health(12)


def test_an_unexpected_failure_leaves_no_final_names(
    write_case: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = write_case(tmp_path)
    earlier = groundswell.run(case, folder=tmp_path / "results")
    before = result_arrays(earlier.folder)

    def fail(*_: Any) -> None:
        raise KeyError("gremlin")

    monkeypatch.setattr("groundswell.outputs.ring_buffer.Output.collect", fail)
    changed = write_case(tmp_path, source=explosion_source())
    assert main(["run", str(changed), "-q", "--overwrite"]) == 1
    error = capsys.readouterr().err
    assert "gremlin" in error and "bug" in error and "Traceback" not in error
    assert result_arrays(tmp_path / "results") == before  # the earlier run's results are whole
    assert main(["--debug", "run", str(changed), "-q", "--overwrite"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_format_that_fails_leaves_the_shaking_map(
    write_case: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RunFailed("full")

    monkeypatch.setattr("groundswell.seismology.formats.export.write_sac", fail)
    case = write_case(tmp_path, output={"seismograms": {"formats": ["sac"]}})
    with pytest.raises(RunFailed, match="full"):
        groundswell.run(case, folder=tmp_path / "results")
    assert list((tmp_path / "results").rglob("shaking_map.nc*"))


def test_errors_are_of_one_family(write_case: Write, tmp_path: Path) -> None:
    """`except GroundswellError` is enough for a script."""
    with pytest.raises(GroundswellError):
        load_case(write_case(tmp_path, time={"step": "-1 s"}))
