"""Integrals and durations of acceleration that is linear between samples."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats, Reals

GRAVITY = 9.80665  # m/s^2
ARIAS = np.pi / (2 * GRAVITY)  # Arias intensity over the integral of squared acceleration, s^2/m


def squared_integral(ground: Floats, interval: float) -> Floats:
    """The integral of the squared acceleration up to each sample, (..., samples), m^2/s^3.

    Args:
        ground: acceleration, (..., samples), m/s^2.
        interval: time between samples, s.
    """
    before, after = ground[..., :-1], ground[..., 1:]
    steps = interval / 3 * (before**2 + before * after + after**2)
    return _summed(steps, ground.shape)


def arias_intensity(ground: Floats, interval: float) -> Floats:
    """Arias intensity pi / (2 g) times the integral of a^2, m/s (Arias 1970), (...).

    For the arguments see `squared_integral`.
    """
    return ARIAS * squared_integral(ground, interval)[..., -1]


def cumulative_absolute_velocity(ground: Floats, interval: float) -> Floats:
    """The integral of |a|, m/s (EPRI 1988, report NP-5930), (...).

    For the arguments see `squared_integral`.
    """
    before, after = ground[..., :-1], ground[..., 1:]
    length = np.abs(before) + np.abs(after)
    crosses = before * after < 0  # the two triangles of a line that crosses zero
    areas = np.where(crosses, (before**2 + after**2) / np.where(crosses, length, 1.0), length)
    return np.asarray(interval / 2 * areas.sum(axis=-1))


def significant_duration(ground: Floats, interval: float, low: float, high: float) -> Floats:
    """Time between two fractions of the final Arias intensity, s, (...), such as 0.05 and 0.95.

    The times are interpolated between samples (Trifunac & Brady 1975). The duration is 0 for a
    record without motion. For the other arguments see `squared_integral`.
    """
    energy = squared_integral(ground, interval)
    flat = energy.reshape(-1, energy.shape[-1])
    times = interval * np.arange(energy.shape[-1])
    found = [_reached(row, times, high) - _reached(row, times, low) for row in flat]
    return np.array(found).reshape(energy.shape[:-1])


def _summed(steps: Floats, shape: tuple[int, ...]) -> Floats:
    total = np.zeros(shape)
    np.cumsum(steps, axis=-1, out=total[..., 1:])
    return total


def _reached(energy: Floats, times: Reals, share: float) -> float:
    """The time at which a growing energy (samples,) reaches a fraction of its last value, s."""
    if not energy[-1] > 0:
        return 0.0
    last = int(np.searchsorted(energy, share * energy[-1]))
    ends = slice(max(last - 1, 0), last + 1)
    return float(np.interp(share * energy[-1], energy[ends], times[ends]))
