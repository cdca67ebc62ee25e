"""Integrals, durations, rotation and the motion between samples, against closed forms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from groundswell.seismology.intensity.measures import (
    GRAVITY,
    arias_intensity,
    cumulative_absolute_velocity,
    significant_duration,
)
from groundswell.seismology.intensity.motion import acceleration, displacement, oversampled
from groundswell.seismology.intensity.rotation import rotated_peaks, rotd

RNG = np.random.default_rng
Function = Callable[[float], float]


def _times(first: Function, second: Function) -> Function:
    return lambda t: first(t) * second(t)


def test_integrals_of_a_broken_line() -> None:
    """Exact, also where the line crosses zero between samples."""
    ground, h = RNG(1).normal(size=(2, 25)), 0.3
    times = h * np.arange(25)
    for row, arias, cav in zip(
        ground, arias_intensity(ground, h), cumulative_absolute_velocity(ground, h), strict=True
    ):
        zeros = times[:-1] - h * row[:-1] / np.diff(row)
        corners = np.sort([*times, *zeros[(zeros > times[:-1]) & (zeros < times[1:])]])
        spans = list(pairwise(corners))
        line = partial(np.interp, xp=times, fp=row)
        squares = sum(quad(_times(line, line), *span)[0] for span in spans)
        areas = sum(abs(quad(line, *span)[0]) for span in spans)
        assert arias == pytest.approx(np.pi / 2 / GRAVITY * squares, rel=1e-12)
        assert cav == pytest.approx(areas, rel=1e-12)


def test_durations_of_constant_and_growing_shaking() -> None:
    t = np.linspace(0, 10, 100001)
    ground = np.stack([np.ones_like(t), np.sqrt(t), 0 * t])
    durations = [significant_duration(ground, t[1], 0.05, high) for high in (0.75, 0.95)]
    growing = [10 * (np.sqrt(high) - np.sqrt(0.05)) for high in (0.75, 0.95)]
    assert durations[0] == pytest.approx([7.0, growing[0], 0.0], rel=1e-7)
    assert durations[1] == pytest.approx([9.0, growing[1], 0.0], rel=1e-7)


def test_acceleration_gives_the_velocity_back() -> None:
    velocity = RNG(2).normal(size=(3, 40))
    ground = acceleration(velocity, 0.2)
    assert np.allclose(velocity[:, :1] + 0.2 * np.cumsum(ground, axis=1), velocity, atol=1e-13)
    assert (ground[:, 0] == 0).all()


def test_errors_of_differences_and_splines_are_as_stated() -> None:
    """The fractions (w h)^2 / 24 and, between samples, (w h)^4 / 384."""
    for w in (0.05, 0.2, 0.4):
        t = np.arange(400.0)
        wave = np.sin(w * t)
        found = acceleration(wave, 1.0)[1:] / w
        lost = np.abs(found - np.cos(w * (t[1:] - 0.5))).max()
        assert lost == pytest.approx(w**2 / 24, rel=0.02)
        dense = oversampled(wave, 8)[800:2400]
        error = np.abs(dense - np.sin(w * np.arange(800, 2400) / 8)).max()
        assert error == pytest.approx(w**4 / 384, rel=0.1)


def test_displacement_of_a_sine() -> None:
    t = np.linspace(0, 3, 30001)
    moved = displacement(np.cos(2 * t)[None], t[1])
    assert np.abs(moved - np.sin(2 * t) / 2).max() < 1e-8


def test_rotd_of_a_straight_and_a_round_motion() -> None:
    """Motion along a line has RotD50 = 1/sqrt(2) of RotD100; round motion is equal everywhere."""
    t = np.linspace(0, 2 * np.pi, 7201)
    azimuth = 0.7
    line = np.stack([np.sin(azimuth), np.cos(azimuth)])[:, None] * np.sin(t)
    peaks = rotated_peaks(np.stack([line, [np.cos(t), np.sin(t)]]))
    assert rotd(peaks, 100) == pytest.approx([1, 1], abs=1e-4)
    assert rotd(peaks, 50) == pytest.approx([np.sqrt(0.5), 1], abs=1e-2)


@pytest.mark.parametrize("samples", [1, 30, 100_000])
def test_parts_of_a_long_record_are_joined(samples: int) -> None:
    pair = RNG(3).normal(size=(2, samples))
    radians = np.radians(np.arange(180))
    wanted = [np.abs(np.cos(a) * pair[0] + np.sin(a) * pair[1]).max() for a in radians]
    assert np.allclose(rotated_peaks(pair), wanted, rtol=1e-14)
