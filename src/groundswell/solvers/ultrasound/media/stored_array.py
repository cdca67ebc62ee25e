"""Arrays of HDF5 files without dimension scales, of which xarray reads only what is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

if TYPE_CHECKING:
    from groundswell.arrays import HostArray


class StoredArray(BackendArray):
    """A dataset of an HDF5 file, which is open only while values are read."""

    def __init__(self, path: Path, dataset: h5py.Dataset) -> None:
        self._path, self._name = path, dataset.name
        self.shape, self.dtype = dataset.shape, dataset.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> HostArray:
        support = indexing.IndexingSupport.OUTER_1VECTOR
        return np.asarray(indexing.explicit_indexing_adapter(key, self.shape, support, self._read))

    def _read(self, key: tuple[object, ...]) -> HostArray:
        with h5py.File(self._path) as file:
            return np.asarray(file[self._name][key])


def stored_array(path: Path, dataset: h5py.Dataset) -> indexing.LazilyIndexedArray:
    """The dataset as the content of a variable."""
    return indexing.LazilyIndexedArray(StoredArray(path, dataset))
