"""Datasets of k-Wave's HDF5 files: reading with checks, and creation with reserved disk space.

All datasets are 32-bit floats or unsigned 64-bit integers, little endian. Input datasets have three
axes, (z, y, x), and attributes that state their type. Indices count from 1, with x fastest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import HostArray, Integers
from groundswell.errors import InputError, counted, quoted
from groundswell.formats.atomic import disk_errors, reserve
from groundswell.grids.cartesian import Triple
from groundswell.solvers.ultrasound.kwave.stored_medium import Stored, StoredField, in_shape

FLOAT, LONG = np.dtype("<f4"), np.dtype("<u8")
TYPES = {FLOAT: "float", LONG: "long"}
DESCRIPTIONS = {FLOAT: "32-bit floats", LONG: "unsigned 64-bit integers"}

Layout = Mapping[str, tuple[tuple[int, ...], Any]]  # dataset -> shape and type


def attribute(item: h5py.HLObject, name: str) -> str:
    """The text of an attribute; empty if there is none."""
    value = np.asarray(item.attrs.get(name, "")).reshape(-1)
    text = value[0] if value.size else ""
    return text.decode("ascii", "replace") if isinstance(text, bytes) else str(text)


def set_attributes(item: h5py.HLObject, values: Mapping[str, str]) -> None:
    """Write attributes as strings of fixed length, as other readers expect."""
    for name, value in values.items():
        item.attrs[name] = np.bytes_(value.encode("ascii", "replace") or b" ")


def describe(dataset: h5py.Dataset) -> None:
    """Write the attributes with the type of a dataset."""
    kind = TYPES.get(dataset.dtype)
    if kind is not None:
        set_attributes(dataset, {"data_type": kind, "domain_type": "real"})


def create_reserved(path: Path, layout: Layout) -> h5py.File:
    """Create a file with datasets whose disk space is reserved, so that later writes cannot fail.

    Raises:
        DiskFull: the disk is full.
        InputError: `path` cannot be written.
    """
    with disk_errors(path):
        file = h5py.File(path, "w", locking=False)
        early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        for name, (shape, dtype) in layout.items():
            describe(file.create_dataset(name, shape, dtype, dcpl=early.copy()))
        file.flush()
        reserve(path, 0, file.id.get_filesize())
        return file


class InputDatasets:
    """Checked access to the datasets of an input file.

    Args:
        file: the open file.
        path: its path, for messages.

    Attributes:
        scalars: the scalars that have been read, by name; an output file repeats them.
    """

    def __init__(self, file: h5py.File, path: Path) -> None:
        self._file, self.path = file, path
        self.scalars: dict[str, object] = {}

    def count(
        self,
        name: str,
        default: int | None = None,
        *,
        at_least: int = 0,
        below: int = 2**31,
    ) -> int:
        """An integer; without a default it is required."""
        if default is not None and name not in self._file:
            self.scalars[name] = np.uint64(default)
            return default
        value = int(self._scalar(name, LONG))
        if not at_least <= value < below:
            raise self.error(f"{name} = {value}, allowed are {at_least} to {below - 1}")
        return value

    def choice(self, name: str, allowed: Collection[int], default: int | None = None) -> int:
        """An integer from a set of allowed values."""
        value = self.count(name, default, below=2**64)
        if value not in allowed:
            listed = ", ".join(map(str, allowed))
            raise self.error(f"{name} = {value}, allowed: {listed}")
        return value

    def number(self, name: str, *, above: float = -np.inf) -> float:
        """A finite number larger than `above`."""
        value = float(self._scalar(name, FLOAT))
        if not (np.isfinite(value) and value > above):
            limit = "finite" if np.isinf(above) else f"finite and larger than {above:g}"
            raise self.error(f"{name} = {value}, but it must be {limit}")
        return value

    def values(self, name: str, count: int | None = None) -> NDArray[np.float32]:
        """Finite numbers, flat; `count` is the required number, if it is known."""
        return self._checked(name, self._flat(name, FLOAT, count), -np.inf)

    def stored(self, name: str, shape: Triple, *, above: float = -np.inf) -> Stored:
        """A property of the medium: one number, or one for each grid point, (nz, ny, nx).

        `planes` reads and checks the values of the points.
        """
        if self._dataset(name, FLOAT).size == 1:
            return float(self._checked(name, self.values(name), above)[0])
        return self.field(name, shape)

    def field(self, name: str, shape: Triple) -> StoredField:
        """Values of all grid points, (nz, ny, nx), which `planes` reads and checks."""
        size, needed = self._dataset(name, FLOAT).size, prod(shape)
        if size != needed:
            raise self.error(f"{name} has {counted(size, 'value')}, but {needed} are needed")
        return StoredField(self.path, name, shape)

    def planes(self, field: StoredField, part: slice, above: float) -> NDArray[np.float32]:
        """Finite values of some planes, larger than `above`, (planes, ny, nx)."""
        values = np.asarray(in_shape(self._file[field.name], field.shape)[part])
        return self._checked(field.name, values, above)

    def _checked(self, name: str, values: HostArray, above: float) -> NDArray[np.float32]:
        if not np.isfinite(values).all():
            raise self.error(f"{name} contains values that are not finite; correct them")
        if not (values > above).all():
            raise self.error(f"{name} contains {values.min():g}; values must exceed {above:g}")
        return values

    def indices(self, name: str, limit: int, count: int | None = None) -> Integers:
        """Indices, flat and counted from 0; in the file they are 1 to `limit`."""
        values = self._flat(name, LONG, count)
        if values.size == 0:
            raise self.error(f"{name} is empty; give at least one index")
        low, high = int(values.min()), int(values.max())
        if not (low >= 1 and high <= limit):
            raise self.error(f"{name} contains {low} to {high}, allowed are 1 to {limit}")
        return values.astype(np.int64) - 1

    def error(self, problem: str) -> InputError:
        """An error that names the file."""
        return InputError(f"{self.path}: {problem}")

    def is_of_type(self, name: str, dtype: np.dtype[Any]) -> bool:
        """Whether there is a dataset with this type."""
        dataset = self._file.get(name)
        return isinstance(dataset, h5py.Dataset) and dataset.dtype == dtype

    def __contains__(self, name: str) -> bool:
        return name in self._file

    def _scalar(self, name: str, dtype: np.dtype[Any]) -> Any:
        self.scalars[name] = self._flat(name, dtype, 1)[0]
        return self.scalars[name]

    def _flat(self, name: str, dtype: np.dtype[Any], count: int | None) -> HostArray:
        dataset = self._dataset(name, dtype)
        if count is not None and dataset.size != count:
            raise self.error(f"{name} has {counted(dataset.size, 'value')}, but {count} are needed")
        return np.asarray(dataset[()]).reshape(-1)

    def _dataset(self, name: str, dtype: np.dtype[Any]) -> h5py.Dataset:
        """A dataset after checks of its type, axes and attributes."""
        dataset = self._file.get(name)
        if not isinstance(dataset, h5py.Dataset):
            raise self.error(f"the dataset {name} is missing")
        if dataset.dtype != dtype:
            found, wanted = dataset.dtype, DESCRIPTIONS[dtype]
            raise self.error(f"{name} has the type {found}, but {wanted} are needed")
        if dataset.ndim != 3:
            raise self.error(
                f"{name} has {counted(dataset.ndim, 'axis', 'axes')}, but three are needed"
            )
        for key, wanted in (("data_type", TYPES[dtype]), ("domain_type", "real")):
            found = attribute(dataset, key)
            if found != wanted:
                raise self.error(f'{name}: attribute {key} is {quoted(found)}, needed: "{wanted}"')
        return dataset
