"""Pictures show what the files say, and the report is one page that needs nothing else."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Annotation

from groundswell.errors import InputError
from groundswell.plotting.labels import place_labels
from groundswell.plotting.map_frame import Frame
from groundswell.plotting.style import round_below, round_numbers, speed_unit
from groundswell.report.html import write_report
from groundswell.report.pictures import draw_pictures
from groundswell.seismology.formats.seismograms import SeismogramWriter, read_seismograms
from groundswell.seismology.formats.shaking_maps import (
    SurfaceWriter,
    read_shaking_map,
    write_shaking_map,
)
from groundswell.seismology.plots import record_section as section
from groundswell.seismology.plots import shaking_map as shaking
from groundswell.seismology.plots import snapshots
from groundswell.seismology.plots.record_section import record_section
from groundswell.seismology.plots.shaking_map import shaking_map
from groundswell.seismology.plots.source import epicentre, event_sentence, turned

rng = np.random.default_rng(5)
X, Y = 50.0 + 100.0 * np.arange(60), 50.0 + 100.0 * np.arange(40)
EVENT = {"title": "A <test> & more", "event_x": 3000.0, "event_y": 2000.0}


@dataclass(frozen=True)
class Site:
    network: str
    name: str
    position: tuple[float, float, float]
    longitude: float | None = None
    latitude: float | None = None


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def degrees(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """A made-up geography: turned, stretched, slightly bent."""
    east, north = 0.8 * x + 0.6 * y, -0.6 * x + 0.8 * y
    return -118 + east / 9e4, 34 + north / 1.1e5 + 1e-13 * east * north


def write_map(folder: Path, pgv: np.ndarray, *, geography: bool = False, **attrs: Any) -> None:
    lonlat = degrees(*np.meshgrid(X, Y)) if geography else (None, None)
    attrs = {**EVENT, **attrs}
    write_shaking_map(folder / "shaking_map.nc", pgv, pgv, X, Y, *lonlat, attrs=attrs)


def write_stations(folder: Path, count: int = 4, samples: int = 50, **attrs: Any) -> np.ndarray:
    places = rng.uniform((0, 0), (6000, 4000), (count, 2))
    sites = [Site("N", f"S{i:02}", (x, y, 0.0)) for i, (x, y) in enumerate(places)]
    attrs = {**EVENT, **attrs}
    with SeismogramWriter(folder / "seismograms.h5", sites, interval=0.1, attrs=attrs) as writer:
        writer.append(rng.normal(size=(samples, count, 3)))
    return places


def write_results(folder: Path, summary: Any = None) -> Path:
    write_map(folder, rng.uniform(0.01, 1, (40, 60)), focal_mechanism=[10.0, 60.0, 80.0])
    write_stations(folder)
    with SurfaceWriter(folder / "surface.nc", X, Y, 0.1, attrs=EVENT) as writer:
        writer.append(rng.normal(size=(8, 3, 40, 60)))
    if summary is not None:
        (folder / "summary.json").write_text(json.dumps(summary))
    return folder


# --- pictures ------------------------------------------------------------------------------------


def test_every_picture_is_drawn_and_wide_enough_for_print(tmp_path: Path) -> None:
    paths = draw_pictures(write_results(tmp_path))
    assert [p.name for p in paths] == ["shaking_map.png", "seismograms.png", "surface.png"]
    for path in paths:
        height, width, _ = imread(path).shape
        assert width == 1600
        assert 400 < height < 2600
    assert not [name for name in names(tmp_path) if name.endswith(".part")]


def test_only_pictures_with_data_are_drawn(tmp_path: Path) -> None:
    write_stations(tmp_path)
    assert [p.name for p in draw_pictures(tmp_path)] == ["seismograms.png"]


@pytest.mark.parametrize("geography", [False, True])
def test_the_darkest_pixel_is_where_the_shaking_is(geography: bool) -> None:
    row, column = int(rng.integers(4, 36)), int(rng.integers(4, 56))
    distance = np.hypot(*np.meshgrid(X - X[column], Y - Y[row]))
    frame = Frame(X, Y, *(degrees(*np.meshgrid(X, Y)) if geography else (None, None)))
    figure = Figure(figsize=(6, 6))
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    frame.dress(axes)
    shaking._shade(axes, frame, np.ma.masked_invalid(1e-3 + np.exp(-distance / 500)))
    axes.set_axis_off()
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[::-1, :, :3].sum(axis=2)  # first row at the bottom
    dark = np.argwhere(pixels == pixels.min()).mean(axis=0)[::-1]
    point = frame.locate(X[column], Y[row])
    assert dark == pytest.approx(axes.transData.transform(np.column_stack(point))[0], abs=7)
    u, v = frame.mesh
    ends = axes.transData.transform([(u.min(), v.min()), (u.max(), v.max())])
    assert np.all(ends[1] > ends[0])  # east is right, north is up


@pytest.mark.parametrize(
    "pgv",
    [np.zeros((40, 60)), np.full((40, 60), np.nan), np.full((40, 60), 0.3), np.eye(40, 60) * 1e-9],
    ids=["nothing", "nan", "equal", "tiny"],
)
def test_odd_maps_are_drawn_without_complaint(tmp_path: Path, pgv: np.ndarray) -> None:
    write_map(tmp_path, pgv)
    assert shaking_map(tmp_path).stat().st_size > 10_000


def test_thinning_keeps_the_peak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pgv = rng.uniform(0, 1, (40, 60))
    pgv[17, 23] = 5
    write_map(tmp_path, pgv)
    monkeypatch.setattr(shaking, "_MOST_CELLS", 20)
    thin = shaking._thinned(read_shaking_map(tmp_path / "shaking_map.nc"))
    assert dict(thin.sizes) == {"y": 20, "x": 20}
    assert thin["pgv"].max() == 5
    assert thin["x"].values == pytest.approx(X.reshape(20, 3).mean(1))
    assert thin.attrs["title"] == EVENT["title"]


def test_the_strongest_shaking_is_told_with_its_distance(tmp_path: Path) -> None:
    pgv = np.full((40, 60), 0.1)
    pgv[20, 40] = 0.4321
    write_map(tmp_path, pgv, event_x=X[40] - 1500.0, event_y=Y[20] - 2000.0)
    sentence = shaking._peak_sentence(read_shaking_map(tmp_path / "shaking_map.nc"), 0.01, "cm/s")
    assert sentence == "Strongest shaking 43.2 cm/s, 2.5 km from the epicentre"


@pytest.mark.parametrize(
    ("attrs", "sentence"),
    [
        ({}, ""),
        ({"magnitude": 5.93, "event_depth": 2000.0}, "Mw 5.9, 2 km deep. "),
        ({"origin_time": "2014-03-29T04:09:42.970000Z"}, "2014-03-29 04:09 UTC. "),
    ],
)
def test_the_event_is_told_as_far_as_it_is_known(attrs: dict[str, Any], sentence: str) -> None:
    assert event_sentence(attrs) == sentence


def test_distances_of_a_rupture_count_from_where_it_begins(tmp_path: Path) -> None:
    pgv = np.full((40, 60), 0.1)
    pgv[20, 40] = 0.4321
    write_map(tmp_path, pgv, epicentre_x=X[40] - 800.0, epicentre_y=Y[20] + 600.0)
    sentence = shaking._peak_sentence(read_shaking_map(tmp_path / "shaking_map.nc"), 0.01, "cm/s")
    assert sentence.endswith("1.0 km from the epicentre")
    assert epicentre(EVENT) == (3000.0, 2000.0)
    assert epicentre({}) is None


@pytest.mark.parametrize(
    "attrs",
    [
        {"focal_mechanism": [1e15, 1e15, 1e15, 0, 0, 0]},  # an explosion
        {"focal_mechanism": [0.0, 1e18, -1e18, 0, 0, 6e17], "epicentre_x": 9.0, "epicentre_y": 0.0},
        {"fault_x": [0.0, 5e3, 5e3, np.nan, 1e3, 2e3], "fault_y": [0.0, 0, 1e3, np.nan, 1e3, 1e3]},
    ],
    ids=["explosion", "rupture", "outline"],
)
@pytest.mark.parametrize("geography", [False, True])
def test_all_kinds_of_source_are_drawn(
    tmp_path: Path, attrs: dict[str, Any], geography: bool
) -> None:
    pgv = rng.uniform(0.01, 1, (40, 60))
    pictures = []
    for extra in ({}, attrs):
        write_map(tmp_path, pgv, geography=geography, azimuth=36.9 * geography, **extra)
        pictures.append(imread(shaking_map(tmp_path)))
    assert pictures[0].shape == pictures[1].shape
    assert (pictures[0] != pictures[1]).any(axis=2).sum() > 500  # pixels


def test_stations_are_ordered_by_distance_and_thinned_evenly(tmp_path: Path) -> None:
    places = write_stations(tmp_path, count=60)
    array = read_seismograms(tmp_path / "seismograms.h5")
    distance = section._epicentral_distance(array)
    expected = np.abs(places @ [1, 1j] - complex(EVENT["event_x"], EVENT["event_y"]))
    assert distance == pytest.approx(expected)
    order = np.argsort(expected)
    shown = section._spread(order, 24)
    assert (len(shown), shown[0], shown[-1]) == (24, order[0], order[-1])
    assert np.all(np.diff(expected[shown]) > 0)
    assert section._spread(order[:5], 24).tolist() == order[:5].tolist()


def test_seismograms_without_samples_are_refused(tmp_path: Path) -> None:
    write_stations(tmp_path, samples=0)
    with pytest.raises(InputError, match="holds no samples"):
        record_section(tmp_path)


def test_a_silent_station_is_a_flat_line(tmp_path: Path) -> None:
    sites = [Site("N", "A", (0.0, 0.0, 0.0))]
    with SeismogramWriter(tmp_path / "seismograms.h5", sites, interval=0.1) as writer:
        writer.append(np.zeros((9, 1, 3)))
    assert record_section(tmp_path).exists()


def test_snapshots_are_taken_while_something_moves(tmp_path: Path) -> None:
    block = np.zeros((100, 3, 40, 60))
    block[30:60, 2] = rng.normal(size=(30, 40, 60))
    with SurfaceWriter(tmp_path / "surface.nc", X, Y, 0.1, attrs=EVENT) as writer:
        writer.append(block)
    chosen = snapshots._chosen(tmp_path / "surface.nc")
    assert chosen.sizes["time"] == 6
    assert 3.0 <= chosen["time"].min() < chosen["time"].max() <= 6.0
    n = round(float(chosen["time"][2]) / 0.1)
    assert np.array_equal(chosen["velocity"][2], -block[n, 2].astype("f4"))


def test_a_surface_without_samples_is_refused(tmp_path: Path) -> None:
    SurfaceWriter(tmp_path / "surface.nc", X, Y, 0.1).finish()
    with pytest.raises(InputError, match="holds no samples"):
        snapshots.snapshots(tmp_path)


@pytest.mark.parametrize("name", ["shaking_map.nc", "seismograms.h5", "surface.nc"])
def test_a_damaged_file_gives_no_picture(tmp_path: Path, name: str) -> None:
    write_results(tmp_path)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:2000])
    with pytest.raises(InputError, match="cannot be read as NetCDF-4"):
        draw_pictures(tmp_path)


# --- parts of pictures ---------------------------------------------------------------------------


@pytest.mark.parametrize("geography", [False, True])
def test_a_frame_locates_points_where_the_mesh_has_them(geography: bool) -> None:
    mesh = degrees(*np.meshgrid(X, Y)) if geography else (None, None)
    frame = Frame(X, Y, *mesh)
    x, y = rng.uniform(0, 6000, 30), rng.uniform(0, 4000, 30)
    expected = degrees(x, y) if geography else (x / 1e3, y / 1e3)
    assert np.allclose(frame.locate(x, y), expected, rtol=0, atol=2e-9 if geography else 1e-12)
    u, v = frame.locate(X[7], Y[3])
    assert (u[0], v[0]) == pytest.approx((frame.mesh[0][3, 7], frame.mesh[1][3, 7]))


def test_labels_touch_neither_each_other_nor_points() -> None:
    figure = Figure(figsize=(6, 6))
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    x, y = rng.uniform(0, 1, (2, 80))
    axes.plot(x, y, "^")
    placed = place_labels(axes, x, y, [f"NAME{i}" for i in range(80)])
    texts = [t for t in axes.texts if isinstance(t, Annotation)]
    boxes = [t.get_window_extent() for t in texts]
    pixels = axes.transData.transform(np.column_stack([x, y]))
    frame = axes.get_window_extent()
    assert placed == len(boxes)
    assert 20 < placed <= 80  # crowded, yet most of what fits is named
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert not any(box.contains(*pixel) for pixel in pixels)
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1


def test_a_turned_map_turns_the_mechanism() -> None:
    assert turned([233.0, 77.0, 49.0], 30.0) == [203.0, 77.0, 49.0]
    # A vertical strike-slip fault along north (r up, t south, p east: Mtp = -1) seen on a map
    # whose up is east strikes west, as a tensor: the sign changes.
    assert turned([0, 0, 0, 0, 0, -1], 90.0) == pytest.approx([0, 0, 0, 0, 0, 1])
    assert turned([1, 1, 1, 0, 0, 0], 37.0) == pytest.approx([1, 1, 1, 0, 0, 0])


def test_turning_tensor_and_angles_agree() -> None:
    beachball = pytest.importorskip("obspy.imaging.beachball")
    strike, dip, rake = np.radians([233.0, 77.0, 49.0])
    # Aki and Richards (2002), box 4.4: north, east, down; then up, south, east.
    nn = -np.sin(dip) * np.cos(rake) * np.sin(2 * strike)
    nn -= np.sin(2 * dip) * np.sin(rake) * np.sin(strike) ** 2
    ne = np.sin(dip) * np.cos(rake) * np.cos(2 * strike)
    ne += 0.5 * np.sin(2 * dip) * np.sin(rake) * np.sin(2 * strike)
    nd = -np.cos(dip) * np.cos(rake) * np.cos(strike)
    nd -= np.cos(2 * dip) * np.sin(rake) * np.sin(strike)
    ee = np.sin(dip) * np.cos(rake) * np.sin(2 * strike)
    ee -= np.sin(2 * dip) * np.sin(rake) * np.cos(strike) ** 2
    ed = -np.cos(dip) * np.cos(rake) * np.sin(strike)
    ed += np.cos(2 * dip) * np.sin(rake) * np.cos(strike)
    dd = np.sin(2 * dip) * np.sin(rake)
    tensor = turned([dd, nn, ee, nd, -ed, -ne], 30.0)
    plane = beachball.mt2plane(beachball.MomentTensor(*tensor, 0))
    planes = [(plane.strike, plane.dip, plane.rake)]
    planes.append(beachball.aux_plane(*planes[0]))
    assert any(p == pytest.approx((203.0, 77.0, 49.0), abs=1e-6) for p in planes)


def test_round_numbers_lie_between_the_ends() -> None:
    assert round_numbers(0.15, 7) == pytest.approx([0.2, 0.5, 1, 2, 5])
    assert round_numbers(1, 2) == []
    assert round_numbers(0, 1) == round_numbers(2, 1) == round_numbers(np.nan, 1) == []
    assert [round_below(v) for v in (1.0, 1.99, 7, 0.03)] == pytest.approx([1, 1, 5, 0.02])


@pytest.mark.parametrize(
    ("largest", "name"),
    [(0.3, "cm/s"), (0, "cm/s"), (np.nan, "cm/s"), (50, "m/s"), (5e-4, "µm/s"), (1e-12, "nm/s")],
)
def test_speeds_get_a_fitting_unit(largest: float, name: str) -> None:
    unit, found = speed_unit(largest)
    assert found == name
    assert unit == {"m/s": 1, "cm/s": 1e-2, "µm/s": 1e-6, "nm/s": 1e-9}[name]


# --- the report ----------------------------------------------------------------------------------

SUMMARY = {
    "title": "A <test> & more",
    "solver": "earthquake",
    "device": "NVIDIA <X>",
    "case": {
        "grid": {"spacing": "100 m", "cells": [240, 240, 120]},
        "medium": "a < b",
        "warnings": ["too <coarse>"],
    },
    "throughput": {"value": 25123.4, "unit": "million cell updates/s"},
    "bandwidth": {"share": 0.853, "measured": 4.12e12},
    "bytes_per_update": 176,
    "wall": {"read": 1.5, "time steps": 75.25},
    "files": ["seismograms.h5", {"name": "shaking_map.nc"}, "absent.nc", None],
    "versions": {"groundswell": "0.1.0"},
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
        "earthquake · NVIDIA <X>",
        "25,123",
        "million cell updates/s",
        "85 %",
        "of the memory bandwidth of 4,120 GB/s measured",
        "176 B",
        "1 min 17 s",
        "1 min 15 s",
        "240, 240, 120",
        "a < b",
        "0.1.0",
    ):
        assert expected in page.texts
    assert page.links == ["seismograms.h5", "shaking_map.nc"]
    assert page.texts.index("Warnings") + 1 == page.texts.index("too <coarse>")
    assert page.texts.count("too <coarse>") == 1
    assert len(page.pictures) == 3
    for source, name in zip(
        page.pictures, ("shaking_map.png", "seismograms.png", "surface.png"), strict=True
    ):
        head, data = source.split(",")
        assert head == "data:image/png;base64"
        assert base64.b64decode(data) == (tmp_path / name).read_bytes()
    assert not re.search(r"(https?:)?//\w", path.read_text().split("base64", 1)[0])


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


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(summary=st.fixed_dictionaries({}, optional=dict.fromkeys(SUMMARY, JSON)))
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
