"""DG waves: faults with friction, between half-spaces and in cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import warnings_of
from dgwave_cases import build, setup
from mesh_faults import in_place
from small_ruptures import CHANGES, FAULT, ROCK

import groundswell as gs
from groundswell.backends import Backend, open_backend
from groundswell.errors import CaseError, InputError, Unstable
from groundswell.report.html import write_report
from groundswell.seismology.formats.fault_maps import FIELDS
from groundswell.seismology.reference.uniform_fault import OverstressedFault, UniformFault, ramp
from groundswell.solvers.dgwave.verification.ruptures import FAST_WEAKENING, NORMAL, WEAKENING
from groundswell.solvers.dgwave.verification.uniform_faults import ETA, UniformColumn

# --- a uniform fault ------------------------------------------------------------------------------


def check_weakening(backend: Backend, axis: int, rake: float, dtype: str, tolerance: float) -> None:
    """The nucleation patch of TPV3 and TPV5, everywhere."""
    load = 81.6e6
    direction = np.array([np.cos(np.radians(rake)), np.sin(np.radians(rake))])
    column = UniformColumn(WEAKENING, NORMAL, tuple(load * direction), axis=axis, dtype=dtype)
    found = column.history(backend, 0.6)
    exact = OverstressedFault(WEAKENING, load, NORMAL, ETA)
    rate = exact.rate(found["time"])
    for name, part in zip(("strike", "updip"), direction, strict=True):
        assert np.abs(found[f"rate_{name}"] - part * rate).max() < tolerance * rate.max()
        slip = part * exact.slip(found["time"])
        assert np.abs(found[f"slip_{name}"] - slip).max() < tolerance * rate.max()
    assert found["spread"].max() < tolerance * rate.max()
    assert found["peak_rate"][-1] == pytest.approx(exact.final_rate, rel=tolerance)
    assert found["normal_stress"] == pytest.approx(NORMAL, rel=tolerance)
    # Half-spaces take up Z V^2 of the load's work, friction the rest.
    energy = found["released"] + found["work"]
    scale = tolerance * load * rate.max()
    assert np.abs(energy - load * exact.slip(found["time"])).max() < scale
    radiated = np.array(
        [np.trapezoid(ETA * rate[: n + 1] ** 2, found["time"][: n + 1]) for n in range(len(rate))]
    )
    assert np.abs(found["released"] - radiated).max() < 1e-3 * radiated.max()  # of the trapezoids


# Errors of single precision are those of tractions of 80 MPa over a damping of 4.6 MPa s/m.
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-7), ("float32", 1e-5)])
@pytest.mark.parametrize(("axis", "rake"), [(1, 180.0), (0, 35.0)])
def test_an_overstressed_fault_follows_the_exact_solution(
    axis: int, rake: float, dtype: str, tolerance: float
) -> None:
    check_weakening(open_backend("cpu"), axis, rake, dtype, tolerance)


@pytest.mark.gpu
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-7), ("float32", 1e-5)])
def test_an_overstressed_fault_on_a_gpu(gpu: Any, dtype: str, tolerance: float) -> None:
    check_weakening(gpu, 1, 35.0, dtype, tolerance)


def test_rate_and_state_friction_follows_the_differential_equation() -> None:
    """TPV104's friction and nucleation everywhere; the limit is 1e-5 of the peak."""
    start, added, rise = 40e6, 45e6, 1.0
    state = float(FAST_WEAKENING.initial_state(start, NORMAL, 1e-16))
    column = UniformColumn(
        FAST_WEAKENING, NORMAL, (-start, 0.0), state, (-added, 0.0), rise, degree=2, cells=34
    )
    found = column.history(open_backend("cpu"), 3.0)
    times = found["time"]
    exact = UniformFault(
        FAST_WEAKENING, lambda t: start + added * ramp(t, rise), NORMAL, ETA, state
    )
    expected = exact.history(times)
    peak = expected.rate.max()
    assert peak == pytest.approx(13.125, abs=1e-3)
    assert np.abs(-found["rate_strike"] - expected.rate).max() < 1e-5 * peak
    assert np.abs(found["state"] - expected.state).max() < 1e-5
    passed = float(np.interp(1e-3, expected.rate, times))
    assert found["rupture_time"][-1] == pytest.approx(passed, abs=times[1] / 10)


@pytest.mark.parametrize("speed", [0.0, 1e-3])
def test_a_fault_recovers_its_strength(speed: float) -> None:
    """The load falls below the dynamic strength, so that slip stops."""
    law = replace(WEAKENING, healing_speed=speed)
    column = UniformColumn(law, NORMAL, (-81.6e6, 0.0), added=(30e6, 0.0), rise=0.6, degree=2)
    found = column.history(open_backend("cpu"), 0.8)
    path = -found["slip_strike"]
    assert path[-1] > 0.005 and found["rate_strike"][-1] == 0 and path[-1] == path[-10]
    assert found["state"][-1] == (0 if speed else pytest.approx(path[-1]))
    slides = -found["rate_strike"] > 1e-2
    assert found["state"][slides] == pytest.approx(path[slides])


# --- cases ----------------------------------------------------------------------------------------

STATION = {"name": "A", "x": 300.0, "y": 250.0, "depth": 0.0}


@pytest.fixture(scope="module")
def ruptured(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Runs a small rupture, with changes of its case."""
    given = {
        "medium": {"kind": "homogeneous", **ROCK},
        "source": [],
        "fault": [FAULT],
        "run": {"precision": "double"},
    }

    def run(**changes: Any) -> Any:
        case = build(**{**given, "receiver": [STATION], **changes})
        return gs.run(case, folder=tmp_path_factory.mktemp("rupture"))

    return run


@pytest.fixture(scope="module")
def result(ruptured: Callable[..., Any]) -> Any:
    return ruptured()


def test_a_rupture_spreads_from_its_nucleation(result: Any) -> None:
    fault = result.fault
    assert set(FIELDS) <= set(fault)
    time, away = fault.rupture_time.values, np.hypot(fault.along_strike, fault.down_dip - 200)
    assert (time[away < 100] == 0).all() and np.nanmax(time) > 0.01
    slip = np.hypot(fault.slip_strike, fault.slip_updip)
    assert float(slip.max()) > 0.05
    # Right-lateral with a component up dip, as rake 160.
    broken = slip.values > 0.01
    rake = np.degrees(np.arctan2(fault.slip_updip, fault.slip_strike)).values[broken]
    assert np.abs(rake - 160).max() < 20
    assert float(fault.area.sum()) == pytest.approx(400 * 400)
    assert np.abs(result.seismograms).max() > 0


def test_the_summary_has_the_moment(result: Any) -> None:
    """It is also in the terminal and the report; the file has the magnitude."""
    fault, findings = result.fault, result.summary["findings"]
    assert fault.mu.values == pytest.approx(ROCK["rho"] * ROCK["vs"] ** 2)
    slip = np.hypot(fault.slip_strike, fault.slip_updip)
    assert findings["moment"] == pytest.approx(float((fault.mu * slip * fault.area).sum()))
    assert fault.attrs["magnitude"] == findings["magnitude"]
    assert findings["largest_slip"] == float(slip.max())
    assert f"Mw {findings['magnitude']:.2f}" in findings["quantities"][0]["text"]
    assert "Mw" in write_report(result.folder, print).read_text()


def test_a_locked_fault_is_no_fault(ruptured: Callable[..., Any]) -> None:
    """Waves of a source pass it, to rounding of tractions; also where elements are stretched."""
    source = {
        "kind": "explosion",
        "moment": 1e13,
        "x": 300.0,
        "y": 200.0,
        "depth": 250.0,
        "time_function": {"kind": "gaussian", "sigma": 0.02},
    }
    locked = {**FAULT, "patch": [], "friction": {**FAULT["friction"], "static": 1e4}}
    for topography in (None, {"kind": "formula", "elevation": "20 * sin(x / 100)"}):
        given = {"source": [source], "topography": topography}
        with_fault, without = ruptured(fault=[locked], **given), ruptured(fault=[], **given)
        found, expected = (r.seismograms.values for r in (with_fault, without))
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
        assert float(np.abs(with_fault.fault.slip_strike).max()) == 0


def test_a_turned_fault_slips_alike(result: Any, ruptured: Callable[..., Any]) -> None:
    """Exchanging x and y also exchanges footwall and hanging wall: rake 160 becomes -20."""
    plane = {"x": 400.0, "y": [200.0, 600.0], "depth": [0.0, 400.0]}
    turned = {**FAULT, "plane": plane, "stress": {**FAULT["stress"], "rake": -20}}
    station = {**STATION, "x": STATION["y"], "y": STATION["x"]}
    other = ruptured(fault=[turned], receiver=[station]).fault
    for name, sign in (("slip_strike", -1), ("slip_updip", -1), ("peak_rate", 1)):
        found = in_place(other, sign * other[name])
        expected = in_place(result.fault, result.fault[name])
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"plane": {"y": 433.0, "x": [200.0, 600.0], "depth": [0.0, 400.0]}}, "between elements"),
        ({"plane": {"y": 400.0, "x": [250.0, 600.0], "depth": [0.0, 400.0]}}, "x = 250 m"),
        ({"surface": "main", "plane": None}, "only on a mesh from a file; give a plane"),
    ],
)
def test_faults_off_the_elements_are_refused(change: dict[str, Any], text: str) -> None:
    fault = {key: value for key, value in {**FAULT, **change}.items() if value is not None}
    fault.pop("hypocenter")
    with pytest.raises(InputError, match=text):
        setup(medium={"kind": "homogeneous", **ROCK}, source=[], fault=[{**fault, "patch": []}])


def test_a_fault_in_water_is_refused() -> None:
    sea = {"kind": "homogeneous", "vp": 1500.0, "vs": 0.0, "rho": 1000.0}
    with pytest.raises(InputError, match="has no friction"):
        setup(medium=sea, source=[], fault=[FAULT])


def test_a_case_needs_a_source_or_a_fault() -> None:
    with pytest.raises(CaseError, match="add a source or a fault"):
        build(source=[])


def test_a_state_that_is_advanced_too_far_stops_the_run(tmp_path: Path) -> None:
    """And its warnings say so before: results would be finite and wrong."""
    friction = {
        **{"direct": 0.008, "evolution": 0.012, "length": 1e-3},
        **{"reference_friction": 0.6, "reference_speed": 1e-6},
    }
    fault = {key: value for key, value in FAULT.items() if key not in ("patch", "friction")}
    fault |= {"law": "ageing", "friction": friction, "initial_rate": 1e-9}
    nucleation = {"kind": "stress", "shear": 40e6, "radius": 300, "duration": 0.05}
    given = {**CHANGES, "fault": [{**fault, "nucleation": nucleation}]}
    assert any("which stops the run" in text for text in warnings_of(setup(**given)))
    told = r"fault\[0\] \(main\) slips at .* the state of friction is unstable"
    with pytest.raises(Unstable, match=told):
        gs.run(build(**given), folder=tmp_path)
