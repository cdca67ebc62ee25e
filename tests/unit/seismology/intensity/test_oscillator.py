"""Oscillators against closed forms, published coefficients and numerical integration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from groundswell.seismology.intensity.oscillator import respond, squared_frequencies, step_changes

PERIODS = np.array([0.07, 0.5, 1.0, 6.0])


def published(period: float, damping: float, h: float) -> np.ndarray:
    """Nigam & Jennings 1969, equations 9 and 10: (u, u') after a step of (u, u', a0, a1).

    In extended precision, since terms cancel for short steps.
    """
    z, h = np.longdouble(damping), np.longdouble(h)
    w = 2 * np.longdouble(np.pi) / np.longdouble(period)
    root = np.sqrt(1 - z * z)
    decay, s, c = np.exp(-z * w * h), np.sin(w * root * h), np.cos(w * root * h)
    b = (2 * z * z - 1) / (w * w * h)
    d = 2 * z / (w**3 * h)
    sine, tail = s / (w * root), c - z / root * s
    mix = w * root * s + z * w * c
    return np.array(
        [
            [
                decay * (z / root * s + c),
                decay * sine,
                decay * ((b + z / w) * sine + (d + 1 / w**2) * c) - d,
                -decay * (b * sine + d * c) - 1 / w**2 + d,
            ],
            [
                -w / root * decay * s,
                decay * tail,
                decay * ((b + z / w) * tail - (d + 1 / w**2) * mix) + 1 / (w * w * h),
                -decay * (b * tail - d * mix) - 1 / (w * w * h),
            ],
        ]
    )


@pytest.mark.parametrize("damping", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("ratio", [1e-3, 0.02, 0.4, 2.7])
def test_changes_are_those_published(damping: float, ratio: float) -> None:
    """For steps of any fraction of the period; terms of short steps cancel in the publication."""
    [found] = step_changes(np.array([0.8]), damping, ratio * 0.8)
    wanted, w = published(0.8, damping, ratio * 0.8), 2 * np.pi / 0.8
    wanted[:, 1] *= w  # the second number of the state is u' / w
    wanted[1] /= w
    wanted[0, 0] -= 1
    wanted[1, 1] -= 1
    lost = 1e-18 / ratio**3  # relative rounding of terms of the size 1/(w^2 w h) in h^2
    for column in range(4):
        scale = np.abs(wanted[:, column]).max()
        error = np.abs(found[:, column] - wanted[:, column]).max() / scale
        assert error < 1e-13 + 10 * lost, (column, error)


def test_free_vibration_decays_as_it_should() -> None:
    """u = exp(-z w t) (cos(d t) + z w / d sin(d t)) from u = 1 at rest, after 2,000 steps."""
    damping, h, steps = 0.05, 0.004, 2000
    w = 2 * np.pi / PERIODS
    d = w * np.sqrt(1 - damping**2)
    state = np.zeros((len(PERIODS), 4))
    state[:, 0] = 1.0
    changes = step_changes(PERIODS, damping, h)
    for _ in range(steps):
        state[:, :2] += np.einsum("pij,pj->pi", changes, state)
    t = steps * h
    wanted = np.exp(-damping * w * t) * (np.cos(d * t) + damping * w / d * np.sin(d * t))
    assert np.abs(state[:, 0] - wanted).max() < 1e-11


@pytest.mark.parametrize("frequency", [0.4, 1.0, 2.7])
def test_the_steady_state_of_a_sine(frequency: float) -> None:
    """Amplitude 1 / sqrt((w^2 - f^2)^2 + (2 z w f)^2), with the error of a broken line."""
    damping, h = 0.2, 1e-3
    t, force = h * np.arange(20000), 2 * np.pi * frequency
    periods = np.array([0.3, 0.8, 1.0])
    moved = respond(np.sin(force * t), step_changes(periods, damping, h))
    w = 2 * np.pi / periods
    size = 1 / np.hypot(w**2 - force**2, 2 * damping * w * force)
    late = np.arctan2(2 * damping * w * force, w**2 - force**2)
    wanted = -size[:, None] * np.sin(force * t - late[:, None])
    # A line between samples loses the fraction (f h)^2 / 12.
    error = np.abs(moved - wanted)[:, t > 15].max(axis=1) / size
    assert error.max() < 1.1 * (force * h) ** 2 / 12
    assert error.max() > 0.9 * (force * h) ** 2 / 12


def test_numerical_integration_of_random_acceleration() -> None:
    """Exact between samples: as close as the integration is, whatever the step."""
    rng = np.random.default_rng(5)
    h, ground = 0.05, rng.normal(size=80)
    times = h * np.arange(ground.size)
    moved = respond(ground, step_changes(PERIODS, 0.05, h))
    for period, found in zip(PERIODS, moved, strict=True):
        w = 2 * np.pi / period

        def slope(t: float, y: Any, w: float = w) -> list[float]:
            return [y[1], -(w**2) * y[0] - 0.1 * w * y[1] - np.interp(t, times, ground)]

        solved = np.zeros((2, 1))
        for n in range(1, ground.size):  # the force has corners at samples
            part = solve_ivp(
                slope, times[n - 1 : n + 1], solved[:, -1], "DOP853", rtol=1e-11, atol=1e-14
            )
            solved = np.column_stack([solved, part.y[:, -1]])
        assert np.abs(found - solved[0]).max() < 1e-8 * np.abs(found).max()


def test_the_limits_of_a_spectrum() -> None:
    """A stiff oscillator follows the ground, a soft one stays where it was."""
    rng = np.random.default_rng(6)
    h, periods = 0.01, np.array([1e-3, 1e4])
    t = h * np.arange(400)
    ground = np.exp(-(((t - 2) / 0.4) ** 2)) * np.cos(rng.uniform(6, 9) * t)
    moved = np.abs(respond(ground, step_changes(periods, 0.05, h))).max(axis=1)
    stiff = moved[0] * squared_frequencies(periods)[0]
    assert stiff == pytest.approx(np.abs(ground).max(), rel=2e-3)
    velocity = np.concatenate([[0], np.cumsum(ground[1:] + ground[:-1]) * h / 2])
    slid = np.cumsum(velocity) * h
    assert moved[1] == pytest.approx(np.abs(slid).max(), rel=2e-2)
