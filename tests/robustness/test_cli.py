"""The command: what it prints where, with which exit code, and how quickly it answers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_output import unwrapped

from groundswell import registry
from groundswell.case.annotation import annotated
from groundswell.cli import main
from groundswell.errors import BackendError, GroundswellError, InputError, Interrupted, RunFailed
from groundswell.report.pictures import Picture

pytestmark = pytest.mark.timeout(120)


Write = Callable[..., Path]
Capture = pytest.CaptureFixture[str]


COMMANDS = (
    *("run", "check", "new", "convert", "verify", "bench", "info", "report"),
    *("ensemble", "synthesize", "intensity", "hazard"),
)
HEAVY = ("numpy", "h5py", "xarray", "matplotlib", "obspy", "scipy", "pyproj")


def test_ctrl_c_before_a_command_begins_leaves_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """While modules are imported, say."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("groundswell.cli._run", interrupt)
    assert main(["info"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_limit_of_the_session_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wherever it is met, such as in the cache of kernels."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(24, "Too many open files", "/cache/kernel.so")

    monkeypatch.setattr("groundswell.simulation.preparation.check", fail)
    assert main(["check", "case.toml"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("groundswell: /cache/kernel.so could not be written: Too many open")
    assert "ulimit -a" in error and "bug" not in error


# --- help ---------------------------------------------------------------------------------------


def test_help_names_every_command(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize("name", ["new", "verify", "bench"])
def test_help_names_the_solvers(name: str, capsys: Capture) -> None:
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert all(solver in out for solver in registry.names())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str, capsys: Capture) -> None:
    assert main([name, "--help"]) == 0
    assert f"groundswell {name}" in unwrapped(capsys.readouterr().out).partition("For example")[2]


def test_help_loads_nothing_heavy() -> None:
    code = f"""
import sys
from groundswell.cli import main
assert main(["run", "--help"]) == 0
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    path = os.pathsep.join(
        [str(Path(registry.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(
    "words", [["frobnicate"], ["run"], ["run", "case.toml", "--fast"], ["check", "a", "b"]]
)
def test_wrong_usage(words: list[str], capsys: Capture) -> None:
    assert main(words) == 2
    assert "Usage: groundswell" in capsys.readouterr().err


def test_a_backend_that_is_none(write_case: Write, tmp_path: Path, capsys: Capture) -> None:
    assert main(["run", str(write_case(tmp_path)), "--backend", "abacus"]) == 2
    assert "cuda" in capsys.readouterr().err
    assert main(["run", str(write_case(tmp_path)), "--backend", "gpu"]) == 2
    assert '"cuda"?' in capsys.readouterr().err


def test_set_replaces_values(write_case: Write, tmp_path: Path, capsys: Capture) -> None:
    words = [str(write_case(tmp_path)), "--json", "--set"]
    assert main(["check", *words, "run.precision=double", "--set", "title=A second title"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["precision"] == "double" and found["settings"]["title"] == '"A second title"'
    assert main(["check", *words, "run.precison=double"]) == 2
    assert 'did you mean "precision"?' in capsys.readouterr().err
    assert main(["check", *words, "run.precision"]) == 2
    assert "give PATH=VALUE" in capsys.readouterr().err


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (InputError("give [more]"), 2, "groundswell: give [more]\n"),
        (BackendError("no GPU"), 2, "groundswell: no GPU\n"),
        (RunFailed("it broke"), 1, "groundswell: it broke\n"),
        (GroundswellError("it broke"), 1, "groundswell: it broke\n"),
        (Interrupted("stopped"), 130, "groundswell: stopped\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (MemoryError("800 GB"), 1, "groundswell: out of memory (800 GB); use a smaller case\n"),
    ],
)
def test_exit_codes(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, error: BaseException, code: int, told: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("groundswell.cli.machine.describe_machine", fail)
    assert main(["info"]) == code
    assert capsys.readouterr().err == told


def test_a_bug_is_called_one(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def fail() -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("groundswell.cli.machine.describe_machine", fail)
    assert main(["info"]) == 1
    error = capsys.readouterr().err
    assert "ZeroDivisionError: division by zero" in error and "bug" in error
    assert "Traceback" not in error
    for words in (["--debug", "info"], ["info", "--debug"]):
        assert main(words) == 1
        assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    """`groundswell new ... | true`: no traceback, and the file is there."""
    path = os.pathsep.join(
        [str(Path(registry.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    )
    case = tmp_path / "case.toml"
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "groundswell", "new", "earthquake", str(case)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stderr
    process.stdout.close()
    error = process.stderr.read()
    assert process.wait(timeout=60) in (0, 1)
    assert "Traceback" not in error and "bug" not in error
    assert case.exists()


# --- run ----------------------------------------------------------------------------------------


def test_run_tells_what_it_did(write_case: Write, tmp_path: Path, capsys: Capture) -> None:
    case = write_case(tmp_path)
    assert main(["run", str(case), "--output", str(tmp_path / "out")]) == 0
    out, error = capsys.readouterr()
    for text in ("tiny", "MLUPS", "memory traffic", "wall time", "time steps", "shaking_map.png"):
        assert text in unwrapped(out)
    assert re.search(r"kernels +.*stress \d+ %.*\(in steps 50 to 57\)", unwrapped(out))
    assert "step 100 of 100" in error
    assert "warning: the sources have energy up to" in error
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"seismograms.png", "shaking_map.png", "surface.png", "summary.json"} <= files


def test_run_quietly(write_case: Write, tmp_path: Path, capsys: Capture) -> None:
    assert main(["run", str(write_case(tmp_path)), "-q", "--no-pictures"]) == 0
    assert capsys.readouterr() == ("", "")
    assert not list((tmp_path / "results").glob("*.png"))


def test_run_for_a_program(write_case: Write, tmp_path: Path, capsys: Capture) -> None:
    assert main(["run", str(write_case(tmp_path)), "--json", "--no-pictures"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["steps"] == 100 and found["folder"] == str(tmp_path / "results")
    assert found["bandwidth"]["used"] > 0 and found["throughput"]["unit"] == "MLUPS"
    written = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert written == {key: value for key, value in found.items() if key != "folder"}
    assert all((tmp_path / "results" / name).is_file() for name in found["files"])


def test_a_picture_that_fails_does_not_fail_the_run(
    write_case: Write, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(folder: Path) -> Path:
        raise RunFailed("disk full")

    picture = Picture("surface.nc", "surface.png", "Waves", fail)
    monkeypatch.setattr("groundswell.solvers.earthquake.plots.PICTURES", [picture])
    assert main(["run", str(write_case(tmp_path))]) == 0
    assert "warning: surface.png could not be drawn: disk full" in unwrapped(
        capsys.readouterr().err
    )


def test_report(write_case: Write, tmp_path: Path, capsys: Capture) -> None:
    assert main(["run", str(write_case(tmp_path)), "-q", "--no-pictures"]) == 0
    assert main(["report", str(tmp_path / "results")]) == 0
    page = tmp_path / "results" / "report.html"
    assert capsys.readouterr().out.split() == [str(page)]
    assert "tiny" in page.read_text()
    assert main(["report", str(tmp_path / "nowhere")]) == 2
    assert "summary.json does not exist" in capsys.readouterr().err


# --- new ----------------------------------------------------------------------------------------


def test_new_writes_a_case_that_can_be_checked(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "deep" / "quake.toml"
    assert main(["new", "earthquake", str(path)]) == 0
    assert f"groundswell check {path}" in capsys.readouterr().out
    info = registry.find("earthquake")
    assert path.read_text() == annotated(info.read_template(), info.load("case"))
    assert main(["check", str(path)]) == 0
    path.write_text("mine")
    capsys.readouterr()
    assert main(["new", "earthquake", str(path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert path.read_text() == "mine"


def test_new_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "earthquake"]) == 0
    assert (tmp_path / "case.toml").exists()


def test_new_of_an_unknown_solver(tmp_path: Path, capsys: Capture) -> None:
    assert main(["new", "earthquaek", str(tmp_path / "case.toml")]) == 2
    assert 'did you mean "earthquake"' in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
