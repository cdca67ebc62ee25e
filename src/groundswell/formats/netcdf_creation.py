"""Creation of NetCDF-4 files with h5py.

A NetCDF-4 file is an HDF5 file whose dimensions are dimension scales. Attributes that NetCDF hides
number the dimensions (NetCDF User's Guide, appendix "File Format Specifications"). h5netcdf writes
the same files, but opens each dataset dozens of times, which took half the time of small runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from groundswell.formats.streams import allocated_at_once

_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable."
_NO_COORDINATES = "_nc4_non_coord_"  # before names of variables that dimensions have, too


class NewNetcdfFile:
    """A file whose variables are created one after another; closing it links their dimensions.

    Args:
        dimensions: sizes by name; None grows.
        variables: dimensions of all variables that will be created. One with the name of its only
            dimension holds the coordinates of this dimension.
    """

    def __init__(
        self,
        path: Path,
        dimensions: Mapping[str, int | None],
        variables: Mapping[str, tuple[str, ...]],
    ) -> None:
        import h5py

        self._h5py, self._sizes, self._dims = h5py, dict(dimensions), dict(variables)
        self._numbers = {name: np.int32(number) for number, name in enumerate(dimensions)}
        self._file = h5py.File(path, "w", locking=False, track_order=True)
        self._variables: dict[str, Any] = {}
        self._scales = {
            name: self._create(name, (name,), ">f4")
            for name in dimensions
            if not self._holds_coordinates(name)
        }

    def create(
        self,
        name: str,
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
        is_scale = self._holds_coordinates(name)
        key = _NO_COORDINATES + name if name in self._sizes and not is_scale else name
        created = self._create(key, self._dims[name], dtype, chunks=chunks, **properties)
        self._variables[name] = created
        if is_scale:
            self._scales[name] = created
        return created

    def describe(self, attrs: Mapping[str, object], name: str | None = None) -> None:
        """Set attributes of a variable, or of the file."""
        of = self._file if name is None else self._variables[name]
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

    def _holds_coordinates(self, name: str) -> bool:
        return self._dims.get(name) == (name,)

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
            scale, is_variable = self._scales[name], self._holds_coordinates(name)
            scale.attrs["_Netcdf4Dimid"] = number
            scale.make_scale(name if is_variable else f"{_NO_VARIABLE}{scale.size:10}")
        for name, variable in self._variables.items():
            self._number(variable, self._dims[name])
            if not self._holds_coordinates(name):
                for axis, dim in enumerate(self._dims[name]):
                    variable.dims[axis].attach_scale(self._scales[dim])
        written = f"version=2,hdf5={self._h5py.version.hdf5_version},h5py={self._h5py.__version__}"
        self._file.attrs["_NCProperties"] = np.bytes_(written)

    def _number(self, variable: Any, dims: tuple[str, ...]) -> None:
        """Write the numbers of a variable's dimensions as the NetCDF library does."""
        if not dims:
            return
        variable.attrs["_Netcdf4Coordinates"] = [self._numbers[dim] for dim in dims]
        if self._sizes[dims[0]]:
            variable.attrs["_Netcdf4Dimid"] = self._numbers[dims[0]]
