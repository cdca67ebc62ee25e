"""Velocities at pressure points, computed from the staggered velocities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from groundswell.arrays import Complexes, DeviceArray
from groundswell.backends import Cells, Launch, Source
from groundswell.backends.source import precision
from groundswell.backends.transforms import spectrum_dtype, spectrum_shape
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.propagation import Propagation
from groundswell.solvers.ultrasound.window import Window, bell_along

KERNELS = Path(__file__).parents[1] / "kernels" / "shift.h"
AXES = "xyz"


class CentredVelocities:
    """Velocities that are shifted by half a cell in the spectrum.

    Args:
        waves: the velocities, whose overlaps hold values of neighbouring ranks.
        window: the points of this rank.

    Attributes:
        arrays: velocity along each axis at pressure points, (nz, ny, nx), m/s.
        launches: launches that compute them from the current velocities.
    """

    def __init__(self, waves: Propagation, window: Window) -> None:
        self.arrays: list[DeviceArray] = [
            waves.backend.zeros(waves.grid.shape, waves.dtype) for _ in waves.axes
        ]
        self.launches = list(self._compose(waves, window))

    def _compose(self, waves: Propagation, window: Window) -> Iterator[Launch]:
        backend, shape, dtype = waves.backend, waves.grid.shape, spectrum_dtype(waves.dtype)
        transform = backend.real_transform(shape, waves.dtype)
        spectrum = backend.zeros(spectrum_shape(shape), dtype)
        module = backend.compile(shift_source(waves.dtype, shape))
        points, modes = Cells(*shape[::-1]), Cells(*spectrum.shape[::-1])
        for axis in waves.axes:
            if window.overlap[axis]:
                bell = backend.to_device(bell_along(window, axis).astype(waves.dtype))
                yield module.launch(f"taper_{AXES[axis]}", points, waves.u[axis], bell)
            factors = backend.to_device(half_cell_back(waves.operators, axis).astype(dtype))
            yield transform.forward(waves.u[axis], spectrum)
            yield module.launch(f"shift_{AXES[axis]}", modes, spectrum, factors)
            yield transform.inverse(spectrum, self.arrays[axis])


def shift_source(dtype: str, shape: tuple[int, ...]) -> Source:
    """The kernels that multiply fields of a shape, and their spectra, by factors along an axis."""
    nz, ny, nx = shape
    sizes = {"NZ": nz, "NY": ny, "NX": nx, "MX": spectrum_shape(shape)[2]}
    return Source(KERNELS, precision(dtype), sizes)


def half_cell_back(operators: SpectralOperators, axis: int) -> Complexes:
    """Factors exp(-i k d / 2) of a shift by half a cell, with the scale 1 / N, (n,).

    The factor of the highest wavenumber of an even number of points is 0: half a cell further, a
    wave with this wavenumber vanishes at all points.
    """
    k, n = operators.wavenumbers(axis), operators.grid.cells[axis]
    factors = np.exp(-0.5j * k * operators.grid.spacing[axis])
    if n % 2 == 0:
        factors[n // 2] = 0
    return np.asarray(factors / operators.grid.count)
