"""The focus of a beam: the largest pressure outside bone, and its -6 dB widths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter

from groundswell.arrays import Mask, Reals
from groundswell.backends.host_threads import in_threads
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.behind_bone import behind_bone
from groundswell.solvers.ultrasound.transducers import Surface

if TYPE_CHECKING:
    import xarray

HALF = 10 ** (-6 / 20)  # -6 dB: pressure relative to that at the focus
SLAB = 2  # planes that a thread processes at a time, in widths of the means
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


def find_focus(
    pressure: xarray.DataArray,
    speed: xarray.DataArray | None = None,
    points_per_wavelength: float | None = None,
    surfaces: Sequence[Surface] = (),
) -> Focus:
    """Find the focus of a map of the maximum pressure (z, y, x), and its -6 dB widths.

    The search leaves out bone, where standing waves may be stronger than the focus behind it, and
    the points in front of bone through which curved transducers aim, see `behind_bone`. With the
    wavelength, it compares mean squares over half a wavelength, so that a peak of a standing wave
    outside bone does not count as a focus, and then takes the largest pressure there. Points within
    about a wavelength of transducers do not count either; the near field beyond may still be
    stronger than a weak focus.

    Args:
        pressure: maximum pressure at each point, Pa.
        speed: sound speed, m/s. Points with a speed of BONE or more count as bone, unless all do.
        points_per_wavelength: points of the shortest wavelength of the sources.
        surfaces: those of the transducers.
    """
    soft = behind_bone(surfaces, _soft(pressure, speed), pressure)
    if points_per_wavelength is not None:
        soft = away_from(surfaces, soft, pressure, points_per_wavelength)
    width = 2 * int((points_per_wavelength or 0) // 4) + 1  # about half a wavelength
    return _focus_of(pressure, _largest(pressure.values, soft, width))


def focus_at(pressure: xarray.DataArray, position: Sequence[float]) -> Focus:
    """The focus of a map (z, y, x) if it is at the point nearest to a position.

    Args:
        position: x, y and, in three dimensions, z, m.

    Raises:
        InputError: the position has too few or too many coordinates, or lies outside the map.
    """
    axes = [axis for axis in "xyz" if pressure.sizes[axis] > 1]
    if len(position) != len(axes):
        raise InputError(f"at = {tuple(position)} must have the coordinates {', '.join(axes)}, m")
    found = dict.fromkeys(pressure.dims, 0)
    for axis, at in zip(axes, position, strict=True):
        known = pressure[axis].values
        found[axis] = int(np.abs(known - at).argmin())
        if not abs(known[found[axis]] - at) <= np.diff(known[:2])[0]:
            raise InputError(
                f"at: {axis} = {at:g} m lies outside the region, {known[0]:g} to {known[-1]:g} m"
            )
    return _focus_of(pressure, tuple(found.values()))


def _focus_of(pressure: xarray.DataArray, at: tuple[int, ...]) -> Focus:
    """The pressure and the widths at a point, given by its indices."""
    place = dict(zip(pressure.dims, at, strict=True))
    axes = [str(axis) for axis in pressure.dims if pressure.sizes[axis] > 1][::-1]
    edges = {}
    for axis in axes:
        profile = pressure.isel({other: place[other] for other in pressure.dims if other != axis})
        edges[axis] = edges_of(profile[axis].values, profile.values, int(place[axis]))
    peak = pressure.isel(place)
    return Focus(float(peak), {axis: float(peak[axis]) for axis in axes}, edges)


def _soft(pressure: xarray.DataArray, speed: xarray.DataArray | None) -> Mask:
    """Whether points are outside bone."""
    soft = np.ones(pressure.shape, bool) if speed is None else speed.values < BONE
    return soft if soft.any() else ~soft


def away_from(
    surfaces: Sequence[Surface], allowed: Mask, values: xarray.DataArray, per_wavelength: float
) -> Mask:
    """The allowed points that are a wavelength or more away from surfaces; all if none is.

    Cubes of two wavelengths around points on the surfaces, half a wavelength apart, are left out.
    """
    first = np.array([float(values[axis][0]) for axis in "zyx"])
    steps = [
        float(np.diff(values[axis][:2])[0]) if values.sizes[axis] > 1 else 1.0 for axis in "zyx"
    ]
    widest = max(h for h, n in zip(steps, values.shape, strict=True) if n > 1)
    reach = per_wavelength * widest / np.array(steps)
    found = allowed.copy()
    for surface in surfaces:
        points = surface.sample(per_wavelength * widest / 2).points[:, ::-1]
        indices = (points - first) / steps
        lows, highs = np.ceil(indices - reach), np.floor(indices + reach)
        for low, high in zip(lows.astype(int), highs.astype(int), strict=True):
            box = (slice(max(a, 0), max(b + 1, 0)) for a, b in zip(low, high, strict=True))
            found[tuple(box)] = False
    return found if found.any() else allowed


def _largest(values: Reals, allowed: Mask, width: int) -> tuple[int, ...]:
    """The allowed point with the largest value where the mean square over a width is largest."""
    near = [slice(0, n) for n in values.shape]
    if width > 1:
        middle, half = _middle(values, allowed, width), width // 2
        near = [slice(max(n - half, 0), n + half + 1) for n in middle]
    box = tuple(near)
    chosen = np.where(allowed[box], values[box], -np.inf)
    at = np.unravel_index(np.argmax(chosen), chosen.shape)
    return tuple(side.start + int(n) for side, n in zip(near, at, strict=True))


def _middle(values: Reals, allowed: Mask, width: int) -> tuple[int, ...]:
    """The allowed point around which the mean square of allowed points is largest."""

    def find(start: int) -> tuple[float, tuple[int, ...]]:
        first = max(start - width // 2, 0)  # with the planes that means at the ends need
        planes = slice(first, start + SLAB * width + width // 2)
        means = _mean_squares(values[planes], allowed[planes], width)
        means = means[start - first :][: SLAB * width]
        z, *others = np.unravel_index(np.argmax(means), means.shape)
        return float(means[z, *others]), (start + int(z), *map(int, others))

    found = in_threads(find, range(0, len(values), SLAB * width))
    return max(found, key=lambda each: each[0])[1]


def _mean_squares(values: Reals, allowed: Mask, width: int) -> Reals:
    """Mean squares of the allowed points around each allowed point; -1 at others."""
    squares = uniform_filter(np.where(allowed, np.square(values), 0.0), width, mode="nearest")
    shares = uniform_filter(allowed.astype(float), width, mode="nearest")
    return np.where(allowed, squares / np.where(allowed, shares, 1.0), -1.0)


def edges_of(positions: Reals, values: Reals, peak: int) -> tuple[float, float]:
    """Positions before and after the point `peak` where values fall to -6 dB of the peak.

    Values are interpolated linearly. A position is NaN if the values do not fall that far.
    """
    before = _first_below(positions[peak::-1], values[peak::-1])
    return before, _first_below(positions[peak:], values[peak:])


def _first_below(positions: Reals, values: Reals) -> float:
    """The first position where values fall to -6 dB of the first one."""
    level = HALF * float(values[0])
    below = np.flatnonzero(values < level)
    if not below.size:
        return np.nan
    pair = slice(below[0] - 1, below[0] + 1)
    return float(np.interp(-level, -values[pair], positions[pair]))
