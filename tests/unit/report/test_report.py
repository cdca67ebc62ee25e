"""The report is one page that needs nothing else."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pixel_pictures import pixels_drawn
from result_files import names, write_results, write_summary

from groundswell.case.quantities import Quantity, as_values
from groundswell.errors import InputError
from groundswell.report.html import columns_of, write_report
from groundswell.report.pictures import Picture

SUMMARY = {
    "title": "A <test> & more",
    "solver": "earthquake",
    "device": "NVIDIA <X>",
    "started": "2014-03-29T04:09:42+00:00",
    "case": {
        "grid": {"spacing": "100 m", "cells": [240, 240, 120]},
        "medium": "a < b",
        "warnings": ["too <coarse>"],
    },
    "throughput": {"value": 25123.4, "unit": "MLUPS"},
    "bandwidth": {"share": 0.853, "measured": 4.12e12, "used": 3.51e12},
    "bytes_per_update": 176,
    "wall": {"read": 1.5, "time steps": 75.25},
    "share_of_steps": 0.98,
    "kernel_groups": {"timed": "steps 64 to 71", "shares": {"a < b": 0.997, "rest": 0.003}},
    "files": ["seismograms.h5", "shaking_map.nc", "absent.nc", None],
    "versions": {"groundswell": "0.1.0"},
}

FINDINGS = {
    "findings": {"quantities": [{"label": "largest v", "text": "3 m/s", "group": "motion"}]},
}


class Page(HTMLParser):
    """Collects texts, links and pictures, and checks that tags are closed in order."""

    EMPTY = frozenset({"meta", "img", "link", "br", "hr"})

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.pictures: list[str] = []
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.EMPTY:
            self.open.append(tag)
        self.pictures += [v or "" for k, v in attrs if k == "src"]
        self.links += [v or "" for k, v in attrs if k == "href"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts += [data.strip()] if data.strip() else []


def test_the_report_holds_everything_on_one_page(tmp_path: Path) -> None:
    path = write_report(write_results(tmp_path, SUMMARY))
    assert path == tmp_path / "report.html"
    page = Page(path)
    for expected in (
        "A <test> & more",
        "earthquake",
        "NVIDIA <X>",
        "29 March 2014, 04:09 UTC",
        "25,123 MLUPS",
        "85 %",
        "of the measured memory bandwidth (4.12 TB/s)",
        "176 B",
        "1 minute and 17 seconds",
        "1 minute and 15 seconds",
        "98 %",
        "of the wall time: time steps",
        "Kernels in steps 64 to 71",
        "a < b",
        "100 %",
        "< 1 %",
        "0.1.0",
    ):
        assert expected in page.texts
    pictures = ["shaking_map.png", "seismograms.png", "surface.png"]
    assert page.links == [*pictures, "seismograms.h5", "shaking_map.nc"]
    assert page.texts.index("Warnings") + 1 == page.texts.index("too <coarse>")
    assert page.texts.count("too <coarse>") == 1
    assert len(page.pictures) == 3
    for source, name in zip(page.pictures, pictures, strict=True):
        head, data = source.split(",")
        assert head == "data:image/png;base64"
        assert base64.b64decode(data) == (tmp_path / name).read_bytes()
    assert not re.search(r"(https?:)?//\w", path.read_text().split("base64", 1)[0])


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".gif", '<img src="data:image/gif;'), (".mp4", '<video src="data:video/mp4;')],
)
def test_the_report_holds_films(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, start: str
) -> None:
    def draw(folder: Path) -> Path:
        path = folder / f"waves{suffix}"
        path.write_bytes(b"frames")
        return path

    film = Picture("surface.nc", "waves.mp4", "Waves <over> time", draw, is_film=True)
    monkeypatch.setattr("groundswell.solvers.earthquake.plots.PICTURES", [film])
    case = SUMMARY["case"] | {"film": True}
    path = write_report(write_results(tmp_path, SUMMARY | {"case": case}))
    page = Page(path)
    assert page.texts.count("Waves <over> time") == 1
    (source,) = page.pictures
    assert base64.b64decode(source.split(",")[1]) == b"frames"
    assert start in path.read_text()


@pytest.mark.parametrize(("in_cache", "told"), [(True, "through the caches"), (False, "above the")])
def test_a_run_that_outruns_memory_shows_its_traffic(
    tmp_path: Path, in_cache: bool, told: str
) -> None:
    fast = {"share": 1.07, "measured": 18e9, "used": 19.3e9, "in_cache": in_cache}
    write_summary(tmp_path, SUMMARY | {"bandwidth": fast})
    texts = Page(write_report(tmp_path)).texts
    label = texts[texts.index("19.3 GB/s") + 1]
    assert told in label and ("18 GB/s" in label) is not in_cache
    assert not any("107 %" in text for text in texts)


def test_the_report_keeps_the_lines_of_a_quantity(tmp_path: Path) -> None:
    quantity = Quantity("sources", 2, "sources", text="1 rupture\nMw 6.0", group="Sources")
    write_summary(tmp_path, {"case": {"quantities": [quantity.as_dict()]}})
    page = write_report(tmp_path).read_text()
    assert "<dd>1 rupture\nMw 6.0</dd>" in page and "white-space: pre-line" in page


def test_the_report_shows_labelled_quantities_in_groups(tmp_path: Path) -> None:
    quantities = [
        Quantity("dt", 0.5, "time <step>", "s", group="Steps & grid"),
        Quantity("cells", [3, 4], "cells", group="Steps & grid"),
        Quantity("internal", 17.125, group="Steps & grid"),
        Quantity("speed", 1e4, "fastest", "m/s", "ten km/s", "Waves"),
    ]
    case = {
        "digest": "abcdef",
        **as_values(quantities),
        "quantities": [q.as_dict() for q in quantities],
    }
    write_summary(tmp_path, {"case": case})
    texts = Page(write_report(tmp_path)).texts
    start = texts.index("Steps & grid")
    assert texts[start : start + 8] == [
        *("Steps & grid", "time <step>", "0.5 s", "cells", "3 x 4"),
        *("Waves", "fastest", "ten km/s"),
    ]
    assert not {"17.125", "abcdef", "Case"} & set(texts)


def test_a_picture_that_fails_is_a_warning_on_the_page(tmp_path: Path) -> None:
    write_results(tmp_path)
    (tmp_path / "surface.nc").write_text("damaged")
    warnings: list[str] = []
    page = Page(write_report(tmp_path, warnings.append))
    assert len(warnings) == 1 and warnings[0].startswith("surface.png could not be drawn: ")
    assert warnings[0] in page.texts and len(page.pictures) == 2


def test_a_solver_that_is_not_installed_leaves_a_page_without_pictures(tmp_path: Path) -> None:
    write_summary(tmp_path, {"solver": "tides", "title": "Low water"})
    page = Page(write_report(tmp_path))
    assert "Low water" in page.texts and page.pictures == []
    assert any("tides" in text for text in page.texts[page.texts.index("Warnings") :])


def test_the_report_does_not_list_itself(tmp_path: Path) -> None:
    write_summary(tmp_path, {"files": ["report.html", "summary.json"]})
    write_report(tmp_path)
    assert Page(write_report(tmp_path)).links == ["summary.json"]


def test_the_report_is_tolerant_of_a_short_summary(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text("{}")
    page = Page(write_report(tmp_path))
    assert tmp_path.name in page.texts
    assert page.pictures == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)

CASE = JSON | st.fixed_dictionaries({"quantities": JSON | st.lists(JSON, max_size=3)})


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(summary=st.fixed_dictionaries({}, optional={**dict.fromkeys(SUMMARY, JSON), "case": CASE}))
def test_any_summary_gives_a_well_formed_page(tmp_path: Path, summary: dict[str, Any]) -> None:
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    Page(write_report(tmp_path))


@pytest.mark.parametrize("content", ["", "[1, 2]", '{"title": ', "\x00"])
def test_a_damaged_summary_is_bad_input(tmp_path: Path, content: str) -> None:
    (tmp_path / "summary.json").write_text(content)
    with pytest.raises(InputError, match=r"summary\.json .* run the case again"):
        write_report(tmp_path)
    assert names(tmp_path) == ["summary.json"]


def test_a_folder_without_a_summary_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give the results folder of a run"):
        write_report(tmp_path)
    (tmp_path / "zarr.json").touch()
    with pytest.raises(InputError, match=r"is the store of an ensemble, .* ensemble status"):
        write_report(tmp_path)


def test_findings_come_first_and_performance_last(tmp_path: Path) -> None:
    with pixels_drawn():
        texts = Page(write_report(write_results(tmp_path, SUMMARY | FINDINGS))).texts
    order = ["3 m/s", "wall time", "Files", "Wall time", "Performance", "25,123 MLUPS"]
    assert [text for text in dict.fromkeys(texts) if text in order] == order


def test_positions_are_no_tiles(tmp_path: Path) -> None:
    position = {"label": "place", "text": "x = 1 m", "value": {"x": 1.0}, "group": "motion"}
    found = {"quantities": [position, *FINDINGS["findings"]["quantities"]]}
    with pixels_drawn():
        texts = Page(write_report(write_results(tmp_path, SUMMARY | {"findings": found}))).texts
    tiles = texts[: texts.index("Warnings")]
    assert "3 m/s" in tiles and "x = 1 m" not in tiles and "x = 1 m" in texts


@pytest.mark.parametrize("count", range(1, 13))
def test_no_tile_stands_alone_in_its_row(count: int) -> None:
    columns = columns_of(count)
    assert 1 <= columns <= 4
    assert count <= columns or count % columns != 1


def test_the_case_is_part_of_the_report(tmp_path: Path) -> None:
    text = "# a <comment>\nsolver = 'earthquake'\n"
    summary = SUMMARY | {"case": {**SUMMARY["case"], "text": text}}
    with pixels_drawn():
        texts = Page(write_report(write_results(tmp_path, summary))).texts
    assert texts[texts.index("Case") + 1 :][:2] == ["2 lines", text.strip()]


def test_files_have_headings_by_kind(tmp_path: Path) -> None:
    write_results(tmp_path, SUMMARY)
    files = [f"S{n}.sac" for n in range(12)]
    for name in files:
        (tmp_path / name).write_bytes(bytes(1000))
    write_summary(tmp_path, SUMMARY | {"files": [*SUMMARY["files"], *files]})
    with pixels_drawn():
        content = write_report(tmp_path).read_text()
    assert re.search(r"<details>\s*<summary>12 .sac files, 12[.0]* kB</summary>", content)
    assert re.search(r"<details open>\s*<summary>1 .nc file, ", content)
