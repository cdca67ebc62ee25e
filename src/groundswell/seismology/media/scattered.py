"""Models in text files with one line for each point: the points give the grid."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groundswell.arrays import Floats, Indices
from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.grids.geography import require_projected
from groundswell.seismology.frames import Frame, lonlat_frame
from groundswell.seismology.media.model_grid import ModelGrid

if TYPE_CHECKING:
    import xarray

AXES = ("x", "y", "depth")
_SAME = 1e-6  # of the extent: coordinates that differ by less are equal


def read_numbers(
    path: Path, skip: int, columns: Sequence[int], *, has_commas: bool = False
) -> Floats:
    """Some columns of numbers after the first `skip` lines, (columns, rows).

    Raises:
        InputError: the file is unreadable, or a line lacks a column or has something else there.
    """
    with (
        read_errors_reported(path, "columns of numbers", "correct it"),
        warnings.catch_warnings(),
        path.open(encoding="utf-8-sig") as lines,
    ):
        warnings.simplefilter("error")  # NumPy warns if there are no lines
        separator = "," if has_commas else None
        found = np.loadtxt(
            lines, delimiter=separator, skiprows=skip, usecols=columns, ndmin=2, unpack=True
        )
    return np.asarray(found)


def grid_of_points(
    path: Path,
    points: Sequence[Floats],
    values: Mapping[str, tuple[Floats, str]],
    *,
    is_geographic: bool,
    projection: str | None,
) -> ModelGrid:
    """The model of values at points that are a full grid, in any order.

    Args:
        points: x, y and depth of each, or longitude, latitude and depth, m or degrees.
        values: values and their unit, by name.
        projection: coordinate system of x and y; None for those of the region.

    Raises:
        InputError: the points do not form a full grid.
    """
    names = ("longitude", "latitude", "depth") if is_geographic else AXES
    _require_finite(path, names, points)
    axes = [_axis(at) for at in points]
    places = _places(path, names, axes)
    dims, nodes = names[::-1], [axis.nodes for axis in axes[::-1]]
    data = _dataset(dims, nodes, values, places)
    if is_geographic:
        frame = lonlat_frame(str(path), axes[0].nodes)
    else:
        frame = _map_frame(path, projection)
    return ModelGrid(path, data, dims, frame, "add columns to the file")


def _require_finite(path: Path, names: Sequence[str], points: Sequence[Floats]) -> None:
    for name, at in zip(names, points, strict=True):
        if not np.isfinite(at).all():
            row = int(np.flatnonzero(~np.isfinite(at))[0])
            raise InputError(f"{path}: point {row + 1} has {name} = {at[row]}; correct it")


def _map_frame(path: Path, projection: str | None) -> Frame:
    if projection is None:
        return Frame(str(path), hint="; for coordinates of a map, give medium.projection")
    require_projected(projection)
    return Frame(str(path), projection, unit="map units")


class _Axis(NamedTuple):
    """The nodes of an axis, and the number of that of each point."""

    nodes: Floats
    node: Indices


def _axis(at: Floats) -> _Axis:
    """Coordinates, of which those that differ by rounding are the same node."""
    order = np.argsort(at, kind="stable")
    ascending = at[order]
    extent = ascending[-1] - ascending[0]
    starts = np.concatenate([[True], np.diff(ascending) > _SAME * extent])
    node = np.empty(len(at), np.intp)
    node[order] = np.cumsum(starts) - 1
    return _Axis(ascending[starts], node)


def _places(path: Path, names: Sequence[str], axes: Sequence[_Axis]) -> Indices:
    """The number of each point in the grid (depth, y, x)."""
    x, y, depth = axes
    nx, ny, nz = (len(axis.nodes) for axis in axes)
    count = len(x.node)
    if nx * ny * nz == count:
        places = (depth.node * ny + y.node) * nx + x.node
        filled = np.zeros(count, bool)
        filled[places] = True
        if filled.all():
            return places
    counts = ", ".join(f"{len(a.nodes):,} of {n}" for n, a in zip(names, axes, strict=True))
    raise InputError(
        f"{path}: {count:,} points do not form a full grid: they have {counts}, which make "
        f"{nx * ny * nz:,} points; give each point of a grid along these axes once"
    )


def _dataset(
    dims: Sequence[str],
    nodes: Sequence[Floats],
    values: Mapping[str, tuple[Floats, str]],
    places: Indices,
) -> xarray.Dataset:
    """The values on the grid."""
    import xarray

    def on_grid(column: Floats) -> Floats:
        found = np.empty(len(column))
        found[places] = column
        return found.reshape([len(at) for at in nodes])

    variables = {n: (dims, on_grid(column), {"units": u}) for n, (column, u) in values.items()}
    return xarray.Dataset(variables, coords=dict(zip(dims, nodes, strict=True)))
