"""Reading of the snapshots that `VolumeWriter` writes, as lazily read datasets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray
from xarray.backends import BackendArray
from xarray.core import indexing

from groundswell.errors import InputError
from groundswell.formats.atomic import exists
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import TIME
from groundswell.formats.vtkhdf import COMPONENTS, ODD_IN_Z

DIMS = ("time", "z", "y", "x")


def open_images(path: str | Path, *, downward: bool = True) -> xarray.Dataset:
    """Open a file of snapshots: each field (time, z, y, x), at the centres of cells.

    Args:
        downward: whether z is depth, as in the writer.

    Raises:
        InputError: the file is missing, damaged or of another kind.
    """
    path = Path(path)
    if not (exists(path) and path.is_file()):
        raise InputError(f"{path} does not exist; give a file that a run has written")
    with read_errors_reported(path, "VTKHDF images"):
        file = h5py.File(path, "r", locking=False)
        root = file["VTKHDF"]
        fields = dict(_fields(root["CellData"], downward))
        dataset = xarray.Dataset(fields, _coordinates(root, downward), dict(file.attrs))
    dataset.set_close(file.close)
    return dataset


def _fields(group: h5py.Group, downward: bool) -> Iterator[tuple[str, xarray.Variable]]:
    """Yield the name and the variable of each field; vectors become one field per component."""
    for array, values in group.items():
        for n, name in enumerate(COMPONENTS.get(array, (array,))):
            part = (n,) if array in COMPONENTS else ()
            sign = -1 if downward and name in ODD_IN_Z else 1
            lazy = indexing.LazilyIndexedArray(_StoredField(values, part, sign))
            variable = xarray.Variable(DIMS, lazy)
            yield name, variable[:, ::-1] if downward else variable


def _coordinates(root: h5py.Group, downward: bool) -> dict[str, Any]:
    origin, spacing = root.attrs["Origin"], root.attrs["Spacing"]
    counts = root.attrs["WholeExtent"][1::2]
    x, y, z = (
        o + h * (np.arange(n) + 0.5) for o, h, n in zip(origin, spacing, counts, strict=True)
    )
    down = {"positive": "down"} if downward else {}
    axes = {"z": -z[::-1] if downward else z, "y": y, "x": x}
    places = {
        name: (name, values, {"units": "m", "axis": name.upper(), **(down if name == "z" else {})})
        for name, values in axes.items()
    }
    return {"time": ("time", root["Steps/Values"][:], dict(TIME.attrs)), **places}


class _StoredField(BackendArray):  # type: ignore[misc]
    """A field in a file, z upward; reads only what is indexed.

    Args:
        part: index of its component, if the dataset holds vectors.
    """

    def __init__(self, dataset: h5py.Dataset, part: tuple[int, ...], sign: int) -> None:
        self._dataset, self._part, self._sign = dataset, part, sign
        self.shape, self.dtype = dataset.shape[:4], dataset.dtype

    def __getitem__(self, key: Any) -> Any:
        support = indexing.IndexingSupport.BASIC
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        values = self._dataset[(*key, *self._part)]
        return values if self._sign > 0 else -values
