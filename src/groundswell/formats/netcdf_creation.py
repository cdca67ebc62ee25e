"""Creation of NetCDF-4 files with h5py.

A NetCDF-4 file is an HDF5 file whose dimensions are dimension scales. Attributes that NetCDF hides
number the dimensions (NetCDF User's Guide, appendix "File Format Specifications"). h5netcdf writes
the same files, but opens each dataset dozens of times, which took half the time of small runs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from groundswell.formats.streams import allocated_at_once

_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable."


class NewNetcdfFile:
    """A file whose variables are created one after another; closing it links their dimensions.

    Args:
        dimensions: sizes by name; None grows.
        variables: names of all variables that will be created. One with the name of a dimension
            holds the coordinates of this dimension alone.
    """

    def __init__(
        self, path: Path, dimensions: Mapping[str, int | None], variables: Collection[str]
    ) -> None:
        import h5py

        self._h5py, self._sizes = h5py, dict(dimensions)
        self._numbers = {name: np.int32(number) for number, name in enumerate(dimensions)}
        self._file = h5py.File(path, "w", locking=False, track_order=True)
        self._dims: dict[str, tuple[str, ...]] = {}
        self._datasets = {
            name: self._create(name, (name,), ">f4") for name in dimensions if name not in variables
        }

    def create(
        self,
        name: str,
        dims: tuple[str, ...],
        dtype: Any,
        chunks: tuple[int, ...] | None = None,
        *,
        streamed: bool = False,
    ) -> Any:
        """Create a variable; returns its dataset. Text has the type `str`.

        Args:
            streamed: its values are written without HDF5.
        """
        properties = {"dcpl": allocated_at_once()} if streamed else {}
        self._dims[name] = dims
        self._datasets[name] = self._create(name, dims, dtype, chunks=chunks, **properties)
        return self._datasets[name]

    def describe(self, attrs: Mapping[str, object], name: str | None = None) -> None:
        """Set attributes of a variable, or of the file."""
        of = self._file if name is None else self._datasets[name]
        for key, value in attrs.items():
            # NetCDF has no scalar attributes but text.
            of.attrs[key] = value if isinstance(value, str) else np.array(value, ndmin=1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._file:
            if kind is None:
                self._link()

    def _create(self, name: str, dims: tuple[str, ...], dtype: Any, **more: Any) -> Any:
        if dtype is not str and np.dtype(dtype).kind not in "iuf":
            raise TypeError(f"{name} has the type {dtype}, which NetCDF does not have")
        sizes = [self._sizes[dim] for dim in dims]
        shape, limits = [size or 0 for size in sizes], [size or None for size in sizes]
        if None in limits:
            more["maxshape"] = limits
        dtype = self._h5py.string_dtype() if dtype is str else dtype
        return self._file.create_dataset(name, shape, dtype, track_order=True, **more)

    def _link(self) -> None:
        """Make scales of dimensions, and attach them to the variables that have them."""
        for name, number in self._numbers.items():
            scale = self._datasets[name]
            scale.attrs["_Netcdf4Dimid"] = number
            scale.make_scale(name if name in self._dims else f"{_NO_VARIABLE}{scale.size:10}")
        for name, dims in self._dims.items():
            if dims:
                self._number(name, dims)
            if dims != (name,):
                for axis, dim in enumerate(dims):
                    self._datasets[name].dims[axis].attach_scale(self._datasets[dim])
        written = f"version=2,hdf5={self._h5py.version.hdf5_version},h5py={self._h5py.__version__}"
        self._file.attrs["_NCProperties"] = np.bytes_(written)

    def _number(self, name: str, dims: tuple[str, ...]) -> None:
        """Write the numbers of a variable's dimensions as the NetCDF library does."""
        attrs = self._datasets[name].attrs
        attrs["_Netcdf4Coordinates"] = [self._numbers[dim] for dim in dims]
        if self._sizes[dims[0]]:
            attrs["_Netcdf4Dimid"] = self._numbers[dims[0]]
