"""Lines of a case: on pictures where they are, in the results folder, and refused if impossible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import warnings_of
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from result_files import X, Y, degrees, write_map
from small_cases import small_case

from groundswell import registry
from groundswell.case.common import Case
from groundswell.errors import CaseError, InputError
from groundswell.plotting.map_frame import MapFrame
from groundswell.seismology.map_lines.run import LINES
from groundswell.seismology.plots.shaking_map import shaking_map
from groundswell.simulation.preparation import prepare
from groundswell.simulation.run import run

SOLVERS = pytest.mark.parametrize("solver", ["earthquake", "dgwave"])
CENTRE = (-117.0, 34.0)


def case(solver: str, folder: Path, lines: list[str], **grid: Any) -> Case:
    content = small_case(solver)
    content["grid"] = {**content["grid"], "geography": {"center": CENTRE}, **grid}
    content["output"] = {**content.get("output", {}), "map_lines": lines}
    schema: type[Case] = registry.find(solver).load("case")
    return schema.from_dict({k: v for k, v in content.items() if v is not None}, folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files of lines: through the middle of the region and beyond it, and far away."""
    (tmp_path / "faults.gmt").write_text("-118 34\n-117.01 34\n-117 34.001\n-116.99 34\n-116 34\n")
    (tmp_path / "far.gmt").write_text("10 50\n11 51\n")
    return tmp_path


def test_lines_are_drawn_where_they_are() -> None:
    """On a map whose darkest pixels they are; and the map does not change its size."""
    frame = MapFrame(X, Y, *degrees(*np.meshgrid(X, Y)))
    (west, east), middle = np.percentile(frame.mesh[0], (20, 60)), float(frame.mesh[1].mean())
    line = np.array([[west, middle], [east, middle]])
    limits, pictures = [], []
    for lines in ([], [line, line - 100]):
        figure = Figure(figsize=(6, 6))
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        MapFrame(X, Y, *frame.mesh, lines=lines).dress(axes)
        axes.set_axis_off()
        canvas.draw()
        limits.append((*axes.get_xlim(), *axes.get_ylim()))
        pictures.append(np.asarray(canvas.buffer_rgba())[::-1, :, :3].astype(int).sum(axis=2))
    assert limits[0] == limits[1]
    rows, columns = np.nonzero(pictures[1] < 300)
    (left, at), (right, _) = axes.transData.transform(line)
    assert [columns.min(), columns.max()] == pytest.approx([left, right], abs=3)
    assert rows.mean() == pytest.approx(at, abs=2)
    assert pictures[0].min() > 300


@SOLVERS
def test_a_run_keeps_the_lines_of_its_region(folder: Path, solver: str) -> None:
    made = case(solver, folder, ["faults.gmt", "far.gmt"])
    (warning,) = [text for text in warnings_of(prepare(made)) if "map_lines" in text]
    assert "no line of far.gmt is on the map, at longitudes from -117.0" in warning
    result = run(made, folder=folder / "results")
    assert LINES in result.summary["files"]
    features = json.loads((result.folder / LINES).read_text())["features"]
    (points,) = [feature["geometry"]["coordinates"] for feature in features]
    assert points == [[-117.01, 34], [-117, 34.001], [-116.99, 34]]


def test_pictures_take_other_lines(folder: Path) -> None:
    write_map(folder, np.full((40, 60), 0.3), geography=True)
    plain = shaking_map(folder).read_bytes()
    (folder / "diagonal.xy").write_text("-118 33.9\n-117.9 34\n")
    assert shaking_map(folder, lines=[folder / "diagonal.xy"])
    assert (folder / "shaking_map.png").read_bytes() != plain
    with pytest.raises(InputError, match=r"none\.gmt: cannot read"):
        shaking_map(folder, lines=[folder / "none.gmt"])


WRONG: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "nowhere": (
        ["faults.gmt"],
        {"geography": None},
        r"map_lines = .*: needs .* add \[grid.geography\]",
    ),
    "missing": (["none.gmt"], {}, r"map_lines\[0\] = .*: does not exist"),
    "unknown": (["coastline"], {}, 'must be a file .* \\(did you mean "coastlines"'),
    "repeated": (["faults.gmt", "faults.gmt"], {}, "is in the list already"),
}


@SOLVERS
@pytest.mark.parametrize("name", WRONG)
def test_impossible_lines_are_refused(folder: Path, solver: str, name: str) -> None:
    lines, grid, message = WRONG[name]
    with pytest.raises(CaseError, match=message):
        case(solver, folder, lines, **grid)


@SOLVERS
def test_files_that_cannot_be_read_are_refused_before_a_run(folder: Path, solver: str) -> None:
    (folder / "faults.gmt").write_text("a fault\n")
    with pytest.raises(InputError, match=r"faults\.gmt, line 1: expected longitude"):
        run(case(solver, folder, ["faults.gmt"]), folder=folder / "results")
    assert not (folder / "results").exists()
