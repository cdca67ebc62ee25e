"""Maps of few cells: values between the cells' centres, so that no cells show in pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.arrays import Floats, Reals
from groundswell.plotting.map_frame import MapFrame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

LEAST_CELLS = 300  # along the longer side of a map, at which cells no longer show


def coloured_map(axes: Axes, frame: MapFrame, values: Reals, **style: Any) -> QuadMesh:
    """Draw values (ny, nx), masked or NaN where unknown, in the colours of a style.

    Args:
        style: arguments of matplotlib's `pcolormesh`.
    """
    return axes.pcolormesh(*refined_mesh(frame), refined(values), shading="nearest", **style)


def refined_mesh(frame: MapFrame) -> tuple[Floats, Floats]:
    """Horizontal and vertical map coordinate of the centres of the smaller cells of `refined`."""
    east, north = (_refined(along, inside=False) for along in frame.mesh)
    return east, north


def refined(values: Reals) -> np.ma.MaskedArray:
    """Values at the centres of smaller cells, interpolated between cells, masked where unknown.

    The interpolation is smooth, and linear on a map with unknown values. Values are unknown in
    cells without a value. Around these, others keep the value of their cell. Half a cell at the
    edges of the map has the values of the outermost centres.
    """
    known = np.ma.filled(np.ma.asarray(values).astype(float), np.nan)
    factor = _factor(known.shape)
    of_cells = known.repeat(factor, axis=0).repeat(factor, axis=1)
    between = _refined(known, inside=True)
    unknown = np.isnan(between) | np.isnan(of_cells)
    return np.ma.masked_invalid(np.where(unknown, of_cells, between))


def _factor(shape: tuple[int, ...]) -> int:
    """Number of smaller cells in a cell, along each side."""
    return max(1, -(-LEAST_CELLS // max(shape)))


def _refined(values: Floats, *, inside: bool) -> Floats:
    """Smooth interpolation, or with `inside` false linear extrapolation, to the smaller cells."""
    factor = _factor(values.shape)
    for axis in (0, 1):
        values = np.moveaxis(_along_first(np.moveaxis(values, axis, 0), factor, inside), 0, axis)
    return values


def _along_first(values: Floats, factor: int, inside: bool) -> Floats:
    count = len(values)
    if factor == 1 or count == 1:
        return values.repeat(factor, axis=0)
    at = (np.arange(count * factor) + 0.5) / factor - 0.5
    at = at.clip(0, count - 1) if inside else at
    if inside and np.isfinite(values).all():
        return _smooth(values, at)
    left = np.clip(np.floor(at).astype(int), 0, count - 2)
    share = (at - left)[:, None]
    return (1 - share) * values[left] + share * values[left + 1]


def _smooth(values: Floats, at: Floats) -> Floats:
    """Interpolation along the first axis without creases, and without new extremes.

    Piecewise cubic polynomials (Fritsch & Butland 1984, SIAM J. Sci. Stat. Comput. 5, 300-304), as
    of SciPy's `PchipInterpolator`, whose import takes longer than many a run.
    """
    steps = np.diff(values, axis=0)
    slopes = _monotone_slopes(steps)
    left = np.clip(np.floor(at).astype(int), 0, len(steps) - 1)
    share, step, low, high = (at - left)[:, None], steps[left], slopes[left], slopes[left + 1]
    bend, twist = 3 * step - 2 * low - high, low + high - 2 * step
    return values[left] + share * (low + share * (bend + share * twist))


def _monotone_slopes(steps: Floats) -> Floats:
    """Slopes at equidistant points, (n, ...), from the steps between them, (n - 1, ...)."""
    if len(steps) == 1:
        return steps.repeat(2, axis=0)
    before, after = steps[:-1], steps[1:]
    is_monotone = np.sign(before) * np.sign(after) > 0
    sums = np.where(is_monotone, before + after, 1.0)
    inner = np.where(is_monotone, 2 * before * (after / sums), 0.0)
    return np.stack([_end_slope(*steps[:2]), *inner, _end_slope(*steps[:-3:-1])])


def _end_slope(step: Floats, next_step: Floats) -> Floats:
    """The slope at an end: that of a parabola, limited where values would overshoot."""
    slope = (3 * step - next_step) / 2
    limited = np.clip(slope, -3 * abs(step), 3 * abs(step))
    slope = np.where(np.sign(step) * np.sign(next_step) < 0, limited, slope)
    return np.where(np.sign(slope) == np.sign(step), slope, 0.0)
