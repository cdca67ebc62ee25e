"""NetCDF-4 files of recorded samples, appended during the run, and of values at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.exchange.communicator import Communicator
from groundswell.formats.appendable_hdf5 import AppendableFile, chunk_length
from groundswell.formats.atomic import atomic_write, disk_errors
from groundswell.formats.netcdf import Variable, create_netcdf
from groundswell.formats.streams import Stream, write_streams

_CHUNK_BYTES = 1 << 20
_CHUNK_SAMPLES = 512
_METADATA_BYTES = 1 << 16


class SeriesWriter(AppendableFile):
    """Appends samples of fields (time, ...) to a NetCDF file, which xarray and ParaView can open.

    Args:
        path: final path of the file.
        axis: name and variable of the growing dimension: times or steps.
        coordinates: coordinates of the other dimensions, by name.
        fields: variables by name; their first dimension grows. Chunks are chosen if not given.
        attrs: attributes of the file.
        resume: number of samples to keep of an earlier run's file; None starts a new file.

    Raises:
        InputError: the file to resume does not belong to this case.
        RunFailed: the disk is full.
    """

    def __init__(
        self,
        path: Path,
        axis: tuple[str, Variable],
        coordinates: Mapping[str, Variable],
        fields: Mapping[str, Variable],
        attrs: Mapping[str, object],
        resume: int | None = None,
    ) -> None:
        self._axis_name, self._axis_variable = axis
        self._coordinates, self._attrs = coordinates, attrs
        self._sizes = sizes_of(coordinates)
        self._fields = {name: self._chunked(variable) for name, variable in fields.items()}
        shapes = {name: (None, *self._shape(of)) for name, of in fields.items()}
        super().__init__(path, {self._axis_name: (None,), **shapes}, resume)

    def append(self, times: Floats, blocks: Mapping[str, HostArray]) -> None:
        """Append samples (samples, ...) of every field.

        Raises:
            RunFailed: the disk is full; the file keeps all earlier samples.
        """
        self._extend({self._axis_name: times, **blocks})

    def _create(self, part: Path) -> None:
        dimensions: dict[str, int | None] = {self._axis_name: None, **self._sizes}
        axis = {self._axis_name: self._axis_variable}
        variables = {**axis, **self._coordinates, **self._fields}
        create_netcdf(part, dimensions, variables, self._attrs)

    def _shape(self, variable: Variable) -> tuple[int, ...]:
        return tuple(self._sizes[dim] for dim in variable.dims[1:])

    def _chunked(self, variable: Variable) -> Variable:
        """The variable with chunks of many small samples, or of slices of one large sample."""
        if variable.chunks:
            return variable
        shape, itemsize = self._shape(variable), np.dtype(variable.dtype).itemsize
        sample = prod(shape) * itemsize
        samples = min(_CHUNK_SAMPLES, max(1, _CHUNK_BYTES // max(sample, 1)))
        first = chunk_length(shape[0], _CHUNK_BYTES * shape[0] // max(sample, 1)) if shape else 1
        chunks = (samples, *((first, *shape[1:]) if shape else ()))
        return Variable(variable.dims, None, variable.dtype, chunks, variable.attrs)


@dataclass(frozen=True)
class FieldsFile:
    """A file of fields with all their values, not yet written.

    Args:
        path: its name.
        coordinates: coordinates of all dimensions, by name.
        fields: variables by name.
        attrs: attributes of the file.
    """

    path: Path
    coordinates: Mapping[str, Variable]
    fields: Mapping[str, Variable]
    attrs: Mapping[str, object]

    @contextmanager
    def created(self) -> Iterator[Path]:
        """Create it under a temporary name; after the block, it is flushed and gets its own.

        Fields that have only a type await the values of streams.
        """
        sizes, variables = sizes_of(self.coordinates), {**self.coordinates, **self.fields}
        size = sum(_bytes_of(variable, sizes) for variable in variables.values())
        streamed = [name for name, of in self.fields.items() if of.values is None]
        with atomic_write(self.path, size + _METADATA_BYTES) as part:
            create_netcdf(part, sizes, variables, self.attrs, streamed)
            yield part


def write_fields(
    path: Path,
    coordinates: Mapping[str, Variable],
    fields: Mapping[str, Variable],
    attrs: Mapping[str, object],
) -> Path:
    """Write fields with all their values to a new file.

    Raises:
        InputError: there is no permission to write.
        RunFailed: the disk is full.
    """
    with FieldsFile(path, coordinates, fields, attrs).created():
        return path


def write_together(
    comm: Communicator, disk: Executor, file: FieldsFile, streams: Sequence[Stream]
) -> list[Future[Path]]:
    """Write a file whose fields have values on all ranks of a host; all of them must call it.

    Rank 0 creates the file. Each rank writes the values of its streams.

    Args:
        disk: flushes the file and gives it its name in another thread.
        streams: this rank's values.

    Returns:
        The complete file on rank 0, nothing on others.

    Raises:
        InputError: there is no permission to write.
        RunFailed: the disk is full.
    """
    with ExitStack() as stack:
        created = comm.collective_try(
            lambda: stack.enter_context(file.created()) if comm.first else None
        )
        part = comm.bcast(created and created.resolve())
        comm.collective_try(lambda: _write_own(part, streams))
        unfinished = stack.pop_all()

    def finish() -> Path:
        unfinished.close()
        return file.path

    return [disk.submit(finish)] if comm.first else []


def _write_own(path: Path, streams: Sequence[Stream]) -> None:
    with disk_errors(path):
        write_streams(path, streams)


def _bytes_of(variable: Variable, sizes: Mapping[str, int]) -> int:
    if variable.values is not None:
        return np.asarray(variable.values).nbytes
    return prod(sizes[dim] for dim in variable.dims) * np.dtype(variable.dtype).itemsize


def sizes_of(coordinates: Mapping[str, Variable]) -> dict[str, int]:
    """Number of points along each dimension."""
    pairs = (zip(c.dims, np.shape(c.values), strict=True) for c in coordinates.values())
    return {dim: size for pair in pairs for dim, size in pair}
