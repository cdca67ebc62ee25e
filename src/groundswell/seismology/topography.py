"""Elevation of the surface as a smooth function of position: formulas, arrays and files."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from groundswell.arrays import Floats, Reals
from groundswell.case.expressions import Expression
from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.case.topography import (
    ArrayTopography,
    FormulaTopography,
    TopographySection,
)
from groundswell.seismology.topography_files import ElevationMap, map_over_region, read_map

Elevation = Callable[[Floats, Floats], Floats]

ORDER = 3  # of splines through the points of maps
MARGIN = 8  # points of a map around the region that its spline takes into account
LARGEST = 40_000_000  # points of a map that a spline may have
_CLOSEST = 1e-9  # of the extent: distance of coordinates; less only in damaged files
HIGHEST = 20e3  # m; elevations beyond it mark missing data


def build_elevation(
    section: TopographySection, size: tuple[float, float], geography: Geography | None = None
) -> Elevation:
    """The elevation (m, upwards) at x and y (m) in the region, by cubic splines through maps.

    Args:
        size: of the region along x and y, m.
        geography: position of the region on Earth, for maps with a coordinate system.

    Raises:
        InputError: a file is unreadable, or a map does not cover the region or has gaps there.
    """
    if isinstance(section, FormulaTopography):
        expression = Expression(section.elevation)
        return lambda x, y: expression(x, y, np.zeros_like(x))
    if isinstance(section, ArrayTopography):
        return _spline(map_over_region(section.elevation, size, "topography"), size)
    return _spline(read_map(section, size), size, geography, section.fill)


def _spline(
    found: ElevationMap,
    size: tuple[float, float],
    geography: Geography | None = None,
    fill: float | None = None,
) -> Elevation:
    """The spline through a map, with elevation `fill` (m) in its gaps."""
    from scipy.interpolate import RectBivariateSpline

    def project(x: Floats, y: Floats) -> tuple[Reals, Reals]:
        return found.frame.locate(x, y, geography)

    edges = np.meshgrid(*(np.linspace(0, length, 65) for length in size))
    needed = project(*edges)
    columns, rows = (
        _window(axis, at, found) for axis, at in zip((found.x, found.y), needed, strict=True)
    )
    x, y = found.x[columns], found.y[rows]
    if x.size * y.size > LARGEST:
        raise InputError(
            f"{found.source} has {x.size:,} x {y.size:,} elevations in the region, more than "
            f"{LARGEST:,}; resample it, for example with gdalwarp -r average"
        )
    values = _without_gaps(found, rows, columns, fill)
    orders = [min(ORDER, len(axis) - 1) for axis in (y, x)]
    spline = RectBivariateSpline(y, x, values, kx=orders[0], ky=orders[1])

    def elevation(x: Floats, y: Floats) -> Floats:
        along_x, along_y = project(x, y)
        return np.asarray(spline.ev(along_y, along_x))

    return elevation


def _without_gaps(found: ElevationMap, rows: slice, columns: slice, fill: float | None) -> Floats:
    values = np.array(found.values[rows, columns])
    gaps = ~np.isfinite(values)
    if fill is not None:
        values[gaps] = fill
    wrong = ~(np.abs(values) <= HIGHEST)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        place = f"at {found.x[columns][column]:.8g}, {found.y[rows][row]:.8g}"
        if gaps.any() and fill is None:
            raise InputError(
                f"{found.source} has no elevation {place}; fill its gaps, or give their elevation "
                'in topography.fill, such as "0 m"'
            )
        raise InputError(
            f"{found.source} has the elevation {values[row, column]:g} m {place}; it must be from "
            f"{-HIGHEST:g} to {HIGHEST:g} m; if it stands for missing data, mark it as such"
        )
    return values


def _window(axis: Floats, at: Reals, found: ElevationMap) -> slice:
    """The part of an axis that surrounds positions."""
    if not (len(axis) > 1 and (np.diff(axis) > _CLOSEST * (axis[-1] - axis[0])).all()):
        raise InputError(
            f"{found.source}: coordinates must be two or more values in order; correct them"
        )
    rounding = 1e-6 * (axis[-1] - axis[0])
    if at.min() < axis[0] - rounding or at.max() > axis[-1] + rounding:
        raise InputError(
            f"{found.source} covers {axis[0]:.8g} to {axis[-1]:.8g}, and the region needs "
            f"{at.min():.8g} to {at.max():.8g} ({found.frame.unit}); use a map that covers it"
        )
    first, last = np.searchsorted(axis, [at.min(), at.max()])
    return slice(max(0, int(first) - MARGIN), int(last) + MARGIN)
