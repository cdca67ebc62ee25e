"""Velocities at pressure points, computed from the staggered velocities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Cells, Launch, Source
from groundswell.backends.source import precision
from groundswell.backends.transforms import spectrum_dtype, spectrum_shape
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.propagation import Propagation

KERNELS = Path(__file__).parents[1] / "kernels" / "shift.h"
AXES = "xyz"


class CentredVelocities:
    """Velocities that are shifted by half a cell in the spectrum.

    Attributes:
        arrays: velocity along each axis at pressure points, (nz, ny, nx), m/s.
        launches: launches that compute them from the current velocities.
    """

    def __init__(self, waves: Propagation) -> None:
        self.arrays: list[Array] = [
            waves.backend.zeros(waves.grid.shape, waves.dtype) for _ in waves.axes
        ]
        self.launches = list(self._compose(waves))

    def _compose(self, waves: Propagation) -> Iterator[Launch]:
        backend, shape, dtype = waves.backend, waves.grid.shape, spectrum_dtype(waves.dtype)
        transform = backend.real_transform(shape, waves.dtype)
        spectrum = backend.zeros(spectrum_shape(shape), dtype)
        module = backend.compile(shift_source(waves.dtype, spectrum.shape))
        extent = Cells(*spectrum.shape[::-1])
        for axis in waves.axes:
            factors = backend.to_device(half_cell_back(waves.operators, axis).astype(dtype))
            yield transform.forward(waves.u[axis], spectrum)
            yield module.launch(f"shift_{AXES[axis]}", extent, spectrum, factors)
            yield transform.inverse(spectrum, self.arrays[axis])


def shift_source(dtype: str, shape: tuple[int, ...]) -> Source:
    """The kernels that multiply a spectrum of this shape by factors along an axis."""
    nz, ny, mx = shape
    return Source(KERNELS, precision(dtype), {"NZ": nz, "NY": ny, "MX": mx})


def half_cell_back(operators: SpectralOperators, axis: int) -> NDArray[np.complex128]:
    """Factors exp(-i k d / 2) of a shift by half a cell, with the scale 1 / N, (n,).

    The factor of the highest wavenumber of an even number of points is 0: half a cell further, a
    wave with this wavenumber vanishes at all points.
    """
    k, n = operators.wavenumbers(axis), operators.grid.cells[axis]
    factors = np.exp(-0.5j * k * operators.grid.spacing[axis])
    if n % 2 == 0:
        factors[n // 2] = 0
    return np.asarray(factors / operators.grid.count)
