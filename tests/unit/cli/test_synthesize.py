"""`groundswell synthesize`: its files, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import h5py
import numpy as np
import pytest
from green_tensors import make_tensor

from groundswell.cli import main
from groundswell.cli.options import SeismogramFormat
from groundswell.seismology.case.outputs import Format
from groundswell.seismology.formats.seismograms import read_seismograms
from groundswell.seismology.green.store import write_store

Capture = pytest.CaptureFixture[str]
SLIP = (
    "x,y,depth,strike,dip,rake,area,slip,rise_time,onset\n"
    "1000,800,500,30,70,10,1e6,0.5,0.4,0.1\n1500,800,500,30,70,-20,2e6,0.3,0.5,0.2\n"
)
VARIATIONS = "rise_time,slip_scale,onset\n0.4,1,0\n0.5,2,0.1\n0.6,0.5,0\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a store of two stations, a rupture and variations."""
    for name in ("USC", "PAS"):
        tensor = make_tensor()
        tensor.attrs |= {"station": name, "title": "three runs"}
        write_store(tensor, tmp_path / f"{name}.h5", half=name == "PAS")
    (tmp_path / "slip.csv").write_text(SLIP)
    (tmp_path / "variations.csv").write_text(VARIATIONS)
    return tmp_path


def run(files: Path, *options: str) -> int:
    stores = [str(files / "USC.h5"), str(files / "PAS.h5")]
    return main(["synthesize", *stores, *options, "--output", str(files / "found")])


def test_seismograms_have_the_form_of_a_run_in_all_formats(files: Path, capsys: Capture) -> None:
    pytest.importorskip("obspy")
    formats = [option for of in SeismogramFormat for option in ("--format", of.value)]
    assert run(files, "--rupture", str(files / "slip.csv"), *formats) == 0
    printed = capsys.readouterr().out.split()
    assert all(Path(path).is_file() for path in printed)
    names = {Path(path).name for path in printed}
    assert {"seismograms.h5", "seismograms.mseed", "velocity.segy", "seismograms.png"} <= names
    assert {"GS.USC.velocity.txt", "GS.PAS.velocity.txt"} <= names and len(names) == 12
    found = read_seismograms(files / "found" / "seismograms.h5")
    assert found["station"].values.tolist() == ["GS.USC", "GS.PAS"]
    assert found.dtype == np.float32 and np.abs(found).max() > 0
    assert np.abs(found[0] - found[1]).max() < 1e-4 * np.abs(found).max()  # rounded to 16 bits
    assert found.attrs["magnitude"] == pytest.approx(4.88, abs=0.01)


def test_the_command_line_knows_all_formats_of_a_case() -> None:
    assert {"hdf5", *SeismogramFormat} == set(get_args(Format))


def test_a_code_too_long_for_a_format_is_found_before_the_work(
    files: Path, capsys: Capture
) -> None:
    tensor = make_tensor()
    tensor.attrs |= {"station": "PASADENA"}
    write_store(tensor, files / "long.h5", half=False)
    given = [str(files / "long.h5"), "--rupture", str(files / "slip.csv"), "--format"]
    assert main(["synthesize", *given, "text", "--output", str(files / "text")]) == 0
    assert main(["synthesize", *given, "mseed", "--output", str(files / "mseed")]) == 2
    error = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert "GS.PASADENA: the name must have at most 5 characters, for the format mseed" in error
    assert not (files / "mseed").exists()


def test_files_have_an_interval_of_their_own(files: Path, capsys: Capture) -> None:
    """The strain has samples 0.01 s apart, and those of SEG-Y are at most 0.032767 s apart."""
    given = ["--rupture", str(files / "slip.csv"), "--format", "segy", "--interval"]
    assert run(files, *given, "0.004") == 0
    content = (files / "found" / "velocity.segy").read_bytes()
    assert int.from_bytes(content[3216:3218], "big") == 4000
    assert run(files, *given, "0.04") == 2
    error = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert "interval of files: SEG-Y needs an interval of at most 0.032767 s" in error


def test_variations_have_a_file_of_their_own(files: Path) -> None:
    given = ["--rupture", str(files / "slip.csv"), "--variations", str(files / "variations.csv")]
    assert run(files, *given, "--slip-rate", "triangle", "--precision", "double") == 0
    with h5py.File(files / "found" / "variations.h5") as file:
        assert file["velocity"].shape == (3, 2, 3, 240)
        assert file["velocity"].dtype == np.float64
    assert (files / "found" / "variations.png").is_file()


def test_stores_can_be_made_of_stores(files: Path) -> None:
    assert run(files, "--store", str(files / "stores"), "--half") == 0
    assert sorted(path.name for path in (files / "stores").iterdir()) == ["GS.PAS.h5", "GS.USC.h5"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "give either --rupture or --store"),
        (["--rupture", "{slip}", "--store", "stores"], "give either --rupture or --store"),
        (["--rupture", "missing.csv"], "missing.csv"),
        (["--rupture", "{slip}", "--variations", "{slip}"], "has the column x"),
        (
            ["--rupture", "{slip}", "--variations", "{variations}", "--format", "sac"],
            "variations are written as HDF5 only",
        ),
        (["--rupture", "{slip}", "--format", "sac", "--format", "sac"], "sac"),
        (["--rupture", "{slip}", "--slip-rate", "box"], "must be brune, cosine or triangle"),
        (["--store", "{slip}"], "slip.csv cannot be written"),
    ],
)
def test_one_message_says_what_is_wrong(
    options: list[str], words: str, files: Path, capsys: Capture
) -> None:
    places = {"slip": files / "slip.csv", "variations": files / "variations.csv"}
    assert run(files, *(option.format(**places) for option in options)) == 2
    error = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert words in error and "Traceback" not in error
    assert not (files / "found").exists()


def test_a_folder_that_cannot_be_made_is_found_before_the_work(
    files: Path, capsys: Capture
) -> None:
    slip = str(files / "slip.csv")
    assert main(["synthesize", str(files / "USC.h5"), "--rupture", slip, "--output", slip]) == 2
    assert "slip.csv cannot be written" in capsys.readouterr().err
