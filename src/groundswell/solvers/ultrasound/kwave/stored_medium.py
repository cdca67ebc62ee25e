"""The medium and the initial pressure of an input file, of which each rank reads its part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import HostArray
from groundswell.formats.damage import read_errors_reported
from groundswell.grids.cartesian import Triple
from groundswell.solvers.ultrasound.absorption import nepers
from groundswell.solvers.ultrasound.media.plane import Plane
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.window import Window

KIND = "k-Wave input"  # what a file should be, for messages
SLAB = 2**22  # values that are read at a time


@dataclass(frozen=True)
class StoredField:
    """Values of all points of a grid in an input file.

    Args:
        path: the file.
        name: the dataset, which has as many values as the grid.
        shape: of the grid, (nz, ny, nx).
    """

    path: Path
    name: str
    shape: Triple

    def within(self, window: Window) -> NDArray[np.float32]:
        """The values at the points of a window, (nz, ny, nx)."""
        z, y, x = (window.runs(axis) for axis in (2, 1, 0))
        with read_errors_reported(self.path, KIND), h5py.File(self.path, locking=False) as file:
            values = in_shape(file[self.name], self.shape)
            return np.block([[[values[a, b, c] for c in x] for b in y] for a in z])


Stored = float | StoredField


def in_shape(dataset: h5py.Dataset, shape: Triple) -> h5py.Dataset | HostArray:
    """A dataset, or its values in the shape of the grid if it has another one."""
    return dataset if dataset.shape == shape else dataset[()].reshape(shape)


def slabs(planes: range, shape: Triple) -> Iterator[slice]:
    """Slices of planes that together have about SLAB values."""
    count = max(1, SLAB // (shape[1] * shape[2]))
    for first in range(planes.start, planes.stop, count):
        yield slice(first, min(first + count, planes.stop))


@dataclass(frozen=True)
class StoredMedium:
    """The medium of an input file.

    Args:
        speed, density, nonlinearity: see `AcousticMedium`.
        coefficient: of the absorption, dB / (MHz^power cm).
        staggered: densities at the velocity points of each axis, kg/m^3.
        power: exponent of the absorption.
        nonlinear: whether the equations are nonlinear.
    """

    speed: Stored
    density: Stored
    coefficient: Stored
    nonlinearity: Stored
    staggered: Sequence[Stored]
    power: float
    nonlinear: bool

    def within(self, window: Window, *, lossy: bool) -> AcousticMedium:
        """The medium at the points of a window; `lossy` if the whole medium has losses."""
        return AcousticMedium(
            speed=values_of(self.speed, window),
            density=values_of(self.density, window),
            absorption=_absorption(values_of(self.coefficient, window), self.power),
            power=self.power,
            nonlinearity=values_of(self.nonlinearity, window),
            staggered=[values_of(values, window) for values in self.staggered],
            nonlinear=self.nonlinear,
            lossy=lossy,
        )

    def plane(self, found: Mapping[str, NDArray[np.float32]], shape: tuple[int, int]) -> Plane:
        """A plane of the properties, given the values of those that vary, by dataset."""
        coefficient = _of_plane(self.coefficient, found)
        values = {
            "speed": _of_plane(self.speed, found),
            "density": _of_plane(self.density, found),
            "absorption": _absorption(coefficient, self.power),
            "nonlinearity": _of_plane(self.nonlinearity, found),
        }
        return Plane(values, shape, "float32")


def values_of(stored: Stored, window: Window) -> float | NDArray[np.float32]:
    """A number, or the values at the points of a window."""
    return stored.within(window) if isinstance(stored, StoredField) else stored


def _of_plane(stored: Stored, found: Mapping[str, NDArray[np.float32]]) -> object:
    return found[stored.name] if isinstance(stored, StoredField) else stored


def _absorption(coefficient: Any, power: float) -> Any:
    """Absorption, Np (rad/s)^-power / m."""
    found = nepers(coefficient, power)
    return found if np.ndim(found) else float(found)
