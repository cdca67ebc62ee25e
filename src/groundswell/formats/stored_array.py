"""Arrays in files of which xarray reads only what is asked for."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

if TYPE_CHECKING:
    from groundswell.arrays import HostArray

Key = tuple[Any, ...]  # a slice or an index along each axis


class StoredArray(BackendArray):
    """An array in a file, which is open only while values are read."""

    support: indexing.IndexingSupport
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __getitem__(self, key: indexing.ExplicitIndexer) -> HostArray:
        read = indexing.explicit_indexing_adapter(key, self.shape, self.support, self._read)
        return np.asarray(read)

    @abstractmethod
    def _read(self, key: Key) -> HostArray:
        """The values at the places that `support` allows."""

    @property
    def variable(self) -> indexing.LazilyIndexedArray:
        """The array as the content of a variable."""
        return indexing.LazilyIndexedArray(self)
