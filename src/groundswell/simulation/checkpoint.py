"""Checkpoints: the whole state of a run in HDF5, checked, and never half-written.

Each rank writes its own portion; rank 0's file is written last and names the others', so the moment
it takes its name the checkpoint is complete. Portions know where they belong in the whole, so any
number of ranks can go on from them: as boxes, or as index lists along the first axis.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend
from groundswell.errors import InputError
from groundswell.exchange.distributed_array import (
    DistributedArray,
    Index,
    complete,
    numbers_of,
)
from groundswell.exchange.world import Alone, World
from groundswell.formats.atomic import atomic_write, disk_errors, temporary_path

FORMAT = 3
NAME = "checkpoint.h5"
MARK = "groundswell_checkpoint"
ROWS = "-rows"  # the name of an index list ends so, after that of its values

State = Mapping[str, DistributedArray]


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Args:
        step: steps done.
        digest: of the case it belongs to.
        lengths: samples in each output file; None if no results are being written.
        parts: files beside the first one, of the other ranks.
    """

    step: int
    digest: str
    lengths: Mapping[str, int] | None
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
    whole_progress = replace(progress, parts=parts)
    place = path if world.first else path.with_name(parts[world.rank - 1])

    def write(now: bool) -> None:
        if now:
            _write(place, backend, state, whole_progress)

    world.agree(lambda: write(not world.first))
    world.agree(lambda: write(world.first))
    world.agree(lambda: _remove_parts(path, keep=parts) if world.first else None)


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
                _write_piece(group, str(n), host[here], complete(there, portion.shape))


def _write_piece(group: Any, key: str, values: NDArray[Any], there: Index) -> None:
    """Values and where they belong: where each axis begins, and an index list, if there is one."""
    first, *others = there
    rows = None if isinstance(first, slice) else np.asarray(first, np.int64)
    start = [first.start if rows is None else 0, *(s.start for s in others)]
    _write_checked(group, key, values).attrs["start"] = np.array(start, np.int64)
    if rows is not None:
        _write_checked(group, key + ROWS, rows)


def _write_checked(group: Any, key: str, values: NDArray[Any]) -> Any:
    data = np.ascontiguousarray(values)
    dataset = group.create_dataset(key, data=data)
    dataset.attrs["checksum"] = _checksum(data.data)
    return dataset


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
            found += _read_pieces(file, name, portion, host)
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


def _read_pieces(path: Path, name: str, portion: DistributedArray, host: NDArray[Any]) -> int:
    """Copy what a file holds of an array's windows into `host`; returns how many values."""
    with _opened(path) as file:
        group = file["state"].get(name)
        if group is None:
            return 0
        shape = tuple(int(n) for n in group.attrs["shape"])
        if shape != portion.shape:
            raise ValueError(f"{name!r} has shape {shape}, not {portion.shape}")
        keys = [key for key in group if not key.endswith(ROWS)]
        return sum(_read_piece(group, key, portion, host) for key in keys)


def _read_piece(group: Any, key: str, portion: DistributedArray, host: NDArray[Any]) -> int:
    dataset, name = group[key], group.name.removeprefix("/state/")
    starts = zip(dataset.attrs["start"], dataset.shape, strict=True)
    there: list[Any] = [slice(int(first), int(first) + n) for first, n in starts]
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


def _read_checked(dataset: Any, name: str) -> NDArray[Any]:
    data = np.ascontiguousarray(dataset[...])
    if dataset.attrs["checksum"] != _checksum(data.data):
        raise ValueError(f"{name!r} is not what was written")
    return data


def _common(
    window: tuple[Index, Index], piece: Index, shape: tuple[int, ...], whole: tuple[int, ...]
) -> tuple[Index, Index] | None:
    """What a window and a piece have in common: its indices in the array, and in the piece."""
    here, there = (complete(index, of) for index, of in zip(window, (shape, whole), strict=True))
    axes = [_common_along(*along) for along in zip(here, there, piece, strict=True)]
    if any(numbers_of(target).size == 0 for target, _ in axes):
        return None
    return tuple(target for target, _ in axes), tuple(source for _, source in axes)


def _common_along(here: Any, there: Any, piece: Any) -> tuple[Any, Any]:
    """The same along one axis, of which each index is a slice or a list."""
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
    """Delete a folder's checkpoint, and what a run that was killed wrote of the next one."""
    path = folder / NAME
    with disk_errors(path):
        path.unlink(missing_ok=True)
        temporary_path(path).unlink(missing_ok=True)
    _remove_parts(path)


def _remove_parts(path: Path, keep: tuple[str, ...] = ()) -> None:
    """Delete the other ranks' files, whole or in part, that do not belong to the checkpoint."""
    part = re.compile(rf"\.?{re.escape(path.stem)}-\d+-\d+\.h5(\.part)?")
    with disk_errors(path):
        for file in path.parent.glob("*.h5*"):
            if part.fullmatch(file.name) and file.name not in keep:
                file.unlink(missing_ok=True)


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
