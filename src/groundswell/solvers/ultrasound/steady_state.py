"""Whether a continuous wave has become steady, from a recorded series near the focus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groundswell.arrays import Floats
from groundswell.outputs.harmonics import basis_functions
from groundswell.solvers.ultrasound.focus import Focus

if TYPE_CHECKING:
    import xarray

PERIODS = 3  # in each of the two windows
FEWEST = 8  # samples in a window
LARGEST = 0.02  # change of the amplitude of a wave that counts as steady


class AmplitudeChange(NamedTuple):
    """Change of an amplitude between the last two windows of PERIODS periods.

    Attributes:
        change: the amplitude in the last window minus that before, relative to the last.
        position: the recorded point, m, by axis.
        record: the file.
    """

    change: float
    position: dict[str, float]
    record: str


def steady_state(
    records: Mapping[str, xarray.Dataset], focus: Focus, frequency: float
) -> AmplitudeChange | None:
    """The change of the amplitude at the recorded point nearest to the focus.

    None if no series of the pressure at points is long enough and within the -6 dB widths.
    """
    found: list[tuple[float, AmplitudeChange]] = []
    for name, record in records.items():
        if "p" not in record or record["p"].dims != ("time", "point"):
            continue
        away = [np.abs(record[axis].values - at) for axis, at in focus.position.items()]
        distances = np.max(away, axis=0)
        n = int(np.argmin(distances))
        series = record["p"][:, n]
        change = amplitude_change(series["time"].values, series.values, frequency)
        at = {axis: float(record[axis][n]) for axis in focus.position}
        if change is not None and _is_within(at, focus.edges):
            found.append((float(distances[n]), AmplitudeChange(change, at, name)))
    return min(found)[1] if found else None


def _is_within(at: Mapping[str, float], edges: Mapping[str, tuple[float, float]]) -> bool:
    """Whether a position lies between edges; those that are unknown, NaN, exclude nothing."""
    return not any(at[axis] < low or at[axis] > high for axis, (low, high) in edges.items())


def amplitude_change(times: Floats, values: Floats, frequency: float) -> float | None:
    """Relative change of the amplitude between the last two windows of a series.

    None if the series is shorter than both windows, or silent.
    """
    length = PERIODS / frequency
    age = times[-1] - times
    windows = (age < length), (age >= length) & (age < 2 * length)
    if age[0] < 2 * length * (1 - 1e-6) or min(map(np.sum, windows)) < FEWEST:
        return None
    last, before = (_amplitude(times[inside], values[inside], frequency) for inside in windows)
    return (last - before) / last if last else None


def _amplitude(times: Floats, values: Floats, frequency: float) -> float:
    basis = basis_functions([frequency], times)
    return float(np.hypot(*np.linalg.lstsq(basis, values, rcond=None)[0][1:]))
