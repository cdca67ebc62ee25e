"""The focus of a beam: the largest pressure outside bone, and its -6 dB widths."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray

HALF = 10 ** (-6 / 20)  # -6 dB: pressure relative to that at the focus
BONE = 1800.0  # m/s, threshold between the sound speeds of soft tissue and of bone


class Focus(NamedTuple):
    """The focus of a beam.

    Attributes:
        pressure: largest pressure, Pa.
        position: the point where it occurs, m, by axis.
        edges: positions on both sides of the focus where the pressure falls to -6 dB, m, by axis;
            NaN where it does not do so within the region.
    """

    pressure: float
    position: dict[str, float]
    edges: dict[str, tuple[float, float]]

    @property
    def widths(self) -> dict[str, float]:
        """Widths at -6 dB, m, by axis; NaN if the region does not contain both edges."""
        return {axis: high - low for axis, (low, high) in self.edges.items()}


def find_focus(pressure: xarray.DataArray, speed: xarray.DataArray | None = None) -> Focus:
    """Find the focus of a map of the maximum pressure (z, y, x), and its -6 dB widths.

    The search leaves out bone, where standing waves may be stronger than the focus behind it. It
    does not leave out the near field of the transducer, which may be stronger than a weak focus.

    Args:
        pressure: maximum pressure at each point, Pa.
        speed: sound speed, m/s. Points with a speed of BONE or more count as bone, unless all do.
    """
    at = _searched(pressure, speed).argmax(...)
    axes = [str(axis) for axis in pressure.dims if pressure.sizes[axis] > 1][::-1]
    edges = {}
    for axis in axes:
        profile = pressure.isel({other: at[other] for other in pressure.dims if other != axis})
        edges[axis] = edges_of(profile[axis].values, profile.values, int(at[axis]))
    peak = pressure.isel(at)
    return Focus(float(peak), {axis: float(peak[axis]) for axis in axes}, edges)


def _searched(pressure: xarray.DataArray, speed: xarray.DataArray | None) -> xarray.DataArray:
    """The pressure, NaN in bone."""
    soft = None if speed is None else speed.values < BONE
    return pressure if soft is None or not soft.any() else pressure.where(soft)


def edges_of(
    positions: NDArray[np.floating], values: NDArray[np.floating], peak: int
) -> tuple[float, float]:
    """Positions before and after the point `peak` where values fall to -6 dB of the peak.

    Values are interpolated linearly. A position is NaN if the values do not fall that far.
    """
    before = _first_below(positions[peak::-1], values[peak::-1])
    return before, _first_below(positions[peak:], values[peak:])


def _first_below(positions: NDArray[np.floating], values: NDArray[np.floating]) -> float:
    """The first position where values fall to -6 dB of the first one."""
    level = HALF * float(values[0])
    below = np.flatnonzero(values < level)
    if not below.size:
        return np.nan
    pair = slice(below[0] - 1, below[0] + 1)
    return float(np.interp(-level, -values[pair], positions[pair]))
