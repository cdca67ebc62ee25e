"""Checkpoints: the whole state of a run in HDF5, with checksums, written atomically.

Each rank writes its own portion. Rank 0 writes its file last, and this file names the others, so
the checkpoint is complete as soon as that file has its final name. Portions carry their place in
the whole array, as boxes or as index lists along the first axis, so any number of ranks can resume.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.arrays import HostArray
from groundswell.backends import Backend
from groundswell.errors import InputError, counted
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.formats.atomic import atomic_write, disk_errors, exists, temporary_path
from groundswell.formats.damage import read_errors_reported
from groundswell.outputs.distributed_array import ArrayIndex, DistributedArray, complete, numbers_of

if TYPE_CHECKING:
    import h5py

FORMAT = 5
NAME = "checkpoint.h5"
MARK = "groundswell_checkpoint"
ROWS = "-rows"  # suffix of an index list's name, after the name of its values

State = Mapping[str, DistributedArray]


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    Args:
        step: steps done.
        digest: digest of the case.
        lengths: samples in each output file; None if no results are written.
        parts: files of the other ranks, in the same folder.
        digests: digest of each output file, see `AppendableFile`.
    """

    step: int
    digest: str
    lengths: Mapping[str, int] | None
    parts: tuple[str, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)


def save(
    path: Path,
    backend: Backend,
    state: State,
    progress: Progress,
    comm: Communicator | None = None,
) -> None:
    """Write the state under temporary names, then rename it over the previous checkpoint.

    Args:
        progress: used at rank 0; this function fills in its `parts`.

    Raises:
        DiskFull: there is no space for the checkpoint; the previous one remains.
    """
    comm = comm or SerialCommunicator()
    parts = tuple(f"{path.stem}-{progress.step}-{rank}.h5" for rank in range(1, comm.size))
    whole_progress = replace(progress, parts=parts)
    place = path if comm.first else path.with_name(parts[comm.rank - 1])

    def write(now: bool) -> None:
        if now:
            _write(place, backend, state, whole_progress)

    comm.collective_try(lambda: write(not comm.first))
    comm.collective_try(lambda: write(comm.first))
    comm.collective_try(lambda: _remove_parts(path, keep=parts) if comm.first else None)


def _write(path: Path, backend: Backend, state: State, progress: Progress) -> None:
    import h5py

    size = sum(portion.array.nbytes for portion in state.values())
    # The latest HDF5 format has checksums for its metadata; older ones do not. No format has them
    # for the heap of variable-length strings, so the attributes have a fixed length.
    with atomic_write(path, size) as part, h5py.File(part, "w", libver="latest") as file:
        file.attrs[MARK] = FORMAT
        file.attrs["progress"] = np.bytes_(json.dumps(asdict(progress)))
        for name, portion in state.items():
            group = file.create_group(f"state/{name}")
            group.attrs["shape"] = np.array(portion.shape, np.int64)
            host = backend.to_host(portion.array)
            for n, (here, there) in enumerate(portion.own):
                _write_piece(group, str(n), host[here], complete(there, portion.shape))


def _write_piece(group: h5py.Group, key: str, values: HostArray, there: ArrayIndex) -> None:
    """Write values, the start of each axis in the whole, and the index list if there is one."""
    first, *others = there
    rows = None if isinstance(first, slice) else np.asarray(first, np.int64)
    start = [first.start if rows is None else 0, *(s.start for s in others)]
    _write_checked(group, key, values).attrs["start"] = np.array(start, np.int64)
    if rows is not None:
        _write_checked(group, key + ROWS, rows)


def _write_checked(group: h5py.Group, key: str, values: HostArray) -> h5py.Dataset:
    data = np.ascontiguousarray(values)
    dataset = group.create_dataset(key, data=data)
    dataset.attrs["checksum"] = _checksum(data.data)
    return dataset


def size_of(state: State) -> int:
    """Size of the arrays of `state` in the checkpoint of all ranks, bytes."""
    return sum(prod(array.shape) * array.array.dtype.itemsize for array in state.values())


def read_progress(path: Path, digest: str) -> Progress:
    """Read the progress stored in a checkpoint.

    Raises:
        InputError: there is no checkpoint, or it is damaged, foreign, or of another case.
    """
    with _opened(path) as file:
        if file.attrs.get(MARK) != FORMAT:
            raise InputError(f"{path} is not a checkpoint of this version; start without --resume")
        stored = json.loads(file.attrs["progress"])
        progress = Progress(**{**stored, "parts": tuple(stored["parts"])})
    if progress.digest != digest:
        raise InputError(
            f"{path} belongs to another case, or the case or its backend was changed since; run "
            "that case, or start without --resume"
        )
    return progress


def belongs(path: Path, digest: str) -> bool:
    """Whether `path` is a resumable checkpoint of the case with this digest."""
    with suppress(InputError):
        return read_progress(path, digest).digest == digest
    return False


def restore(path: Path, backend: Backend, state: State, progress: Progress) -> None:
    """Copy a checkpoint's arrays into the state; any number of ranks may have written it.

    Raises:
        InputError: a file is damaged or does not fit; the state is then unusable.
    """
    files = [path, *(path.with_name(name) for name in progress.parts)]
    for file in files[1:]:
        _require_part(file, progress)
    for name, portion in state.items():
        host = np.zeros(portion.array.shape, portion.array.dtype)
        found = 0
        for file in files:
            found += _read_pieces(file, name, portion, host)
        wanted = sum(host[here].size for here, _ in portion.window)
        if found != wanted:
            raise InputError(
                f"{path} and its parts hold {counted(found, 'value')} of {name!r} instead "
                f"of {wanted}; restore all of these files from a copy, or start without --resume"
            )
        backend.assign(portion.array, host)


def _require_part(path: Path, progress: Progress) -> None:
    """Raise InputError unless another rank's file belongs to this checkpoint."""
    found = read_progress(path, progress.digest)
    if found.step != progress.step:
        raise InputError(
            f"{path} is from step {found.step}, but its checkpoint is from step {progress.step}; "
            "restore all of its files from a copy, or start without --resume"
        )


def _read_pieces(path: Path, name: str, portion: DistributedArray, host: HostArray) -> int:
    """Copy the values of an array's windows from a file to `host`; returns their number."""
    with _opened(path) as file:
        group = file["state"].get(name)
        if group is None:
            return 0
        shape = tuple(int(n) for n in group.attrs["shape"])
        if shape != portion.shape:
            raise ValueError(f"{name!r} has shape {shape}, not {portion.shape}")
        keys = [key for key in group if not key.endswith(ROWS)]
        return sum(_read_piece(group, key, portion, host) for key in keys)


def _read_piece(group: h5py.Group, key: str, portion: DistributedArray, host: HostArray) -> int:
    dataset, name = group[key], group.name.removeprefix("/state/")
    starts = zip(dataset.attrs["start"], dataset.shape, strict=True)
    there: list[object] = [slice(int(first), int(first) + n) for first, n in starts]
    if key + ROWS in group:
        there[0] = _read_checked(group[key + ROWS], name)
    pairs = [_common(window, tuple(there), host.shape, portion.shape) for window in portion.window]
    if not any(pairs):
        return 0
    if dataset.dtype != host.dtype:
        raise ValueError(f"{name!r} is of type {dataset.dtype}, not {host.dtype}")
    data = _read_checked(dataset, name)
    for target, source in filter(None, pairs):
        host[target] = data[source]
    return sum(host[target].size for target, _ in filter(None, pairs))


def _read_checked(dataset: h5py.Dataset, name: str) -> HostArray:
    data = np.ascontiguousarray(dataset[...])
    if dataset.attrs["checksum"] != _checksum(data.data):
        raise ValueError(f"{name!r} is not what was written")
    return data


def _common(
    window: tuple[ArrayIndex, ArrayIndex],
    piece: ArrayIndex,
    shape: tuple[int, ...],
    whole: tuple[int, ...],
) -> tuple[ArrayIndex, ArrayIndex] | None:
    """The intersection of a window and a piece: its indices in the array and in the piece."""
    here, there = (complete(index, of) for index, of in zip(window, (shape, whole), strict=True))
    axes = [_common_along(*along) for along in zip(here, there, piece, strict=True)]
    if any(numbers_of(target).size == 0 for target, _ in axes):
        return None
    return tuple(target for target, _ in axes), tuple(source for _, source in axes)


def _common_along(here: Any, there: Any, piece: Any) -> tuple[Any, Any]:
    """The intersection along one axis, where each index is a slice or a list."""
    if all(isinstance(index, slice) for index in (here, there, piece)):
        first = max(there.start, piece.start)
        last = max(first, min(there.stop, piece.stop))
        shifts = (here.start - there.start, -piece.start)
        target, source = (slice(first + shift, last + shift) for shift in shifts)
        return target, source
    wanted, held = numbers_of(there), numbers_of(piece)
    order = np.argsort(held, kind="stable")
    place = np.searchsorted(held[order], wanted)
    found = np.flatnonzero(place < len(held))
    found = found[held[order[place[found]]] == wanted[found]]
    return numbers_of(here)[found], order[place[found]]


def remove(folder: Path) -> None:
    """Delete a folder's checkpoint, and the partial files of a run that was killed."""
    path = folder / NAME
    with disk_errors(path):
        path.unlink(missing_ok=True)
        temporary_path(path).unlink(missing_ok=True)
    _remove_parts(path)


def _remove_parts(path: Path, keep: tuple[str, ...] = ()) -> None:
    """Delete the other ranks' files, whole or partial, that do not belong to the checkpoint."""
    part = re.compile(rf"\.?{re.escape(path.stem)}-\d+-\d+\.h5(\.part)?")
    with disk_errors(path):
        for file in path.parent.glob("*.h5*"):
            if part.fullmatch(file.name) and file.name not in keep:
                file.unlink(missing_ok=True)


def _checksum(data: memoryview) -> np.bytes_:
    return np.bytes_(blake2b(data, digest_size=16).hexdigest())


@contextmanager
def _opened(path: Path) -> Iterator[h5py.File]:
    """The open file; any error in reading it is reported as damage."""
    import h5py

    if not (exists(path) and path.is_file()):
        raise InputError(
            f"there is no checkpoint {path} to resume; start without --resume, or use "
            '--resume=auto (in Python: resume="auto")'
        )
    remedy = "restore it from a copy, or delete it and start without --resume"
    with read_errors_reported(path, "a checkpoint", remedy), h5py.File(path, "r") as file:
        yield file
