"""Ultrasound: what set-up chooses, what check shows, warnings, and pressure at the start."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from checked import quantities_of, warnings_of
from ultrasound_cases import DROP, build, setup

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.case import read_case
from groundswell.simulation.preparation import prepare
from groundswell.solvers.ultrasound import cost as memory_cost
from groundswell.solvers.ultrasound.fast_sizes import (
    cheapest_margin,
    cost,
    is_fast,
    next_fast,
    prime_factors,
)
from groundswell.solvers.ultrasound.initial_pressure import smoothed
from groundswell.solvers.ultrasound.solver import Ultrasound
from groundswell.solvers.ultrasound.warnings import _use_step

POINT = {"kind": "point", "position": ["5 mm", "5 mm"]}


SAMPLES = {"kind": "samples", "interval": 1e-8}


def signal(**content: Any) -> dict[str, Any]:
    return {"source__0__signal": content}


# --- the grid and the time step -------------------------------------------------------------------


def test_points_and_sizes_describe_the_same_grid() -> None:
    by_size = build(grid__points=DROP, grid__size=["12.5 mm", "10 mm"]).grid
    assert by_size.counts == build().grid.counts == (50, 40, 1)
    assert by_size.spacings == (0.25e-3,) * 3
    each = build(grid__spacing=["0.25 mm", "0.5 mm"]).grid
    assert each.spacings[:2] == (0.25e-3, 0.5e-3)


def test_automatic_layers_make_transforms_fast() -> None:
    prepared = setup(grid__points=[53, 83])  # prime numbers
    assert all(20 <= width <= 40 for width in prepared.layers.before[:2])
    assert all(is_fast(n) for n in prepared.grid.cells[:2])
    assert (prepared.grid.before, prepared.grid.after) == (
        prepared.layers.before,
        prepared.layers.after,
    )
    assert all(n % 2 == 0 for n in prepared.grid.cells[:2])
    assert all(b - a in (0, 1) for a, b in zip(*prepared._widths, strict=True))
    assert not warnings_of(prepared)


@pytest.mark.parametrize(("width", "expected"), [(0, (0, 0)), (12, (12, 12)), ([5, 7], (5, 7))])
def test_layers_have_the_given_width(width: Any, expected: tuple[int, int]) -> None:
    prepared = setup(boundary__width=width)
    assert prepared.layers.before[:2] == expected
    assert prepared.grid.cells == (50 + 2 * expected[0], 40 + 2 * expected[1], 1)


def test_layers_inside_do_not_enlarge_the_grid() -> None:
    prepared = setup(boundary__width=8, boundary__inside=True, source__0__shape=POINT)
    assert prepared.grid.cells == prepared.grid.region == (50, 40, 1)
    assert prepared.layers.before == (8, 8, 0)


def test_the_step_follows_from_the_courant_number_and_divides_the_duration() -> None:
    layer = {"kind": "layer", "axis": "x", "from": "8 mm", "speed": 3000}
    prepared = setup(time__courant=0.2, medium__shape=[layer])
    assert prepared.dt * 3000 / 0.25e-3 == pytest.approx(0.2, rel=0.02)
    assert prepared.dt * prepared.steps == pytest.approx(2e-6)
    assert prepared.dt <= 0.2 * 0.25e-3 / 3000 * (1 + 1e-9)
    slow = setup(time__reference_speed=1500, medium__shape=[layer])
    assert slow.dt <= slow.stability_limit < np.inf


# --- quantities and warnings ----------------------------------------------------------------------


def test_check_shows_grid_waves_and_step() -> None:
    shown = {quantity.key: quantity for quantity in quantities_of(setup())}
    assert shown["points"].value == (90, 80) and "0.25 mm apart" in shown["points"].text
    assert shown["frequency_max"].text == "3 MHz"
    assert shown["points_per_wavelength"].value == pytest.approx(6)
    assert shown["courant"].value == pytest.approx(0.3)
    assert shown["dt"].text == "50 ns"
    assert shown["dt_limit"].value is None and "none" in shown["dt_limit"].text
    limited = quantities_of(setup(time__reference_speed=1000))
    assert next(q for q in limited if q.key == "dt_limit").text.endswith(" ns")
    sampled = quantities_of(setup(**signal(**SAMPLES, values=[0, 1])))
    assert "points_per_wavelength" not in {quantity.key for quantity in sampled}


def lossy(**changes: Any) -> Any:
    """A case with absorption of 0.5 dB / (MHz^1.5 cm)."""
    return setup(**{"medium__absorption": 0.5, "medium__power": 1.5} | changes)


def test_check_shows_errors_of_absorbed_waves() -> None:
    shown = {quantity.key: quantity for quantity in quantities_of(lossy())}
    absorption, phase = shown["absorption_error"], shown["phase_error"]
    assert re.fullmatch(
        r"-1\.\d % at 1 MHz: equations -0\.\d+ %, time step -0\.\d+ %", absorption.text
    )
    assert -0.02 < sum(absorption.value.values()) < -0.01
    assert set(phase.value) == {"equations", "time_step"} and phase.unit == "degrees"
    assert "degrees at 1 MHz over 12.5 mm: equations +" in phase.text
    sampled = quantities_of(lossy(**signal(**SAMPLES, values=[0, 1])))
    without = quantities_of(lossy(medium__effects=["dispersion"]))
    for quantities in (quantities_of(setup()), sampled, without):
        assert not {"absorption_error", "phase_error"} & {quantity.key for quantity in quantities}


def test_a_wrong_absorption_causes_a_warning_with_a_cure() -> None:
    assert not warnings_of(lossy())
    high = {"source__0__signal__frequency": "1.9 MHz"}
    (warning,) = warnings_of(lossy(**high, time__courant=0.5))
    told = re.fullmatch(
        r"the largest absorption at 1.9 MHz is (.*) % less than that of the power law; use "
        r'time\.step = "(.*)" or less',
        warning,
    )
    assert told and 5 < float(told[1]) < 10
    assert not warnings_of(lossy(**high, time__step=told[2]))
    strong = {"medium__absorption": 8.0, "medium__power": 1.1}
    (warning,) = warnings_of(lossy(**strong))
    assert warning.endswith(
        "the equations of absorption and dispersion hold for weak absorption only; leave out "
        'dispersion with medium.effects = ["absorption"], reduce the absorption, or choose '
        "medium.power further from 1 and 3"
    )
    assert not warnings_of(lossy(**strong, medium__effects=["absorption"]))


def test_a_wrong_phase_causes_a_warning_where_absorption_is_strong() -> None:
    """The absorption is right to 5 %; the phase is that after the way through the layer."""
    wide = {"grid__points": [200, 40]}
    (warning,) = warnings_of(setup(**wide, medium__absorption=10.0))
    told = re.fullmatch(
        r"waves of 1 MHz are (.*) degrees early after 50 mm of strong absorption; use "
        r'time\.step = "(.*)" or less',
        warning,
    )
    assert told and 45 < float(told[1]) < 90
    assert warnings_of(setup(**wide, medium__absorption=10.0, time__step=told[2])) == []
    thin = {"kind": "layer", "axis": "x", "from": "4 mm", "to": "7 mm", "absorption": 10.0}
    shown = {
        quantity.key: quantity.text
        for quantity in quantities_of(setup(**wide, medium__shape=[thin]))
    }
    assert "at 1 MHz over 3 mm" in shown["phase_error"]
    assert warnings_of(setup(**wide, medium__shape=[thin])) == []


def test_a_source_of_amplitude_0_causes_a_warning() -> None:
    assert warnings_of(setup(source__0__pressure=0.0)) == [
        "source[0] has pressure = 0 and emits nothing; give its amplitude"
    ]


def test_a_medium_without_a_decaying_wave_causes_a_warning_instead_of_a_number() -> None:
    odd = lossy(medium__absorption=20.0, medium__power=0.9)
    shown = {quantity.key: quantity for quantity in quantities_of(odd)}
    assert shown["absorption_error"].value is None and "phase_error" not in shown
    assert shown["absorption_error"].text == "unknown at 1 MHz; see the warning"
    (warning,) = warnings_of(odd)
    assert "have no wave of 1 MHz that decays about as fast as by the power law; " in warning
    assert "leave out dispersion" in warning


@pytest.mark.parametrize("power", [0.01, 0.1, 1.5])
def test_too_few_steps_per_period_cause_a_warning_instead_of_a_number(power: float) -> None:
    high = {"medium__power": power, "source__0__signal__frequency": "10 MHz"}
    long = lossy(**high, time__step="100 ns")  # one step per period
    shown = {quantity.key: quantity for quantity in quantities_of(long)}
    assert shown["absorption_error"].value is None
    coarse_grid, warning = warnings_of(long)
    assert "points per wavelength" in coarse_grid and warning == (
        "the time step of 100 ns samples a period of the highest source frequency, 10 MHz, "
        '1 times, too few for the absorption; use time.step = "10 ns" or less'
    )
    assert warnings_of(lossy(**high, time__step="10 ns")) == [coarse_grid]


def test_a_step_in_a_warning_is_rounded_down() -> None:
    for dt in np.random.default_rng(1).uniform(1e-10, 1e-6, 200):
        told = re.fullmatch(r'use time\.step = "(.*) ns" or less', _use_step(dt))
        assert told and 0.99 * dt < 1e-9 * float(told[1]) <= dt
    assert '"100 ns"' in _use_step(1e-7)


def test_the_template_causes_no_warning() -> None:
    assert not warnings_of(prepare(read_case(gs.ultrasound.info.read_template())))


def test_coarse_grids_cause_a_warning() -> None:
    (warning,) = warnings_of(setup(source__0__signal__frequency="2.5 MHz"))
    assert "2.5 MHz, has 2.4 points per wavelength" in warning
    assert warning.endswith("a spacing of at most 0.2 mm")


def test_transducers_in_an_absorbing_layer_cause_a_warning() -> None:
    (warning,) = warnings_of(setup(source__0__shape=POINT | {"position": ["-1 mm", "5 mm"]}))
    assert warning == (
        "source[0] extends from -1 to -1 mm along x, into an absorbing layer; move it to -0.125 to "
        "12.375 mm"
    )
    inside: dict[str, Any] = {"boundary__width": 8, "boundary__inside": True}
    (warning,) = warnings_of(
        setup(source__0__shape=POINT | {"position": ["5 mm", "9 mm"]}, **inside)
    )
    assert "along y" in warning and "1.875 to 7.875 mm" in warning
    assert not warnings_of(setup(boundary__width=0, source__0__shape=POINT))


def test_slow_transforms_cause_a_warning() -> None:
    (warning,) = warnings_of(setup(grid__points=[53, 40], boundary__width=0))
    assert "53 points along x are slow, because 53 has the prime factor 53; 54 points" in warning


# --- fast sizes -----------------------------------------------------------------------------------


def test_fast_sizes_have_small_prime_factors() -> None:
    assert prime_factors(360) == [2, 2, 2, 3, 3, 5] and prime_factors(97) == [97]
    assert prime_factors(1) == [] and is_fast(1) and is_fast(2 * 3 * 5 * 7)
    assert not is_fast(11) and next_fast(97) == 98 and next_fast(96) == 96
    assert cost(8) == 8 * 6


def test_the_cheapest_margin_counts_all_sizes() -> None:
    margins = range(4, 12)
    costs = {margin: cost(50 + 2 * margin) + cost(51 + 2 * margin) for margin in margins}
    assert costs[cheapest_margin([50, 51], margins)] == min(costs.values())
    assert cheapest_margin([48], range(8, 9)) == 8


# --- initial pressure -----------------------------------------------------------------------------


def test_a_ball_has_its_pressure_inside_and_none_outside() -> None:
    ball = {"kind": "ball", "centre": ["6 mm", "5 mm"], "radius": "2 mm", "pressure": "3 kPa"}
    prepared = setup(initial=ball | {"smooth": False})
    x, y = prepared.coordinates(0), prepared.coordinates(1)
    distance = np.hypot(x - 6e-3, y[:, None] - 5e-3)
    assert np.array_equal(prepared.initial[0] == 3000, distance <= 2e-3 + 1e-12)
    assert set(np.unique(prepared.initial)) == {0, 3000}


def test_a_gaussian_falls_with_its_width() -> None:
    content = {"kind": "gaussian", "centre": ["6 mm", "5 mm"], "width": "1 mm", "pressure": 2.0}
    prepared = setup(initial=content | {"smooth": False})
    row, column = np.unravel_index(prepared.initial[0].argmax(), prepared.initial[0].shape)
    assert prepared.initial[0, row, column + 4] == pytest.approx(2 * np.exp(-0.5), rel=1e-6)


def test_an_array_fills_the_region_only() -> None:
    values = np.random.default_rng(1).normal(size=(40, 50))
    prepared = setup(initial={"kind": "array", "values": values, "smooth": False})
    np.testing.assert_array_equal(prepared.initial[prepared.grid.region_slices][0], values)
    assert np.count_nonzero(prepared.initial) == values.size


def test_smoothing_keeps_the_largest_magnitude_and_removes_the_highest_wavenumbers() -> None:
    values = np.zeros((1, 32, 48))
    values[0, 10, 20] = -5.0
    found = smoothed(values)
    assert np.abs(found).max() == pytest.approx(5) and found.min() == pytest.approx(-5)
    spectrum = np.abs(np.fft.fft2(found[0]))
    assert spectrum[16].max() < 1e-12 * spectrum[0, 0]


# --- the estimate of the memory -------------------------------------------------------------------


@pytest.mark.parametrize("varying", [(), ("speed",), ("density",), ("speed", "density")])
def test_the_estimate_counts_the_arrays_of_each_medium(
    varying: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A linear medium takes less memory than a nonlinear one if its density varies, and so on."""
    backend, kept = open_backend("cpu"), list[int]()
    zeros = backend.zeros

    def counted(shape: tuple[int, ...], dtype: Any) -> Any:
        array = zeros(shape, dtype)
        kept.append(array.nbytes)
        return array

    monkeypatch.setattr(backend, "zeros", counted)

    def costs(**medium: float) -> tuple[int, int]:
        """Estimated and allocated memory of the case in a medium, bytes."""
        ramp = np.linspace(0.9, 1.0, 2000).reshape(40, 50)
        given = {"speed": 1500.0, "density": 1000.0, "power": 1.4, **medium}
        case = build(medium=given | {name: given[name] * ramp for name in varying})
        prepared, _ = prepare(case), kept.clear()
        Ultrasound(prepared, backend)
        return memory_cost.estimate(prepared).memory, sum(kept)

    base = costs()
    points = int(np.prod(setup().grid.cells))
    for medium in ({"nonlinearity": 5.0}, {"absorption": 0.5}):
        estimated, allocated = np.subtract(costs(**medium), base) / (4 * points)
        tables = 2 * 0.5 * ("absorption" in medium)  # of wavenumbers, (nx / 2 + 1) values a row
        arrays = 2 * ("speed" in varying) if "absorption" in medium else "density" in varying
        assert estimated == arrays + tables
        assert allocated == pytest.approx(estimated, abs=0.1)
