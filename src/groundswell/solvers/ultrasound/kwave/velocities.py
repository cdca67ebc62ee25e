"""Velocities at pressure points, from those half a cell further along their axes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Launch
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.propagation import Propagation


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
        for axis in waves.axes:
            factors = half_cell_back(waves.operators, axis)
            yield from waves.filter_along(axis, factors, waves.u[axis], self.arrays[axis])


def half_cell_back(operators: SpectralOperators, axis: int) -> NDArray[np.complex128]:
    """Factors exp(-i k d / 2) of a shift by half a cell, with the scale 1 / N, (n,).

    The highest wavenumber of an even number of points is left out: it has no imaginary part.
    """
    k, n = operators.wavenumbers(axis), operators.grid.cells[axis]
    factors = np.exp(-0.5j * k * operators.grid.spacing[axis])
    if n % 2 == 0:
        factors[n // 2] = 0
    return np.asarray(factors / operators.grid.count)
