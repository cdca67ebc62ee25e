"""Validation of the nodes of a model in a NetCDF file, between which cells have mixed values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from groundswell.arrays import Reals
from groundswell.errors import InputError
from groundswell.seismology.media.material import Material, find_unphysical
from groundswell.seismology.media.netcdf_file import ModelFile

_ANY_DENSITY = 2000.0  # kg/m^3, where a rule gives the density

Window = tuple[slice, slice, slice]  # along depth, y and x


def require_physical_nodes(model: ModelFile, values: Mapping[str, Reals], window: Window) -> None:
    """Check the speeds and densities at all nodes of a window that have no gap (NaN).

    Args:
        values: properties (depth, y, x) in SI units, among them vp and vs.

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
