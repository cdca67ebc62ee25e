"""k-Wave's output files: datasets with reserved disk space, attributes, compression.

A new file has a temporary name until the simulation ends or stops at a checkpoint. It then gets its
final name. A later part of the simulation appends to it in place.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from math import prod
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import HostArray
from groundswell.errors import InputError
from groundswell.formats.atomic import atomic_write, disk_errors, sync
from groundswell.formats.damage import read_errors_reported
from groundswell.solvers.ultrasound.kwave.datasets import (
    FLOAT,
    Layout,
    attribute,
    create_reserved,
    describe,
    set_attributes,
)
from groundswell.version import __version__

VERSION = {"major_version": "1", "minor_version": "2"}
RESULT = re.compile(r"(p|u[xyz])(_non_staggered|_max|_min|_rms|_max_all|_min_all|_final)?(/\d+)?$")
LISTED = {"": 0, "_non_staggered": 0, "_max": (0, 0), "_min": (0, 0), "_rms": (0, 0)}
STEP = "t_index"  # dataset with the number of steps made


def header(kind: str) -> dict[str, str]:
    """Attributes that identify a file, for every file in k-Wave's formats."""
    return {
        "created_by": f"Groundswell {__version__}",
        "creation_date": datetime.now(UTC).strftime("%d-%B-%Y-%H-%M-%S"),
        "file_description": f"{kind} file of an ultrasound simulation",
        "file_type": kind,
        **VERSION,
    }


def scalar_layout(scalars: Mapping[str, Any]) -> Layout:
    """Layout of scalars, (1, 1, 1)."""
    return {name: ((1, 1, 1), value.dtype) for name, value in scalars.items()}


class OutputFile:
    """The output file of a simulation.

    Args:
        path: final name.
        layout: datasets of the results.
        scalars: scalars that the file repeats from the input file.
        continued: the file of an earlier part of the simulation, to continue.

    Attributes:
        length: number of samples in the time series.

    Raises:
        InputError: the file cannot be written, or the file to continue has another layout.
        DiskFull: the disk is full.
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        scalars: Mapping[str, object],
        continued: Path | None = None,
    ) -> None:
        self.path, self._resumed = path, continued is not None
        self._working = continued or path.with_name(f"{path.name}.part")
        self.length, self._hashes = 0, defaultdict[str, Any](lambda: blake2b(digest_size=16))
        whole = {**scalar_layout({**scalars, STEP: np.uint64(0)}), **layout}
        if self._resumed:
            self._file = self._reopen(whole)
            return
        with disk_errors(path):
            if path.is_dir():
                raise IsADirectoryError(21, "Is a directory", str(path))
            self._file = self._create(whole, scalars)

    # --- writing ----------------------------------------------------------------------------------

    def write(self, name: str, index: object, values: HostArray) -> None:
        """Write values to a part of a dataset."""
        with disk_errors(self.path):
            self._file[name][index] = values

    def append(self, name: str, index: object, values: HostArray, numbers: range) -> None:
        """Write the samples of these numbers to a time series."""
        self.write(name, index, values)
        self._hashes[name].update(np.ascontiguousarray(values, FLOAT).data)
        self.length = numbers.stop

    def end(self, steps: int, attributes: Mapping[str, str]) -> None:
        """Close the file after some steps; it keeps its temporary name."""
        with disk_errors(self.path):
            self._file[STEP][...] = steps
            set_attributes(self._file, attributes)
        self.close()

    def finish(self) -> None:
        """Give the closed file its final name."""
        self.close()
        with disk_errors(self.path):
            self._working.replace(self.path)
            sync(self.path.parent)

    def finish_compressed(self, level: int) -> None:
        """Give the closed file its final name, or a compressed copy if the level is not 0."""
        if not level:
            self.finish()
            return
        with atomic_write(self.path) as target:
            compress(self._working, target, level)
        if not self._resumed:
            self._working.unlink()

    # --- as a file that grows during a run --------------------------------------------------------

    @property
    def digest(self) -> str:
        """Digest of all samples."""
        found = {name: hashed.hexdigest() for name, hashed in sorted(self._hashes.items())}
        return blake2b(repr(found).encode(), digest_size=16).hexdigest()

    def require_digest(self, digest: str) -> None:
        """Raise InputError unless the file holds the same samples as when it had this digest."""
        if digest != self.digest:
            raise InputError(
                f"{self._working} was changed after the checkpoint was written; restore it from a "
                "copy, or start the run again from the beginning"
            )

    def truncate(self, length: int, series: Sequence[str]) -> None:
        """Continue after the first `length` samples of these datasets."""
        self.length = length
        for name in series:
            values = self._file[name]
            index = np.s_[0, :length] if values.ndim == 3 else np.s_[:length]
            if length:
                self._hashes[name].update(np.ascontiguousarray(values[index]).data)

    def sync(self) -> None:
        """Flush all samples to the disk."""
        with disk_errors(self.path):
            self._file.flush()
            sync(self._working)

    def complete(self) -> None:
        """Flush all samples to the disk; statistics follow."""
        self.sync()

    def close(self) -> None:
        """Close the file under its temporary name."""
        with disk_errors(self.path):
            if self._file:
                self._file.close()
                sync(self._working)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """After an error, remove a new file, but keep a file of an earlier part."""
        if kind is None:
            return
        with suppress(Exception):  # report the first failure only
            self._file.close()
        if not self._resumed:
            with suppress(OSError):
                self._working.unlink(missing_ok=True)

    # --- opening ----------------------------------------------------------------------------------

    def _create(self, layout: Layout, scalars: Mapping[str, object]) -> h5py.File:
        try:
            file = create_reserved(self._working, layout)
            for name, value in scalars.items():
                file[name][...] = value
            set_attributes(file, header("output"))
        except BaseException:
            with suppress(OSError):
                self._working.unlink(missing_ok=True)
            raise
        return file

    def _reopen(self, layout: Layout) -> h5py.File:
        remedy = "delete the checkpoint file and start the simulation again"
        with read_errors_reported(
            self._working, "the output file to continue", remedy, if_missing=remedy
        ):
            file = h5py.File(self._working, "r+", locking=False)
            shapes = {name: file[name].shape for name in layout if name in file}
            kind = attribute(file, "file_type")
        wanted = {name: shape for name, (shape, _) in layout.items()}
        if kind != "output" or shapes != wanted:
            file.close()
            raise InputError(
                f"{self._working} does not belong to this simulation or has other outputs; use the "
                f"options of the first part, or {remedy}"
            )
        return file


def layout_bytes(layout: Layout) -> int:
    """Size of datasets, bytes."""
    return sum(prod(shape) * np.dtype(dtype).itemsize for shape, dtype in layout.values())


def read_samples(path: Path) -> dict[str, NDArray[np.float32]]:
    """Samples, statistics and final fields of an output file, by dataset.

    Those of lists of points have no axes of length 1: (samples, points), or (points,).

    Raises:
        InputError: the file is damaged.
    """
    found: dict[str, NDArray[np.float32]] = {}

    def read(name: str, item: object) -> None:
        parts = RESULT.match(name)
        if isinstance(item, h5py.Dataset) and parts:
            found[name] = item[LISTED.get(parts[2] or "", ()) if not parts[3] else ()]

    with read_errors_reported(path, "k-Wave output"), h5py.File(path, locking=False) as file:
        file.visititems(read)
    return found


def compress(source: Path, target: Path, level: int) -> None:
    """Write a compressed copy of a file, chunk by chunk."""
    with h5py.File(source, locking=False) as old, h5py.File(target, "w", locking=False) as new:
        for name, value in old.attrs.items():
            new.attrs[name] = value

        def copy(name: str, item: object) -> None:
            if isinstance(item, h5py.Dataset):
                _compress_dataset(item, new, level)

        old.visititems(copy)


def _compress_dataset(old: h5py.Dataset, file: h5py.File, level: int) -> None:
    options = {"compression": "gzip", "compression_opts": level} if old.size > 1 else {}
    new = file.create_dataset(old.name, old.shape, old.dtype, **options)
    describe(new)
    if new.chunks is None:
        new[...] = old[...]
        return
    for chunk in new.iter_chunks():
        new[chunk] = old[chunk]


def run_attributes(seconds: Mapping[str, float], host: str, peak_bytes: int) -> dict[str, str]:
    """Attributes about the run: times of its phases, s, and memory."""
    memory = f"{peak_bytes / 2**20:.0f} MB"
    times = {f"{phase}_execution_time": f"{spent:8.2f}s" for phase, spent in seconds.items()}
    return {
        "host_names": host,
        "number_of_cpu_cores": str(os.cpu_count() or 1),
        **times,
        "total_execution_time": f"{sum(seconds.values()):8.2f}s",
        "peak_core_memory_in_use": memory,
        "total_memory_in_use": memory,
    }
