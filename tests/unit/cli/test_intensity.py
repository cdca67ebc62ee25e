"""The command `intensity`: the same measures from every format of seismograms."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import rmtree

import pytest
import xarray
from result_files import write_stations, write_summary

from groundswell.cli import main
from groundswell.seismology.case.outputs import SeismogramOutput
from groundswell.seismology.formats.export import export_seismograms
from groundswell.seismology.formats.intensity import read_intensity
from groundswell.seismology.formats.seismograms import read_seismograms

OPTIONS = ["--periods", "0.5 s,1,4", "--damping", "0.1"]
Output = pytest.CaptureFixture[str]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Seismograms of three stations in HDF5, miniSEED and SAC, and a summary."""
    folder = tmp_path / "results"
    folder.mkdir()
    write_stations(folder, count=3, samples=120)
    array = read_seismograms(folder / "seismograms.h5")
    export_seismograms([array], SeismogramOutput(formats=("sac", "mseed")), folder)
    write_summary(folder, {"solver": "earthquake", "files": ["seismograms.h5"]})
    return folder


def test_measures_of_a_results_folder(results: Path, capsys: Output) -> None:
    assert main(["intensity", str(results), *OPTIONS]) == 0
    shown = capsys.readouterr().out
    assert "N.S00" in shown and "PSA up to" in shown
    found = read_intensity(results / "intensity.nc")
    assert list(found.period) == [0.5, 1, 4] and found.attrs["damping"] == 0.1
    made = {"intensity.nc", "intensity.csv", "response_spectra.png"}
    assert made <= {path.name for path in results.iterdir()}
    assert {*json.loads((results / "summary.json").read_text())["files"]} > made


def test_every_format_has_the_same_measures(results: Path, tmp_path: Path, capsys: Output) -> None:
    found = []
    places = ["seismograms.h5", "seismograms.mseed", "sac", ""]
    for n, name in enumerate(places):
        output = tmp_path / f"out{n}"
        if not name:  # a results folder with SAC files only
            for each in ("seismograms.h5", "seismograms.mseed"):
                (results / each).unlink()
        command = ["intensity", str(results / name), *OPTIONS, "--output", str(output), "--json"]
        assert main(command) == 0
        content = json.loads(capsys.readouterr().out)
        assert len(content["stations"]) == 3 and content["folder"] == str(output)
        found.append(read_intensity(output / "intensity.nc").sortby("station"))
    for other in found[1:]:
        for name in found[0].data_vars:
            xarray.testing.assert_allclose(other[name].variable, found[0][name].variable, rtol=1e-5)


def test_mistakes_are_named(results: Path, tmp_path: Path, capsys: Output) -> None:
    lone = tmp_path / "lone"
    lone.mkdir()
    for path in sorted((results / "sac").iterdir())[:2]:
        (lone / path.name).write_bytes(path.read_bytes())
    empty = tmp_path / "empty"
    empty.mkdir()
    mistakes = {
        (str(tmp_path / "nowhere"),): "does not exist",
        (str(empty),): "has no seismograms",
        (str(lone),): "has no component Z",
        (str(results / "summary.json"),): "cannot be read",
        (str(results), "--periods", "0.5,x"): "an option cannot be used:\n  periods[1]",
        (str(results), "--output", str(results / "summary.json")): "summary.json cannot be written",
        (str(results), "--measures", "sa"): "measures[0]",
        (str(results), "--damping", "1"): "damping",
    }
    for options, message in mistakes.items():
        assert main(["intensity", *options]) == 2
        assert message in capsys.readouterr().err
    rmtree(empty)
