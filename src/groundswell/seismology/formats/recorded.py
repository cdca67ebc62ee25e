"""The seismograms that a run has recorded, in its results folder or in the store of an ensemble."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.ensembles.stacking import datasets_of, read_dataset
from groundswell.ensembles.store import METADATA, Store
from groundswell.errors import InputError, listed
from groundswell.seismology.formats.seismograms import (
    PRESSURE,
    RECORDED_QUANTITIES,
    VELOCITY,
    ReceiverQuantity,
    read_seismograms,
)

if TYPE_CHECKING:
    import xarray

# Names of the solvers' results, and so of the datasets of a run in a store.
_RESULTS = {VELOCITY.name: "seismograms", PRESSURE.name: "pressure"}


def read_recorded(results: Path) -> list[xarray.DataArray]:
    """The seismograms of all quantities that a run has recorded, as `read_seismograms` has them.

    Args:
        results: the results folder, or the group of a run in the store of an ensemble, such as
            `survey.zarr/shot-03`.

    Raises:
        InputError: there are none.
    """
    found = _in_store(results) if is_in_store(results) else _in_folder(results)
    if not found:
        files = listed(each.file for each in RECORDED_QUANTITIES)
        raise InputError(
            f"{results} has no {files}; give the results folder of a run, or a run in the store of "
            "an ensemble, such as survey.zarr/shot-03"
        )
    return found


def is_in_store(results: Path) -> bool:
    """Whether a path is that of a run in the store of an ensemble."""
    return (results / METADATA).exists()


def _in_folder(folder: Path) -> list[xarray.DataArray]:
    found = [each for each in RECORDED_QUANTITIES if (folder / each.file).exists()]
    return [read_seismograms(folder / each.file, each) for each in found]


def _in_store(group: Path) -> list[xarray.DataArray]:
    store = Store(group.parent)
    store.require_format()
    known = datasets_of(store, group.name)
    found = [each for each in RECORDED_QUANTITIES if _RESULTS[each.name] in known]
    return [_from_store(store, group.name, each) for each in found]


def _from_store(store: Store, run: str, quantity: ReceiverQuantity) -> xarray.DataArray:
    """A dataset of a run, with the name, the axes and the plain text of a file of seismograms."""
    result = _RESULTS[quantity.name]
    array: xarray.DataArray = read_dataset(store, f"{run}/{result}")[result].load()
    text = {
        name: each.astype(object).astype(str)
        for name, each in array.coords.items()
        if _is_text(each)
    }
    # Zarr names the byte order of numbers, which ObsPy mistakes for a foreign one.
    array = array.astype(array.dtype.newbyteorder("=")).assign_coords(text).rename(quantity.name)
    if "component" not in array.dims:
        array = array.expand_dims(component=np.array(quantity.components), axis=1)
    return array


def _is_text(array: xarray.DataArray) -> bool:
    return array.dtype.kind in "OT"
