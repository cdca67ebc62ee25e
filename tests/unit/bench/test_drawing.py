"""Pictures of measurements: which points, bars and names they show."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from matplotlib.figure import Figure

from groundswell.bench.drawing import (
    FILLED,
    Page,
    Panel,
    curves,
    devices,
    grouped_bars,
    lying_bars,
    places_of,
    stacked_bars,
)

ROWS = [
    {"who": "a", "n": 1, "speed": 3.0},
    {"who": "b", "n": 1, "speed": 5.0},
    {"who": "a", "n": 2, "speed": 7.0},
]
COLOURS = {"z": "black", "b": "red", "a": "blue"}


@pytest.fixture
def axes() -> Any:
    return Figure().subplots()


def test_a_curve_for_each_value(axes: Any) -> None:
    curves(axes, ROWS, "n", lambda row: 2 * row["speed"], "who", lambda who: {"label": who})
    found = {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
    assert found == {"a": [[1, 6], [2, 14]], "b": [[1, 10]]}


def test_bars_stand_side_by_side_in_groups(axes: Any) -> None:
    places = grouped_bars(axes, ROWS, "n", "who", "speed", COLOURS)
    width = FILLED / 2  # of colours that no row has, there are no bars
    assert places == pytest.approx([width / 2, -width / 2, 1 + width / 2])
    heights = {bar.get_center()[0]: bar.get_height() for bar in axes.patches}
    assert [heights[place] for place in sorted(heights)] == [5, 3, 7]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2"]
    assert places_of([], "n", "who", []) == ([], FILLED, [])


def test_parts_of_bars_add_up(axes: Any) -> None:
    parts = [{"a": 1.0, "b": 2.0}, {"b": 4.0}, {"a": 3.0}]
    assert stacked_bars(axes, [0, 1, 2], parts, COLOURS) == [3, 4, 3]
    ends = [(bar.get_y(), bar.get_height()) for bar in axes.patches]
    assert ends == [(0, 2), (0, 4), (2, 1), (0, 3)]  # in the order of the colours: b below a
    assert axes.get_ylim()[1] > 4  # the highest bar does not touch the top


def test_lying_bars_from_the_top_with_their_values(axes: Any) -> None:
    lying_bars(axes, {"theirs": 12.345, "ours": 200.0}, ["grey", "green"], "{:.1f}".format)
    assert [bar.get_width() for bar in axes.patches] == [12.345, 200]
    assert [text.get_text().strip() for text in axes.texts] == ["12.3", "200.0"]
    assert axes.yaxis_inverted()


@pytest.mark.parametrize(("ranks", "drawn"), [(1, ["one", "any"]), (2, ["several", "any"])])
def test_panels_of_a_page(ranks: int, drawn: list[str], tmp_path: Path) -> None:
    """Those for so many ranks that have rows; each has its share of the page."""
    draw = Mock()
    panels = [
        Panel(name, lambda axes, measured, name=name: draw(name, axes), name)  # type: ignore[misc]
        for name in ("one", "several", "any")
    ]
    panels += [Panel("nothing", lambda axes, measured: draw("nothing", axes))]
    page = Page("Tides", lambda measured: f"{measured['ranks']} moons", panels)
    measured = {"devices": ["Abacus, 9000"] * ranks, "ranks": ranks, "nothing": []}
    measured |= dict.fromkeys(("one", "several", "any"), ROWS)
    assert page(measured, tmp_path / "page.png").stat().st_size > 5000
    assert [call.args[0] for call in draw.call_args_list] == drawn
    rows = {call.args[1].get_subplotspec().get_gridspec().nrows for call in draw.call_args_list}
    assert rows == {2}


def test_panels_in_columns(tmp_path: Path) -> None:
    """Row by row, and a place of the last row stays empty."""
    places: list[tuple[float, float]] = []

    def draw(axes: Any, measured: Any) -> None:
        places.append((axes.get_subplotspec().rowspan.start, axes.get_subplotspec().colspan.start))

    page = Page("Tides", "", [Panel("any", draw)] * 3, 2.0, columns=2)
    measured = {"devices": ["Abacus"], "ranks": 1, "any": ROWS}
    page(measured, tmp_path / "page.png")
    assert places == [(0, 0), (0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("backend", "ranks", "said"),
    [
        ("cpu", 1, "Abacus"),
        ("cpu", 2, "2 ranks on Abacus"),
        ("cuda", 1, "Abacus"),
        ("cuda", 2, "2 x Abacus"),
    ],
)
def test_ranks_share_a_cpu(backend: str, ranks: int, said: str) -> None:
    names = ["Abacus, 4 threads" if backend == "cpu" else "Abacus"] * ranks
    assert devices({"backend": backend, "ranks": ranks, "devices": names}) == said


def test_a_page_without_panels_writes_nothing(tmp_path: Path) -> None:
    page = Page("Tides", "", [Panel("one", Mock(), "one")])
    page({"ranks": 2, "devices": ["Abacus"]}, tmp_path / "page.png")
    assert not list(tmp_path.iterdir())
