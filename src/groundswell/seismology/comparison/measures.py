"""How a simulated trace differs from the observed one: shift, correlation, misfit and ratio."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.signals import peak_index

MEASURES = ("shift", "correlation", "misfit", "ratio")


@dataclass(frozen=True)
class Row:
    """The measures of one component of a station in a window; NaN where they have no meaning.

    Args:
        station: its code, with the network.
        component: Z, N, E, R, T or H.
        start, end: of the window, s after time 0.
        shift: time by which the simulated trace is late, s: where the cross-correlation is largest.
        correlation: value of the normalised cross-correlation there, at most 1.
        misfit: L2 norm of the difference, without the shift, over that of the observed trace.
        ratio: L2 norm of the simulated over that of the observed trace.
    """

    station: str
    component: str
    start: float
    end: float
    shift: float
    correlation: float
    misfit: float
    ratio: float

    def as_dict(self) -> dict[str, object]:
        """Names and values; None instead of NaN."""
        return {name: _or_none(value) for name, value in vars(self).items()}


def _or_none(value: str | float) -> str | float | None:
    return None if isinstance(value, float) and not isfinite(value) else value


def measure(
    simulated: Floats, observed: Floats, interval: float, max_shift: float | None = None
) -> tuple[float, float, float, float]:
    """Shift (s), correlation, misfit and ratio of two traces (n,); see `Row`.

    The correlation is that of the window with zeros outside. A parabola through the largest sample
    of the cross-correlation and its neighbours gives the shift between samples.

    Args:
        interval: between samples, s.
        max_shift: largest shift, s; by default half of the window.
    """
    sizes = float(np.linalg.norm(simulated)), float(np.linalg.norm(observed))
    misfit = ratio = nan
    if sizes[1] > 0:
        misfit = float(np.linalg.norm(simulated - observed)) / sizes[1]
        ratio = sizes[0] / sizes[1]
    if not min(sizes) > 0:
        return nan, nan, misfit, ratio
    shift, correlation = _best_shift(simulated / sizes[0], observed / sizes[1], interval, max_shift)
    return shift, correlation, misfit, ratio


def _best_shift(
    simulated: Floats, observed: Floats, interval: float, max_shift: float | None
) -> tuple[float, float]:
    """The largest cross-correlation of traces of norm 1: its shift, s, and its value."""
    from scipy.signal import correlate

    samples = len(simulated)
    most = samples // 2 if max_shift is None else min(round(max_shift / interval), samples - 1)
    found = correlate(simulated, observed, method="fft")[samples - 1 - most : samples + most]
    if len(found) < 3:
        return 0.0, float(found.max())
    place = float(peak_index(found))
    return interval * (place - most), min(_value_at(found, place), 1.0)  # rounding errors


def _value_at(values: Floats, place: float) -> float:
    """The value of the parabola through the three samples around a place, in samples."""
    middle = min(max(round(place), 1), len(values) - 2)
    before, at, after = values[middle - 1 : middle + 2]
    x = place - middle
    return float(at + x * (after - before) / 2 + x * x * (before - 2 * at + after) / 2)
