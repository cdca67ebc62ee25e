"""Arrays of binary files, none larger than the file can hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import HostArray
from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import read_metadata

_MOST_COMPRESSED = 2000  # values of an array, over bytes of the file


@contextmanager
def open_hdf5(path: Path, kind: str) -> Iterator[Any]:
    """Open an HDF5 file for the length of a block.

    Raises:
        InputError: the file is of another format or damaged; also for any error in the block.
    """
    import h5py

    with read_errors_reported("the file", kind, "save it again"):
        if not h5py.is_hdf5(path):
            raise InputError(f"is not a file of {kind}, which is in HDF5; save it again")
        read_metadata(path)
        with h5py.File(path, "r", locking=False) as file:
            yield file


def read_array(dataset: Any, path: Path) -> HostArray:
    """The values of a dataset of h5py.

    Raises:
        InputError: there are more values than the file can hold.
    """
    require_plausible(prod(dataset.shape), path)
    return np.asarray(dataset[()])


def require_plausible(values: int, path: Path) -> None:
    """Refuse a number of values that the file cannot hold."""
    size = path.stat().st_size
    if not 0 <= values <= _MOST_COMPRESSED * size:
        raise InputError(
            f"has an array of {values:,} values in {size:,} bytes; it is damaged: save it again"
        )
