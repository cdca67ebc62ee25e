"""Models in text files with one line for each point: the points give the grid."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from groundswell.exchange.communicator import Communicator
from groundswell.grids.geography import require_projected
from groundswell.seismology.frames import Frame, lonlat_frame
from groundswell.seismology.media.model_grid import ModelGrid
from groundswell.seismology.media.point_files import PointTable, read_points

LONLAT_AXES, AXES = ("longitude", "latitude", "depth"), ("x", "y", "depth")


def grid_of_points(
    table: PointTable,
    units: Mapping[str, str],
    projection: str | None,
    comm: Communicator | None = None,
) -> ModelGrid:
    """The model of values at points that are a full grid, in any order; all ranks must call this.

    Args:
        table: the points, on AXES or LONLAT_AXES, m or degrees.
        units: those of values, by name.
        projection: coordinate system of x and y; None for those of the region.

    Raises:
        InputError: the file is unreadable, or its points do not form a full grid.
    """
    import xarray

    nodes, values = read_points(table, comm)
    x, y, depth = table.names[:3]
    dims = (depth, y, x)
    named = zip(table.names[3:], values, strict=True)
    variables = {name: (dims, array, {"units": units[name]}) for name, array in named}
    data = xarray.Dataset(variables, coords=dict(zip(dims, nodes, strict=True)))
    is_geographic = x == LONLAT_AXES[0]
    path = table.path
    frame = lonlat_frame(str(path), nodes[2]) if is_geographic else _map_frame(path, projection)
    return ModelGrid(path, data, dims, frame, "add columns to the file")


def _map_frame(path: Path, projection: str | None) -> Frame:
    if projection is None:
        return Frame(str(path), hint="; for coordinates of a map, give medium.projection")
    require_projected(projection)
    return Frame(str(path), projection, unit="map units")
