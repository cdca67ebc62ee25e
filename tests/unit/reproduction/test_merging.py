"""Measurements of other machines, from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reproduced_tides import run

from groundswell.errors import InputError
from groundswell.reproduction.merging import read_runs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in {
        "bench_tides.json": run(),
        "bench_tides_2_ranks.json": run(ranks=2),
        "bench_waves.json": run(subject="waves"),
        "summary.json": {"title": "no benchmark"},
    }.items():
        (tmp_path / name).write_text(json.dumps(content))
    return tmp_path


@pytest.mark.parametrize(
    ("given", "ranks"),
    [([""], [1, 2]), (["*_ranks.json"], [2]), (["bench_tides.json", "*_2*"], [1, 2]), ([], [])],
)
def test_folders_patterns_and_files(folder: Path, given: list[str], ranks: list[int]) -> None:
    found = read_runs([folder / each for each in given], ["tides"])
    assert [each["ranks"] for each in found] == ranks


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nothing.json", "there is no such file"),
        ("summary.json", "is no file of `groundswell bench --output`"),
        ("broken.json", "cannot be read"),
    ],
)
def test_bad_files(folder: Path, name: str, problem: str) -> None:
    (folder / "broken.json").write_text("{")
    with pytest.raises(InputError, match=f"{name}: {problem}"):
        read_runs([folder / name], ["tides"])
