"""NetCDF files of models: their axes, units and windows of their variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Reals
from groundswell.errors import InputError, counted
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import open_dataset
from groundswell.grids.geography import Geography
from groundswell.seismology.media.material import Material, find_unphysical, unit_factor

_ANY_DENSITY = 2000.0  # kg/m^3, where a rule gives the density


class ModelGrid:
    """An open NetCDF model.

    Attributes:
        geographic: whether the horizontal axes are longitude and latitude.
        dims: names of the dimensions (depth, y, x).
        nodes: their coordinates, ascending, m or degrees.
        variables: names of the variables.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        data = open_dataset(path)
        with read_errors_reported(path, "NetCDF"):
            self.geographic, self.dims = _find_axes(data, path)
            for dim in self.dims:
                nodes = data[dim].values
                if nodes.size and nodes[0] > nodes[-1]:
                    data = data.isel({dim: slice(None, None, -1)})
            self._data = data
            self.variables: tuple[str, ...] = tuple(str(name) for name in data.data_vars)
            self.nodes = tuple(self._read_nodes(dim) for dim in self.dims)

    def _read_nodes(self, dim: str) -> Reals:
        axis = self._data[dim]
        nodes = axis.values.astype(float)
        if nodes.size < 2 or not (np.diff(nodes) > 0).all():
            found = np.array2string(nodes, max_line_width=1000, threshold=6)
            raise InputError(
                f"{self.path}: coordinate {dim} must be a list of two or more values in order, "
                f"not {counted(nodes.size, 'value')} as {found}"
            )
        if dim != "depth" and self.geographic:
            return nodes
        return nodes * unit_factor(str(axis.attrs.get("units", "")), "m", f"{self.path}, {dim}")

    def check_variable(self, name: str, unit: str) -> float:
        """Check the dimensions of a variable and return the factor from its unit to `unit`."""
        variable = self._data[name]
        if sorted(map(str, variable.dims)) != sorted(self.dims):
            raise InputError(
                f"{self.path}: variable {name} has the dimensions {variable.dims}; it must have "
                f"{self.dims}, in any order"
            )
        given = str(variable.attrs.get("units", "")) if unit else ""
        return unit_factor(given, unit, f"{self.path}, variable {name}")

    def project(self, x: Reals, y: Reals, geography: Geography | None) -> tuple[Reals, Reals]:
        """Positions (m) in the region as coordinates on the horizontal axes of the model."""
        if not self.geographic:
            return x, y
        if geography is None:
            raise InputError(
                f"{self.path} is on longitude and latitude; add [grid.geography], the position "
                "of the region; on a mesh from a file, use a model on x and y"
            )
        lon, lat = geography.to_lonlat(*np.broadcast_arrays(x, y))
        # The model may count longitude from 0 to 360 and the region from -180 to 180.
        middle = (self.nodes[2][0] + self.nodes[2][-1]) / 2
        return (np.asarray(lon) - middle + 180) % 360 + middle - 180, np.asarray(lat)

    def read(self, name: str, depths: slice, rows: slice, columns: slice) -> Reals:
        """A window (depth, y, x) of a variable, float64, in the unit of the file."""
        depth, y, x = self.dims
        chosen = {depth: depths, y: rows, x: columns}
        window = self._data[name].isel(chosen).transpose(*self.dims)
        with read_errors_reported(self.path, f"NetCDF (variable {name})"):
            return np.asarray(window.values, float)


def _find_axes(data: Any, path: Path) -> tuple[bool, tuple[str, str, str]]:
    """Whether the axes are longitude and latitude, and their names (depth, y, x)."""
    axes = {c for c in data.coords if data[c].dims == (c,) and data[c].dtype.kind in "fiu"}
    for x, y in (("x", "y"), ("lon", "lat"), ("longitude", "latitude")):
        if {x, y, "depth"} <= axes:
            if data["depth"].attrs.get("positive") == "up":
                raise InputError(
                    f"{path}: depth is positive upwards; store it increasing downwards"
                )
            return x != "x", ("depth", y, x)
    raise InputError(
        f"{path} needs one-dimensional coordinates x, y, depth or lon, lat, depth; it has "
        f"{', '.join(sorted(axes)) or 'none'}"
    )


def require_physical_nodes(
    model: ModelGrid, values: Mapping[str, Reals], window: tuple[slice, slice, slice]
) -> None:
    """Check the speeds and densities at all nodes of a window that have no gap (NaN).

    Args:
        values: properties (depth, y, x) in SI units, among them vp and vs.
        window: slices along depth, y and x.

    Raises:
        InputError: a node is unphysical; names the first one.
    """
    given = {role: values[role] for role in ("vp", "vs", "rho") if role in values}
    known = np.all([np.isfinite(of) for of in given.values()], axis=0)
    chosen = given if known.all() else {role: of[known] for role, of in given.items()}
    if unphysical := find_unphysical(Material(**{"rho": np.array(_ANY_DENSITY), **chosen})):
        node = unphysical.entry if known.all() else np.argwhere(known)[unphysical.entry[0]]
        axes = zip(model.dims, model.nodes, window, node, strict=True)
        place = ", ".join(f"{name} = {at[part.start + n]:.8g}" for name, at, part, n in axes)
        raise InputError(
            f"{model.path} has {unphysical.properties} at its node {place}: {unphysical.rule}; "
            "correct the model"
        )
