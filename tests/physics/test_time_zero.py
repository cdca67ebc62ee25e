"""Time 0 of both solvers of seismic waves: arrivals, and the time axes of all files.

A run starts before time 0 if a source does. An explosion in a full space has an exact solution (Aki
and Richards 2002, equation 4.29).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from checked import quantities_of, warnings_of

import groundswell as gs
from groundswell.arrays import Floats
from groundswell.case.common import Case
from groundswell.seismology.formats.seismograms import read_seismograms
from groundswell.seismology.reference.fullspace import moment_velocity
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.pulse import Pulse
from groundswell.simulation.preparation import prepare
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.earthquake.case import EarthquakeCase

pytestmark = pytest.mark.timeout(240)

ROCK = HomogeneousMedium(3500.0, 2000.0, 2500.0)
SIGMA, CENTROID, MOMENT = 0.08, 0.13, 1e14
SOURCE, RECEIVER = (470.0, 720.0, 490.0), (900.0, 680.0, 660.0)
ORIGIN = datetime.fromisoformat("2020-02-29T23:59:59.5")
DATES = {
    "origin_time": ORIGIN.isoformat() + "Z",
    "centroid_time": (ORIGIN + timedelta(seconds=CENTROID)).isoformat() + "Z",
}
INTERVAL = 0.01
# The start is 6 sigma before the centroid, at -0.35 s, which is a sample of the seismograms.
START, END = -0.35, 0.6
CASES: dict[str, type[Case]] = {"earthquake": EarthquakeCase, "dgwave": DgWaveCase}
GRIDS: dict[str, dict[str, Any]] = {
    "earthquake": {"grid": {"size": [1200] * 3, "spacing": 50}, "boundary": {"top": "absorbing"}},
    "dgwave": {
        "grid": {"size": [1200] * 3, "spacing": 300},
        "boundary": {"top": "pml", "sides": "pml", "bottom": "pml", "width": 1},
        "method": {"degree": 5},
    },
}
SHIFT = 2e-3  # s; a step of either solver takes longer


def explosion(**when: float) -> dict[str, Any]:
    place = dict(zip(("x", "y", "depth"), SOURCE, strict=True))
    function = {"kind": "gaussian", "sigma": SIGMA, **when}
    return {"kind": "explosion", "moment": MOMENT, **place, "time_function": function}


def case(solver: str, source: list[dict[str, Any]], **more: Any) -> Case:
    record = {
        "fields": ["vx"],
        "where": {"kind": "points", "positions": [RECEIVER], "method": "linear"},
        "from": "-0.1 s",
        "interval": "0.02 s",
        "file": "point.nc",
    }
    output = {
        "seismograms": {"interval": INTERVAL, "formats": ["hdf5", "sac", "mseed"]},
        "surface": {"interval": 0.05, "stride": 6},
        "volumes": {"interval": 0.1, "fields": ["vx"]},
        "record": [record],
    }
    content = {
        "solver": solver,
        "time": {"duration": END},
        "medium": {"kind": "homogeneous", "vp": ROCK.vp, "vs": ROCK.vs, "rho": ROCK.rho},
        "source": source,
        "receiver": [dict(zip(("name", "x", "y", "depth"), ("A", *RECEIVER), strict=True))],
        "output": output,
        **GRIDS[solver],
        **more,
    }
    return CASES[solver].from_dict(content)


def exact(time: Floats) -> Floats:
    """Velocity of the receiver east, north and up, (3, n)."""
    moment = MOMENT * np.array([1, 1, 1, 0, 0, 0])
    pulse = Pulse.gaussian(SIGMA, CENTROID)
    east, north, down = moment_velocity(ROCK, moment, np.subtract(RECEIVER, SOURCE), time, pulse)
    return np.stack([east, north, -down])


def lateness(found: Floats, time: Floats) -> float:
    """By how much samples of east, north and up come after the exact ones, s; least squares."""
    wanted = exact(time)
    slope = np.gradient(wanted, time, axis=-1)
    return float(-np.sum((found - wanted) * slope) / np.sum(slope**2))


@pytest.fixture(scope="module", params=GRIDS)
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a centroid moment tensor, whose source starts before time 0."""
    folder = tmp_path_factory.mktemp(request.param)
    source = [explosion(centroid=CENTROID)]
    return gs.run(case(request.param, source, event=DATES), folder=folder).folder


def test_arrivals_are_on_time(results: Path) -> None:
    found = read_seismograms(results / "seismograms.h5")[0]
    time = found["time"].values
    assert time[0] == pytest.approx(START) and time[-1] == pytest.approx(END - INTERVAL)
    assert 0.0 in time
    assert abs(lateness(found.values, time)) < SHIFT
    assert np.linalg.norm(found - exact(time)) < 0.1 * np.linalg.norm(exact(time))


def test_sac_and_miniseed_have_the_same_times(results: Path) -> None:
    import obspy

    zero = obspy.UTCDateTime(ORIGIN)
    for pattern in ("sac/*.sac", "*.mseed"):
        stream = obspy.Stream([t for p in results.glob(pattern) for t in obspy.read(p)])
        traces = [stream.select(component=name)[0] for name in "ENZ"]
        assert [trace.stats.starttime for trace in traces] == [zero + START] * 3
        time = np.array([t + (traces[0].stats.starttime - zero) for t in traces[0].times()])
        assert abs(lateness(np.stack([trace.data for trace in traces]), time)) < SHIFT
    sac = obspy.read(next(results.glob("sac/*.sac")))[0].stats.sac
    assert (sac.b, sac.o, sac.t0) == pytest.approx((START, 0.0, CENTROID), abs=1e-6)
    assert sac.kt0.strip() == "CENTROID"


def test_all_time_axes_agree(results: Path) -> None:
    with xarray.open_dataset(results / "point.nc", engine="h5netcdf") as point:
        time, found = point["time"].values, point["vx"].values.ravel()
        assert point.attrs["reference_time"] == DATES["origin_time"]
    assert time[0] == pytest.approx(-0.1, abs=INTERVAL)
    wanted, slope = exact(time)[0], np.gradient(exact(time)[0], time)
    assert abs(np.sum((found - wanted) * slope)) < 2 * SHIFT * np.sum(slope**2)
    with xarray.open_dataset(results / "surface.nc", engine="h5netcdf") as surface:
        assert surface["time"].values[0] == pytest.approx(START)
        assert END - 0.07 < surface["time"].values[-1] < END
    assert volume_times(results)[0] == pytest.approx(START)


def volume_times(results: Path) -> Floats:
    import h5py

    with h5py.File(results / "volumes.vtkhdf") as file:
        return np.asarray(file["VTKHDF/Steps/Values"][:])


@pytest.mark.parametrize("solver", GRIDS)
def test_sources_at_different_times_add_up(solver: str, tmp_path: Path) -> None:
    """The run starts with the first of them; `onset` and `centroid` say the same."""
    early, late = {"onset": -0.31}, {"onset": 0.03}
    same = explosion(centroid=late["onset"] + 6 * SIGMA)
    runs = {
        "early": [explosion(**early)],
        "late": [explosion(**late)],
        "both": [explosion(**early), same],
    }
    more: dict[str, Any] = {"output": {"seismograms": {"interval": 0.05}}}
    more |= {"method": {"degree": 2}} if solver == "dgwave" else {}
    found = {
        name: gs.run(case(solver, source, **more), folder=tmp_path / name).seismograms
        for name, source in runs.items()
    }
    assert found["both"]["time"].values[0] == pytest.approx(-0.35)
    assert found["late"]["time"].values[0] == 0.0
    before = [(0, 0), (0, 0), (7, 0)]  # samples before time 0
    added = found["early"].values + np.pad(found["late"].values, before)
    error = np.abs(found["both"].values - added).max()
    assert error < 1e-5 * np.abs(added).max()  # single precision


@pytest.mark.parametrize("solver", GRIDS)
def test_a_run_that_starts_early_continues_from_a_checkpoint(solver: str, tmp_path: Path) -> None:
    content = case(solver, [explosion(centroid=0.0)], output={})
    with gs.Simulation(content) as whole:
        start = whole.time
        whole.advance(7)
        whole.checkpoint(tmp_path / "state.h5")
        whole.advance(5)
        wanted, time = np.array(whole.fields["vx"]), whole.time
    with gs.Simulation(content, restart=tmp_path / "state.h5") as later:
        later.advance(5)
        assert start is not None and later.time == time
        assert np.array_equal(np.array(later.fields["vx"]), wanted)
    assert start < -6 * SIGMA + 1e-9


@pytest.mark.parametrize("solver", GRIDS)
def test_check_shows_dates_and_times(solver: str) -> None:
    def told(source: dict[str, Any], **event: Any) -> tuple[dict[str, Any], list[str]]:
        setup = prepare(case(solver, [source], event=event, output={}))
        return {q.key: q.value for q in quantities_of(setup)}, list(warnings_of(setup))

    values, warnings = told(explosion(centroid=CENTROID), **DATES)
    assert START - 0.01 < values["start"] <= START and END <= values["end"] < END + 0.02
    assert (
        values["centroid_time"] == CENTROID and values["reference_time"] == f"{ORIGIN.isoformat()}Z"
    )
    assert not any("centroid" in warning for warning in warnings)
    _, warnings = told(explosion(), **DATES)
    assert any("centroid of the sources is at 0.48 s; move" in warning for warning in warnings)
    values, _ = told(explosion(), centroid_time=DATES["centroid_time"])
    zero = datetime.fromisoformat(DATES["centroid_time"]) - timedelta(seconds=6 * SIGMA)
    assert datetime.fromisoformat(values["reference_time"]) == zero


def test_an_unknown_origin_time_is_undefined_in_sac(tmp_path: Path) -> None:
    """The dates of the samples follow from the centroid time, wherever the function starts."""
    import obspy

    event = {"centroid_time": DATES["centroid_time"]}
    output = {"seismograms": {"interval": 0.05, "formats": ["sac"]}}
    content = case("earthquake", [explosion()], event=event, output=output)
    folder = gs.run(content, folder=tmp_path).folder
    trace = obspy.read(next(folder.glob("sac/*.sac")))[0]
    assert "o" not in trace.stats.sac and trace.stats.sac.t0 == pytest.approx(6 * SIGMA)
    first = obspy.UTCDateTime(DATES["centroid_time"]) - 6 * SIGMA
    assert abs(trace.stats.starttime - first) < 1e-3
