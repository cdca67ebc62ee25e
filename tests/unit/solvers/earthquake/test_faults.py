"""Faults with friction on the staggered grid, between half-spaces and in cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from split_nodes import ETA, FAULT, LOCKED, ROCK, SOURCE, STATION, PeriodicFault, build

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.seismology.formats.fault_maps import ALWAYS
from groundswell.seismology.friction import FastWeakening, SlipWeakening
from groundswell.seismology.reference.uniform_fault import OverstressedFault, UniformFault, ramp
from groundswell.solvers.earthquake import Earthquake, EarthquakeCase
from groundswell.solvers.earthquake.setup import prepare

NORMAL = 120e6
LOAD = {"normal": NORMAL, "shear": 81.6e6, "rake": 180}
MODULUS = ROCK["rho"] * ROCK["vs"] ** 2  # Pa
WEAKENING = {"static": 0.677, "dynamic": 0.525, "distance": 0.4}
TPV104 = {
    "direct": 0.01,
    "evolution": 0.014,
    "length": 0.4,
    "reference_friction": 0.6,
    "reference_speed": 1e-6,
    "weakened_friction": 0.2,
    "weakening_speed": 0.1,
}

# --- a uniform fault ------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1])
def test_an_overstressed_fault_follows_the_exact_solution(axis: int) -> None:
    """The nucleation patch of TPV3 and TPV5, everywhere.

    Its rate starts with a jump and ends its growth in a kink, so that errors fall as the spacing;
    in between it grows as the exact one.
    """
    load = 81.6e6
    stress = {"normal": NORMAL, "shear": load, "rake": 180}
    section = {"law": "slip-weakening", "friction": WEAKENING, "stress": stress}
    exact = OverstressedFault(SlipWeakening(**WEAKENING), load, NORMAL, ETA)
    errors = []
    for spacing in (100.0, 50.0):
        found = PeriodicFault(section, spacing, 0.5, axis).history(open_backend("cpu"))
        times, rate = found["time"], -found["rate_strike"]
        errors.append(np.abs(rate - exact.rate(times)).max() / exact.final_rate)
        grows = (times > 0.1) & (times < 0.35)
        growth = np.polyfit(times[grows], np.log(rate[grows]), 1)[0]
        assert growth == pytest.approx(9.861, rel=0.02 * (spacing / 100) ** 2)
        assert found["spread"].max() == 0 and np.abs(found["rate_updip"]).max() == 0
    assert errors[0] < 0.085 and errors[1] < 0.6 * errors[0]
    assert rate[-1] == pytest.approx(exact.final_rate, rel=0.01)
    assert found["slip_strike"][-1] == pytest.approx(-exact.slip(times[-1:])[0], rel=0.02)
    assert found["normal_stress"] == pytest.approx(NORMAL)


@pytest.mark.full
def test_rate_and_state_friction_is_of_second_order() -> None:
    """TPV104's friction and nucleation everywhere, until after the rate has risen most rapidly."""
    start, added, rise = 40e6, 45e6, 1.0
    law = FastWeakening(**TPV104)
    state = float(law.initial_state(start, NORMAL, 1e-16))
    exact = UniformFault(law, lambda t: start + added * ramp(t, rise), NORMAL, ETA, state)
    section = {
        "law": "fast-weakening",
        "friction": TPV104,
        "initial_rate": 1e-16,
        "stress": {"normal": NORMAL, "shear": start, "rake": 180},
        "nucleation": {"kind": "stress", "shear": added, "radius": 1e9, "duration": rise},
    }
    errors = []
    for spacing in (100.0, 50.0):
        found = PeriodicFault(section, spacing, 1.1).history(open_backend("cpu"))
        expected = exact.history(found["time"])
        errors.append(np.abs(-found["rate_strike"] - expected.rate).max() / 13.125)
        assert np.abs(found["state"] - expected.state).max() < 0.2 * (spacing / 100) ** 2
    assert errors[0] < 0.08 and errors[1] < errors[0] / 3.5
    passed = float(np.interp(1e-3, expected.rate, found["time"]))
    assert found["rupture_time"][-1] == pytest.approx(passed, abs=2e-4)


@pytest.mark.gpu
@pytest.mark.parametrize("law", ["slip-weakening", "fast-weakening"])
def test_a_fault_slips_alike_on_a_gpu(gpu: Any, law: str) -> None:
    """To rounding, which the growth of slip from rest multiplies."""
    friction = WEAKENING if law == "slip-weakening" else TPV104
    section = {"law": law, "friction": friction, "stress": LOAD}
    if law != "slip-weakening":
        section |= {"initial_rate": 1e-3}
    expected, found = (
        PeriodicFault(section, 100.0, 0.4).history(backend)
        for backend in (open_backend("cpu"), gpu)
    )
    for name, values in expected.items():
        known = np.isfinite(values)
        assert np.array_equal(known, np.isfinite(found[name]))
        scale = np.abs(values[known]).max(initial=0.0)
        assert np.abs(found[name] - values)[known].max(initial=0.0) <= 1e-8 * scale, name


@pytest.mark.parametrize("attenuated", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_sides_that_slide_past_each_other_are_not_strained(axis: int, attenuated: bool) -> None:
    """Neither stresses nor memory variables change, to rounding."""
    section = {"law": "slip-weakening", "friction": WEAKENING, "stress": {**LOAD, "shear": 0.0}}
    case = PeriodicFault(section, 100.0, 0.1, axis).case()
    if attenuated:
        given = {"medium": {**ROCK, "qp": 60.0, "qs": 30.0}, "attenuation": {"model": "constant"}}
        case = EarthquakeCase(**{**case.model_dump(exclude_unset=True), **given})
    found = Earthquake(prepare(case), open_backend("cpu"))
    (slip,), along = found.faults.slips, ("vy", "vx")[axis]
    assert slip is not None
    plane = found.setup.faults[0].plane
    side = np.sign(np.arange(found.part.cells[axis]) - plane.first[axis]) / 2
    found.fields[along].interior[...] = side[:, None] if axis else side
    slip.arrays["rate"][0, :-1] = 1.0
    for launch in found.update_stresses():
        launch()
    strained = found.fields["sxy"].interior[: plane.cells[1]]
    near = [slice(None)] * 3
    near[2 - axis] = slice(plane.first[axis] - 4, plane.first[axis] + 5)
    assert np.abs(strained[tuple(near)]).max() < 1e-12 * MODULUS
    if attenuated:
        assert (
            np.abs(found.fields["rxy"].interior[: plane.cells[1]][tuple(near)]).max()
            < 1e-10 * MODULUS
        )


# --- cases ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ruptured(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Runs a small rupture, with changes of its case."""

    def run(**changes: Any) -> Any:
        return gs.run(build(**changes), folder=tmp_path_factory.mktemp("rupture"), quiet=True)

    return run


@pytest.fixture(scope="module")
def result(ruptured: Callable[..., Any]) -> Any:
    return ruptured()


def test_a_rupture_spreads_from_its_nucleation(result: Any) -> None:
    fault = result.fault
    assert set(ALWAYS) <= set(fault)
    time, away = fault.rupture_time.values, np.hypot(fault.along_strike, fault.down_dip - 250)
    near, far = away < 120, away > 250
    assert time[near].max() < 0.02 < np.nanmin(time[far])
    slip = np.hypot(fault.slip_strike, fault.slip_updip)
    assert float(slip.max()) > 0.05
    # Right-lateral with a component up dip, as rake 160.
    broken = slip.values > 0.01
    rake = np.degrees(np.arctan2(fault.slip_updip, fault.slip_strike)).values[broken]
    assert np.abs(rake - 160).max() < 20
    assert float(fault.area.sum()) == pytest.approx(600 * 500)
    sliding = (fault.peak_rate.values > 0.1) & (slip.values > 0.03)
    strength = 0.525 * NORMAL
    shear = np.hypot(fault.shear_strike, fault.shear_updip).values[sliding]
    assert np.median(np.abs(shear - strength)) < 0.05 * strength
    assert np.abs(result.seismograms).max() > 0


def test_a_fault_recovers_its_strength(result: Any, ruptured: Callable[..., Any]) -> None:
    """Where it has stopped, slip counts from 0 again, and it may bear more than when it slips."""
    friction = {**FAULT["friction"], "healing_speed": "1 mm/s"}
    healed = ruptured(fault=[{**FAULT, "friction": friction}]).fault
    rate, state = np.hypot(healed.rate_strike, healed.rate_updip), healed.state.values
    stopped = (healed.peak_rate.values > 0.5) & (rate.values == 0) & (state == 0)
    assert stopped.sum() > 10 and (state[rate.values > 0.1] > 0).all()
    path = np.hypot(healed.slip_strike, healed.slip_updip).values
    assert path[stopped].min() > 0.01
    assert result.fault.state.values[stopped].min() > 0.01  # without healing
    shear = np.hypot(healed.shear_strike, healed.shear_updip).values
    strength = [mu * healed.normal_stress.values for mu in (0.525, 0.677)]
    assert (shear > 1.02 * strength[0])[stopped].any()
    assert (shear < 1.02 * strength[1])[stopped].all()


def test_a_locked_fault_changes_nothing(ruptured: Callable[..., Any]) -> None:
    """Its jumps are exactly 0, and the grid holds the means of both sides."""
    with_fault, without = (ruptured(fault=fault, source=[SOURCE]) for fault in ([LOCKED], []))
    assert np.array_equal(with_fault.seismograms.values, without.seismograms.values)
    assert float(np.abs(with_fault.fault.slip_strike).max()) == 0
    initial = 70e6 * np.cos(np.radians(160))
    assert float(np.abs(with_fault.fault.shear_strike - initial).max()) > 1e3  # of the waves


def test_a_turned_fault_slips_alike(result: Any, ruptured: Callable[..., Any]) -> None:
    """Exchanging x and y also exchanges footwall and hanging wall: rake 160 becomes -20."""
    plane = {"x": 575.0, "y": [300.0, 900.0], "depth": [0.0, 500.0]}
    place = [575.0, 600.0, 250.0]
    patch = [{**FAULT["patch"][0], "center": place}]
    stress = {**FAULT["stress"], "rake": -20}
    turned = {**FAULT, "plane": plane, "hypocenter": place, "patch": patch, "stress": stress}
    station = {**STATION, "x": STATION["y"], "y": STATION["x"]}
    other = ruptured(fault=[turned], receiver=[station])
    for name, sign in (("slip_strike", -1), ("slip_updip", -1), ("peak_rate", 1)):
        expected = result.fault[name].values
        error = np.abs(sign * other.fault[name].values - expected).max()
        assert error < 1e-9 * np.abs(expected).max()
    east, north = (r.seismograms.sel(component=c).values for r, c in ((result, "E"), (other, "N")))
    assert np.abs(east - north).max() < 1e-9 * np.abs(east).max()


def test_slip_along_strike_and_along_dip_are_alike(ruptured: Callable[..., Any]) -> None:
    """In a full space, exchanging x and depth exchanges slip along strike and dip."""
    middle = {"y": 575.0, "x": [350.0, 950.0], "depth": [300.0, 700.0]}
    turned = {"y": 575.0, "x": [300.0, 700.0], "depth": [350.0, 950.0]}
    found = {}
    for rake, plane, place in ((0, middle, [600, 575, 450]), (-90, turned, [450, 575, 600])):
        fault = {
            **FAULT,
            "plane": plane,
            "hypocenter": place,
            "patch": [{**FAULT["patch"][0], "center": place}],
            "stress": {**FAULT["stress"], "rake": rake},
        }
        found[rake] = ruptured(
            fault=[fault],
            grid={"size": [1200.0] * 3, "spacing": 50.0},
            boundary={"top": "absorbing", "width": 5},
            output={"shaking_map": False},
        ).fault
    along = found[0].slip_strike.values.reshape(8, 12)
    down = -found[-90].slip_updip.values.reshape(12, 8).T
    assert np.abs(along).max() > 0.05
    assert np.abs(along - down).max() < 1e-9 * np.abs(along).max()


def test_the_state_of_a_rupture_is_all_that_it_depends_on() -> None:
    """Another solver continues from it alike."""
    first, second = (Earthquake(prepare(build()), open_backend("cpu")) for _ in range(2))
    for _ in range(30):
        first.step()
    for name, array in first.state().items():
        second.backend.assign(second.state()[name].array, array.array)
    for solver in (first, second):
        for _ in range(10):
            solver.step()
    for name, array in first.state().items():
        assert np.array_equal(second.state()[name].array, array.array), name


def test_waves_of_a_fault_have_the_energy_that_it_releases() -> None:
    """Some of it is that of deformation; both are known with the density alone."""
    found = Earthquake(prepare(build()), open_backend("cpu"))
    assert found.sources_end == -np.inf and found.supplied_energy() == 0
    shares = []
    for _ in range(6):
        for _ in range(8):
            found.step()
        found.enqueue_finite_check()
        shares.append(found.energy() / found.supplied_energy())
    assert min(shares) > 0.1 and max(shares) < 1


def test_a_state_that_is_advanced_far_is_named(ruptured: Callable[..., Any]) -> None:
    """Before the run and after it."""
    friction = {**TPV104, "length": 0.01}
    nucleation = {"kind": "stress", "shear": 45e6, "radius": 300, "duration": 0.05}
    fault = {**FAULT, "patch": [], "law": "fast-weakening", "friction": friction}
    fault |= {"initial_rate": 1e-16, "nucleation": nucleation}
    found = ruptured(fault=[fault])
    (before,), (after,) = (
        [t for t in given["warnings"] if "length = 0.01 m" in t]
        for given in (found.summary["case"], found.summary)
    )
    assert "makes the state of friction inaccurate; set time.step" in before
    assert "where the state of friction is inaccurate; set time.step to at most" in after
