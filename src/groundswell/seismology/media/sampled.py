"""Media sampled in three dimensions: arrays, netCDF models and AWP meshes, read plane by plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.seismology.formats.awp import AwpMesh
from groundswell.seismology.media.material import (
    PROPERTIES,
    UNITS,
    Counts,
    Lengths,
    Material,
    Values,
    describe_cell,
    unit_factor,
)

# --- rules for what a model lacks ----------------------------------------------------------------


def brocher_density(vp: Values) -> Values:
    """Density in kg/m^3 from vp in m/s: the Nafe-Drake curve of crustal rocks.

    Brocher (2005), Bull. Seism. Soc. Am. 95, 2081-2092, eq. 1. Raises `InputError` outside the
    speeds that it was fitted to, 1500 to 8500 m/s.
    """
    outside = vp[~((vp >= 1500) & (vp <= 8500))]
    if outside.size:
        raise InputError(
            f"medium.rho_rule = 'brocher' holds for vp from 1500 to 8500 m/s and the model has "
            f"vp = {outside[0]:g} m/s; give the density in the model"
        )
    v = vp / 1000
    return 1000 * v * (1.6612 + v * (-0.4721 + v * (0.0671 + v * (-0.0043 + v * 0.000106))))


def awp_quality(vs: Values) -> tuple[Values, Values]:
    """`(qp, qs)` as AWP-ODC assumes them: Qs = 0.05 vs with vs in m/s, Qp = 2 Qs."""
    qs = vs / 20
    return 2 * qs, qs


RHO_RULES: dict[str, Callable[[Values], Values]] = {"brocher": brocher_density}
Q_RULES: dict[str, Callable[[Values], tuple[Values, Values]]] = {"awp": awp_quality}


def _check_rule(name: str, rule: str | None, rules: Mapping[str, Any]) -> None:
    if rule is not None and rule not in rules:
        raise InputError(f"medium.{name} = {rule!r}: must be one of {', '.join(rules)}")


def _complete(values: Mapping[str, Values], rho_rule: str | None, q_rule: str | None) -> Material:
    """A material of the values given and those of the rules asked for."""
    made = {}
    if rho_rule is not None:
        made["rho"] = RHO_RULES[rho_rule](values["vp"])
    if q_rule is not None:
        made["qp"], made["qs"] = Q_RULES[q_rule](values["vs"])
    return Material(**values, **made)


# --- on the region's own cells -------------------------------------------------------------------


class ArrayMedium:
    """Cell values from arrays (nz, ny, nx), which may be memory maps: one plane is read at a time.

    Speeds in m/s, density in kg/m^3. Raises `InputError` for arrays of different shapes.
    """

    def __init__(
        self,
        spacing: Lengths,
        vp: NDArray[Any],
        vs: NDArray[Any],
        rho: NDArray[Any],
        qp: NDArray[Any] | None = None,
        qs: NDArray[Any] | None = None,
    ) -> None:
        arrays = {"vp": vp, "vs": vs, "rho": rho, "qp": qp, "qs": qs}
        self._arrays = {name: array for name, array in arrays.items() if array is not None}
        shapes = {name: np.shape(array) for name, array in self._arrays.items()}
        if len(set(shapes.values())) > 1 or len(shapes["vp"]) != 3 or 0 in shapes["vp"]:
            raise InputError(f"arrays of a medium must have one shape (nz, ny, nx), not {shapes}")
        if (qp is None) != (qs is None):
            raise InputError("arrays of a medium: give both qp and qs, or neither")
        self.cells = shapes["vp"][::-1]
        self.spacing = spacing

    def plane(self, k: int) -> Material:
        """Cell values of depth row `k`: arrays (ny, nx) of the arrays' own floating-point type."""
        rows = {name: np.asarray(array[k]) for name, array in self._arrays.items()}
        return Material(
            **{name: row.astype(_real(row.dtype), copy=False) for name, row in rows.items()}
        )


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type to compute in: integers, and floats too short for moduli in Pa, become double."""
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)


class AwpMedium:
    """An AWP mesh file with `variables` 3, 5 or 8 a cell; values stay in single precision.

    `mesh_cells` are the file's cells and must equal `cells`, the region's; a mesh without Q (3) is
    elastic or gets it from `q_rule = "awp"`. Raises `InputError`.
    """

    def __init__(
        self,
        path: str | Path,
        cells: Counts,
        spacing: Lengths,
        *,
        mesh_cells: Counts,
        variables: int,
        q_rule: str | None = None,
    ) -> None:
        if tuple(mesh_cells) != tuple(cells):
            raise InputError(
                f"medium.cells = {list(mesh_cells)}: the region has {list(cells)} cells, and an "
                "AWP mesh is not interpolated; change grid.size and grid.spacing to fit the mesh"
            )
        _check_rule("q_rule", q_rule, Q_RULES)
        if q_rule is not None and variables > 3:
            raise InputError(f"medium.q_rule = {q_rule!r}: {path} has Q itself; remove the rule")
        self.cells, self.spacing = cells, spacing
        self._mesh, self._q_rule = AwpMesh(path, cells, variables), q_rule

    def plane(self, k: int) -> Material:
        """Cell values of depth row `k`: arrays (ny, nx), float32."""
        return _complete(self._mesh.plane(k), None, self._q_rule)


# --- on a model's own axes -----------------------------------------------------------------------


class NetcdfMedium:
    """A model on a rectilinear grid in a netCDF file, interpolated trilinearly at cell centres.

    Its variables have three dimensions, in any order, with coordinates `depth` and either `x`, `y`
    (metres from the region's corner) or `lon`, `lat` (also `longitude`, `latitude`), regular or
    not. `units` attributes are respected; what has none is in SI. `variables` maps vp, vs, rho, qp
    and qs to names in the file, by default their own. What a file lacks comes from a rule if one is
    named: `rho_rule = "brocher"`, `q_rule = "awp"`; without Q and its rule the medium is elastic.
    `geography` has `to_lonlat(x, y)`, vectorised.

    Only what the region needs of the two depth slabs around a row is read, and each slab once in a
    pass downwards. Raises `InputError` for a file that is unreadable or incomplete, or that does
    not cover the centres of the cells.
    """

    def __init__(
        self,
        path: str | Path,
        cells: Counts,
        spacing: Lengths,
        *,
        geography: Any = None,
        variables: Mapping[str, str] | None = None,
        rho_rule: str | None = None,
        q_rule: str | None = None,
    ) -> None:
        _check_rule("rho_rule", rho_rule, RHO_RULES)
        _check_rule("q_rule", q_rule, Q_RULES)
        self.cells, self.spacing = cells, spacing
        self._rho_rule, self._q_rule = rho_rule, q_rule
        self._model = _ModelFile(Path(path))
        self._names = _choose_variables(self._model, variables or {}, rho_rule, q_rule)
        self._factors = {r: self._model.check_variable(n, UNITS[r]) for r, n in self._names.items()}
        x, y, depth = ((np.arange(n) + 0.5) * h for n, h in zip(cells, spacing, strict=True))
        x, y = self._model.project(x[None, :], y[:, None], geography)
        self._depth, self._y, self._x = (
            _locate(self._model, axis, at) for axis, at in enumerate((depth, y, x))
        )
        self._slabs: dict[tuple[str, int], Values] = {}

    def plane(self, k: int) -> Material:
        """The model at the centres of depth row `k`: arrays (ny, nx), float64.

        Raises `InputError` where the model has a gap (NaN), or a rule does not hold.
        """
        upper, share = int(self._depth.node[k]), self._depth.share[k]
        around = (upper, upper + 1)
        self._slabs = {key: slab for key, slab in self._slabs.items() if key[1] in around}
        values = {}
        for role in self._names:
            above, below = (self._slab(role, node) for node in around)
            values[role] = above + share * (below - above)
            self._refuse_gap(role, values[role], k)
        return _complete(values, self._rho_rule, self._q_rule)

    def _slab(self, role: str, node: int) -> Values:
        """One property (ny, nx) in SI at one depth of the model, under or over the cell centres."""
        if (role, node) not in self._slabs:
            y, x = self._y, self._x
            nodes = self._model.read(self._names[role], node, y.window, x.window)
            near = _mix(nodes[y.node, x.node], nodes[y.node, x.node + 1], x.share)
            far = _mix(nodes[y.node + 1, x.node], nodes[y.node + 1, x.node + 1], x.share)
            self._slabs[role, node] = self._factors[role] * _mix(near, far, y.share)
        return self._slabs[role, node]

    def _refuse_gap(self, role: str, values: Values, k: int) -> None:
        if np.isfinite(values).all():
            return
        j, i = (int(n) for n in np.argwhere(~np.isfinite(values))[0])
        raise InputError(
            f"{self._model.path}: variable {self._names[role]} has no value (NaN) at "
            f"{describe_cell((i, j, k), self.spacing)}; fill the gaps of the model (sea, air), or "
            "move or shrink the region"
        )


def _mix(first: Values, second: Values, share: Values) -> Values:
    return first + share * (second - first)


@dataclass(frozen=True)
class _Places:
    """Positions on an axis: the node before each, and the share of the way to the next node.

    `window` holds every node that is needed; `node` counts from its start.
    """

    window: slice
    node: NDArray[np.intp]
    share: Values


def _locate(model: _ModelFile, axis: int, at: Values) -> _Places:
    """Find positions `at` on the model's axis 0 (depth), 1 (y, lat) or 2 (x, lon)."""
    nodes = model.nodes[axis]
    rounding = 1e-6 * (nodes[-1] - nodes[0])
    if at.min() < nodes[0] - rounding or at.max() > nodes[-1] + rounding:
        raise InputError(
            f"{model.path} covers {model.dims[axis]} from {nodes[0]:.8g} to {nodes[-1]:.8g} and "
            f"the centres of the region's cells need {at.min():.8g} to {at.max():.8g} (metres or "
            "degrees); shrink grid.size, move the region, or use a model that covers it"
        )
    node = np.clip(np.searchsorted(nodes, at, side="right") - 1, 0, len(nodes) - 2)
    share = (at - nodes[node]) / (nodes[node + 1] - nodes[node])
    start = int(node.min()) if axis else 0
    return _Places(slice(start, int(node.max()) + 2), node - start, share)


def _choose_variables(
    model: _ModelFile, wanted: Mapping[str, str], rho_rule: str | None, q_rule: str | None
) -> dict[str, str]:
    """The file's name of each property that is to be read from it."""
    for rule, roles in ((rho_rule, ("rho",)), (q_rule, ("qp", "qs"))):
        for role in roles:
            if rule is not None and role in wanted:
                raise InputError(
                    f"medium.variables has {role} = {wanted[role]!r} and a rule, {rule!r}, makes "
                    f"{role} too; remove one of them"
                )
    names = {role: wanted.get(role, role) for role in PROPERTIES}
    if rho_rule is not None:
        del names["rho"]
    if q_rule is not None or not any(q in wanted or q in model.variables for q in ("qp", "qs")):
        del names["qp"], names["qs"]
    missing = [
        f"{name} (for {role})" for role, name in names.items() if name not in model.variables
    ]
    if missing:
        raise InputError(
            f"{model.path} has no variable {', '.join(missing)}; it has "
            f"{', '.join(model.variables) or 'none'}. Name them in medium.variables, or ask for "
            "medium.rho_rule = 'brocher' or medium.q_rule = 'awp'"
        )
    return names


class _ModelFile:
    """An open netCDF model: `dims` (depth, y, x) with their `nodes`, ascending, in m or degrees."""

    def __init__(self, path: Path) -> None:
        self.path = path
        data = _open(path)
        self.geographic, self.dims = _find_axes(data, path)
        for dim in self.dims:
            nodes = data[dim].values
            if nodes.size and nodes[0] > nodes[-1]:
                data = data.isel({dim: slice(None, None, -1)})
        self._data = data
        self.variables: tuple[str, ...] = tuple(str(name) for name in data.data_vars)
        self.nodes = tuple(self._read_nodes(dim) for dim in self.dims)

    def _read_nodes(self, dim: str) -> Values:
        axis = self._data[dim]
        nodes = axis.values.astype(float)
        if nodes.size < 2 or not (np.diff(nodes) > 0).all():
            raise InputError(
                f"{self.path}: coordinate {dim} must be a list of two or more values in order, "
                f"not {nodes.size} values as {np.array2string(nodes, threshold=6)}"
            )
        if dim != "depth" and self.geographic:
            return nodes
        return nodes * unit_factor(str(axis.attrs.get("units", "")), "m", f"{self.path}, {dim}")

    def check_variable(self, name: str, unit: str) -> float:
        """The factor from the variable's unit to `unit`, its dimensions being right."""
        variable = self._data[name]
        if sorted(map(str, variable.dims)) != sorted(self.dims):
            raise InputError(
                f"{self.path}: variable {name} has the dimensions {variable.dims}; it must have "
                f"{self.dims}, in any order"
            )
        given = str(variable.attrs.get("units", "")) if unit else ""
        return unit_factor(given, unit, f"{self.path}, variable {name}")

    def project(self, x: Values, y: Values, geography: Any) -> tuple[Values, Values]:
        """Positions of the region on the model's horizontal axes."""
        if not self.geographic:
            return x, y
        if geography is None:
            raise InputError(
                f"{self.path} is on longitude and latitude; say in [grid.geography] where the "
                "region lies"
            )
        lon, lat = geography.to_lonlat(*np.broadcast_arrays(x, y))
        # The model may count longitude from 0 to 360 and the region from -180 to 180.
        middle = (self.nodes[2][0] + self.nodes[2][-1]) / 2
        return (np.asarray(lon) - middle + 180) % 360 + middle - 180, np.asarray(lat)

    def read(self, name: str, node: int, rows: slice, columns: slice) -> Values:
        """A window (y, x) of a variable at one depth, float64, in the file's unit."""
        depth, y, x = self.dims
        window = self._data[name].isel({depth: node, y: rows, x: columns}).transpose(y, x)
        try:
            return window.values.astype(float)
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path}: variable {name} cannot be read: {error}") from error


def _open(path: Path) -> Any:
    """The file as an xarray Dataset whose variables are read on demand."""
    import xarray as xr

    if not path.is_file():
        raise InputError(f"medium.file {path} does not exist")
    try:
        return xr.open_dataset(path, decode_times=False)
    except Exception as error:  # a dozen types, by backend, for what is no netCDF file
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"medium.file {path} cannot be read as netCDF ({reason}): it is not a NetCDF-4 file; "
            "check the name, or write it again"
        ) from error


def _find_axes(data: Any, path: Path) -> tuple[bool, tuple[str, str, str]]:
    """Whether the axes are longitude and latitude, and their names in the order (depth, y, x)."""
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
