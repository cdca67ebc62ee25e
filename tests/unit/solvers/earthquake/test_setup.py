"""What is decided before a run: step, sampling, event data, refusals and warnings."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import cost, decomposed, warnings_of

from groundswell.errors import CaseError, InputError
from groundswell.seismology.formats.srf import Plane
from groundswell.seismology.sources import moment
from groundswell.seismology.sources.event import event_attributes, outline
from groundswell.seismology.survey import Survey
from groundswell.simulation.preparation import check
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import Setup, prepare

rng = np.random.default_rng(2014)
EXAMPLES = Path(__file__).parents[4] / "examples"

MEDIUM = {"kind": "homogeneous", "vp": 5000.0, "vs": 2900.0, "rho": 2700.0}
SOURCE = {
    "kind": "double-couple",
    "x": 1300.0,
    "y": 1700.0,
    "depth": 1100.0,
    "strike": 239.0,
    "dip": 70.0,
    "rake": 38.0,
    "magnitude": 5.1,
    "time_function": {"kind": "cosine", "rise": 0.6},
}
RECEIVER = {"name": "A", "x": 700.0, "y": 400.0}
GEOGRAPHY = {"center": [-117.9, 33.9], "azimuth": 25.0}


def case(**sections: Any) -> EarthquakeCase:
    grid = {"size": [3000.0, 4000.0, 2000.0], "spacing": 100.0}
    content: dict[str, Any] = {
        "time": {"duration": 2.0},
        "grid": grid | sections.pop("grid", {}),
        "medium": MEDIUM,
        "source": [SOURCE],
        "receiver": [RECEIVER],
    }
    return EarthquakeCase(**(content | sections))


def setup(**sections: Any) -> Setup:
    return prepare(case(**sections))


def attributes(found: Setup) -> dict[str, Any]:
    survey = Survey(found.survey.entries, found.survey.receivers)
    return event_attributes(found.case, found.geography, survey)


def sampled(**intervals: float) -> dict[str, Any]:
    return {"output": {name: {"interval": value} for name, value in intervals.items()}}


# --- step and sampling ---------------------------------------------------------------------------


def test_the_step_is_the_longest_that_divides_the_interval_of_the_seismograms() -> None:
    longest = setup().dt
    assert longest == pytest.approx(0.97 * 0.976 * 6 * 100 / (7 * np.sqrt(3) * 5000))
    for interval in rng.uniform(0.2 * longest, 30 * longest, 20):
        found = setup(**sampled(seismograms=interval))
        count = found.sampling_stride("seismograms")
        assert count * found.dt == pytest.approx(interval, rel=1e-12)
        assert found.dt <= longest
        assert count == 1 or interval / (count - 1) > longest
        assert found.sampling["seismograms"] == pytest.approx(interval, rel=1e-11)


def test_surface_and_volumes_are_sampled_in_whole_steps_and_never_shorten_the_step() -> None:
    alone = setup(**sampled(seismograms=0.02)).dt
    for asked in rng.uniform(0.001, 0.9, 20):
        found = setup(**sampled(seismograms=0.02, surface=asked, volumes=asked))
        assert found.dt == alone
        true = found.sampling["surface"]
        assert true == found.sampling["volumes"]
        assert abs(true - asked) <= alone / 2 or true == pytest.approx(alone)
        assert true == pytest.approx(found.sampling_stride("surface") * alone)


def test_only_what_is_recorded_has_a_sampling() -> None:
    assert setup(receiver=[]).sampling == {}
    assert list(setup().sampling) == ["seismograms"]
    assert setup().sampling["seismograms"] == pytest.approx(setup().dt)


@pytest.mark.parametrize(
    ("step", "interval", "message"),
    [
        (0.004, 0.006, "is not a whole number of steps of 0.004 s"),
        (0.004, 0.001, "is not a whole number of steps"),
        (
            0.02,
            0.02,
            r"time.step = 0.02 s is unstable: the limit is 0.00965989 s.*waves of 5000 m/s",
        ),
        ("auto", 0.0005, "needs steps far shorter than the stable 0.00937 s"),
    ],
)
def test_steps_that_cannot_be_are_refused(step: Any, interval: float, message: str) -> None:
    times = {"duration": 2.0, "step": step}
    with pytest.raises(InputError, match=message):
        setup(time=times, **sampled(seismograms=interval))


def test_a_run_lasts_at_least_its_duration() -> None:
    for duration in rng.uniform(0.5, 3, 10):
        found = setup(time={"duration": duration})
        assert found.steps * found.dt >= duration * (1 - 1e-9) > (found.steps - 1) * found.dt
    exact = setup(time={"duration": 2.0}, **sampled(seismograms=0.02))
    assert exact.steps == round(2.0 / exact.dt)


def test_what_a_run_could_not_use_is_refused_at_set_up(tmp_path: Path) -> None:
    stations = tmp_path / "stations.csv"
    stations.write_text("network,station,x,y\nGS,FAR,9000,0\n")
    with pytest.raises(InputError, match=r"GS\.FAR: x = 9000\.0: lies outside the region"):
        setup(receiver=[], receivers={"file": stations})
    late = SOURCE | {"time_function": {"kind": "cosine", "rise": 0.6, "onset": 5.0}}
    with pytest.raises(InputError, match="starts at 5 s, but the run ends at 2 s"):
        setup(source=[late])
    still = tmp_path / "still.srf"
    still.write_text("1.0\nPOINTS 1\n-117.9 33.9 1 0 90 1e8 0 0.1\n0 0 2 0 0 0 0\n0 0\n")
    with pytest.raises(InputError, match=r"source\[0\]: .*still.srf: no subfault slips"):
        setup(source=[{"kind": "srf", "file": still}], grid={"geography": GEOGRAPHY})


@pytest.mark.parametrize("name", ["sac", "mseed"])
def test_what_sac_and_miniseed_cannot_hold_is_refused_at_set_up(tmp_path: Path, name: str) -> None:
    pytest.importorskip("obspy")
    stations = tmp_path / "stations.csv"
    for codes, message in (
        (
            "XX,LONGER",
            rf"station XX\.LONGER: name = LONGER: .*5 characters.*format {name}",
        ),
        ("LONG,A", r"station LONG\.A: network = LONG: .*2 characters"),
    ):
        stations.write_text(f"network,station,x,y\n{codes},900,0\n")
        listed: dict[str, Any] = {"receiver": [], "receivers": {"file": stations}}
        with pytest.raises(InputError, match=message):
            setup(**listed, output={"seismograms": {"formats": ["hdf5", name]}})
        setup(**listed)
    one = {"interval": 2.0, "formats": ["hdf5", name]}
    with pytest.raises(InputError, match=rf"interval = 2 s gives only one sample .*{name} needs 2"):
        setup(output={"seismograms": one})
    setup(output={"seismograms": one}, receiver=[])
    setup(output={"seismograms": one | {"interval": 1.0}})
    setup(**sampled(seismograms=2.0))


def test_a_grid_that_no_device_holds_is_refused_before_its_medium_is_read(tmp_path: Path) -> None:
    (tmp_path / "model.nc").touch()
    grid = {"size": [3000.0, 4000.0, 2e6], "spacing": [1.0, 1.0, 0.5]}
    with pytest.raises(InputError, match=r"takes .* TB of memory \(\d+ bytes\), .*10 TB.*spacing"):
        setup(grid=grid, medium={"kind": "netcdf", "file": tmp_path / "model.nc"})


def test_millions_of_rows_are_set_up_in_a_moment() -> None:
    start = time.perf_counter()
    grid = {"size": [3000.0, 4000.0, 6e6], "spacing": [100.0, 100.0, 1.0]}
    assert cost(setup(grid=grid, time={"duration": 0.1})).memory > 1e11
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("sides", ["pml", "sponge"])
def test_ranks_take_what_their_parts_do(sides: str) -> None:
    """Together more than one rank alone: ghost layers, padded rows, a copy of each receiver."""
    found = setup(
        grid={"size": [12000.0, 9000.0, 7000.0]},
        boundary={"sides": sides, "width": 10},
        output={"surface": {"interval": 0.1}, "volumes": {"interval": 0.5, "stride": 2}},
    )
    assert decomposed(found, 1).memory == [cost(found).memory]
    for ranks in (2, 5, 12):
        shared = decomposed(found, ranks)
        needs, share = shared.memory, shared.updates_per_step / cost(found).updates_per_step
        assert len(needs) == ranks and share >= 1 / ranks
        assert cost(found).memory < sum(needs) < 1.6 * cost(found).memory
        assert max(needs) < 1.6 * share * cost(found).memory


# --- the event -----------------------------------------------------------------------------------


def test_a_double_couple_names_its_angles_and_magnitude() -> None:
    found = attributes(setup(title="T"))
    assert found["focal_mechanism"] == [239.0, 70.0, 38.0]
    assert found["magnitude"] == 5.1
    assert (found["event_x"], found["event_y"]) == pytest.approx((1300.0, 1700.0))
    assert found["event_depth"] == pytest.approx(1100.0)
    assert found["title"] == "T"
    assert "event_longitude" not in found and "epicentre_x" not in found


def test_the_case_has_the_last_word_on_the_event() -> None:
    event = {"name": "La Habra", "magnitude": 5.2, "origin_time": "2014-03-28T21:09:42.97-07:00"}
    found = attributes(setup(event=event))
    assert found["magnitude"] == 5.2
    assert found["event_name"] == "La Habra"
    assert found["origin_time"] == "2014-03-29T04:09:42.970000Z"


@pytest.mark.parametrize("value", ["yesterday", 20140329, "2014-13-01", "0001-01-01T00:00+14:00"])
def test_an_origin_time_must_be_a_time(value: Any) -> None:
    with pytest.raises(CaseError, match=r"origin_time .*must be a date and time, such as 2014"):
        case(event={"origin_time": value})


def test_several_sources_have_a_centroid_a_net_tensor_and_a_beginning() -> None:
    places = rng.uniform(500, 1900, (4, 3))
    moments, angles = rng.uniform(1e15, 9e15, 4), rng.uniform((0, 5, -180), (360, 90, 180), (4, 3))
    onsets = rng.permutation(4) * 0.2
    sources = [
        SOURCE
        | dict(zip(("x", "y", "depth"), map(float, place), strict=True))
        | dict(zip(("strike", "dip", "rake"), map(float, angle), strict=True))
        | {"magnitude": None, "moment": float(m)}
        | {"time_function": {"kind": "cosine", "rise": 0.6, "onset": float(onset)}}
        for place, angle, m, onset in zip(places, angles, moments, onsets, strict=True)
    ]
    made = setup(source=sources, grid={"geography": GEOGRAPHY})
    found = attributes(made)
    centroid = np.average(places, axis=0, weights=moments)
    assert [found[f"event_{c}"] for c in ("x", "y", "depth")] == pytest.approx(centroid, rel=1e-6)
    assert (found["epicentre_x"], found["epicentre_y"]) == tuple(places[onsets.argmin(), :2])
    lonlat = made.geography.to_lonlat(*centroid[:2])  # type: ignore[union-attr]
    assert (found["event_longitude"], found["event_latitude"]) == pytest.approx(lonlat, abs=1e-7)
    net = moment.double_couple(*angles.T, moments).sum(axis=0)  # along east, north, down
    m0 = float(np.sqrt(np.sum(moment.as_matrix(net) ** 2) / 2))
    assert found["magnitude"] == pytest.approx((np.log10(m0) - 9.1) / 1.5, abs=6e-3)
    again = moment.from_rtp(found["focal_mechanism"])
    assert again == pytest.approx(net, abs=1e-6 * m0)


def test_forces_and_moment_that_is_given_back_have_no_magnitude() -> None:
    ricker = SOURCE | {"time_function": {"kind": "ricker", "frequency": 2.0}}
    force = {"kind": "force", "force": [0, 0, 1e9], "x": 1500.0, "y": 100.0, "depth": 0.0}
    force["time_function"] = {"kind": "gaussian", "sigma": 0.1}
    for source in (ricker, force):
        found = attributes(setup(source=[source]))
        assert found["magnitude"] is None
        assert found["event_x"] == source["x"]
    assert attributes(setup(source=[force]))["focal_mechanism"] is None


def test_a_rupture_has_its_outline_and_its_moment() -> None:
    found = attributes(prepare(_example("finite_fault")))
    assert found["magnitude"] == 6.0
    # The case's grid runs along the fault, which is 12 km long, vertical, in the middle of x.
    assert found["fault_x"] == pytest.approx(np.full(5, 10e3), abs=1)
    assert sorted(set(np.round(found["fault_y"], -1))) == [9e3, 21e3]
    # Right-lateral slip begins 3.5 km south-west of the middle; the subfaults are 500 m wide.
    assert found["epicentre_y"] == pytest.approx(11.5e3, abs=300)
    expected = moment.to_rtp(moment.double_couple(30, 90, 180, 10 ** (1.5 * 6 + 9.1)))
    assert found["focal_mechanism"] == pytest.approx(expected, abs=2e-3 * np.abs(expected).max())


def test_a_rupture_without_geography_has_the_same_outline_and_moment() -> None:
    original = prepare(_example("finite_fault"))
    wanted = attributes(original)
    content = original.case
    source = content.source[0].model_copy(
        update={"x": wanted["epicentre_x"], "y": wanted["epicentre_y"], "azimuth": 30.0}
    )
    grid = content.grid.model_copy(update={"geography": None})
    placed = content.model_copy(update={"source": (source,), "grid": grid, "receivers": None})
    found = attributes(prepare(placed))
    for name in ("fault_x", "fault_y", "event_x", "event_y", "epicentre_x", "epicentre_y"):
        # North differs by 0.01 degrees between the epicentre and the centre of the region.
        assert found[name] == pytest.approx(wanted[name], abs=3), name
    assert found["magnitude"] == wanted["magnitude"] == 6.0
    along_y = moment.to_rtp(moment.double_couple(0, 90, 180, 10 ** (1.5 * 6 + 9.1)))
    assert found["focal_mechanism"] == pytest.approx(along_y, abs=2e-3 * np.abs(along_y).max())


def _example(name: str) -> Any:
    from groundswell.case import load_case

    return load_case(EXAMPLES / name / "case.toml")


def test_a_dipping_fault_reaches_to_the_right_of_its_strike() -> None:
    geography = case(grid={"geography": GEOGRAPHY}).grid.frame
    centre = geography.to_lonlat(1000.0, 500.0)  # type: ignore[union-attr]
    plane = Plane(*centre, 1, 1, 600.0, 400.0, 25.0 + 90.0, 60.0, 0.0, 0.0, 0.0)
    x, y = outline(plane, geography)  # type: ignore[arg-type]
    # In the grid's frame the strike is 90 degrees, along x, and the fault dips to -y.
    assert x[:5] == pytest.approx([700, 1300, 1300, 700, 700], abs=0.01)
    assert y[:5] == pytest.approx([500, 500, 300, 300, 500], abs=0.01)
    assert np.isnan([x[5], y[5]]).all()


# --- warnings ------------------------------------------------------------------------------------


def test_a_sound_case_has_no_warnings() -> None:
    slow = SOURCE | {"time_function": {"kind": "cosine", "rise": 0.6}}
    assert check(case(source=[slow], **sampled(seismograms=0.05)))["warnings"] == []


ANELASTIC = MEDIUM | {"qp": 200.0, "qs": 100.0}


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        (
            {"source": [SOURCE | {"time_function": {"kind": "brune", "rise": 0.03}}]},
            "sources have energy up to .* Hz, but the grid resolves 4.83 Hz",
        ),
        (
            {
                "medium": MEDIUM | {"qp": 250.0, "qs": 100.0},
                "attenuation": {"model": "constant"},
            },
            r"qp / qs exceeds 3/4 \(vp / vs\)\^2",
        ),
        (
            {
                "medium": ANELASTIC,
                "attenuation": {"model": "power-law", "exponent": 1.0, "band": [0.1, 20.0]},
            },
            "Q.f. differs from its target by up to",
        ),
        (
            {"medium": ANELASTIC, "attenuation": {"model": "constant", "band": [0.1, 2.0]}},
            "resolves 4.83 Hz, but Q is fitted up to 2 Hz",
        ),
        (
            sampled(seismograms=0.01, surface=0.013),
            "interval = 0.013 s is rounded to 0.015 s",
        ),
        (
            sampled(seismograms=0.005),
            "shortens the time step from 0.00937 s to 0.005 s, .*; an interval of 0.00937 s needs",
        ),
        (
            {"source": [SOURCE | {"time_function": {"kind": "brune", "rise": 1.0}}]},
            r"source\[0\] releases 59 % of its moment before the run ends at 2 s; lengthen",
        ),
        ({"event": {"magnitude": 5.6}}, "event.magnitude is 5.6, but the sources release Mw 5.10"),
    ],
)
def test_what_may_disappoint_is_said(sections: dict[str, Any], message: str) -> None:
    found = check(case(**sections))["warnings"]
    assert any(re.search(message, sentence) for sentence in found), found


@pytest.mark.parametrize("interval", [0.0095, 0.011, 0.019, 0.0205, 0.0285])
def test_the_intervals_that_are_advised_need_fewer_steps(interval: float) -> None:
    (told,) = [
        text for text in warnings_of(setup(**sampled(seismograms=interval))) if "fewer" in text
    ]
    advised = re.findall(r"([0-9.]+) s(?= or| needs)", told.partition("an interval of ")[2])
    assert len(advised) == 2
    for better in map(float, advised):
        found = setup(**sampled(seismograms=better))
        assert found.steps < setup(**sampled(seismograms=interval)).steps
        assert not any("fewer" in text for text in warnings_of(found))


def test_published_q_on_the_very_limit_is_no_cause_for_a_warning() -> None:
    medium = MEDIUM | {"vp": 4000.0, "vs": 2000.0, "qp": 120.0, "qs": 40.0}  # 3/4 (vp/vs)^2 = 3
    found = check(case(medium=medium, attenuation={"model": "constant"}))["warnings"]
    assert not any("qp" in sentence for sentence in found)


def test_the_description_is_plain_data(tiny: Callable[..., Any]) -> None:
    described = check(EarthquakeCase.from_dict(tiny()))
    assert json.loads(json.dumps(described))["magnitude"] == 3.0
    assert described["sampling"] == {"seismograms": 0.02, "surface": 0.05, "volumes": 0.25}
    assert 0 < described["attenuation_error"] < 0.05


def test_formats_that_need_obspy_are_refused_before_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "obspy", None)
    for name in ("sac", "mseed"):
        wanted = {"output": {"seismograms": {"formats": ["hdf5", name]}}}
        with pytest.raises(InputError, match=r"ObsPy.*'\.\[seismology\]'"):
            setup(**wanted)
        setup(**wanted, receiver=[])
    setup(output={"seismograms": {"formats": ["hdf5"]}})
