"""NetCDF files: creation of version 4 with h5netcdf, reading with xarray."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.errors import InputError
from groundswell.formats.atomic import exists
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.streams import Stream, allocated_at_once, write_streams

if TYPE_CHECKING:
    import xarray

_CONVENTIONS = "CF-1.11"
_LARGE = 2**24  # bytes; threads write variables of this size or more without HDF5
_SIGNATURES = {b"\x89HDF\r\n\x1a\n": "h5netcdf", b"CDF": "scipy"}


@dataclass(frozen=True)
class Variable:
    """A variable of a file to create: its dimensions, and either its values or their type."""

    dims: tuple[str, ...]
    values: Any = None
    dtype: Any = None
    chunks: tuple[int, ...] | None = None
    attrs: Mapping[str, object] = field(default_factory=dict)


# Plain seconds, because readers decode "seconds since" as dates.
TIME = Variable(
    ("time",),
    dtype="float64",
    chunks=(4096,),
    attrs={"units": "s", "long_name": "time", "axis": "T"},
)


def create_netcdf(
    path: Path,
    dimensions: Mapping[str, int | None],
    variables: Mapping[str, Variable],
    attrs: Mapping[str, object],
    streamed: Collection[str] = (),
) -> None:
    """Create a CF file in NetCDF-4 and write its variables; None is a growing size.

    Args:
        streamed: variables that have only a type, whose values `write_streams` will write.
    """
    import h5netcdf  # type: ignore[import-untyped]

    large = {name: of.values for name, of in variables.items() if _is_large(of)}
    with h5netcdf.File(path, "w", locking=False) as file:
        file.dimensions = dict(dimensions)
        for name, variable in variables.items():
            _create_variable(file, name, variable, streamed=name in (*large, *streamed))
        for key, value in netcdf_attributes({"Conventions": _CONVENTIONS, **attrs}).items():
            file.attrs[key] = value
    write_streams(path, [Stream.of_array(*each) for each in large.items()])


@contextmanager
def open_netcdf(path: str | Path, required: Sequence[str]) -> Iterator[xarray.Dataset]:
    """Open a NetCDF file as a lazily read dataset for the length of a block; see `open_dataset`.

    Raises:
        InputError: the file is missing, damaged, or lacks one of the `required` variables.
    """
    with open_dataset(path) as dataset, read_errors_reported(path, "NetCDF"):
        _require(dataset, required, Path(path))
        yield dataset


def open_dataset(path: str | Path) -> xarray.Dataset:
    """Open a NetCDF file, of version 3 or 4, as a lazily read dataset; times are not decoded.

    Raises:
        InputError: the file is missing, damaged or of another format.
    """
    import xarray

    path = Path(path)
    if not (exists(path) and path.is_file()):
        raise InputError(
            f"{path} does not exist or is not a file; give a file that a run has written"
        )
    engine = _engine(path)
    with read_errors_reported(path, "NetCDF"):
        read_metadata(path)
        return xarray.open_dataset(path, engine=engine, decode_times=False)


def _engine(path: Path) -> str:
    """The engine of xarray that reads a file, chosen by the first bytes of the file."""
    with read_errors_reported(path, "NetCDF"), path.open("rb") as file:
        start = file.read(8)
    found = next((engine for first, engine in _SIGNATURES.items() if start.startswith(first)), None)
    if found is None:
        raise InputError(
            f"{path} cannot be read as NetCDF: it has another format, or its first bytes are "
            "damaged; check the name, or write the file again"
        )
    return found


def read_metadata(path: Path) -> None:
    """Read all metadata of an HDF5 file, so that h5py raises an error if they are damaged.

    Files of other formats are ignored. If h5netcdf found the damage on opening the file, it would
    print a traceback.
    """
    import h5py

    def read_attributes(_: str, item: h5py.HLObject) -> None:
        list(item.attrs.items())

    if h5py.is_hdf5(path):
        with h5py.File(path) as file:
            file.visititems(read_attributes)


def read_netcdf(path: str | Path, required: Sequence[str]) -> xarray.Dataset:
    """Read a NetCDF file into memory; raises as `open_netcdf`."""
    with open_netcdf(path, required) as dataset:
        return dataset.load()


def _require(dataset: xarray.Dataset, required: Sequence[str], path: Path) -> None:
    if missing := [name for name in required if name not in dataset.variables]:
        raise InputError(
            f"{path} lacks {', '.join(missing)}; it has {', '.join(map(str, dataset.variables))}"
        )


def netcdf_attributes(attrs: Mapping[str, object]) -> dict[str, object]:
    """Attributes in types of NetCDF: without None."""
    return {key: _attribute(value) for key, value in attrs.items() if value is not None}


def _attribute(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, str) else np.asarray(value)[()]


def _create_variable(file: Any, name: str, variable: Variable, *, streamed: bool) -> None:
    """Create a variable, and write its values unless a stream does so."""
    import h5py

    values, dtype, more = variable.values, variable.dtype, {}
    if streamed:
        dtype = dtype or values.dtype
        more = {"dcpl": allocated_at_once()}
    elif values is not None:
        values = np.asarray(values)
        text = values.dtype.kind in "UO"
        dtype = h5py.string_dtype() if text else values.dtype
        values = values.astype(object) if text else values
    added = file.create_variable(name, variable.dims, dtype, chunks=variable.chunks, **more)
    if values is not None and values.size and not more:
        added[...] = values
    for key, value in netcdf_attributes(variable.attrs).items():
        added.attrs[key] = value


def _is_large(variable: Variable) -> bool:
    """Whether threads write the values, which are then contiguous in the file."""
    values = variable.values
    return isinstance(values, np.ndarray) and values.nbytes >= _LARGE and variable.chunks is None
