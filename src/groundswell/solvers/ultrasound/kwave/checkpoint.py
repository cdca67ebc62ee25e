"""Checkpoint files: the fields after a step, running statistics, and the options of the run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import h5py
import numpy as np

from groundswell.backends import Backend
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.formats.atomic import atomic_write
from groundswell.formats.damage import read_errors_reported
from groundswell.grids.cartesian import Triple
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.solvers.ultrasound.kwave.datasets import attribute, create_reserved, set_attributes
from groundswell.solvers.ultrasound.kwave.output_file import STEP, VERSION, header, scalar_layout

SIZES = ("Nx", "Ny", "Nz")
REMEDY = "delete it and start the simulation again"
CLOCK = "clock"  # of a solver's state; in the file, it is STEP


@dataclass(frozen=True)
class Checkpoint:
    """The state of an unfinished simulation.

    Args:
        cells: grid points along (x, y, z).
        request: the options on which outputs depend, as text.
        state: each rank's part of fields and statistics, by name.
    """

    cells: Triple
    request: str
    state: Mapping[str, DistributedArray]

    @property
    def arrays(self) -> dict[str, DistributedArray]:
        """Fields and statistics by their names in the file, such as ux_sgx for ux."""
        names = {f"u{axis}": f"u{axis}_sg{axis}" for axis in "xyz"}
        return {names.get(n, n): array for n, array in self.state.items() if n != CLOCK}


def write_checkpoint(
    path: Path, checkpoint: Checkpoint, steps: int, backend: Backend, comm: Communicator
) -> None:
    """Write a checkpoint; an older one is kept until the new one is complete.

    Rank 0 gathers one array after another; all ranks must call it.

    Args:
        steps: number of steps made.

    Raises:
        DiskFull: the disk is full.
    """
    comm.collective_try(lambda: _write(path, checkpoint, steps, backend, comm))


def _write(
    path: Path, checkpoint: Checkpoint, steps: int, backend: Backend, comm: Communicator
) -> None:
    with ExitStack() as opened:
        file = comm.collective_try(
            lambda: _create(path, checkpoint, steps, opened) if comm.first else None
        )
        for name, array in checkpoint.arrays.items():
            values = array.gather(backend, comm)
            comm.collective_try(partial(_put, file, name, values))


def _create(path: Path, checkpoint: Checkpoint, steps: int, opened: ExitStack) -> h5py.File:
    """A new file; it gets its name when `opened` ends without an error."""
    numbers = (*checkpoint.cells, steps)
    scalars = {name: np.uint64(value) for name, value in zip((*SIZES, STEP), numbers, strict=True)}
    arrays = checkpoint.arrays.items()
    layout = {name: (each.shape, each.array.dtype) for name, each in arrays}
    part = opened.enter_context(atomic_write(path))
    file = opened.enter_context(create_reserved(part, {**scalar_layout(scalars), **layout}))
    set_attributes(file, {**header("checkpoint"), "outputs": checkpoint.request})
    for name, value in scalars.items():
        file[name][...] = value
    return file


def _put(file: h5py.File | None, name: str, values: object) -> None:
    if file is not None:
        file[name][...] = values


def read_checkpoint(path: Path, checkpoint: Checkpoint, backend: Backend) -> int:
    """Copy a checkpoint's arrays into the state; any number of ranks may have written it.

    Args:
        checkpoint: the sizes, the options and the arrays that the file must have.

    Returns:
        The number of steps made.

    Raises:
        InputError: the file is damaged or belongs to another simulation.
    """
    with read_errors_reported(path, "a checkpoint", REMEDY), h5py.File(path, locking=False) as file:
        _require_header(path, file, checkpoint)
        for name, array in checkpoint.arrays.items():
            _read(path, file[name], array, backend)
        return int(file[STEP][0, 0, 0])


def _read(path: Path, dataset: h5py.Dataset, array: DistributedArray, backend: Backend) -> None:
    """Copy this rank's part of a dataset to an array."""
    if dataset.shape != array.shape or dataset.dtype != array.array.dtype:
        raise InputError(f"{path}: {dataset.name} has a different shape or type; {REMEDY}")
    host = np.zeros(array.array.shape, array.array.dtype)
    for here, there in array.window:
        is_box = all(isinstance(index, slice) for index in there)
        host[here] = dataset[there] if is_box else dataset[()][there]
    backend.assign(array.array, host)


def _require_header(path: Path, file: h5py.File, expected: Checkpoint) -> None:
    """Check type, version, grid and outputs of a checkpoint."""
    version = {name: attribute(file, name) for name in VERSION}
    if attribute(file, "file_type") != "checkpoint" or version != VERSION:
        raise InputError(f"{path} is not a checkpoint of this version; {REMEDY}")
    cells = tuple(int(file[name][0, 0, 0]) for name in SIZES)
    if cells != expected.cells:
        raise InputError(f"{path} has a grid of {cells} points, not {expected.cells}; {REMEDY}")
    request = attribute(file, "outputs")
    if request != expected.request:
        raise InputError(
            f"{path} was written with the outputs {request}, not {expected.request}; "
            f"choose the same ones, or {REMEDY}"
        )
