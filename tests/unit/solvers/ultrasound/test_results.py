"""Results of ultrasound runs: arrays in and out, the focus, and pictures."""

from __future__ import annotations

import os
import re
import shutil
from math import pi
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from matplotlib.image import imread
from ultrasound_cases import ARC, BURST

import groundswell as gs
from groundswell.errors import CaseError, InputError
from groundswell.report.pictures import draw_pictures
from groundswell.solvers.ultrasound import api, plots, results
from groundswell.solvers.ultrasound.initial_pressure import smoothed
from groundswell.solvers.ultrasound.units import pressure_unit

SPEED = np.full((40, 50), 1500.0)
SPEED[:, 20:26] = 2400.0
SOURCE = {"shape": ARC, "pressure": "1 MPa", "signal": BURST}
POINT = {"kind": "points", "positions": [["9 mm", "5 mm", 0], ["6 mm", "5 mm", 0]]}
BALL = {"kind": "ball", "centre": [2e-3, 2e-3, 3e-3], "radius": "1 mm", "pressure": 500.0}
CASE = """
solver = "ultrasound"
title = "flat"
grid = { points = [50, 40], spacing = "0.25 mm" }
time = { duration = "8 us" }
[medium]
speed = 1500
density = 1000
[[medium.shape]]
kind = "layer"
axis = "x"
from = "5 mm"
to = "6.5 mm"
speed = 2400
[[source]]
shape = { kind = "arc", apex = ["1 mm", "5 mm"], radius = "8 mm", diameter = "6 mm", focus = ["9 mm", "5 mm"] }
pressure = "1 MPa"
signal = { kind = "burst", frequency = "1 MHz", cycles = 3 }
"""  # noqa: E501


def simulate(**changes: Any) -> Any:
    given: dict[str, Any] = {"spacing": "0.25 mm", "duration": "8 us", "title": "flat", **changes}
    return gs.ultrasound.simulate({"speed": SPEED, "density": 1000.0}, [SOURCE], **given)


@pytest.fixture(scope="module")
def result() -> Any:
    record = {"fields": ["p", "ux"], "where": POINT, "file": "points.nc"}
    return simulate(records=[record])


@pytest.fixture(scope="module")
def solid() -> Any:
    """A run in three dimensions, in a uniform medium, from an initial pressure."""
    water = {"speed": 1500.0, "density": 1000.0}
    size: dict[str, Any] = {"points": (16, 18, 24), "spacing": "0.25 mm"}
    return gs.ultrasound.simulate(water, initial=BALL, duration="1 us", **size)


# --- arrays in, arrays out ------------------------------------------------------------------------


def test_arrays_and_a_case_file_give_the_same(result: Any, tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text(CASE)
    expected = gs.run(tmp_path / "case.toml")
    xarray.testing.assert_identical(result.fields.load(), expected.fields.load())
    xarray.testing.assert_identical(result.medium.load(), expected.medium.load())


def test_results_are_read_as_arrays(result: Any) -> None:
    assert dict(result.fields.sizes) == {"z": 1, "y": 40, "x": 50}
    assert set(result.fields) == {"p_max", "p_min", "p_rms"}
    assert set(result.medium) == {"speed"}
    np.testing.assert_array_equal(result.medium["speed"][0], SPEED)
    series = result.records["points.nc"]
    assert series["p"].dims == ("time", "point") and series.sizes["point"] == 2
    largest = result.fields["p_max"].sel(x=9e-3, y=5e-3, method="nearest").item()
    assert series["p"][:, 0].max() == pytest.approx(largest)


def test_records_may_be_given_in_the_section_output() -> None:
    one, other = ({"fields": ["p"], "where": POINT, "file": name} for name in ("a.nc", "b.nc"))
    given: dict[str, Any] = {"spacing": 1e-3, "duration": 1e-6, "output": {"record": [one]}}
    medium = {"speed": SPEED, "density": 1e3}
    case = api.build_case(medium, [SOURCE], **given, records=[other])
    assert [record.file for record in case.output.record] == ["a.nc", "b.nc"]
    case = api.build_case(medium, [SOURCE], **given)
    assert [record.file for record in case.output.record] == ["a.nc"]
    with pytest.raises(CaseError, match=r"output\.record"):
        api.build_case(medium, [SOURCE], **{**given, "output": {"record": one}})


def test_results_that_were_not_written_name_the_key(solid: Any) -> None:
    with pytest.raises(InputError, match=r"run the case with output\.medium = true"):
        _ = solid.medium
    with pytest.raises(InputError, match=r"run the case with output\.record"):
        _ = solid.records
    silent = simulate(duration="0.2 us", output={"maps": False, "medium": False})
    with pytest.raises(InputError, match=r"run the case with output\.maps = true"):
        _ = silent.fields
    assert draw_pictures(silent.folder, pytest.fail) == []


def test_arrays_give_the_number_of_points() -> None:
    def points(speed: Any, initial: Any = None) -> Any:
        medium = {"speed": speed, "density": 1e3}
        case = api.build_case(medium, [SOURCE], initial, spacing=1e-3, duration=1e-6)
        return case.grid.counts

    assert points(np.full((8, 9, 10), 1500.0)) == (10, 9, 8)
    assert points(xarray.DataArray(np.full((1, 9, 10), 1500.0))) == (10, 9, 1)
    assert points(1500.0, np.ones((9, 10))) == (10, 9, 1)
    assert points("1.5 km/s", {"kind": "array", "values": np.ones((9, 10))}) == (10, 9, 1)
    with pytest.raises(CaseError, match="grid: give points or size"):
        points(1500.0)


def test_sections_pass_through_to_the_case() -> None:
    case = api.build_case(
        {"speed": 1500.0, "density": 1e3},
        initial=BALL,
        points=(16, 18, 24),
        spacing=[1e-3, 1e-3, 2e-3],
        duration="1 us",
        precision="double",
        time={"courant": 0.1},
        grid={"origin": [1, 2, 3]},
        boundary={"width": [10, 11, 12]},
        output={"maps": False},
        run={"processes": [1, 1, 2]},
    )
    assert case.time.courant == 0.1 and case.grid.origin == (1, 2, 3)
    assert case.boundary.width == (10, 11, 12) and not case.output.maps
    assert case.run.precision == "double" and case.run.processes == (1, 1, 2)


# --- the focus ------------------------------------------------------------------------------------


def test_the_focus_of_a_run_is_its_largest_pressure_behind_bone(result: Any) -> None:
    peak = result.fields["p_max"]
    behind = peak.values[0][:, 26:]
    assert result.focus.pressure == behind.max() < peak.max()
    assert result.focus.pressure == peak.sel(result.focus.position, method="nearest").item()
    assert set(result.focus.widths) == {"x", "y"}


def test_the_focus_is_found_again_after_any_of_its_files_has_changed(
    result: Any, tmp_path: Path
) -> None:
    """The time of the map alone would not show it: copies of files may have the same one."""
    folder = Path(shutil.copytree(result.folder, tmp_path / "results"))
    path, earlier = folder / "peak_pressure.nc", results.focus(folder)
    with h5py.File(path, "r+") as file:
        largest = file["p_max"][:, 0, 21] = 10 * earlier.pressure  # in bone
    (folder / "medium.nc").unlink()
    assert results.focus(folder).pressure == pytest.approx(largest, rel=1e-6)

    def replace(source: Path) -> None:
        """Replace the map by another one of the same size and time."""
        written = path.stat().st_mtime_ns
        shutil.copy(source, tmp_path / "copy.nc")
        os.utime(tmp_path / "copy.nc", ns=(written, written))
        (tmp_path / "copy.nc").replace(path)

    replace(result.folder / "peak_pressure.nc")
    assert results.focus(folder).pressure == result.fields["p_max"].max()


# --- pictures -------------------------------------------------------------------------------------


def test_pictures_of_two_dimensions_are_drawn(result: Any) -> None:
    paths = draw_pictures(result.folder, pytest.fail)
    assert [path.name for path in paths] == ["pressure.png", "focus.png", "spectrum.png"]
    for path in paths:
        height, width, _ = imread(path).shape
        assert width == 1600 and 400 < height < 1400


def test_pictures_of_three_dimensions_are_drawn_without_medium_and_records(solid: Any) -> None:
    paths = draw_pictures(solid.folder, pytest.fail)
    assert [path.name for path in paths] == ["pressure.png", "focus.png"]
    assert list(solid.focus.position) == ["x", "y", "z"]


def test_the_map_shows_where_the_transducer_is(result: Any) -> None:
    """Points of the arc are turquoise, in the left third of the picture only."""
    (path, *_) = draw_pictures(result.folder, pytest.fail)
    red, green, blue = np.moveaxis(imread(path)[..., :3], -1, 0)
    turquoise = (red < 0.3) & (green > 0.75) & (abs(green - blue) < 0.1)
    assert turquoise.sum() > 200
    assert np.flatnonzero(turquoise.any(axis=0)).max() < red.shape[1] / 3


def test_a_run_without_sound_has_no_pictures() -> None:
    silent = simulate(duration="0.2 us", output={"maps": True}, precision="double")
    zero = xarray.load_dataset(silent.folder / "peak_pressure.nc", engine="h5netcdf") * 0
    silent.fields.close()
    zero.to_netcdf(silent.folder / "peak_pressure.nc", engine="h5netcdf")
    assert draw_pictures(silent.folder, pytest.fail) == []


def test_a_spectrum_has_the_amplitude_of_a_sine() -> None:
    times = 1e-8 * np.arange(1000)
    frequencies, amplitudes = plots.spectra(times, 3 * np.sin(2 * pi * 2e6 * times)[:, None])
    peak = amplitudes[:, 0].argmax()
    assert frequencies[peak] == pytest.approx(2e6) and amplitudes[peak, 0] == pytest.approx(
        3, rel=0.01
    )
    assert amplitudes[frequencies > 4e6].max() < 1e-4


@pytest.mark.parametrize(
    ("pressure", "expected"),
    [(2e6, (1e6, "MPa")), (5e3, (1e3, "kPa")), (1.0, (1.0, "Pa")), (0.0, (1.0, "Pa"))],
)
def test_pressures_have_a_suitable_unit(pressure: float, expected: tuple[float, str]) -> None:
    assert pressure_unit(pressure) == expected


# --- the guide ------------------------------------------------------------------------------------

DOCS = Path(__file__).parents[4] / "docs"


def test_the_python_of_the_guide_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    guide = (DOCS / "ultrasound.md").read_text()
    (code,) = re.findall(r"## From Python\n```python\n(.*?)```", guide, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, "docs/ultrasound.md", "exec"), names)
    assert names["result"].focus.position["x"] > 12.5e-3  # behind the bone


# --- maps and smoothing ---------------------------------------------------------------------------


def test_maps_include_the_state_at_the_end() -> None:
    """Every final value lies within the maps, also those of a stride and of the mean."""
    records = [
        {"fields": ["p"], "where": {"kind": "all"}, "what": ["final", "max"], "file": "end.nc"},
        {"fields": ["p"], "where": POINT, "what": ["raw", "mean"], "file": "points.nc"},
    ]
    found = simulate(records=records, duration="3 us")
    end, maps = found.records["end.nc"], found.fields
    assert (end["p_final"] <= maps["p_max"]).all() and (end["p_final"] >= maps["p_min"]).all()
    assert (end["p_final"] == maps["p_max"]).any()
    assert (end["p_max"] == maps["p_max"]).all()
    series = found.records["points.nc"]["p"]
    statistics = found.records["points_statistics.nc"]
    last = [end["p_final"].sel(x=x, y=5e-3, z=0, method="nearest") for x in (9e-3, 6e-3)]
    mean = np.vstack([series.values, [np.ravel(last)]]).mean(axis=0)
    assert statistics.attrs["samples"] == len(series) + 1
    np.testing.assert_allclose(np.ravel(statistics["p_mean"]), mean, rtol=1e-5)


@pytest.mark.parametrize(
    ("shape", "neighbours"),
    [
        ((7, 5), [0.673492031063, 0.699924440359]),
        ((6, 9), [0.58794891222, 0.666008764687]),
        ((5, 6, 7), [0.712122011882, 0.579460317343, 0.672449725716]),
    ],
)
def test_smoothing_is_that_of_k_wave(shape: tuple[int, ...], neighbours: list[float]) -> None:
    """The numbers are those of smooth(..., restore_max=True) of k-wave-python 0.6.2."""
    peak, middle = np.zeros(shape), tuple(n // 2 for n in shape)
    peak[middle] = 1.0
    found = smoothed(peak)
    assert found[middle] == pytest.approx(1.0)
    for axis, value in enumerate(neighbours):
        there = tuple(n + (dim == axis) for dim, n in enumerate(middle))
        assert found[there] == pytest.approx(value, abs=1e-12)
