"""The medium that a case asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from groundswell.errors import InputError
from groundswell.seismology.media.layered import Homogeneous, Layered, read_layers
from groundswell.seismology.media.material import PROPERTIES, Counts, Floor, Lengths, Medium
from groundswell.seismology.media.sampled import ArrayMedium, AwpMedium, NetcdfMedium


def build_medium(medium: Any, cells: Counts, spacing: Lengths, geography: Any = None) -> Medium:
    """The medium that the case's `medium` describes, over a region of `cells` of size `spacing`.

    `medium` has the attributes of the case file's `[medium]` in SI units; those that a kind does
    not need may be missing or `None`. `geography` gives `to_lonlat(x, y)`, for models on longitude
    and latitude. Raises `InputError`.
    """
    if medium.kind not in _BUILDERS:
        raise InputError(f"medium.kind = {medium.kind!r}: must be one of {', '.join(_BUILDERS)}")
    built = _BUILDERS[medium.kind](medium, cells, spacing, geography)
    bounds = _entries(medium, "floor", ("vp", "vs", "rho"))
    return Floor(built, **bounds) if bounds else built


def _entries(medium: Any, table: str, names: Sequence[str]) -> dict[str, Any]:
    """What the case gives of `names` in one of the medium's tables, a mapping or an object."""
    value = getattr(medium, table, None) or {}
    get = value.get if isinstance(value, Mapping) else partial(getattr, value)
    found = {name: get(name, None) for name in names}
    return {name: entry for name, entry in found.items() if entry is not None}


def _build_homogeneous(medium: Any, cells: Counts, spacing: Lengths, _: Any) -> Medium:
    properties: dict[str, Any] = {name: getattr(medium, name, None) for name in PROPERTIES}
    return Homogeneous(cells, spacing, **properties)


def _build_layered(medium: Any, cells: Counts, spacing: Lengths, _: Any) -> Medium:
    layers: Any = getattr(medium, "layers", None)
    file: Any = getattr(medium, "file", None)
    if (not layers) == (file is None):
        raise InputError("medium: a layered medium needs either layers or file, and not both")
    interpolation = getattr(medium, "interpolation", None) or "constant"
    return Layered(cells, spacing, layers or read_layers(file), interpolation)


def _build_netcdf(medium: Any, cells: Counts, spacing: Lengths, geography: Any) -> Medium:
    return NetcdfMedium(
        medium.file,
        cells,
        spacing,
        geography=geography,
        variables=_entries(medium, "variables", PROPERTIES),
        rho_rule=getattr(medium, "rho_rule", None),
        q_rule=getattr(medium, "q_rule", None),
    )


def _build_awp(medium: Any, cells: Counts, spacing: Lengths, _: Any) -> Medium:
    return AwpMedium(
        medium.file,
        cells,
        spacing,
        mesh_cells=medium.cells,
        variables=medium.variables,
        q_rule=getattr(medium, "q_rule", None),
    )


def _build_arrays(medium: Any, cells: Counts, spacing: Lengths, _: Any) -> Medium:
    arrays: dict[str, Any] = {name: getattr(medium, name, None) for name in PROPERTIES}
    built = ArrayMedium(spacing, **arrays)
    if built.cells != tuple(cells):
        raise InputError(
            f"medium: the arrays have {list(built.cells)} cells (nx, ny, nz) and the region "
            f"{list(cells)}; give arrays of shape {tuple(cells)[::-1]}, or change the grid"
        )
    return built


_BUILDERS = {
    "homogeneous": _build_homogeneous,
    "layered": _build_layered,
    "netcdf": _build_netcdf,
    "awp": _build_awp,
    "arrays": _build_arrays,
}
