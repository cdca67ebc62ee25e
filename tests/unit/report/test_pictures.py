"""Pictures show what the files say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Annotation
from result_files import (
    EVENT,
    POINTS,
    Site,
    X,
    Y,
    degrees,
    names,
    rng,
    write_map,
    write_results,
    write_stations,
    write_summary,
)

from groundswell.errors import InputError
from groundswell.formats.text import read_table, write_table
from groundswell.plotting.labels import place_labels
from groundswell.plotting.map_frame import Frame
from groundswell.plotting.residuals import residuals_picture
from groundswell.plotting.style import round_below, round_numbers, speed_unit
from groundswell.report.pictures import Picture, draw_pictures
from groundswell.seismology.formats.seismograms import PRESSURE, SeismogramWriter, read_seismograms
from groundswell.seismology.formats.shaking_maps import SurfaceWriter, read_shaking_map
from groundswell.seismology.plots import record_section as section
from groundswell.seismology.plots import shaking_map as shaking
from groundswell.seismology.plots import shot_gather as gather
from groundswell.seismology.plots import snapshots
from groundswell.seismology.plots.record_section import record_section
from groundswell.seismology.plots.shaking_map import shaking_map
from groundswell.seismology.plots.shot_gather import offsets, shot_gather
from groundswell.seismology.plots.source import epicentre, event_sentence, rotated

pytestmark = pytest.mark.each_value

# --- shot gathers ---------------------------------------------------------------------------------


def write_gather(folder: Path, sites: list[Site], block: Any, **attrs: Any) -> None:
    path, known = folder / "pressure.h5", {**EVENT, **attrs}
    with SeismogramWriter(path, sites, interval=0.004, attrs=known, quantity=PRESSURE) as writer:
        writer.append(block)


def gather_sites(x: Any, kind: str = "hydrophone") -> list[Site]:
    return [Site("", f"{kind[0]}{n}", (at, 2000.0, 10.0), kind=kind) for n, at in enumerate(x)]


def test_offsets_have_the_sign_of_the_side(tmp_path: Path) -> None:
    turned = np.radians(130.0)
    along = np.array([-700.0, 400.0, -50.0, 900.0, 1300.0])
    sites = [
        Site("", f"H{n}", (3000 + u * np.cos(turned), 2000 + u * np.sin(turned), 5.0))
        for n, u in enumerate(along)
    ]
    write_gather(tmp_path, sites, rng.normal(size=(8, 5, 1)))
    array = read_seismograms(tmp_path / "pressure.h5", PRESSURE)
    assert offsets(array) == pytest.approx(along)
    assert offsets(array[[0, 2]]) == pytest.approx([700, 50])


def test_wiggles_are_filled_where_pressure_is_positive(tmp_path: Path) -> None:
    """A panel for each kind; a trace deflects to the right of its offset by at most its scale."""
    x = 3000.0 + 100.0 * np.arange(5)
    sites = gather_sites(x) + gather_sites(x, "ocean-bottom-node")
    block = np.cumsum(rng.normal(size=(60, 10, 1)), axis=0)
    write_gather(tmp_path, sites, block)
    array = read_seismograms(tmp_path / "pressure.h5", PRESSURE)[:, 0]
    axes = Figure().add_subplot()
    gather._draw(axes, array[:5], "hydrophone")
    assert axes.get_title() == "5 hydrophones" and axes.get_ylim() == (59 * 0.004, 0)
    for line, at, trace in zip(axes.lines, x - 3000, array.values, strict=False):
        deflection = 1.2 * 100 * trace / np.abs(trace).max()
        assert np.asarray(line.get_xdata()) == pytest.approx(at + deflection)
    filled = axes.collections[2].get_paths()
    assert min(path.vertices[:, 0].min() for path in filled) == pytest.approx(200)
    assert imread(shot_gather(tmp_path))[..., :3].std() > 0.05


@pytest.mark.parametrize("count", [1, 300])
def test_one_or_many_traces_of_silence_are_drawn(tmp_path: Path, count: int) -> None:
    sites = gather_sites(3000.0 + 10.0 * np.arange(count))
    write_gather(tmp_path, sites, np.zeros((20, count, 1)))
    assert shot_gather(tmp_path).stat().st_size > 5_000


def test_a_single_trace_has_one_tick_at_its_offset(tmp_path: Path) -> None:
    write_gather(tmp_path, gather_sites([4063.02]), rng.normal(size=(20, 1, 1)))
    axes = Figure().add_subplot()
    gather._draw(axes, read_seismograms(tmp_path / "pressure.h5", PRESSURE)[:, 0], "hydrophone")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1063"]


# --- pictures ------------------------------------------------------------------------------------


def test_every_picture_is_drawn_and_wide_enough_for_print(tmp_path: Path) -> None:
    paths = draw_pictures(write_results(tmp_path), pytest.fail)
    assert [p.name for p in paths] == ["shaking_map.png", "seismograms.png", "surface.png"]
    for path in paths:
        height, width, _ = imread(path).shape
        assert width == 1600
        assert 400 < height < 2600
    assert not [name for name in names(tmp_path) if name.endswith(".part")]


def test_only_pictures_with_data_are_drawn(tmp_path: Path) -> None:
    write_summary(tmp_path, {"solver": "earthquake"})
    write_stations(tmp_path)
    assert [p.name for p in draw_pictures(tmp_path, pytest.fail)] == ["seismograms.png"]


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


def test_contours_of_a_map_of_few_cells_agree_with_its_colours() -> None:
    """Smoothing spans less than a cell there, so it does not remove a peak of one cell."""
    x, peaks = 100.0 * np.arange(18), np.full((18, 18), 0.1)
    peaks[9, 6] = 1.0
    frame, values = Frame(x, x), np.ma.masked_invalid(peaks)
    axes = Figure().add_subplot()
    shaking._contour(axes, frame, values, shaking._shade(axes, frame, values))
    lines = axes.collections[-1]
    around = dict(zip(lines.levels.tolist(), lines.get_paths(), strict=True))[0.5].vertices
    assert np.hypot(*(around - [0.6, 0.9]).T).max() < 0.1


def test_contours_reach_the_edge_of_a_map_with_gaps() -> None:
    """Smoothing uses only cells with values: around gaps, as if the map ended there."""
    x = 100.0 * np.arange(120)
    east, north = np.meshgrid(x - x.mean(), x - x.mean())
    peaks = np.where(np.hypot(east, north) < 5000, 1 + east / 10_000, np.nan)
    frame, values = Frame(x, x), np.ma.masked_invalid(peaks)
    axes = Figure().add_subplot()
    shaking._contour(axes, frame, values, shaking._shade(axes, frame, values))
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
    monkeypatch.setattr(shaking, "_MAX_CELLS", 20)
    thin = shaking._coarsened(read_shaking_map(tmp_path / "shaking_map.nc"))
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
    shown = section.evenly(order, 24)
    assert (len(shown), shown[0], shown[-1]) == (24, order[0], order[-1])
    assert np.all(np.diff(expected[shown]) > 0)
    assert section.evenly(order[:5], 24).tolist() == order[:5].tolist()


def test_seismograms_without_samples_are_refused(tmp_path: Path) -> None:
    write_stations(tmp_path, samples=0)
    with pytest.raises(InputError, match="has no samples"):
        record_section(tmp_path)


def test_a_silent_station_is_a_flat_line(tmp_path: Path) -> None:
    sites = [Site("N", "A", (0.0, 0.0, 0.0))]
    with SeismogramWriter(tmp_path / "seismograms.h5", sites, interval=0.1) as writer:
        writer.append(np.zeros((9, 1, 3)))
    assert record_section(tmp_path).exists()


def test_rounding_errors_of_other_traces_are_drawn_as_zero(tmp_path: Path) -> None:
    """Single precision: 1e-5 of the largest trace is signal, 1e-7 is rounding."""
    sites = [Site("N", name, (0.0, 0.0, 0.0)) for name in "AB"]
    peaks = np.array([[1.0, 1e-7, 0.3], [1e-3, 1e-7, 1e-5]])
    with SeismogramWriter(tmp_path / "seismograms.h5", sites, interval=0.1) as writer:
        writer.append(peaks * np.sin(np.arange(50))[:, None, None])
    shown = section.without_noise(read_seismograms(tmp_path / "seismograms.h5"))
    is_drawn = np.abs(shown.values).max(axis=2) > 0
    assert is_drawn.tolist() == [[True, False, True], [True, False, True]]
    assert record_section(tmp_path).exists()


def test_snapshots_are_taken_while_something_moves(tmp_path: Path) -> None:
    block = np.zeros((100, 3, 40, 60))
    block[30:60, 2] = rng.normal(size=(30, 40, 60))
    with SurfaceWriter(tmp_path / "surface.nc", POINTS, 0.1, attrs=EVENT) as writer:
        writer.append_velocity(block)
    chosen = snapshots._select(tmp_path / "surface.nc")
    assert chosen.sizes["time"] == 6
    assert 3.0 <= chosen["time"].min() < chosen["time"].max() <= 6.0
    n = round(float(chosen["time"][2]) / 0.1)
    assert np.array_equal(chosen["velocity"][2], -block[n, 2].astype("f4"))


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1)])
def test_a_surface_without_width_is_not_drawn(tmp_path: Path, shape: tuple[int, int]) -> None:
    points = replace(POINTS, x=X[: shape[1]], y=Y[: shape[0]])
    with SurfaceWriter(tmp_path / "surface.nc", points, 0.1) as writer:
        writer.append_velocity(rng.normal(size=(4, 3, *shape)))
    assert snapshots.snapshots(tmp_path) is None
    assert names(tmp_path) == ["surface.nc"]


@pytest.mark.parametrize(
    ("shown", "count", "stations"),
    [(1, 1, "1 station"), (3, 3, "3 stations"), (24, 60, "24 of 60 stations")],
)
def test_the_number_of_stations_is_given(shown: int, count: int, stations: str) -> None:
    assert section._sentence(shown, count).startswith(f"Velocity at {stations}, each")


def test_a_surface_without_samples_is_refused(tmp_path: Path) -> None:
    SurfaceWriter(tmp_path / "surface.nc", POINTS, 0.1).finish()
    with pytest.raises(InputError, match="has no samples"):
        snapshots.snapshots(tmp_path)


@pytest.mark.parametrize("name", ["shaking_map.nc", "seismograms.h5", "surface.nc"])
def test_a_damaged_file_is_a_warning_and_the_others_are_drawn(tmp_path: Path, name: str) -> None:
    write_results(tmp_path)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:2000])
    warnings: list[str] = []
    pictures = {path.name for path in draw_pictures(tmp_path, warnings.append)}
    missing = f"{name.partition('.')[0]}.png"
    drawn = {"shaking_map.png", "seismograms.png", "surface.png"} - {missing}
    assert missing not in pictures
    # The map of a run with damaged seismograms has no stations to show.
    assert pictures == drawn - ({"shaking_map.png"} if name == "seismograms.h5" else set())
    assert len(warnings) == len({"shaking_map.png", "seismograms.png", "surface.png"} - pictures)
    assert all("cannot be read as NetCDF: " in text for text in warnings)


def test_a_defect_in_a_picture_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package of a solver may raise anything."""

    def broken(folder: Path) -> Path:
        raise ZeroDivisionError("no luck")

    good = Picture("shaking_map.nc", "shaking_map.png", "good", shaking_map)
    bad = Picture("surface.nc", "bad.png", "bad", broken)
    monkeypatch.setattr("groundswell.solvers.earthquake.plots.PICTURES", [bad, good])
    warnings: list[str] = []
    drawn = draw_pictures(write_results(tmp_path), warnings.append)
    assert [path.name for path in drawn] == ["shaking_map.png"]
    assert warnings == ["bad.png could not be drawn: ZeroDivisionError: no luck"]


def test_a_solver_that_is_not_installed_has_no_pictures(tmp_path: Path) -> None:
    warnings: list[str] = []
    assert draw_pictures(write_results(tmp_path, {"solver": "tides"}), warnings.append) == []
    assert len(warnings) == 1 and "tides" in warnings[0]


# --- residuals -----------------------------------------------------------------------------------

RESIDUALS = {"mass": ["mass"], "heat": ["heat"]}


@pytest.mark.parametrize("rows", [1, 30, 200])
def test_residuals_are_drawn_beside_their_table(tmp_path: Path, rows: int) -> None:
    steps = np.arange(rows)
    columns = {"step": steps, "mass": 0.9**steps, "heat": np.zeros(rows)}
    table = write_table(tmp_path / "residuals.csv", columns)
    assert [*read_table(table)] == [*columns]
    assert np.allclose(read_table(table)["mass"], columns["mass"], rtol=1e-8)
    path = residuals_picture(table, "step", RESIDUALS, "residual")
    assert path == tmp_path / "residuals.png"
    assert imread(path)[..., :3].std() > 0.02


@pytest.mark.parametrize(
    "text",
    [
        "",
        "step,mass,heat\n",
        "step,mass,heat\n1,2\n",
        "step,mass,heat\n1,2,x\n",
        "step,mass\n1,2\n",
    ],
    ids=["empty", "no rows", "half a row", "no number", "column missing"],
)
def test_a_damaged_table_of_residuals_is_bad_input(tmp_path: Path, text: str) -> None:
    table = tmp_path / "residuals.csv"
    table.write_text(text)
    with pytest.raises(InputError, match=r"residuals\.csv"):
        residuals_picture(table, "step", RESIDUALS, "residual")
    assert names(tmp_path) == ["residuals.csv"]


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
    assert rotated([233.0, 77.0, 49.0], 30.0) == [203.0, 77.0, 49.0]
    # A vertical strike-slip fault along north (r up, t south, p east: Mtp = -1) seen on a map
    # whose up is east strikes west, as a tensor: the sign changes.
    assert rotated([0, 0, 0, 0, 0, -1], 90.0) == pytest.approx([0, 0, 0, 0, 0, 1])
    assert rotated([1, 1, 1, 0, 0, 0], 37.0) == pytest.approx([1, 1, 1, 0, 0, 0])


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
    tensor = rotated([dd, nn, ee, nd, -ed, -ne], 30.0)
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
