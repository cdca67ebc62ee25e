"""Error of one interface between two blocks, by overlap and shape of the bell function.

A wave packet crosses from one block of a line into the next. The error is the largest difference
between its pressure and that of the same scheme with transforms of the whole line, divided by the
largest pressure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from groundswell.arrays import Complexes, Floats
from groundswell.bench.tables import Row
from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.window import bell, bell_shape

POINTS = 192  # of a block
WIDTH = 12.0  # standard deviation of the packet, points
DT = 0.3  # Courant number: speed, density and spacing are 1
STEPS = ceil(POINTS / DT)  # from the middle of a block to that of the next
SHAPES = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)

# Largest errors after 8 interfaces with the best shape of the bell for each, by points per
# wavelength and overlap; from a separate program, with a shorter pulse.
EIGHT_INTERFACES = {
    4.0: {2: 5.9e-2, 4: 6.7e-3, 8: 1.1e-3, 12: 1.6e-4, 16: 4.0e-5, 24: 3.1e-6, 32: 2.5e-7},
    3.0: {2: 2.2e-1, 4: 2.5e-2, 8: 7.1e-3, 12: 1.9e-3, 16: 1.1e-3, 24: 1.6e-4, 32: 4.0e-5},
    6.0: {2: 1.1e-2, 4: 3.6e-3, 8: 2.6e-4, 12: 2.6e-5, 16: 3.3e-6, 24: 9.5e-8, 32: 3.0e-9},
}


def measure_errors(cases: Sequence[tuple[float, Sequence[int]]]) -> Iterator[Row]:
    """Measure the error of a wave packet that crosses an interface.

    Args:
        cases: points per wavelength, and overlaps.

    Yields:
        Rows: `points_per_wavelength`, `overlap`, `errors` by shape of the bell, and the `shape`
        that the solver uses with its `error`.
    """
    for per_wavelength, overlaps in cases:
        wanted = _pressure_after(Blocks(POINTS, 2), per_wavelength).reshape(-1)
        for overlap in overlaps:
            shape = bell_shape(overlap)
            bells = np.stack([bell(overlap, each) for each in (shape, *SHAPES)])
            found = _pressure_after(Blocks(POINTS, 2, bells), per_wavelength)
            difference = np.abs(found.reshape(len(bells), -1) - wanted).max(axis=1)
            error, *errors = (difference / np.abs(wanted).max()).tolist()
            yield {
                "points_per_wavelength": per_wavelength,
                "overlap": overlap,
                "errors": dict(zip(map(str, SHAPES), errors, strict=True)),
                "shape": shape,
                "error": error,
            }


@dataclass(frozen=True)
class Blocks:
    """A periodic line of blocks, transformed one by one, or all together if there are no bells.

    Args:
        points: number of points of a block.
        count: number of blocks.
        bells: bell functions to compare, (bells, overlap).
    """

    points: int
    count: int
    bells: Floats | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of bells, of transforms, and of points of a transform without its overlaps."""
        if self.bells is None:
            return 1, 1, self.count * self.points
        return len(self.bells), self.count, self.points

    @property
    def overlap(self) -> int:
        """Number of points on either side of a block."""
        return 0 if self.bells is None else self.bells.shape[1]

    def factors(self, shift: int) -> Complexes:
        """Factors of a derivative's spectrum; see `SpectralOperators.derivative`."""
        grid = Grid((self.shape[2] + 2 * self.overlap, 1, 1), (1.0, 1.0, 1.0))
        operators = SpectralOperators(grid, DT, 1.0)
        return operators.derivative(0, shift) * operators.kappa()[0, 0]

    def derivative(self, values: Floats, factors: Complexes) -> Floats:
        """Derivative in all blocks, (bells, blocks, points)."""
        extended = self._extend(values)
        spectrum = np.fft.rfft(extended) * factors
        whole = np.fft.irfft(spectrum, extended.shape[-1], norm="forward")
        return whole[..., self.overlap : self.overlap + self.shape[2]]

    def _extend(self, values: Floats) -> Floats:
        """Blocks with their neighbours' values times the bell on both sides."""
        if self.bells is None:
            return values
        before, after = np.roll(values, 1, axis=1), np.roll(values, -1, axis=1)
        low = before[..., -self.overlap :] * self.bells[:, None, ::-1]
        high = after[..., : self.overlap] * self.bells[:, None]
        return np.concatenate([low, values, high], axis=-1)


def _pressure_after(blocks: Blocks, per_wavelength: float) -> Floats:
    """Pressure after the packet has crossed, (bells, blocks, points)."""
    x = np.arange(blocks.points * blocks.count, dtype=float)
    p, u = (
        np.broadcast_to(_packet(places, per_wavelength).reshape(blocks.shape[1:]), blocks.shape)
        for places in (x, x + 0.5 + DT / 2)  # the velocity is half a cell and half a step away
    )
    to_velocity, to_pressure = blocks.factors(1), blocks.factors(-1)
    for _ in range(STEPS):
        u = u - DT * blocks.derivative(p, to_velocity)
        p = p - DT * blocks.derivative(u, to_pressure)
    return p


def _packet(x: Floats, per_wavelength: float) -> Floats:
    """A packet in the middle of the first block; pressure and velocity of a wave along x."""
    place = x - POINTS / 2
    envelope = np.exp(-((place / WIDTH) ** 2) / 2)
    return np.asarray(envelope * np.cos(2 * np.pi / per_wavelength * place))
