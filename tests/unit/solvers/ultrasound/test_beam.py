"""Numbers of a beam: intensities, the mechanical index, the pulse duration and the steady state."""

from __future__ import annotations

import json
from math import log10, pi, sqrt
from typing import Any

import numpy as np
import pytest
import xarray
from scipy.special import erfinv
from ultrasound_cases import ARC

import groundswell as gs
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.findings import largest_findings
from groundswell.solvers.ultrasound.focus import Focus, focus_at
from groundswell.solvers.ultrasound.run_facts import pulse_duration
from groundswell.solvers.ultrasound.steady_state import amplitude_change, steady_state
from groundswell.solvers.ultrasound.transducers import ToneBurst
from groundswell.solvers.ultrasound.units import place_text

H, SPEED, DENSITY, FREQUENCY, PRESSURE = 0.25e-3, 1500.0, 1000.0, 1e6, 2e5
NX, NY = 96, 24
X, Y = H * np.arange(NX), np.arange(NY)[:, None] / NY
# The wave is largest in the middle: energy is conserved along x, and y bends it a little.
DENSITIES = DENSITY * (1 + 0.4 * np.exp(-((X - 13e-3) ** 2) / (2 * 3e-3**2)))
DENSITIES = DENSITIES * (1 + 1e-3 * np.cos(2 * pi * Y))
PLANE = {"kind": "mask", "indices": (8 + NX * np.arange(NY)).tolist()}
AT = [13e-3, NY // 2 * H, 0]
STEADY = {
    "fields": ["p", "ux", "uy"], "where": {"kind": "all"}, "from": "22 us",
    "what": ["amplitude", "phase"], "frequencies": [FREQUENCY], "file": "steady.nc",
}  # fmt: skip
SERIES = {"fields": ["p"], "where": {"kind": "points", "positions": [AT]}, "file": "points.nc"}
BURST = {"kind": "burst", "frequency": FREQUENCY, "cycles": 6, "window": "hann"}


def plane_wave(signal: dict[str, Any], **changes: Any) -> Any:
    """A wave of PRESSURE along x; its energy is conserved where the density varies smoothly."""
    source = {"shape": PLANE, "pressure": PRESSURE, "signal": signal}
    given: dict[str, Any] = {
        "spacing": H, "duration": "26 us", "boundary": {"width": [20, 0]},
        "precision": "double", "time": {"step": "50 ns"}, **changes,
    }  # fmt: skip
    medium = {"speed": SPEED, "density": DENSITIES}
    return gs.ultrasound.simulate(medium, [source], **given)


@pytest.fixture(scope="module")
def continuous() -> Any:
    return plane_wave({"kind": "sine", "frequency": FREQUENCY}, records=[STEADY, SERIES])


@pytest.fixture(scope="module")
def pulse() -> Any:
    return plane_wave(BURST)


# --- intensities and the mechanical index ---------------------------------------------------------


def test_a_continuous_plane_wave_has_the_intensities_of_its_amplitude(continuous: Any) -> None:
    """The tolerance is that of the amplitude, sampled 20 times per period, and of the ramp."""
    found, exact = continuous.beam(), PRESSURE**2 / (2 * DENSITY * SPEED)
    assert found.focus.position["x"] == pytest.approx(13e-3, abs=1e-3)
    assert found.pulse_average_intensity == pytest.approx(exact, rel=0.03)
    assert found.time_average_intensity == found.pulse_average_intensity
    assert continuous.beam(duty=0.2).time_average_intensity == pytest.approx(
        0.2 * found.pulse_average_intensity
    )
    assert found.recorded_intensity.value == pytest.approx(exact, rel=0.01)
    assert found.recorded_intensity.record == "steady.nc"


def test_the_mechanical_index_is_that_of_the_definition(continuous: Any) -> None:
    found = continuous.beam()
    assert found.mechanical_index == found.peak_negative_pressure / 1e6
    assert found.peak_negative_pressure == pytest.approx(sqrt(1.4) * PRESSURE, rel=0.02)
    higher = continuous.beam(frequency=4e6)
    assert higher.mechanical_index == pytest.approx(found.mechanical_index / 2)


def test_derating_reduces_pressures_and_intensities_but_not_the_focus() -> None:
    """Every point of the arc is 8 mm from its geometric focus, the apex nearest to others."""
    source = {
        "shape": ARC,
        "pressure": PRESSURE,
        "signal": {"kind": "sine", "frequency": FREQUENCY},
    }
    size: dict[str, Any] = {"points": (50, 40), "spacing": H, "duration": "10 us"}
    water = {"speed": SPEED, "density": DENSITY}
    result = gs.ultrasound.simulate(water, [source], **size)
    found, derated = result.beam(), result.beam(derating=0.3)
    distance = found.focus.position["x"] - 1e-3
    assert 4e-3 < distance < 9e-3
    assert derated.attenuation == pytest.approx(0.3 * distance / 1e-2, rel=0.01)
    assert derated.focus == found.focus
    pressure = derated.peak_negative_pressure / found.peak_negative_pressure
    intensity = derated.pulse_average_intensity / found.pulse_average_intensity
    assert -20 * log10(pressure) == pytest.approx(derated.attenuation)
    assert -10 * log10(intensity) == pytest.approx(derated.attenuation)
    assert derated.mechanical_index == pytest.approx(found.mechanical_index * pressure)


def test_a_pulse_has_its_energy_over_its_duration(pulse: Any) -> None:
    """The mean of sin^4(x) sin^2(12 x) is 3/16, so the integral of the squared signal is 3/16 T."""
    found, length = pulse.beam(), 6 / FREQUENCY
    energy = 3 / 16 * length * PRESSURE**2 / (DENSITY * SPEED)
    times = np.linspace(0, length, 20000)
    duration = pulse_duration(times, ToneBurst(FREQUENCY, 6, "hann").at(times))
    assert found.pulse_average_intensity == pytest.approx(energy / duration, rel=0.01)
    assert found.time_average_intensity == pytest.approx(energy / 26e-6, rel=0.01)
    assert found.recorded_intensity is None


def test_the_largest_pressure_may_be_elsewhere(continuous: Any) -> None:
    pressure = continuous.fields["p_max"]
    focus = focus_at(pressure, [float(pressure[axis][-1]) for axis in "xy"])
    (found,) = largest_findings(pressure, focus)
    assert found.value == float(pressure.max())
    at = {axis: float(pressure.isel(pressure.argmax(...))[axis]) for axis in "xy"}
    assert found.text.endswith(f"kPa at {place_text(at)}")
    assert not [*largest_findings(pressure, focus_at(pressure, [*at.values()]))]


def test_the_numbers_are_findings_of_the_run(continuous: Any, pulse: Any) -> None:
    for result in (continuous, pulse):
        found, numbers = result.summary["findings"], result.beam()
        assert found["focal_pressure"] == numbers.focus.pressure
        assert found["isppa"] == pytest.approx(numbers.pulse_average_intensity)
        assert found["ispta"] == pytest.approx(numbers.time_average_intensity)
        assert found["mechanical_index"] == pytest.approx(numbers.mechanical_index)
        assert found["widths"]["x"] is None  # a plane wave
        json.dumps(found, allow_nan=False)
    texts = {each["label"]: each["text"] for each in pulse.summary["findings"]["quantities"]}
    assert texts["ISPTA, plane wave over the run"].endswith("/cm²")
    assert continuous.summary["findings"]["mean_intensity"] == pytest.approx(
        continuous.beam().recorded_intensity.value
    )


def test_numbers_may_be_those_of_a_target(continuous: Any) -> None:
    here = continuous.beam(at=(8.1e-3, 3e-3))
    assert here.focus.position == pytest.approx({"x": 8e-3, "y": 3e-3})
    found = continuous.fields["p_max"].sel(here.focus.position, method="nearest").item()
    assert here.focus.pressure == found < continuous.focus.pressure
    assert continuous.beam(at=(13e-3, 3e-3)).focus == continuous.focus
    with pytest.raises(InputError, match="must have the coordinates x, y, m"):
        continuous.beam(at=(8e-3, 3e-3, 0.0))
    with pytest.raises(
        InputError, match=r"at: x = 0\.9 m lies outside the region, 0 to 0\.02375 m"
    ):
        continuous.beam(at=(0.9, 3e-3))


def test_impossible_arguments_are_refused(pulse: Any) -> None:
    for given in ({"frequency": 0.0}, {"derating": -1.0}, {"duty": 1.5}):
        with pytest.raises(InputError, match="must"):
            pulse.beam(**given)


def test_a_run_without_a_transducer_has_a_focus_only() -> None:
    water = {"speed": SPEED, "density": DENSITY}
    ball = {"kind": "ball", "centre": [3e-3, 3e-3], "radius": "1 mm", "pressure": 500.0}
    size: dict[str, Any] = {"points": (24, 24), "spacing": H, "duration": "1 us"}
    result = gs.ultrasound.simulate(water, initial=ball, **size)
    found = result.beam()
    assert found.mechanical_index is found.pulse_average_intensity is None
    with pytest.raises(InputError, match=r"derating = 0\.3 needs a frequency and the surface"):
        result.beam(derating=0.3)
    with pytest.raises(InputError, match=r"duty = 0\.5 needs a pulse"):
        result.beam(duty=0.5)
    assert "isppa" not in result.summary["findings"]


# --- the pulse duration ---------------------------------------------------------------------------


def test_the_pulse_duration_of_a_gaussian_is_that_of_the_error_function() -> None:
    """The square of exp(-18 x^2) falls to 10 and 90 % of its integral at x = -+ erfinv(0.8) / 6."""
    times = np.linspace(0, 1, 20001)
    values = ToneBurst(200.0, 200).at(times)
    assert pulse_duration(times, values) == pytest.approx(1.25 * erfinv(0.8) / 3, rel=1e-3)
    assert pulse_duration(times, np.ones(20001)) == pytest.approx(1.0, rel=1e-4)


# --- the steady state -----------------------------------------------------------------------------


def test_the_change_of_the_amplitude_is_that_between_two_windows() -> None:
    times = np.arange(400) / 20.0  # periods
    grown = 1 + 0.1 * (times >= 20 - 3 - 1e-9)
    values = grown * np.sin(2 * pi * times + 0.3) + 0.2
    assert amplitude_change(times, values, 1.0) == pytest.approx(0.1 / 1.1, abs=0.01)
    assert amplitude_change(times, np.sin(2 * pi * times), 1.0) == pytest.approx(0, abs=1e-12)
    assert amplitude_change(times[:100], values[:100], 1.0) is None  # five periods
    assert amplitude_change(times, 0 * times, 1.0) is None


def test_only_series_within_the_focus_count() -> None:
    times = np.arange(400) / 20.0
    values = np.sin(2 * pi * times)[:, None] * np.ones(2)
    at = {"x": ("point", [0.0, 5.0]), "y": ("point", [0.0, 0.0]), "time": times}
    record = {"a.nc": xarray.Dataset({"p": (("time", "point"), values)}, at)}
    focus = Focus(1.0, {"x": 4.0, "y": 0.0}, {"x": (3.0, 6.0), "y": (np.nan, 1.0)})
    found = steady_state(record, focus, 1.0)
    assert found is not None and found.position == {"x": 5.0, "y": 0.0}
    away = focus._replace(edges={"x": (3.0, 4.5), "y": (-1.0, 1.0)})
    assert steady_state(record, away, 1.0) is None


def test_a_run_says_whether_its_wave_is_steady(continuous: Any) -> None:
    assert abs(continuous.summary["findings"]["amplitude_change"]) < 1e-3
    assert not continuous.summary["warnings"]
    short = plane_wave(
        {"kind": "sine", "frequency": FREQUENCY, "ramp": 12}, records=[SERIES], duration="14 us"
    )
    (warning,) = short.summary["warnings"]
    assert warning.startswith("the wave is not steady: in the last 3 periods, its amplitude at x =")
    assert short.summary["findings"]["amplitude_change"] > 0.1
