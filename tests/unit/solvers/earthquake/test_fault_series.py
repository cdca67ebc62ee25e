"""Faults on the staggered grid: energies, series at points, and slip as a kinematic source."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d
from split_nodes import FAULT, GIVEN, SOURCE

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.errors import InputError, Interrupted
from groundswell.grids.cartesian import Part
from groundswell.report.pictures import draw_pictures
from groundswell.seismology.formats.fault_series import HISTORY, SERIES
from groundswell.seismology.formats.srf import read_srf
from groundswell.simulation.result import Result
from groundswell.solvers.earthquake import Earthquake, EarthquakeCase
from groundswell.solvers.earthquake.fault_cost import fault_memory
from groundswell.solvers.earthquake.setup import prepare

SECOND = {
    **FAULT,
    "name": "second",
    "plane": {"x": 275.0, "y": [700.0, 1000.0], "depth": [100.0, 400.0]},
    "hypocenter": [275.0, 850.0, 250.0],
    "patch": [{**FAULT["patch"][0], "center": [275.0, 850.0, 250.0], "radius": 60.0}],
}
POINTS = [
    {"name": "middle", "fault": "main", "along_strike": 10.0, "down_dip": 260.0},
    {"name": "other", "fault": "second", "along_strike": -120.0, "down_dip": 40.0},
    {"name": "edge", "fault": "main", "along_strike": -280.0, "down_dip": 10.0},
]
OUTPUT = {
    "fault_points": {"point": POINTS, "formats": ["netcdf", "scec"]},
    "rupture": {"interval": 0.008},
    "film": True,
}
GIVEN_HERE = {
    **GIVEN,
    "title": "small",
    "time": {"duration": 0.2, "step": 0.004},
    "fault": [{**FAULT, "plane": {**FAULT["plane"], "x": [400.0, 900.0]}}, SECOND],
    "output": OUTPUT,
}

RESUME = dedent(
    """
    import json
    import sys

    import groundswell as gs
    from groundswell.solvers.earthquake import EarthquakeCase

    case = EarthquakeCase.from_dict(json.load(open(sys.argv[1])))
    gs.run(case, folder=sys.argv[2], resume=True, quiet=True)
    """
)


def run(folder: Path, **changes: Any) -> Any:
    return gs.run(EarthquakeCase(**{**GIVEN_HERE, **changes}), folder=folder, quiet=True)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return run(tmp_path_factory.mktemp("series"))


@pytest.mark.full
def test_a_film_shows_the_rupture(result: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundswell.plotting.film.MOST_FRAMES", 4)
    monkeypatch.setenv("PATH", "")  # without ffmpeg
    assert result.folder / "fault_slip_rate.gif" in draw_pictures(result.folder, pytest.fail)


def test_samples_are_the_maps_of_shorter_runs(result: Any, tmp_path: Path) -> None:
    """A map is that of the end of a run; a sample that of the beginning of a step."""
    shorter = run(tmp_path, time={"duration": 0.16, "step": 0.004}, output={}).fault
    series, history = (found.sel(time=0.16) for found in (result.fault_points, result.rupture))
    assert history.sizes["subfault"] == shorter.sizes["point"] == 10 * 10 + 6 * 6
    for name in HISTORY:
        assert np.array_equal(history[name], shorter[name]), name
    for n, point in enumerate(POINTS):
        at = series.isel(point=n)
        places = ("x", "y", "depth")
        away = np.linalg.norm([shorter[axis] - float(at[axis]) for axis in places], axis=0)
        assert away.min() == 0
        for name in SERIES:
            assert float(at[name]) == shorter[name].values[away.argmin()], (point, name)
    assert series.along_strike.values == pytest.approx([25, -125, -175])
    assert series.down_dip.values == pytest.approx([275, 25, 25])


def test_the_first_sample_is_the_load(result: Any) -> None:
    first = result.fault_points.isel(time=0)
    assert float(first.time) == 0 and not first.slip_strike.any()
    assert first.normal_stress.values == pytest.approx(120e6)
    shear = np.hypot(first.shear_strike, first.shear_updip).values
    assert shear == pytest.approx([84e6, 70e6, 70e6])
    rake = np.degrees(np.arctan2(first.shear_updip, first.shear_strike))
    assert rake.values == pytest.approx(160)


def test_the_load_does_work_against_friction_and_on_waves(result: Any) -> None:
    """Its work is stress times slip, where points between cells have one stress."""
    fault, axis = result.fault, np.radians(160)
    away = np.hypot(fault.along_strike, fault.down_dip - np.where(fault.fault == 0, 250, 150))
    slip = fault.slip_strike * np.cos(axis) + fault.slip_updip * np.sin(axis)
    total, done = (fault.work + fault.released).values, (70e6 * slip).values
    outside = away.values > 220
    assert outside.sum() >= 40 and done[outside].max() > 1e5
    assert total[outside] == pytest.approx(done[outside], rel=1e-9, abs=1e-6)
    path = np.hypot(fault.slip_strike, fault.slip_updip).values
    assert (fault.work.values >= 0.525 * 110e6 * path).all()
    findings = result.summary["findings"]
    for name, total in {"work": fault.work, "released_energy": fault.released}.items():
        assert findings[name] == pytest.approx(float((total * fault.area).sum()))


def test_findings_are_those_of_the_map(result: Any) -> None:
    fault, findings = result.fault, result.summary["findings"]
    slip = np.hypot(fault.slip_strike, fault.slip_updip)
    assert findings["moment"] == pytest.approx(float((fault.mu * slip * fault.area).sum()))
    assert findings["largest_slip"] == pytest.approx(float(slip.max()))
    assert findings["fault_second_moment"] < 0.5 * findings["moment"]
    assert fault.attrs["magnitude"] == findings["magnitude"]
    assert fault.mu.values == pytest.approx(2670 * 3464**2)


def test_the_source_has_the_moment_of_the_map(result: Any) -> None:
    source = read_srf(result.folder / "rupture.srf")
    slip = np.linalg.norm(source.integrated_slip, axis=1)
    moment = float((source.rigidity * source.area * slip).sum())
    assert moment == pytest.approx(result.summary["findings"]["moment"], rel=0.01)
    assert set(source.strike.round(6)) == {0.0, 90.0} and (source.dip == 90).all()


def test_the_source_radiates_the_waves_of_the_rupture(tmp_path: Path) -> None:
    """Without the fault: below 3.5 Hz, where S waves are 1,000 m, with cells of 50 m.

    The fault reaches the surface, and slips as far as its ends. The layers absorb both alike.
    """
    slow = {"kind": "forced", "radius": 800.0, "speed": 2500.0, "duration": 0.3}
    friction = {**FAULT["friction"], "distance": 10.0}
    fault = {**FAULT, "patch": [], "nucleation": slow, "friction": friction}
    places = {"A": (200.0, 300.0, 0.0), "B": (1100.0, 575.0, 300.0), "C": (600.0, 1000.0, 700.0)}
    stations = [{"name": n, "x": x, "y": y, "depth": z} for n, (x, y, z) in places.items()]
    time = {"duration": 0.6, "step": 0.004}
    given = {**GIVEN, "time": time, "fault": [fault], "receiver": stations}
    output = {"rupture": {"interval": 0.02}}
    rupture = gs.run(EarthquakeCase(**given, output=output), folder=tmp_path / "a", quiet=True)
    x, y, _ = rupture.summary["findings"]["source_start"]
    source = {"kind": "srf", "file": str(rupture.folder / "rupture.srf"), "x": x, "y": y}
    replay = EarthquakeCase(**{**given, "fault": [], "source": [source]})
    kinematic = gs.run(replay, folder=tmp_path / "b", quiet=True)
    expected, found = (r.seismograms.values for r in (rupture, kinematic))
    samples = min(expected.shape[-1], found.shape[-1])
    low, wanted = (gaussian_filter1d(v[..., :samples], 0.045 / 0.004) for v in (found, expected))
    errors = np.abs(low - wanted).max(axis=(1, 2))
    assert (errors < 0.01 * np.abs(wanted).max(axis=(1, 2))).all()


def test_scec_files_have_the_series(result: Any) -> None:
    lines = (result.folder / "scec" / "middle.txt").read_text().splitlines()
    assert lines[:2] == ["# problem = small", "# element_size = 50 m"]
    found = np.loadtxt([line for line in lines if line[0] in "0123456789"])
    point = result.fault_points.sel(point="middle")
    assert found[:, 0] == pytest.approx(point.time.values)
    assert found[:, 1] == pytest.approx(-point.slip_strike.values)
    assert (result.folder / "scec" / "cplot_second.txt").exists()


def test_series_continue_on_other_ranks(
    result: Any, on_ranks: Callable[..., str], tmp_path: Path
) -> None:
    """A run that stopped on one rank goes on alike on four, whose blocks cut the faults."""
    stop = gs.every(23, lambda live: live.stop())
    with pytest.raises(Interrupted):
        gs.run(EarthquakeCase(**GIVEN_HERE), folder=tmp_path, callbacks=[stop], quiet=True)
    path, program = tmp_path / "case.json", tmp_path / "program.py"
    run = {**GIVEN["run"], "processes": [2, 1, 2]}
    path.write_text(json.dumps({"solver": "earthquake", **GIVEN_HERE, "run": run}))
    program.write_text(RESUME)
    on_ranks(4, program, path, tmp_path)
    found = Result(tmp_path)
    assert found.summary["resumed_at"] == 23
    assert found.summary["ranks"]["processes"] == [2, 1, 2]
    for name in ("fault", "rupture", "fault_points"):
        for field, values in getattr(result, name).items():
            assert np.array_equal(getattr(found, name)[field], values, equal_nan=True), field


def test_outputs_of_faults_need_faults(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"output.rupture: the case has no fault; add a \[\[fault"):
        run(tmp_path, fault=[], source=[SOURCE], output={"rupture": {"interval": 0.01}})
    points = {"fault_points": {"point": [{**POINTS[0], "fault": "third"}]}}
    with pytest.raises(InputError, match='fault = "third": there is no such fault'):
        run(tmp_path, output=points)


def test_the_memory_of_faults_is_counted() -> None:
    """That of all arrays, but for one number: the time at the start."""
    setup = prepare(EarthquakeCase(**{**GIVEN_HERE, "output": {}}))
    found = Earthquake(setup, open_backend("cpu")).faults
    arrays = [a for slip in found.slips if slip for a in [*slip.arrays.values()]]
    tables = [table for slip in found.slips if slip for table in slip._tables.values()]
    taken = sum(array.nbytes for array in [*arrays, *tables]) - 8 * len(found.slips)
    assert fault_memory(setup, Part.whole(setup.grid)) == taken
    halves = [Part(setup.grid, (x, 0, 0), (17, *setup.grid.cells[1:])) for x in (0, 17)]
    assert taken < sum(fault_memory(setup, half) for half in halves) < 1.5 * taken
