"""Models that ranks read in parts: points of text files, and traces of SEG-Y files."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from segy_files import read_segy, write_segy
from thread_ranks import ThreadRank, run_on_threads

from groundswell.errors import DiskFull, InputError
from groundswell.seismology.case.model_files import ColumnsSection, SegySection
from groundswell.seismology.formats.segy_reader import SegyFile
from groundswell.seismology.media import point_files, text_columns, trace_values
from groundswell.seismology.media.models import open_model
from groundswell.seismology.media.rock_model import RockModel
from groundswell.seismology.media.text_columns import TextColumns

SHAPE = (5, 4, 3)  # depth, y, x
LINES = 7
HEAD = "x y depth vp vs rho\n"


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of scratch files; texts are read seven lines at a time."""
    monkeypatch.setattr(text_columns, "LINES", LINES)
    monkeypatch.setattr(point_files, "LINES", LINES)
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def points(seed: int = 4) -> tuple[list[str], Any]:
    """A line for each point, in random order, and the values (names, depth, y, x)."""
    rng = np.random.default_rng(seed)
    limits = [(3000, 6000), (500, 1700), (2000, 3000)]
    values = np.stack([rng.uniform(*of, SHAPE) for of in limits])
    z, y, x = (of.ravel() for of in np.indices(SHAPE, float))
    rows = np.stack([10 * x, 20 * y, 30 * z, *values.reshape(3, -1)]).T
    return [" ".join(map(repr, map(float, row))) for row in rng.permutation(rows)], values


def section(folder: Path, text: str) -> ColumnsSection:
    path = folder / "model.txt"
    path.write_text(text)
    return ColumnsSection(kind="columns", file=path)


def every_value(model: RockModel) -> Any:
    found = model.read(model.roles, *(slice(0, len(of)) for of in model.grid.nodes))
    return np.stack([found[name] for name in ("vp", "vs", "rho")])


def test_parts_of_a_text_make_one_grid(tmp_path: Path, scratch: Path) -> None:
    """Parts with comments, and a last one with empty lines only."""
    lines, values = points()
    lines[4:4] = ["# comment", "", "  "]
    text = HEAD + "\n".join(lines) + "\n" * (2 * LINES)
    model = open_model(section(tmp_path, text))
    assert np.array_equal(every_value(model), values)
    assert [of.tolist() for of in model.grid.nodes] == [
        [0, 30, 60, 90, 120],
        [0, 20, 40, 60],
        [0, 10, 20],
    ]
    assert not [*scratch.iterdir()]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1 2 3 x 5 6", r"row 2, column 4, where row 0 is line 16; correct it"),
        ("1 nan 3 4 5 6", r"point 17 has y = nan; correct it"),
        ("1 2 3", r"where row 0 is line 16"),
        ("0 0 0 4 5 6", r"60 points do not form a full grid"),
    ],
)
def test_mistakes_in_later_parts_are_found(
    tmp_path: Path, scratch: Path, row: str, message: str
) -> None:
    lines, _ = points()
    lines[16] = row
    with pytest.raises(InputError, match=message):
        open_model(section(tmp_path, HEAD + "\n".join(lines)))
    assert not [*scratch.iterdir()]


def test_one_rank_of_each_host_reads(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks 0, 1 and 2, 3 are on one host each."""
    hosts = property(lambda rank: [rank.rank // 2 * 2, rank.rank // 2 * 2 + 1])
    monkeypatch.setattr(ThreadRank, "same_host", hosts)
    read, parts = [], TextColumns.parts

    def counted(text: TextColumns) -> Any:
        read.append(text)
        return parts(text)

    monkeypatch.setattr(TextColumns, "parts", counted)
    lines, values = points()
    sound = section(tmp_path, HEAD + "\n".join(lines))
    for found in run_on_threads(4, lambda comm: every_value(open_model(sound, comm))):
        assert np.array_equal(found, values)
    assert len(read) == 2 and not [*scratch.iterdir()]
    damaged = section(tmp_path, HEAD + "\n".join(lines[1:]))
    for error in run_on_threads(4, lambda comm: open_model(damaged, comm)):
        assert isinstance(error, InputError) and "do not form a full grid" in str(error)
    assert not [*scratch.iterdir()]


def test_a_full_disk_is_reported(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(point_files, "reserve", full)
    with pytest.raises(DiskFull, match=str(scratch)):
        open_model(section(tmp_path, HEAD + "\n".join(points()[0])))
    assert not [*scratch.iterdir()]


@pytest.mark.parametrize("at_once", [1, 40, 10_000])
def test_only_the_traces_of_a_window_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """A pass downwards reads each sample of the window once, some depths at a time."""
    monkeypatch.setattr(trace_values, "AT_ONCE", at_once)
    values = np.random.default_rng(6).uniform(1600, 6000, (6, 7, 23))
    path = write_segy(tmp_path / "a.sgy", values, range(6), range(7))
    rules = {"vs_rule": "poisson", "rho_rule": "brocher"}
    model = open_model(SegySection(kind="segy", file=path, spacing="10 m", **rules)).grid
    asked: list[Any] = []
    read = SegyFile.read

    def recorded(file: SegyFile, traces: Any, samples: slice) -> Any:
        asked.append((np.array(traces), samples))
        return read(file, traces, samples)

    monkeypatch.setattr(SegyFile, "read", recorded)
    rows, columns = slice(2, 5), slice(1, 3)
    expected = read_segy(path).T.reshape(23, 6, 7)[:, rows, columns]
    for k in range(23):
        assert np.array_equal(model.read("vp", slice(k, k + 1), rows, columns)[0], expected[k])
    assert np.array_equal(model.read("vp", slice(3, 9), rows, columns), expected[3:9])
    wanted = np.arange(42).reshape(6, 7)[rows, columns]
    assert all(np.array_equal(traces, wanted) for traces, _ in asked)
    lengths = [samples.stop - samples.start for _, samples in asked]
    assert max(lengths) * wanted.size <= max(at_once, 6 * wanted.size)
    assert sum(lengths) <= 2 * 23 + 6
