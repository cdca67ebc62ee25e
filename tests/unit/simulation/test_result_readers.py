"""Readers of results folders: what they read, and what they say where it is missing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray

from groundswell.errors import InputError
from groundswell.outputs.recording import RecordableField
from groundswell.simulation.readers import FileReader, RecordReader

FIELDS = {"p": RecordableField("p", "Pa", "pressure")}
RECORDS = RecordReader(FIELDS, {"map.nc"}, "run the case with output.record")


def written(folder: Path, *names: str) -> None:
    """Datasets, and a summary that lists them."""
    for name in names:
        xarray.Dataset({"p": ("x", np.arange(3.0))}).to_netcdf(folder / name, engine="h5netcdf")
    (folder / "summary.json").write_text(json.dumps({"files": [*names, "waves.csv"]}))


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("high water")
    assert FileReader("note.txt", Path.read_text)(tmp_path) == "high water"


def test_a_missing_file_names_its_cure(tmp_path: Path) -> None:
    reader = FileReader("note.txt", Path.read_text, "run the case with output.notes = true")
    with pytest.raises(InputError, match=r"note\.txt does not exist; run the case with output\."):
        reader(tmp_path)
    with pytest.raises(FileNotFoundError):  # where the function itself says what is missing
        FileReader("note.txt", Path.read_text)(tmp_path)


def test_records_are_the_files_without_other_readers(tmp_path: Path) -> None:
    written(tmp_path, "map.nc", "plane.nc", "points.nc")
    found = RECORDS(tmp_path)
    assert list(found) == ["plane.nc", "points.nc"]
    assert found["plane.nc"]["p"].values.tolist() == [0, 1, 2]


def test_no_records_name_their_cure(tmp_path: Path) -> None:
    written(tmp_path, "map.nc")
    assert RECORDS.open(tmp_path) == {}
    with pytest.raises(InputError, match=r"no recorded fields; run the case with output\.record"):
        RECORDS(tmp_path)
