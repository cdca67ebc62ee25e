"""HDF5 files that a run appends to, and that stay valid if it is killed."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from groundswell.arrays import HostArray
from groundswell.errors import InputError, counted
from groundswell.formats.atomic import disk_errors, reserve, sync
from groundswell.formats.damage import read_errors_reported

# Space for headers, chunk indices and attributes of HDF5.
METADATA_BYTES = 1 << 18
READ_BYTES = 64 << 20  # most that is read at a time to verify samples


class AppendableFile:
    """An HDF5 file with datasets that grow together along one axis, such as time.

    The file is named `<name>.part` until `finish` gives it its name. It is valid after each append,
    so that a run that was killed can reopen it and continue after the samples of its checkpoint.
    Later samples are overwritten, not removed, because a process killed while HDF5 shrinks a file
    leaves one that cannot be opened. Disk space is reserved before HDF5 writes, because HDF5 cannot
    recover from a failed write. On a full disk all earlier samples stay readable.

    Subclasses give the growing datasets in `shapes` and write the empty file in `_create`.

    Args:
        path: final name of the file.
        shapes: dataset name -> shape with None for the growing axis.
        rows: entries along the growing axis that a sample has in a dataset, where that is not one.
        resume: number of samples to keep of the file of an earlier run; None starts a new file.

    Raises:
        InputError: the file to resume is missing, damaged, too short or of another layout.
        RunFailed: the disk is full.
    """

    def __init__(
        self,
        path: str | Path,
        shapes: Mapping[str, tuple[int | None, ...]],
        resume: int | None,
        rows: Mapping[str, int] | None = None,
    ) -> None:
        self.path = Path(path)
        self.part = self.path.with_name(f"{self.path.name}.part")
        self._shapes, self._rows = dict(shapes), dict.fromkeys(shapes, 1) | dict(rows or {})
        with disk_errors(self.path):
            if resume is None:
                self._create_part()
            else:
                self._find_part()
        self._file = self._open()
        # Held, because each look-up in the file opens a dataset anew.
        self._growing = {name: self._file[name] for name in self._shapes}
        self.length = min(self._lengths())
        self._hashes = {name: blake2b(digest_size=16) for name in self._shapes}
        if resume is not None:
            self.truncate(resume)

    def truncate(self, length: int) -> None:
        """Continue after the first `length` samples; later ones will be overwritten.

        Raises:
            InputError: there are fewer samples.
        """
        if not 0 <= length <= self.length:
            raise InputError(
                f"{self.part} holds {counted(self.length, 'sample')}, but the checkpoint continues "
                f"after {length}; start the run again from the beginning"
            )
        self.length = length
        self._hashes = {name: self._hashed(name) for name in self._shapes}

    @property
    def digest(self) -> str:
        """Digest of all samples, and of the datasets that do not grow."""
        found = {name: hashed.hexdigest() for name, hashed in self._hashes.items()}
        return blake2b(repr([found, self._fixed]).encode(), digest_size=16).hexdigest()

    def require_digest(self, digest: str) -> None:
        """Raise InputError unless the file holds the same samples as when it had this digest."""
        if digest != self.digest:
            raise InputError(
                f"{self.part} was changed after the checkpoint was written: its first "
                f"{counted(self.length, 'sample')} differ from the run's; restore it from a copy, "
                "or start the run again from the beginning"
            )

    def sync(self) -> None:
        """Flush all samples to the disk; call it before a checkpoint that relies on them."""
        with disk_errors(self.path):
            self._file.flush()
            sync(self.part)

    def close(self) -> None:
        """Close the file under its temporary name, for a later run to resume."""
        with disk_errors(self.path):
            self._file.close()

    def complete(self) -> None:
        """Truncate the file after the last sample and close it under its temporary name."""
        with disk_errors(self.path):
            if self._file and max(self._lengths()) > self.length:
                self._resize(self.length)
            self._file.close()
            sync(self.part)

    def finish(self) -> Path:
        """Complete the file and rename it to its final name, which is returned."""
        self.complete()
        with disk_errors(self.path):
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
        """Finish the file if the block succeeded; otherwise close it for a later run."""
        if kind is None:
            self.finish()
        else:
            self.close()

    def _create(self, part: Path) -> None:
        """Write the file without samples."""
        raise NotImplementedError

    def _extend(self, blocks: Mapping[str, HostArray]) -> None:
        """Append `blocks` to all growing datasets, the same number of samples to each."""
        name = next(iter(blocks))
        count = blocks[name].shape[self._axis(name)] // self._rows[name]
        old, new = self.length, self.length + count
        with disk_errors(self.path):
            reserve(self.part, self._file.id.get_filesize(), self._bytes_to_reach(new))
            longest = max(new, *self._lengths())
            if longest > min(self._lengths()):
                self._resize(longest)
            for name, block in blocks.items():
                self._growing[name][self._rows_of(name, old, new)] = block
            self._file.flush()
            os.truncate(self.part, self._file.id.get_filesize())
            self.length = new
        for name, block in blocks.items():
            self._hash(self._hashes[name], name, block)

    def _rows_of(self, name: str, first: int, last: int) -> tuple[slice, ...]:
        """Index of the samples first .. last - 1 in a dataset."""
        samples = slice(first * self._rows[name], last * self._rows[name])
        return (slice(None),) * self._axis(name) + (samples,)

    def _hash(self, hashed: blake2b, name: str, block: HostArray) -> None:
        """Hash samples in the order of the growing axis, so that it does not depend on blocks."""
        values = np.moveaxis(np.asarray(block, self._growing[name].dtype), self._axis(name), 0)
        hashed.update(np.ascontiguousarray(values).data)

    def _hashed(self, name: str) -> blake2b:
        """The hash of all samples of a dataset, read from the file."""
        hashed, dataset = blake2b(digest_size=16), self._growing[name]
        sample = dataset.nbytes // max(1, dataset.shape[self._axis(name)]) * self._rows[name]
        count = max(1, READ_BYTES // max(1, sample))
        for first in range(0, self.length, count):
            last = min(first + count, self.length)
            self._hash(hashed, name, dataset[self._rows_of(name, first, last)])
        return hashed

    @cached_property
    def _fixed(self) -> list[tuple[str, str]]:
        """The digests of the datasets that do not grow, by name."""
        names = [name for name in _datasets(self._file) if name not in self._shapes]
        return [(name, _digest(self._file[name][()])) for name in sorted(names)]

    def _lengths(self) -> list[int]:
        """Number of samples in each dataset, including those that will be overwritten."""
        shapes = {name: dataset.shape for name, dataset in self._growing.items()}
        return [shape[self._axis(name)] // self._rows[name] for name, shape in shapes.items()]

    def _resize(self, length: int) -> None:
        for name, dataset in self._growing.items():
            dataset.resize(length * self._rows[name], axis=self._axis(name))

    def _create_part(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        reserve(self.part, 0, METADATA_BYTES)
        self._create(self.part)

    def _find_part(self) -> None:
        """Find the file of the earlier run, and reopen it if it was finished."""
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

        remedy = "delete it and start the run again from the beginning"
        with read_errors_reported(
            self.part, "the file of an unfinished run", remedy, if_missing=remedy
        ):
            # Without locking, so that readers of the file do not stop the run.
            file = h5py.File(self.part, "r+", locking=False)
            shapes = {name: file[name].shape for name in self._shapes}
        for name, shape in self._shapes.items():
            if not _matches(shapes[name], shape):
                file.close()
                raise InputError(
                    f"{self.part} cannot be continued: its {name} has shape {shapes[name]}, this "
                    f"case needs {shape}; restart with the case that wrote it"
                )
        return file

    def _axis(self, name: str) -> int:
        return self._shapes[name].index(None)

    def _bytes_to_reach(self, length: int) -> int:
        """Upper bound of the disk space needed to grow to `length` samples, bytes."""
        return METADATA_BYTES + sum(
            self._new_chunks(dataset, self._axis(name), length * self._rows[name])
            * math.prod(dataset.chunks)
            * dataset.dtype.itemsize
            for name, dataset in self._growing.items()
        )

    def _new_chunks(self, dataset: Any, axis: int, length: int) -> int:
        counts = [-(-n // c) for n, c in zip(dataset.shape, dataset.chunks, strict=True)]
        counts[axis] = max(0, -(-length // dataset.chunks[axis]) - counts[axis])
        return math.prod(counts)


def _datasets(group: Any, before: str = "") -> Iterator[str]:
    """Yield the names of all datasets of a group and of those in it."""
    for name, item in group.items():
        if hasattr(item, "items"):
            yield from _datasets(item, f"{before}{name}/")
        else:
            yield before + name


def _digest(values: object) -> str:
    array = np.asarray(values)
    content = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
    return blake2b(content, digest_size=16).hexdigest()


def chunk_length(count: int, limit: int) -> int:
    """Length of equal chunks, at most `limit`, that cover `count` with the least padding."""
    chunks = max(1, -(-count // max(1, limit)))
    return max(1, -(-count // chunks))


def _matches(shape: tuple[int, ...], expected: tuple[int | None, ...]) -> bool:
    return len(shape) == len(expected) and all(
        e is None or n == e for n, e in zip(shape, expected, strict=True)
    )
