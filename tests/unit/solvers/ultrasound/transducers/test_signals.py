"""Signals of transducers: tones, delays, samples, and what is refused."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest
from transducer_shapes import FOCUS

from groundswell.errors import InputError
from groundswell.solvers.ultrasound.transducers import (
    ContinuousWave,
    PhasedArray,
    Point,
    SampledSignal,
    ToneBurst,
    element_signals,
    focus_delays,
)

DT = 2e-8


def test_a_continuous_wave_grows_to_a_sine() -> None:
    wave = element_signals(ContinuousWave(1e6, 2.0), 300, DT, amplitudes=5.0)[:, 0]
    times = DT * np.arange(300)
    assert wave[100:] == pytest.approx(5 * np.sin(2 * pi * 1e6 * times[100:]), abs=1e-9)
    assert abs(wave[12]) < 0.2
    assert ContinuousWave(1e6, 0.0).at(times, pi / 2) == pytest.approx(np.cos(2 * pi * 1e6 * times))


@pytest.mark.parametrize("window", ["gaussian", "hann"])
def test_a_tone_burst_lasts_its_cycles(window: Any) -> None:
    burst = ToneBurst(1e6, 4.0, window).at(DT * np.arange(300))
    assert not burst[201:].any() and abs(burst[200]) < 1e-12
    assert burst[:201] == pytest.approx(-burst[200::-1], abs=1e-12)  # odd about the middle


def test_samples_are_resampled() -> None:
    coarse = np.sin(2 * pi * 0.5e6 * 1e-7 * np.arange(41))
    fine = element_signals(SampledSignal(coarse, 1e-7), 300, DT, delays=1e-7)[:, 0]
    exact = np.sin(2 * pi * 0.5e6 * DT * np.arange(201))
    assert fine[5:206] == pytest.approx(exact, abs=1e-3)
    assert not fine[:5].any() and not fine[206:].any()


def test_elements_have_their_own_amplitudes_phases_and_delays() -> None:
    wave = ContinuousWave(1e6, 1.0)
    found = element_signals(wave, 200, DT, [1.0, 2.0], [0.0, 0.5], [0.0, 10 * DT])
    assert found.shape == (200, 2)
    times = DT * np.arange(200)
    assert found[10:, 1] == pytest.approx(2 * wave.at(times[:-10], 0.5))
    assert not found[:10, 1].any()


def test_a_focused_array_arrives_together() -> None:
    elements = tuple(Point((x, 0.0, 0.0)) for x in (-5e-3, 0.0, 2e-3))
    array = PhasedArray(elements).focused((1e-3, 0.0, 20e-3), 1500.0)
    away = [np.hypot(x - 1e-3, 20e-3) for x in (-5e-3, 0.0, 2e-3)]
    arrivals = np.array(array.delays) + np.array(away) / 1500
    assert np.ptp(arrivals) < 1e-15 and min(array.delays) == 0  # type: ignore[arg-type]
    assert array.signals(ToneBurst(1e6, 3.0), 100, DT).shape == (100, 3)


WAVE = ContinuousWave(1e6)
REFUSED_SIGNALS: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("frequency = 0 Hz, but it must be positive", ContinuousWave, (0.0,)),
    ("ramp_cycles = -1", ContinuousWave, (1e6, -1.0)),
    ("window = 'box', but it must be", ToneBurst, (1e6, 3.0, "box")),
    (r"samples have the shape \(1,\)", SampledSignal, (np.ones(1), 1e-7)),
    ("phase = 0.5 rad", SampledSignal(np.ones(5), 1e-7).at, (np.zeros(1), 0.5)),
    ("dt = 0 s", element_signals, (WAVE, 5, 0.0)),
    (
        "smallest is -1e-06 s, .* add 1e-06 s to all",
        element_signals,
        (WAVE, 5, DT, 1, 0, [0, -1e-6]),
    ),
    ("2 amplitudes, 3 phases, 1 delays", element_signals, (WAVE, 5, DT, [1, 2], [1, 2, 3])),
    ("amplitudes: some are not finite", element_signals, (WAVE, 5, DT, [1, np.nan])),
    ("speed = 0 m/s", focus_delays, (np.zeros((2, 3)), FOCUS, 0.0)),
]


@pytest.mark.parametrize(("message", "function", "arguments"), REFUSED_SIGNALS)
def test_impossible_signals_are_refused(message: str, function: Any, arguments: Any) -> None:
    with pytest.raises(InputError, match=message):
        function(*arguments)
