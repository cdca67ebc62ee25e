"""The Python of the pages runs, block after block, beside a small case and its results."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page_blocks import all_blocks

import groundswell as gs

PROGRAMS = [block for block in all_blocks() if block.way == "run"]
PAGES = list(dict.fromkeys(block.page for block in PROGRAMS))
SHORTER = {'duration="4 s"': 'duration="1.5 s"', 'duration="1 s"': 'duration="0.2 s"'}
INTENSITY = {"periods": ["0.5 s", "1 s", "2 s"], "maps": ["rotd50"]}

# What some programs must yield.
YIELDS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "docs/cavity.md": lambda names: 2 < names["finer"].heat["nusselt"] < 2.5,
    "docs/earthquake.md": lambda names: float(names["pgv"].max()) > 0 and names["down"].any(),
    "docs/reference/python.md": lambda names: names["vz"].ndim == 3 and names["vz"].any(),
    "README.md": lambda names: bool((names["result"].seismograms != 0).any()),
}


@pytest.fixture(scope="module")
def prepared(write_case: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `case.toml`, also as `earthquake.toml`, and its `results`, as pages assume."""
    folder = tmp_path_factory.mktemp("prepared")
    receivers = [{"network": "GS", "name": "NORTH", "x": "320 m", "y": "710 m"}]
    case = write_case(folder, receiver=receivers, output={"intensity": INTENSITY})
    shutil.copy(case, folder / "earthquake.toml")
    gs.run(case, quiet=True)
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(
    page: str, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("obspy")
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, Any] = {"gs": gs}
    for block in (b for b in PROGRAMS if b.page == page):
        exec(compile(shortened(block.text), block.place, "exec"), names)
    assert page not in YIELDS or YIELDS[page](names)


def shortened(code: str) -> str:
    """A program with shorter simulations."""
    for long, short in SHORTER.items():
        code = code.replace(long, short)
    return code
