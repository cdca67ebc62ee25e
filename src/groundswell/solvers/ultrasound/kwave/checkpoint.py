"""Checkpoint files: the fields after a step, running statistics, and the options of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from groundswell.backends import Backend
from groundswell.errors import InputError
from groundswell.formats.atomic import atomic_write
from groundswell.formats.damage import read_errors_reported
from groundswell.grids.cartesian import Triple
from groundswell.solvers.ultrasound.kwave.datasets import attribute, create_reserved, set_attributes
from groundswell.solvers.ultrasound.kwave.output_file import STEP, VERSION, header, scalar_layout

SIZES = ("Nx", "Ny", "Nz")
REMEDY = "delete it and start the simulation again"


@dataclass(frozen=True)
class Checkpoint:
    """The state of an unfinished simulation.

    Args:
        cells: grid points along (x, y, z).
        steps: number of steps made.
        request: the options on which outputs depend, as text.
        arrays: fields and statistics by name, on the device or the host.
    """

    cells: Triple
    steps: int
    request: str
    arrays: Mapping[str, Any]


def write_checkpoint(path: Path, checkpoint: Checkpoint, backend: Backend) -> None:
    """Write a checkpoint; an older one is kept until the new one is complete.

    Raises:
        DiskFull: the disk is full.
    """
    numbers = (*checkpoint.cells, checkpoint.steps)
    scalars = {name: np.uint64(value) for name, value in zip((*SIZES, STEP), numbers, strict=True)}
    layout = {name: (array.shape, array.dtype) for name, array in checkpoint.arrays.items()}
    with (
        atomic_write(path) as part,
        create_reserved(part, {**scalar_layout(scalars), **layout}) as file,
    ):
        set_attributes(file, {**header("checkpoint"), "outputs": checkpoint.request})
        for name, value in scalars.items():
            file[name][...] = value
        for name, array in checkpoint.arrays.items():
            file[name][...] = backend.to_host(array)


def read_checkpoint(path: Path, expected: Checkpoint) -> Checkpoint:
    """Read a checkpoint.

    Args:
        expected: a checkpoint with the sizes, options and arrays that the file must have.

    Returns:
        The checkpoint, with arrays on the host.

    Raises:
        InputError: the file is damaged or belongs to another simulation.
    """
    with read_errors_reported(path, "a checkpoint", REMEDY), h5py.File(path, locking=False) as file:
        _require_header(path, file, expected)
        arrays = {name: file[name][()] for name in expected.arrays}
        steps = int(file[STEP][0, 0, 0])
    for name, array in expected.arrays.items():
        if arrays[name].shape != array.shape or arrays[name].dtype != array.dtype:
            raise InputError(f"{path}: {name} has a different shape or type; {REMEDY}")
    return Checkpoint(expected.cells, steps, expected.request, arrays)


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
