"""Warns of slip after the end of synthetic seismograms, which lack its waves."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.green.slip import SlipRows
from groundswell.seismology.green.synthesis import Variations, first_time
from groundswell.seismology.sources.point_sources import total_moments

if TYPE_CHECKING:
    import xarray

RELEASED = 0.99  # fraction of a moment that is released within the seismograms
_SHOWN = 4  # numbers of variations in a message
# Fraction of the slip after a time in rise times, see time_functions.py.
_SLIPPED: Mapping[str, Callable[[Floats], Floats]] = {
    "brune": lambda t: 1 - (1 + t) * np.exp(-t),
    "cosine": lambda t: np.minimum(t, 1) - np.sin(2 * np.pi * np.minimum(t, 1)) / (2 * np.pi),
    "triangle": lambda t: np.where(t < 0.5, 2 * t**2, 1 - 2 * np.maximum(1 - t, 0) ** 2),
}


class LateSlip(UserWarning):
    """Slip after the end of seismograms."""


def warn_of_late_slip(tensor: xarray.Dataset, rows: SlipRows, varied: Variations) -> None:
    """Issue the warning `LateSlip` if a hundredth of a moment is released after the seismograms.

    Args:
        tensor: see tensor.py.
        rows: the slip.
        varied: its variations, at least one.
    """
    attrs, count = tensor.attrs, int(tensor.sizes["time"])
    first = first_time(tensor, varied) + float(attrs["start"]) - float(attrs["centroid"])
    end = first + float(attrs["interval"]) * count
    if text := "".join(_texts(rows, varied, end)):
        warnings.warn(f"the seismograms end at {end:.4g} s, {text}", LateSlip, stacklevel=2)


def _texts(rows: SlipRows, varied: Variations, end: float) -> Iterator[str]:
    """The end of the message, if there is one."""
    parts = released_by(end, rows, varied)
    late = np.flatnonzero(parts < RELEASED)
    remedy = "waves of later slip are missing, so lengthen time.duration of the runs"
    if len(late) and len(parts) == 1:
        yield f"when only {100 * parts[0]:.0f} % of the moment is released; {remedy}"
    elif len(late):
        more = len(late) - _SHOWN
        shown = [*map(str, late[:_SHOWN] + 1), *([f"{more} more"] if more > 0 else [])]
        yield (
            f"when {len(late)} of {len(parts)} variations (in rows {', '.join(shown)} of their "
            f"table) have not released {100 * RELEASED:.0f} % of their moment; {remedy}"
        )


def released_by(end: float, rows: SlipRows, varied: Variations) -> Floats:
    """Fraction of the moment of each variation that is released until the time `end` (s)."""
    slipped = _own_slip(rows) if varied.shape == "own" else _SLIPPED[varied.shape]
    moments = total_moments(rows.sources)
    parts = np.ones(len(varied))
    for n, (onset, factor, rise) in enumerate(
        zip(varied.onset, varied.amplitude, varied.rise, strict=True)
    ):
        weights = np.abs(moments * factor)
        if weights.any():
            parts[n] = np.average(slipped(np.maximum(end - onset, 0.0) / rise), weights=weights)
    return parts


def _own_slip(rows: SlipRows) -> Callable[[Floats], Floats]:
    """A function that returns the fraction of slip of each row at times after its start (s)."""
    longest = max(source.samples.size for source in rows.sources)
    sizes = np.stack([_padded(np.abs(source.samples), longest) for source in rows.sources])
    totals = np.cumsum(sizes, axis=1)
    steps, each = np.array([source.step for source in rows.sources]), np.arange(len(totals))

    def slipped(times: Floats) -> Floats:
        last = np.minimum(np.floor(times / steps), longest - 1).astype(int)
        return np.asarray(totals[each, last] / totals[:, -1])

    return slipped


def _padded(values: Floats, length: int) -> Floats:
    return np.pad(values, (0, length - values.size))
