"""Models on grids: their axes, units and windows of their variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Reals
from groundswell.errors import InputError, counted
from groundswell.formats.damage import read_errors_reported
from groundswell.grids.geography import Geography
from groundswell.seismology.frames import Frame
from groundswell.seismology.media.material import Material, find_unphysical, unit_factor

if TYPE_CHECKING:
    import xarray

_ANY_DENSITY = 2000.0  # kg/m^3, where a rule gives the density


class ModelGrid:
    """A model on a rectilinear grid: its axes, and windows of its variables.

    Args:
        path: its file, for messages.
        data: the variables on three axes in any order, read when needed. The attributes `units` of
            axes and variables are respected.
        dims: names of the axes (depth, y, x).
        frame: coordinates of the axes x and y.
        remedy: what the user can do if a variable is missing, for messages.

    Attributes:
        nodes: coordinates of the axes (depth, y, x), ascending, m or in the unit of the frame.
        variables: names of the variables.

    Raises:
        InputError: the coordinates are out of order, or a unit is unknown.
    """

    def __init__(
        self,
        path: Path,
        data: xarray.Dataset,
        dims: tuple[str, str, str],
        frame: Frame,
        remedy: str,
    ) -> None:
        self.path, self.dims, self.frame = path, dims, frame
        self.remedy = remedy
        with read_errors_reported(path, "a model"):
            for dim in dims:
                nodes = data[dim].values
                if nodes.size and nodes[0] > nodes[-1]:
                    data = data.isel({dim: slice(None, None, -1)})
            self._data = data
            self.variables: tuple[str, ...] = tuple(str(name) for name in data.data_vars)
            self.nodes = tuple(self._read_nodes(dim) for dim in dims)

    def _read_nodes(self, dim: str) -> Reals:
        axis = self._data[dim]
        nodes = axis.values.astype(float)
        if nodes.size < 2 or not (np.diff(nodes) > 0).all():
            found = np.array2string(nodes, max_line_width=1000, threshold=6)
            raise InputError(
                f"{self.path}: coordinate {dim} must be a list of two or more values in order, "
                f"not {counted(nodes.size, 'value')} as {found}"
            )
        if dim != self.dims[0] and self.frame.system is not None:
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

    def locate(self, x: Reals, y: Reals, geography: Geography | None) -> tuple[Reals, Reals]:
        """Positions (m) in the region as coordinates on the axes x and y of the model."""
        return self.frame.locate(x, y, geography)

    def read(self, name: str, depths: slice, rows: slice, columns: slice) -> Reals:
        """A window (depth, y, x) of a variable, float64, in the unit of the file.

        Infinite values are gaps (NaN), too.
        """
        depth, y, x = self.dims
        chosen = {depth: depths, y: rows, x: columns}
        window = self._data[name].isel(chosen).transpose(*self.dims)
        with read_errors_reported(self.path, f"a model (variable {name})"):
            values = np.asarray(window.values, float)
        return np.where(np.isinf(values), np.nan, values) if np.isinf(values).any() else values


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
