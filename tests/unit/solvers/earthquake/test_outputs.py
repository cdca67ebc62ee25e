"""Files of a run against the wave field itself, and against each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray

from groundswell.backends import open_backend
from groundswell.seismology.formats.shaking_maps import open_surface
from groundswell.simulation.result import Result
from groundswell.simulation.run import run
from groundswell.solvers.earthquake import Earthquake, EarthquakeCase
from groundswell.solvers.earthquake.setup import prepare

STEP = 0.01  # s, of the tiny case
PLACES = [(450.0, 850.0), (1250.0, 1650.0), (1850.0, 450.0)]  # middles of cells, every second one
PULSE = {"kind": "gaussian", "sigma": 0.12}
EVENT = {"origin_time": "2014-03-29T04:09:42.97Z", "name": "Tiny"}


def receivers() -> list[dict[str, Any]]:
    return [{"name": f"R{n}", "x": x, "y": y} for n, (x, y) in enumerate(PLACES)]


@pytest.fixture(scope="module")
def case(tiny: Callable[..., Any]) -> EarthquakeCase:
    source = tiny()["source"][0] | {"time_function": PULSE}
    return EarthquakeCase.from_dict(
        tiny(
            time={"duration": "1.2 s"},
            source=[source],
            event=EVENT,
            receiver=receivers(),
            output={
                "seismograms": {"interval": STEP, "formats": ["hdf5", "sac", "mseed"]},
                "surface": {"interval": "0.05 s", "stride": 2},
                "volumes": {"interval": "0.251 s", "stride": 3, "fields": ["vx", "szz"]},
            },
            run={"precision": "double"},
        )
    )


@pytest.fixture(scope="module")
def result(case: EarthquakeCase, tmp_path_factory: pytest.TempPathFactory) -> Result:
    return run(case, folder=tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def surface(result: Result) -> Iterator[xarray.Dataset]:
    with open_surface(result.folder / "surface.nc") as dataset:
        yield dataset.load()


def test_the_summary_names_every_file_relative_to_the_folder(result: Result) -> None:
    files = json.loads((result.folder / "summary.json").read_text())["files"]
    expected = {"seismograms.h5", "seismograms.mseed", "surface.nc", "shaking_map.nc"}
    expected |= {"volumes.vtkhdf"} | {f"sac/R{n}..FH{c}.sac" for n in range(3) for c in "ENZ"}
    assert {name.replace("CH", "FH").replace("HH", "FH") for name in files} == expected
    assert all((result.folder / name).is_file() for name in files)


def test_samples_are_where_they_say_in_time(result: Result, surface: xarray.Dataset) -> None:
    times = result.seismograms["time"].values
    assert times == pytest.approx(STEP * np.arange(120))
    assert surface["time"].values == pytest.approx(0.05 * np.arange(24))
    with h5py.File(result.folder / "volumes.vtkhdf") as file:  # 0.251 s becomes whole steps
        assert file["VTKHDF/Steps/Values"][:] == pytest.approx(0.25 * np.arange(5))


def test_the_surface_moves_as_receivers_on_it_do(result: Result, surface: xarray.Dataset) -> None:
    """Surface and map read the field as a receiver in the middle of a cell's top does."""
    for n, (x, y) in enumerate(PLACES):
        seen = surface["velocity"].sel(x=x, y=y).transpose("component", "time").values
        heard = result.seismograms[n].values[:, ::5]
        assert np.abs(seen - heard).max() < 1e-9 * np.abs(heard).max()


def test_peaks_are_those_of_the_whole_time_at_every_step(result: Result) -> None:
    for n, (x, y) in enumerate(PLACES):
        horizontal = result.seismograms[n].sel(component=["E", "N"]).values
        speed = np.hypot(*horizontal).max()
        acceleration = np.hypot(*np.diff(horizontal, axis=1)).max() / STEP
        peak = result.shaking_map.sel(x=x, y=y)
        assert float(peak["pgv"]) == pytest.approx(speed, rel=1e-9)
        assert float(peak["pga"]) == pytest.approx(acceleration, rel=1e-9)


def test_the_map_is_above_every_sample_of_the_surface(
    result: Result, surface: xarray.Dataset
) -> None:
    speed = np.hypot(*(surface["velocity"].sel(component=c).values for c in "EN")).max(axis=0)
    assert (result.shaking_map["pgv"].values[::2, ::2] >= speed * (1 - 1e-12)).all()


def test_volumes_are_snapshots_of_the_field(case: EarthquakeCase, result: Result) -> None:
    found = Earthquake(prepare(case), open_backend("cpu"))
    found.backend.capture(found.step).replay(75)
    found.backend.synchronize()
    with h5py.File(result.folder / "volumes.vtkhdf") as file:
        cells, origin = file["VTKHDF/CellData"], file["VTKHDF"].attrs["Origin"]
        for name in ("vx", "szz"):
            expected = found.snapshot(name)[::3, ::3, ::3]
            stored = cells[name][3][::-1]  # z is up in the file
            np.testing.assert_allclose(stored, expected, rtol=1e-6, atol=1e-12)
        assert np.abs(cells["vx"][3]).max() > 0
    # The middle of the first block of 3 is that of the first cell: 50 m from the corner.
    assert origin[:2] + 150.0 == pytest.approx([50.0, 50.0])
    assert origin[2] + 8 * 300.0 - 150.0 == pytest.approx(-50.0)


def test_every_file_knows_the_event(result: Result, surface: xarray.Dataset) -> None:
    for attrs in (result.seismograms.attrs, surface.attrs, result.shaking_map.attrs):
        assert attrs["origin_time"] == "2014-03-29T04:09:42.970000Z"
        assert attrs["event_name"] == "Tiny"
        assert attrs["magnitude"] == 3.0
        assert list(attrs["focal_mechanism"]) == [35.0, 80.0, 10.0]
        assert attrs["event_depth"] == pytest.approx(810.0)
    begin = result.stream[0].stats.starttime
    assert str(begin) == "2014-03-29T04:09:42.970000Z"


# --- turned grids --------------------------------------------------------------------------------


def turned(tiny: Callable[..., Any], folder: Path, azimuth: float) -> Result:
    """The tiny earthquake on a square region around one place, its grid turned."""
    spot = {"longitude": 12.34, "latitude": 45.67}
    source = {k: v for k, v in tiny()["source"][0].items() if k not in ("x", "y")}
    stations = [
        {"name": f"R{n}", "longitude": 12.34 + east, "latitude": 45.67 + north}
        for n, (east, north) in enumerate([(0.006, 0.004), (-0.005, 0.006), (0.0, -0.008)])
    ]
    geography = {"center": list(spot.values()), "azimuth": azimuth}
    content = tiny(
        grid={"geography": geography},
        medium={"qp": None, "qs": None},
        boundary={"width": 10},  # thinner layers send back what depends on the side
        attenuation={"model": "none"},
        source=[source | spot | {"time_function": PULSE}],
        receiver=stations,
        output={"volumes": None, "surface": None},
        run={"precision": "double"},
    )
    return run(EarthquakeCase.from_dict(content), folder=folder)


@pytest.mark.full
def test_turning_the_grid_changes_nothing_for_an_observer(
    tiny: Callable[..., Any], tmp_path: Path
) -> None:
    """A quarter turn maps the staggered grid onto itself: equal but for rounding on the map."""
    still, quarter = (turned(tiny, tmp_path / str(a), a) for a in (0.0, 90.0))
    expected, found = still.seismograms.values, quarter.seismograms.values
    assert np.abs(found - expected).max() < 1e-7 * np.abs(expected).max()
    # Its y axis points east and its x axis south: what was at (x, y) is at (n - y, x).
    assert quarter.shaking_map["pgv"].values == pytest.approx(
        np.rot90(still.shaking_map["pgv"].values, -1), rel=1e-4
    )
    for name, tolerance in (("longitude", 1e-7), ("latitude", 1e-7)):
        degrees = [r.shaking_map[name].values for r in (still, quarter)]
        assert degrees[1] == pytest.approx(np.rot90(degrees[0], -1), abs=tolerance)
