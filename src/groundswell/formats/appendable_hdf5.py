"""HDF5 files that grow in time while a run goes on, and survive its end at any moment."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.formats.atomic import disk_errors, reserve, sync

# Room for what HDF5 adds around the data: headers, chunk indices, attributes.
_METADATA_BYTES = 1 << 18


class AppendableFile:
    """An HDF5 file of which some datasets grow together along one axis, called time here.

    It is written as `<name>.part` and takes its name with `finish`. Every `append` leaves a
    complete file behind, so a run that is killed can reopen the part and go on after the samples
    its checkpoint remembers. Until `finish` the file only grows: samples after those are written
    over, because a process killed while HDF5 shrinks a file leaves one that cannot be opened. Disk
    space is claimed before HDF5 writes, because HDF5 cannot recover from a failed write: a full
    disk leaves all earlier samples readable.

    Subclasses say which datasets grow (`shapes`, with None for the growing axis) and write the
    empty file in `_create`.

    Args:
        path: final name of the file.
        shapes: dataset name -> shape with None for the growing axis.
        resume: number of samples to keep of the file an earlier run left; None starts a new one.

    Raises:
        InputError: the file to resume is missing, damaged, shorter or laid out differently.
        RunFailed: the disk is full.
    """

    def __init__(
        self,
        path: str | Path,
        shapes: Mapping[str, tuple[int | None, ...]],
        resume: int | None,
    ) -> None:
        self.path = Path(path)
        self.part = self.path.with_name(f"{self.path.name}.part")
        self._shapes = dict(shapes)
        with disk_errors(self.path):
            if resume is None:
                self._start()
            else:
                self._take_up()
        self._file = self._open()
        self.length = min(self._lengths())
        if resume is not None:
            self.truncate(resume)

    def truncate(self, length: int) -> None:
        """Go on after the first `length` samples; what follows them will be written over."""
        if not 0 <= length <= self.length:
            raise InputError(
                f"{self.part} holds {self.length} samples, but the checkpoint continues after "
                f"{length}; start the run again from the beginning"
            )
        self.length = length

    def sync(self) -> None:
        """Wait until all samples are on the disk; a checkpoint that relies on them comes after."""
        with disk_errors(self.path):
            self._file.flush()
            sync(self.part)

    def close(self) -> None:
        """Close the part and leave it, for a later run to resume."""
        with disk_errors(self.path):
            self._file.close()

    def finish(self) -> Path:
        """Close the file and give it its final name, which is returned."""
        with disk_errors(self.path):
            if max(self._lengths()) > self.length:
                self._resize(self.length)
            self._file.close()
            sync(self.part)
            self.part.replace(self.path)
            sync(self.path.parent)
        return self.path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish when the block ended well; otherwise leave the part."""
        if kind is None:
            self.finish()
        else:
            self.close()

    def _create(self, part: Path) -> None:
        """Write the file with no samples in it."""
        raise NotImplementedError

    def _extend(self, blocks: Mapping[str, NDArray[Any]]) -> None:
        """Append to every growing dataset the samples in `blocks`, equally many in each."""
        name = next(iter(blocks))
        old, new = self.length, self.length + blocks[name].shape[self._axis(name)]
        with disk_errors(self.path):
            reserve(self.part, self._file.id.get_filesize(), self._bytes_to_reach(new))
            longest = max(new, *self._lengths())
            if longest > min(self._lengths()):
                self._resize(longest)
            for name, block in blocks.items():
                self._file[name][(slice(None),) * self._axis(name) + (slice(old, new),)] = block
            self._file.flush()
            os.truncate(self.part, self._file.id.get_filesize())
            self.length = new

    def _lengths(self) -> list[int]:
        """Samples in each dataset, those that will be written over included."""
        return [self._file[name].shape[self._axis(name)] for name in self._shapes]

    def _resize(self, length: int) -> None:
        for name in self._shapes:
            self._file[name].resize(length, axis=self._axis(name))

    def _start(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        reserve(self.part, 0, _METADATA_BYTES)
        self._create(self.part)

    def _take_up(self) -> None:
        """Find the earlier run's file: unfinished as a rule, finished if just stopped."""
        if self.part.exists():
            return
        if not self.path.exists():
            raise InputError(
                f"neither {self.part} nor {self.path} exists, so the run cannot be continued from "
                f"its checkpoint; start it again from the beginning"
            )
        self.path.replace(self.part)

    def _open(self) -> Any:
        import h5py

        try:
            # Unlocked: a reader that looks at the part must not stop the run.
            file = h5py.File(self.part, "r+", locking=False)
            found = {name: file[name].shape for name in self._shapes}
        except (OSError, KeyError, RuntimeError) as error:
            raise InputError(
                f"{self.part} cannot be continued: it is damaged or of another kind ({error}); "
                f"delete it and start the run again from the beginning"
            ) from error
        for name, shape in self._shapes.items():
            if not _fits(found[name], shape):
                file.close()
                raise InputError(
                    f"{self.part} cannot be continued: its {name} has shape {found[name]}, this "
                    f"case needs {shape}; restart with the case that wrote it"
                )
        return file

    def _axis(self, name: str) -> int:
        return self._shapes[name].index(None)

    def _bytes_to_reach(self, length: int) -> int:
        """Disk space that growing to `length` samples can take."""
        return _METADATA_BYTES + sum(
            self._new_chunks(self._file[name], self._axis(name), length)
            * math.prod(self._file[name].chunks)
            * self._file[name].dtype.itemsize
            for name in self._shapes
        )

    def _new_chunks(self, dataset: Any, axis: int, length: int) -> int:
        counts = [-(-n // c) for n, c in zip(dataset.shape, dataset.chunks, strict=True)]
        counts[axis] = max(0, -(-length // dataset.chunks[axis]) - counts[axis])
        return math.prod(counts)


def chunk_length(count: int, limit: int) -> int:
    """Length of equal pieces, each at most `limit`, that cover `count` with the least waste."""
    pieces = max(1, -(-count // max(1, limit)))
    return max(1, -(-count // pieces))


def require_positive(name: str, value: float) -> float:
    """The value, if it can be an interval or a spacing.

    Raises:
        InputError: it is not a finite number above zero.
    """
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"{name} = {value} must be a finite number above zero")
    return float(value)


def _fits(found: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(found) == len(wanted) and all(
        w is None or f == w for f, w in zip(found, wanted, strict=True)
    )
