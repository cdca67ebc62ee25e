"""Arrays in files of which xarray reads only what is asked for: HDF5 datasets, NIfTI images."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

if TYPE_CHECKING:
    from groundswell.arrays import HostArray

_Key = tuple[Any, ...]  # a slice or an index along each axis


class StoredArray(BackendArray):
    """An array in a file, which is open only while values are read."""

    support: indexing.IndexingSupport
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __getitem__(self, key: indexing.ExplicitIndexer) -> HostArray:
        read = indexing.explicit_indexing_adapter(key, self.shape, self.support, self._read)
        return np.asarray(read)

    @abstractmethod
    def _read(self, key: _Key) -> HostArray:
        """The values at the places that `support` allows."""

    @property
    def variable(self) -> indexing.LazilyIndexedArray:
        """The array as the content of a variable."""
        return indexing.LazilyIndexedArray(self)


class StoredDataset(StoredArray):
    """A dataset of an HDF5 file without dimension scales."""

    support = indexing.IndexingSupport.OUTER_1VECTOR

    def __init__(self, path: Path, dataset: h5py.Dataset) -> None:
        self._path, self._name = path, dataset.name
        self.shape, self.dtype = dataset.shape, dataset.dtype

    def _read(self, key: _Key) -> HostArray:
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

    def _read(self, key: _Key) -> HostArray:
        missing = 3 - self._values.ndim
        stored = self._values[key[: 3 - max(missing, 0)] + (0,) * -missing]
        axes = (slice(None),) * np.ndim(stored)
        padded = np.asarray(stored, self.dtype)[(*axes, *(np.newaxis,) * missing)]
        return padded[(..., *key[3 - missing :])] if missing > 0 else padded
