"""Interpolation and filters of sampled signals."""

from __future__ import annotations

import numpy as np

from groundswell.seismology import signals

rng = np.random.default_rng(77)
TIME = 0.01 * np.arange(1024)


def test_lowpass_halves_the_corner_and_keeps_phase() -> None:
    t = 0.002 * np.arange(20001)
    for frequency, gain in ((0.2, 1.0), (2.0, 0.5), (4.0, 1 / 257)):
        wave = np.cos(2 * np.pi * frequency * (t - 20.0))
        filtered = signals.lowpass(wave, 0.002, corner=2.0)
        middle = slice(5000, 15000)
        assert np.allclose(filtered[middle], gain * wave[middle], atol=2e-3)


def test_resample_is_exact_for_quintics_and_fine_for_waves() -> None:
    t = np.sort(rng.uniform(0.0, 2.0, 60))
    new = np.linspace(t[0], t[-1], 37)
    polynomial = np.polynomial.Polynomial(rng.normal(size=6))
    assert np.allclose(signals.resample(t, polynomial(t), new), polynomial(new))
    fine = np.arange(0.0, 9.0, 0.004)
    both = np.stack([np.interp(fine, TIME, TIME), np.sin(2 * np.pi * 3.0 * fine)])
    assert np.allclose(
        signals.resample(TIME, np.stack([TIME, np.sin(6 * np.pi * TIME)]), fine), both, atol=1e-5
    )


def test_bandpass_halves_its_corners_and_keeps_phase() -> None:
    t = 0.01 * np.arange(20001)
    for frequency, gain in ((0.2, 0.5), (0.7, 1.0), (2.0, 0.5), (0.02, 0.0)):
        wave = np.cos(2 * np.pi * frequency * (t - 100.0))
        filtered = signals.bandpass(wave, 0.01, (0.2, 2.0))
        middle = slice(8000, 12000)
        assert np.allclose(filtered[middle], gain * wave[middle], atol=3e-3)
