"""Planes in pictures of ultrasound: edges of cells, and outlines of the medium."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Reals
from groundswell.plotting.refinement import LEAST_CELLS
from groundswell.solvers.ultrasound import results as readers
from groundswell.solvers.ultrasound.case import MEDIUM_FILE
from groundswell.solvers.ultrasound.units import MM

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

_MOST_MATERIALS = 8  # with more values of the property, only their mean is outlined


def ends(positions: Reals) -> tuple[float, float]:
    """Outer edges of the cells around points, mm."""
    edges = to_edges(positions)
    return float(edges[0]) / MM, float(edges[-1]) / MM


def interpolation_of(values: xarray.DataArray) -> str:
    """How matplotlib's `imshow` shows a plane: without visible cells, and without moiré."""
    return "bilinear" if max(values.shape) < LEAST_CELLS else "antialiased"


def outlined_property(folder: Path) -> xarray.DataArray | None:
    """The property whose boundaries are drawn, if one varies."""
    if not (folder / MEDIUM_FILE).exists():
        return None
    medium = readers.medium(folder)
    names = {"speed": "sound speed", "density": "density"}
    found = next((name for name in names if name in medium), None)
    return None if found is None else medium[found].assign_attrs(name=names[found])


def draw_outline(axes: Axes, values: xarray.DataArray, colour: str = "white") -> None:
    """Draw the boundaries between materials, or the mean of the extremes of a smooth medium."""
    found = np.unique(values)
    if len(found) > _MOST_MATERIALS:
        found = found[[0, -1]]
    if len(found) > 1:
        up, across = (to_edges(values[axis].values) / MM for axis in values.dims)
        levels, cells = (found[1:] + found[:-1]) / 2, np.pad(values.values, 1, mode="edge")
        axes.contour(across, up, cells, levels=levels, colors=colour, linewidths=0.7)


def to_edges(positions: Reals) -> Reals:
    """Positions of points, and those of the outer edges of the cells around them."""
    half = (positions[1] - positions[0]) / 2
    return np.concatenate([[positions[0] - half], positions, [positions[-1] + half]])
