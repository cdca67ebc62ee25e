"""HDF5 datasets and NIfTI images of which xarray reads only what is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
from xarray.core import indexing

from groundswell.formats.stored_array import Key, StoredArray

if TYPE_CHECKING:
    from groundswell.arrays import HostArray


class StoredDataset(StoredArray):
    """A dataset of an HDF5 file without dimension scales."""

    support = indexing.IndexingSupport.OUTER_1VECTOR

    def __init__(self, path: Path, dataset: h5py.Dataset) -> None:
        self._path, self._name = path, dataset.name
        self.shape, self.dtype = dataset.shape, dataset.dtype

    def _read(self, key: Key) -> HostArray:
        with h5py.File(self._path) as file:
            return np.asarray(file[self._name][key])


class StoredImage(StoredArray):
    """The scaled values of a NIfTI image of three axes; other axes must have the length 1.

    Args:
        values: the image's `dataobj`.
    """

    support = indexing.IndexingSupport.BASIC
    dtype = np.dtype(np.float32)

    def __init__(self, values: Any) -> None:
        self._values = values
        self.shape = (*values.shape, 1, 1)[:3]

    def _read(self, key: Key) -> HostArray:
        missing = 3 - self._values.ndim
        stored = self._values[key[: 3 - max(missing, 0)] + (0,) * -missing]
        axes = (slice(None),) * np.ndim(stored)
        padded = np.asarray(stored, self.dtype)[(*axes, *(np.newaxis,) * missing)]
        return padded[(..., *key[3 - missing :])] if missing > 0 else padded
