"""The local Fourier basis: its error relative to transforms of the whole grid, by overlap."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.grids.cartesian import Grid, Triple
from groundswell.solvers.ultrasound.absorption import nepers
from groundswell.solvers.ultrasound.medium import AcousticMedium, medium_of
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.propagation import Propagation
from groundswell.solvers.ultrasound.verification.blocks import Blocks
from groundswell.solvers.ultrasound.verification.simulation import ACROSS, DENSITY, SPEED
from groundswell.solvers.ultrasound.window import Window, overlap_for
from groundswell.verify import Check

SPACING, COURANT = 1e-3, 0.3  # m
DT = COURANT * SPACING / SPEED


def _torus(
    backend: Backend, cells: Triple, blocks: Triple, overlap: int, medium: AcousticMedium
) -> Blocks:
    """A periodic grid divided into equal blocks.

    Args:
        cells: number of points of the grid (x, y, z).
        blocks: number of blocks along each axis.
        overlap: points of overlap along the axes that are divided.
    """
    windows = list(_windows(cells, blocks, overlap))
    return Blocks(backend, [(window, _propagation(backend, window, medium)) for window in windows])


def _windows(cells: Triple, blocks: Triple, overlap: int) -> Iterator[Window]:
    """The windows of equal blocks."""
    nx, ny, nz = (n // count for n, count in zip(cells, blocks, strict=True))
    x, y, z = (overlap if count > 1 else 0 for count in blocks)
    for i, j, k in product(*map(range, blocks)):
        yield Window(cells, (i * nx, j * ny, k * nz), (nx, ny, nz), (x, y, z))


def _propagation(backend: Backend, window: Window, medium: AcousticMedium) -> Propagation:
    grid = Grid(window.extended, (SPACING,) * 3)
    operators = SpectralOperators(grid, DT, float(np.max(medium.speed)), window=window)
    return Propagation(backend, operators, medium_of(medium, window), "float64")


def _error(blocks: Blocks, whole: Blocks, pressure: Floats, steps: int) -> float:
    """Largest difference of the pressure after some steps, relative to the largest pressure."""
    for each in (blocks, whole):
        each.start(pressure)
        for _ in range(steps):
            each.step()
    found, exact = blocks.pressure, whole.pressure
    return float(np.abs(found - exact).max() / np.abs(exact).max())


# --- pulses along x -------------------------------------------------------------------------------

# Error of two pulses that cross 8 interfaces each, by points per wavelength and overlap. From an
# independent one-dimensional program, with the best parameter of the bell function for each.
INDEPENDENT = {4: {4: 6.7e-3, 8: 1.1e-3, 16: 4.0e-5}, 6: {4: 3.6e-3, 8: 2.6e-4, 16: 3.3e-6}}


def accuracy(backend: Backend, full: bool) -> Iterator[Check]:
    """Pulses in a lossless medium: errors are at most twice those of the best bell functions.

    Errors grow with the number of interfaces that a pulse crosses: 8 with `full`, 2 otherwise.
    """
    medium = AcousticMedium(SPEED, DENSITY)
    for per_wavelength in (4, 6) if full else (4,):
        for overlap, best in INDEPENDENT[per_wavelength].items():
            limit = 2 * best * (1.0 if full else 0.25)
            error = _pulses(backend, full, per_wavelength, overlap, medium)
            name = f"{per_wavelength} points per wavelength, overlap {overlap}: error"
            yield Check.at_most(name, error, limit)


# Allowed errors by power of the absorption and overlap: about twice the errors found. The smaller
# the power, the less local the operators.
ABSORBING = {1.1: {8: 1.5e-2, 16: 4e-4}, 1.5: {8: 2e-3, 16: 5e-5}, 1.9: {8: 1e-3, 16: 3e-5}}


def absorption(backend: Backend, full: bool) -> Iterator[Check]:
    """Pulses in media with power-law absorption, whose operators are not local."""
    for power in ABSORBING if full else (1.5,):
        medium = AcousticMedium(SPEED, DENSITY, float(nepers(0.5, power)), power)
        for overlap, limit in ABSORBING[power].items():
            error = _pulses(backend, False, 4, overlap, medium)
            name = f"absorption, y = {power:g}, overlap {overlap}: error"
            yield Check.at_most(name, error, limit)


def _pulses(
    backend: Backend, full: bool, per_wavelength: int, overlap: int, medium: AcousticMedium
) -> float:
    """Error of a pulse that splits into two, each of which crosses 8 or 2 interfaces."""
    count, size, laps = (8, 128, 1.0) if full else (4, 64, 0.5)
    n = count * size
    x = np.arange(n) - (n + size) / 2
    envelope = np.exp(-0.5 * (x / (1.5 * per_wavelength)) ** 2)
    pulse = envelope * np.cos(2 * np.pi * x / per_wavelength)
    cells = (n, ACROSS, 1)
    blocks = _torus(backend, cells, (count, 1, 1), overlap, medium)
    whole = _torus(backend, cells, (1, 1, 1), 0, medium)
    return _error(blocks, whole, np.tile(pulse, (1, ACROSS, 1)), round(laps * n / COURANT))


# --- a ball ---------------------------------------------------------------------------------------


def torus(backend: Backend, full: bool) -> Iterator[Check]:
    """A ball of pressure in a periodic grid that is divided along several axes.

    The spectrum of the ball falls to 6 % of its largest value at 4 points per wavelength.
    """
    cells, blocks = ((64, 60, 56), (2, 2, 2)) if full else ((40, 36, 16), (2, 2, 1))
    steps, medium = 120 if full else 60, AcousticMedium(SPEED, DENSITY)
    x, y, z = (np.arange(n) - 0.53 * n for n in cells)
    ball = np.exp(-(z[:, None, None] ** 2 + y[:, None] ** 2 + x**2) / (2 * 1.5**2))
    whole = _torus(backend, cells, (1, 1, 1), 0, medium)
    limits = {4: 1e-2, 8: 1.2e-3, overlap_for(1e-3): 1e-4}
    for overlap, limit in limits.items():
        divided = _torus(backend, cells, blocks, overlap, medium)
        error = _error(divided, whole, ball, steps)
        yield Check.at_most(f"ball in a torus, overlap {overlap}: error", error, limit)
