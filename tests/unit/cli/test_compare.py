"""The command `compare`: what it prints and writes, and its messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from observed_motion import observed_stream, write_run

from groundswell.cli import main

Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, of which `later` is 0.5 s late and has another interval."""
    folder = tmp_path_factory.mktemp("compare")
    write_run(folder / "run")
    write_run(folder / "later", 0.025, delay=0.5)
    return folder


def test_another_run_is_compared(files: Path, capsys: Output) -> None:
    command = ["compare", str(files / "run"), str(files / "later"), "--band", "0.1", "2"]
    assert main([*command, "--components", "ZRT", "--window", "8:36"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["Test", "Velocity, 0.1 to 2 Hz, 3 stations"]
    assert lines[3].split()[:2] == ["station", "component"]
    assert lines[4].split()[:6] == ["GS.NEAR", "Z", "8", "to", "36", "-0.500"]
    folder = files / "run" / "comparison"
    made = {f"comparison/{path.name}" for path in folder.iterdir()}
    assert {"comparison/comparison.csv", "comparison/overview.png"} <= made and len(made) == 6
    assert made <= {*json.loads((files / "run" / "summary.json").read_text())["files"]}


def test_the_result_is_available_as_json(files: Path, tmp_path: Path, capsys: Output) -> None:
    pytest.importorskip("obspy")
    observed = tmp_path / "observed.mseed"
    observed_stream(0.3, 2.0).write(str(observed), format="MSEED")
    output = ["--output", str(tmp_path / "out"), "--no-pictures", "--json"]
    assert main(["compare", str(files / "run"), str(observed), "--channel", "HH?", *output]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["folder"] == str(tmp_path / "out") and len(content["rows"]) == 9
    assert content["medians"]["shift"] == pytest.approx(-0.3, abs=0.005)
    assert content["medians"]["ratio"] == pytest.approx(0.5, rel=1e-3)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"comparison.csv", "comparison.json"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["later", "--window", "1-5"], '--window "1-5": must be two times in s, such as 0:10'),
        (["later", "--window", "9:1"], "windows[0]"),
        (["later", "--band", "3", "1"], "band = "),
        (["later", "--origin", "noon"], "origin = "),
        (["later", "--output", "run/summary.json"], "summary.json cannot be written"),
        (["nothing.mseed"], "nothing.mseed does not exist"),
        (["later", "--components", "XYZ"], "must be ZNE or ZRT"),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(
    files: Path,
    options: list[str],
    message: str,
    capsys: Output,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(files)
    before = sorted(files.rglob("*"))
    assert main(["compare", "run", *options]) == 2
    assert message in capsys.readouterr().err
    assert sorted(files.rglob("*")) == before


def test_results_must_exist(files: Path, tmp_path: Path, capsys: Output) -> None:
    assert main(["compare", str(tmp_path / "none"), str(files / "later")]) == 2
    assert "none does not exist; give the results folder" in capsys.readouterr().err
