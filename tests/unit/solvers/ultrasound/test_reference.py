"""Exact solutions for ultrasound against the equations that they solve."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from scipy.special import hankel2

from groundswell.solvers.ultrasound import reference

PHASES = 2 * pi * np.arange(256) / 256


def test_fubini_harmonics_are_those_of_the_implicit_solution() -> None:
    """P = sin(phase + sigma P) before the shock."""
    sigma, wave = 0.6, np.sin(PHASES)
    for _ in range(200):
        wave = np.sin(PHASES + sigma * wave)
    harmonics = 2 * np.abs(np.fft.rfft(wave))[1:7] / len(PHASES)
    assert reference.fubini(np.arange(1, 7), sigma) == pytest.approx(harmonics, abs=1e-12)


@pytest.mark.parametrize("goldberg", [1.0, 4.0, 8.0])
def test_mendousse_solves_burgers_equation(goldberg: float) -> None:
    """dP/dsigma = P dP/dphase + d^2P/dphase^2 / G, from a sine."""
    sigma, step = 0.9, 1e-4
    before, wave, after = (
        reference.mendousse(PHASES, sigma + n * step, goldberg) for n in (-1, 0, 1)
    )
    orders = 1j * np.arange(len(PHASES) // 2 + 1)
    slope, bend = (np.fft.irfft(np.fft.rfft(wave) * orders**n) for n in (1, 2))
    assert (after - before) / (2 * step) == pytest.approx(wave * slope + bend / goldberg, abs=1e-5)
    assert reference.mendousse(PHASES, 0.0, goldberg) == pytest.approx(np.sin(PHASES), abs=1e-6)


def test_mendousse_nears_fubini_with_weak_losses() -> None:
    wave = reference.mendousse(PHASES, 0.2, 20.0)
    lossless = reference.fubini(2, 0.2)
    assert 2 * np.abs(np.fft.rfft(wave))[2] / len(PHASES) == pytest.approx(lossless, rel=0.05)


def test_an_arc_at_its_centre_of_curvature() -> None:
    """All of its points have the same distance."""
    k, radius, diameter = 2 * pi / 3e-3, 30e-3, 36e-3
    length = 2 * radius * np.arcsin(diameter / (2 * radius))
    found = reference.focused_arc([radius], radius, diameter, k)[0]
    assert found == pytest.approx(k / 2 * hankel2(0, k * radius) * length)


def test_a_wide_flat_arc_emits_plane_waves() -> None:
    """Away from its ends, p exp(-i k z), which a phase of the ends disturbs."""
    k, z = 2 * pi / 3e-3, np.linspace(10e-3, 20e-3, 9)
    found = reference.focused_arc(z, 1e3, 2.0, k)
    assert np.abs(found - np.exp(-1j * k * z)).max() < 0.05
