"""Maps of shaking show what the files say: peaks, contours, sources, distances."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread
from result_files import EVENT, X, Y, degrees, rng, write_map

from groundswell.plotting.labels import label_contours
from groundswell.plotting.map_frame import MapFrame
from groundswell.seismology.formats.shaking_maps import read_shaking_map
from groundswell.seismology.plots import shaking_map as shaking
from groundswell.seismology.plots import surface_map
from groundswell.seismology.plots.shaking_map import shaking_map
from groundswell.seismology.plots.source import event_sentence
from groundswell.seismology.plots.surface_map import coarsened, shade
from groundswell.seismology.source_distances import epicentre

pytestmark = pytest.mark.each_value


@pytest.mark.parametrize("geography", [False, True])
def test_the_darkest_pixel_is_where_the_shaking_is(geography: bool) -> None:
    row, column = int(rng.integers(4, 36)), int(rng.integers(4, 56))
    distance = np.hypot(*np.meshgrid(X - X[column], Y - Y[row]))
    frame = MapFrame(X, Y, *(degrees(*np.meshgrid(X, Y)) if geography else (None, None)))
    figure = Figure(figsize=(6, 6))
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    frame.dress(axes)
    shade(axes, frame, np.ma.masked_invalid(1e-3 + np.exp(-distance / 500)))
    axes.set_axis_off()
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[::-1, :, :3].sum(axis=2)  # first row at the bottom
    dark = np.argwhere(pixels == pixels.min()).mean(axis=0)[::-1]
    point = frame.locate(X[column], Y[row])
    assert dark == pytest.approx(axes.transData.transform(np.column_stack(point))[0], abs=7)
    u, v = frame.mesh
    ends = axes.transData.transform([(u.min(), v.min()), (u.max(), v.max())])
    assert np.all(ends[1] > ends[0])  # east is right, north is up


def test_contours_of_a_map_of_few_cells_agree_with_its_colours() -> None:
    """Smoothing spans less than a cell there, so it does not remove a peak of one cell."""
    x, peaks = 100.0 * np.arange(18), np.full((18, 18), 0.1)
    peaks[9, 6] = 1.0
    frame, values = MapFrame(x, x), np.ma.masked_invalid(peaks)
    axes = Figure().add_subplot()
    shaking._contour(axes, frame, values, shade(axes, frame, values))
    lines = axes.collections[-1]
    around = dict(zip(lines.levels.tolist(), lines.get_paths(), strict=True))[0.5].vertices
    assert np.hypot(*(around - [0.6, 0.9]).T).max() < 0.1


def test_labels_of_contours_keep_clear_of_stations() -> None:
    x = 100.0 * np.arange(120)
    east, _ = np.meshgrid(x, x)
    frame, values = MapFrame(x, x), np.ma.masked_invalid(1.1 + east / 10_000)

    def label_clear_of(*points: Any) -> Any:
        axes = Figure(figsize=(6, 6)).add_axes((0, 0, 1, 1))
        FigureCanvasAgg(axes.figure)
        frame.dress(axes)
        lines = shaking._contour(axes, frame, values, shade(axes, frame, values))
        assert lines
        (label,) = label_contours(axes, lines, points)
        return axes, label

    _, usual = label_clear_of()
    station = usual.get_position()
    axes, moved = label_clear_of(station)
    assert not moved.get_window_extent().contains(*axes.transData.transform(station))


def test_contours_reach_the_edge_of_a_map_with_gaps() -> None:
    """Smoothing uses only cells with values: around gaps, as if the map ended there."""
    x = 100.0 * np.arange(120)
    east, north = np.meshgrid(x - x.mean(), x - x.mean())
    peaks = np.where(np.hypot(east, north) < 5000, 1 + east / 10_000, np.nan)
    frame, values = MapFrame(x, x), np.ma.masked_invalid(peaks)
    axes = Figure().add_subplot()
    shaking._contour(axes, frame, values, shade(axes, frame, values))
    lines = axes.collections[-1]
    middle = dict(zip(lines.levels.tolist(), lines.get_paths(), strict=True))[1.0].vertices
    assert np.ptp(middle[:, 1]) > 2 * 4.7 and np.ptp(middle[:, 0]) < 0.3


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
    monkeypatch.setattr(surface_map, "_MAX_CELLS", 20)
    thin = coarsened(read_shaking_map(tmp_path / "shaking_map.nc"))
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
        ({"event_depth": 8.0}, "Source 8 m deep. "),
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


@pytest.mark.most(2)
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
