"""The command `export`, and the same from Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from ensemble_plans import DEPTH, depths, write_plan
from here_executor import HereExecutor
from observed_motion import SITES, motion, write_run

import groundswell as gs
from groundswell.cli import main
from groundswell.ensembles.base_case import BaseCase
from groundswell.errors import InputError

Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("export") / "run", 0.0231)


def test_files_of_a_run_are_added_to_its_list(run: Path, capsys: Output) -> None:
    command = ["export", str(run), "--format", "text", "--format", "segy", "--quantity"]
    assert main([*command, "displacement", "--components", "ZRT", "--shot", "12"]) == 0
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [*map(Path.exists, written)] == [True] * 4
    names = {f"text/{n}.displacement.txt" for n in ("GS.NEAR", "GS.FAR", "LONE")}
    listed = json.loads((run / "summary.json").read_text())["files"]
    assert {*listed} == names | {"displacement.segy", "seismograms.h5"}
    content = (run / "displacement.segy").read_bytes()
    assert int.from_bytes(content[3600 + 8 : 3600 + 12], "big") == 12
    assert int.from_bytes(content[3216:3218], "big") == 23100


def test_motion_is_available_in_python(run: Path) -> None:
    result = gs.Result(run)
    assert result.motion() is not None and "motion" in dir(result)
    found = result.motion("velocity", interval=0.05)
    assert np.allclose(found.values, motion(found["time"].values), atol=1e-3)
    towards = result.motion("acceleration", "ZRT")
    assert towards["component"].values.tolist() == ["R", "T", "Z"]
    assert towards.attrs["units"] == "m s-2" and towards.sizes["station"] == len(SITES)
    with pytest.raises(InputError, match="an argument cannot be used:\n  quantities"):
        result.motion("speed")
    with pytest.raises(InputError, match="export_interval"):
        result.motion(interval=-1.0)


def test_python_exports_to_another_folder(run: Path, tmp_path: Path) -> None:
    paths = gs.Result(run).export(tmp_path, formats=("text",), export_interval=0.025)
    assert [path.parent for path in paths] == [tmp_path / "text"] * 3
    rows = np.loadtxt(tmp_path / "text" / "LONE.velocity.txt")
    assert np.allclose(np.diff(rows[:, 0]), 0.025)


def test_a_run_of_an_ensemble_is_exported_like_its_results_folder(
    tmp_path: Path, capsys: Output
) -> None:
    plan = write_plan(tmp_path, 1)
    gs.ensembles.run(plan, executor=HereExecutor)
    group, formats = tmp_path / "plan.zarr" / "run-0001", ("sac", "text", "segy")
    command = ["export", str(group), *(word for name in formats for word in ("--format", name))]
    assert main(command) == 2 and "name a folder" in capsys.readouterr().err
    assert main([*command, "--shot", "3", "--output", str(tmp_path / "files")]) == 0
    case = BaseCase.of(gs.ensembles.load_plan(plan)).case({DEPTH: depths(1)[0]})
    alone = gs.run(case, folder=tmp_path / "alone", quiet=True)
    expected = alone.export(tmp_path / "expected", formats=formats, shot=3)
    for path in expected:
        found = tmp_path / "files" / path.relative_to(tmp_path / "expected")
        assert found.read_bytes() == path.read_bytes(), path


def test_what_has_no_seismograms_is_refused(tmp_path: Path, capsys: Output) -> None:
    assert main(["export", str(tmp_path), "--format", "text"]) == 2
    assert "a run in the store of an ensemble" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["run", "--interval", "0"], "export_interval"),
        (["run", "--format", "segy", "--interval", "0.05"], "--interval of a command"),
        (["run", "--shot", "0"], "shot"),
        ([".", "--format", "text"], "has no seismograms.h5 or pressure.h5"),
        (["run", "--format", "gse2"], "must be mseed, sac, text or segy"),
        (["run", "--output", "run/summary.json"], "summary.json cannot be written"),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(
    run: Path,
    options: list[str],
    message: str,
    capsys: Output,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("obspy")
    monkeypatch.chdir(run.parent)
    before = sorted(run.rglob("*"))
    assert main(["export", *options]) == 2
    assert message in capsys.readouterr().err
    assert sorted(run.rglob("*")) == before
