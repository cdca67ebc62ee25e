"""Checkpoints: the whole state of a run in one HDF5 file, checked, and never half-written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend
from groundswell.backends.base import Array
from groundswell.errors import InputError
from groundswell.io.atomic import disk_errors, part_of, whole

FORMAT = 2
NAME = "checkpoint.h5"
MARK = "groundswell_checkpoint"


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Args:
        step: steps done.
        digest: of the case it belongs to.
        lengths: samples in each output file.
    """

    step: int
    digest: str
    lengths: Mapping[str, int]


def save(path: Path, backend: Backend, state: Mapping[str, Array], progress: Progress) -> None:
    """Write the state under a temporary name, then rename it over the previous checkpoint.

    Raises:
        RunFailed: the disk is full; the previous checkpoint is still there.
    """
    import h5py

    size = sum(array.nbytes for array in state.values())
    # The latest format of HDF5 guards its own tables with checksums; the older ones do not, and
    # none guards the heap that text of variable length would lie in.
    with whole(path, size) as part, h5py.File(part, "w", libver="latest") as file:
        file.attrs[MARK] = FORMAT
        file.attrs["progress"] = np.bytes_(json.dumps(asdict(progress)))
        for name, array in state.items():
            host = np.ascontiguousarray(backend.to_host(array))
            dataset = file.create_dataset(f"state/{name}", data=host)
            dataset.attrs["checksum"] = _checksum(host.data)


def read_progress(path: Path, digest: str) -> Progress:
    """What a checkpoint says of itself.

    Raises:
        InputError: no checkpoint, a damaged one, not one of ours, or one of another case.
    """
    with _opened(path) as file:
        if file.attrs.get(MARK) != FORMAT:
            raise InputError(f"{path} is not a checkpoint of this version; start without --resume")
        progress = Progress(**json.loads(file.attrs["progress"]))
    if progress.digest != digest:
        raise InputError(
            f"{path} belongs to another case, or the case or its backend was changed since; run "
            "that case, or start without --resume"
        )
    return progress


def belongs(path: Path, digest: str) -> bool:
    """Whether there is a checkpoint of the case with this digest that could be resumed."""
    with suppress(InputError):
        return read_progress(path, digest).digest == digest
    return False


def restore(path: Path, backend: Backend, state: Mapping[str, Array]) -> None:
    """Write a checkpoint's arrays back into the state.

    Raises:
        InputError: the file is damaged or does not fit; the state is then good for nothing.
    """
    for name, array in state.items():
        with _opened(path) as file:
            host = _read(file, name)
        if (host.shape, host.dtype) != (array.shape, array.dtype):
            raise InputError(
                f"{path} holds {name!r} as {host.dtype} {host.shape}, but this run needs "
                f"{array.dtype} {array.shape}; delete it and start without --resume"
            )
        backend.assign(array, host)


def remove(folder: Path) -> None:
    """Delete a folder's checkpoint, and what a run that was killed wrote of the next one."""
    path = folder / NAME
    with disk_errors(path):
        path.unlink(missing_ok=True)
        part_of(path).unlink(missing_ok=True)


def _read(file: Any, name: str) -> NDArray[Any]:
    dataset = file[f"state/{name}"]
    host = np.ascontiguousarray(dataset[...])
    if dataset.attrs["checksum"] != _checksum(host.data):
        raise ValueError(f"{name!r} is not what was written")
    return host


def _checksum(data: Any) -> np.bytes_:
    return np.bytes_(blake2b(data, digest_size=16).hexdigest())


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The open file; whatever goes wrong in reading it means that it is damaged."""
    import h5py

    if not path.is_file():
        raise InputError(f"there is no checkpoint {path} to resume; start without --resume")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, LookupError, RuntimeError, ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} is damaged ({error}); restore it from a copy, or delete it and start without "
            "--resume"
        ) from error
