"""Checkpoints: the whole state of a run in HDF5, checked, and never half-written.

Each rank writes its own portion; rank 0's file is written last and names the others', so the moment
it takes its name the checkpoint is complete. Portions know where they belong in the whole, so any
number of ranks can go on from them.
"""

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
from groundswell.errors import InputError
from groundswell.exchange.distributed_array import DistributedArray, Index
from groundswell.exchange.world import Alone, World
from groundswell.formats.atomic import atomic_write, disk_errors, temporary_path

FORMAT = 3
NAME = "checkpoint.h5"
MARK = "groundswell_checkpoint"

State = Mapping[str, DistributedArray]


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Args:
        step: steps done.
        digest: of the case it belongs to.
        lengths: samples in each output file.
        parts: files beside the first one, of the other ranks.
    """

    step: int
    digest: str
    lengths: Mapping[str, int]
    parts: tuple[str, ...] = ()


def save(
    path: Path, backend: Backend, state: State, progress: Progress, world: World | None = None
) -> None:
    """Write the state under temporary names, then rename it over the previous checkpoint.

    Args:
        progress: at rank 0; its `parts` are filled in.

    Raises:
        RunFailed: the disk is full; the previous checkpoint is still there.
    """
    world = world or Alone()
    parts = tuple(f"{path.stem}-{progress.step}-{rank}.h5" for rank in range(1, world.size))
    whole_progress = Progress(progress.step, progress.digest, dict(progress.lengths), parts)
    place = path if world.first else path.with_name(parts[world.rank - 1])

    def write(now: bool) -> None:
        if now:
            _write(place, backend, state, whole_progress)

    world.agree(lambda: write(not world.first))
    world.agree(lambda: write(world.first))
    world.agree(lambda: _remove_parts(path.parent, keep=parts) if world.first else None)


def _write(path: Path, backend: Backend, state: State, progress: Progress) -> None:
    import h5py

    size = sum(portion.array.nbytes for portion in state.values())
    # The latest format of HDF5 guards its own tables with checksums; the older ones do not, and
    # none guards the heap that text of variable length would lie in.
    with atomic_write(path, size) as part, h5py.File(part, "w", libver="latest") as file:
        file.attrs[MARK] = FORMAT
        file.attrs["progress"] = np.bytes_(json.dumps(asdict(progress)))
        for name, portion in state.items():
            group = file.create_group(f"state/{name}")
            group.attrs["shape"] = np.array(portion.shape, np.int64)
            host = backend.to_host(portion.array)
            for n, (here, there) in enumerate(portion.own):
                data = np.ascontiguousarray(host[here])
                dataset = group.create_dataset(str(n), data=data)
                dataset.attrs["start"] = np.array([s.start for s in there], np.int64)
                dataset.attrs["checksum"] = _checksum(data.data)


def read_progress(path: Path, digest: str) -> Progress:
    """What a checkpoint says of itself.

    Raises:
        InputError: no checkpoint, a damaged one, not one of ours, or one of another case.
    """
    with _opened(path) as file:
        if file.attrs.get(MARK) != FORMAT:
            raise InputError(f"{path} is not a checkpoint of this version; start without --resume")
        said = json.loads(file.attrs["progress"])
        progress = Progress(**{**said, "parts": tuple(said["parts"])})
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


def restore(path: Path, backend: Backend, state: State, progress: Progress) -> None:
    """Write a checkpoint's arrays back into the state, whatever number of ranks wrote it.

    Raises:
        InputError: a file is damaged or does not fit; the state is then good for nothing.
    """
    files = [path, *(path.with_name(name) for name in progress.parts)]
    for file in files[1:]:
        _require_part(file, progress)
    for name, portion in state.items():
        host = np.zeros(portion.array.shape, portion.array.dtype)
        found = 0
        for file in files:
            for start, data in _pieces(file, name, portion):
                found += sum(_copy(host, there, start, data) for there in portion.window)
        wanted = sum(host[here].size for here, _ in portion.window)
        if found != wanted:
            raise InputError(
                f"{path} and the files beside it hold {found} values of {name!r}, but {wanted} are "
                "needed; restore all of them from a copy, or start without --resume"
            )
        backend.assign(portion.array, host)


def _require_part(path: Path, progress: Progress) -> None:
    """See that another rank's file is of this checkpoint."""
    found = read_progress(path, progress.digest)
    if found.step != progress.step:
        raise InputError(
            f"{path} is of step {found.step}, but the checkpoint beside it of {progress.step}; "
            "restore all of its files from a copy, or start without --resume"
        )


def _pieces(
    path: Path, name: str, portion: DistributedArray
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """What a file holds of an array: where each piece begins in the whole, and its values."""
    with _opened(path) as file:
        group = file["state"].get(name)
        if group is None:
            return
        shape = tuple(int(n) for n in group.attrs["shape"])
        if shape != portion.shape:
            raise ValueError(f"{name!r} has shape {shape}, not {portion.shape}")
        for key in group:
            if not _touches(portion, group[key].attrs["start"], group[key].shape):
                continue
            data = np.ascontiguousarray(group[key][...])
            if data.dtype != portion.array.dtype:
                raise ValueError(f"{name!r} is of type {data.dtype}, not {portion.array.dtype}")
            if group[key].attrs["checksum"] != _checksum(data.data):
                raise ValueError(f"{name!r} is not what was written")
            yield group[key].attrs["start"], data


def _touches(portion: DistributedArray, start: NDArray[np.int64], shape: tuple[int, ...]) -> bool:
    """Whether a piece has something in common with the windows of a portion."""
    return any(
        all(
            max(s.start, b) < min(s.stop, b + n)
            for s, b, n in zip(there, start, shape, strict=True)
        )
        for _, there in portion.window
    )


def _copy(
    host: NDArray[Any], places: tuple[Index, Index], start: NDArray[np.int64], data: NDArray[Any]
) -> int:
    """Copy what a window and a piece have in common; returns how many values that are."""
    here, there = places
    first = [max(s.start, int(b)) for s, b in zip(there, start, strict=True)]
    last = [min(s.stop, int(b) + n) for s, b, n in zip(there, start, data.shape, strict=True)]
    if any(a >= b for a, b in zip(first, last, strict=True)):
        return 0
    target = tuple(
        slice(a - t.start + h.start, b - t.start + h.start)
        for a, b, t, h in zip(first, last, there, here, strict=True)
    )
    source = tuple(
        slice(a - int(s), b - int(s)) for a, b, s in zip(first, last, start, strict=True)
    )
    host[target] = data[source]
    return int(host[target].size)


def remove(folder: Path) -> None:
    """Delete a folder's checkpoint, and what a run that was killed wrote of the next one."""
    path = folder / NAME
    with disk_errors(path):
        path.unlink(missing_ok=True)
        temporary_path(path).unlink(missing_ok=True)
    _remove_parts(folder)


def _remove_parts(folder: Path, keep: tuple[str, ...] = ()) -> None:
    """Delete the other ranks' files that do not belong to the checkpoint."""
    stem = Path(NAME).stem
    with disk_errors(folder / NAME):
        for path in [*folder.glob(f"{stem}-*.h5"), *folder.glob(f".{stem}-*.h5.part")]:
            if path.name not in keep:
                path.unlink(missing_ok=True)


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
