"""Misfits of seismograms whose differences are known."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.seismology.reference import misfit

STEP, BAND = 0.01, (0.5, 5.0)
TIME = STEP * np.arange(1024)


def wave_packet(delay=0.0, phase=0.0, frequency=2.0):
    t = TIME - 5.0 - delay
    return np.exp(-0.5 * (t / 1.2) ** 2) * np.cos(2 * np.pi * frequency * t + phase)


def test_relative_misfit_counts_all_axes_together():
    a, b = [[3.0, 1.0], [0.0, 2.0]], [[3.0, 0.0], [0.0, 4.0]]
    assert misfit.relative_misfit(a, b) == pytest.approx(np.sqrt(5.0) / 5.0)


def test_amplitude_error_is_envelope_misfit_only():
    pair = (1.05 * wave_packet(), wave_packet())
    assert misfit.envelope_misfit(*pair, STEP, BAND) == pytest.approx(0.05, rel=1e-6)
    assert misfit.phase_misfit(*pair, STEP, BAND) == pytest.approx(0.0, abs=1e-9)
    assert misfit.peak_difference(*pair) == pytest.approx(5.0)
    assert misfit.peak_delay(*pair, STEP) == pytest.approx(0.0)


@pytest.mark.parametrize("delay", [0.02, -0.037])
def test_time_shift_is_phase_misfit(delay):
    pair = (wave_packet(delay), wave_packet())
    phase = misfit.phase_misfit(*pair, STEP, BAND)
    assert phase == pytest.approx(2 * 2.0 * abs(delay), rel=0.03)
    assert misfit.envelope_misfit(*pair, STEP, BAND) < 0.2 * phase
    assert misfit.peak_delay(*pair, STEP) == pytest.approx(delay, abs=1e-3)


def test_phase_rotation_is_phase_misfit():
    turned, reference = wave_packet(phase=0.6), wave_packet()
    assert misfit.phase_misfit(turned, reference, STEP, BAND) == pytest.approx(
        0.6 / np.pi, rel=0.01
    )
    assert misfit.envelope_misfit(turned, reference, STEP, BAND) < 0.005


def test_components_are_normalised_by_the_strongest():
    reference = np.stack([wave_packet(), 0.1 * wave_packet()])
    em = misfit.envelope_misfit(1.1 * reference, reference, STEP, BAND)
    assert em == pytest.approx([0.1, 0.01], rel=1e-6)


def test_missing_obspy_is_said_clearly(monkeypatch):
    monkeypatch.setitem(sys.modules, "obspy.signal", None)
    with pytest.raises(InputError, match="ObsPy"):
        misfit.phase_misfit(wave_packet(), wave_packet(), STEP, BAND)
