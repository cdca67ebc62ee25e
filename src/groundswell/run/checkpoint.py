"""Checkpoints: the whole state of a run in one HDF5 file, checked, and never half-written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend
from groundswell.backends.base import Array
from groundswell.errors import InputError
from groundswell.io.atomic import whole

FORMAT = 1
NAME = "checkpoint.h5"


@dataclass(frozen=True)
class Progress:
    """How far a run has come: steps done, the case it belongs to, samples in each output file."""

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
    with whole(path, size) as part, h5py.File(part, "w") as file:
        file.attrs["groundswell_checkpoint"] = FORMAT
        file.attrs["step"] = progress.step
        file.attrs["digest"] = progress.digest
        for name, length in progress.lengths.items():
            file.attrs[f"length/{name}"] = length
        for name, array in state.items():
            host = backend.to_host(array)
            dataset = file.create_dataset(f"state/{name}", data=host)
            dataset.attrs["checksum"] = _checksum(host)


def read_progress(path: Path, digest: str) -> Progress:
    """What a checkpoint says of itself.

    Raises:
        InputError: no checkpoint, not one of ours, or one of another case.
    """
    with _opened(path) as file:
        if file.attrs.get("groundswell_checkpoint") != FORMAT:
            raise InputError(f"{path} is not a checkpoint of this version; start without --resume")
        if file.attrs["digest"] != digest:
            raise InputError(
                f"{path} belongs to another case (or the case was changed since); run that case, or "
                "start without --resume"
            )
        lengths = {
            key.removeprefix("length/"): int(value)
            for key, value in file.attrs.items()
            if key.startswith("length/")
        }
        return Progress(int(file.attrs["step"]), digest, lengths)


def restore(path: Path, backend: Backend, state: Mapping[str, Array]) -> None:
    """Write a checkpoint's arrays back into the state.

    Raises:
        InputError: the file is damaged or does not fit.
    """
    with _opened(path) as file:
        loaded = {name: _read(path, file, name, array.shape) for name, array in state.items()}
    for name, array in state.items():
        backend.assign(array, loaded[name])


def _read(path: Path, file: Any, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    try:
        dataset = file[f"state/{name}"]
        host = dataset[...]
        intact = dataset.attrs["checksum"] == _checksum(host)
    except (KeyError, OSError, RuntimeError) as error:
        raise InputError(_damaged(path, name)) from error
    if host.shape != shape or not intact:
        raise InputError(_damaged(path, name))
    return host


def _damaged(path: Path, name: str) -> str:
    return (
        f"{path} is damaged at {name!r}; start without --resume, or restore the file from a copy"
    )


def _checksum(host: NDArray[Any]) -> str:
    return blake2b(np.ascontiguousarray(host).data, digest_size=16).hexdigest()


def _opened(path: Path) -> Any:
    import h5py

    if not path.is_file():
        raise InputError(f"there is no checkpoint {path} to resume; start without --resume")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise InputError(f"{path} is damaged and cannot be opened; start without --resume") from error
