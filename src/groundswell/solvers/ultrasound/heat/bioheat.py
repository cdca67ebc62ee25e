"""Pennes' bioheat equation on a grid, in time steps.

rho C dT/dt = div(k grad T) - w_b C_b (T - T_a) + Q (Pennes 1948, J. Appl. Physiol. 1, 93-122), for
the rise of the temperature above that of blood. No heat flows through the sides of the grid, which
lie half a spacing beyond the outermost points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends import Backend
from groundswell.solvers.ultrasound.heat.tissue import Coefficients


class Bioheat(Protocol):
    """A method that advances the rise of the temperature on a device, in `Backend.arithmetic`.

    Attributes:
        rise: the rise of the temperature, (z, y, x), K; the next step may overwrite it.
    """

    rise: DeviceArray

    def advance(self, seconds: float, heating: float) -> DeviceArray:
        """Advance in one step; returns `rise`.

        Args:
            heating: factor of the heating rate.
        """


def bioheat(
    coefficients: Coefficients, rate: Floats, spacing: Sequence[float], backend: Backend
) -> Bioheat:
    """The method for a medium: `SpectralBioheat` if it is uniform, else `SplitBioheat`.

    Args:
        coefficients: those of Pennes' equation.
        rate: heating rate Q, (z, y, x), W/m^3.
        spacing: distance of points along z, y and x, m.
        backend: the device.
    """
    kind = SpectralBioheat if coefficients.are_uniform else SplitBioheat
    return kind(coefficients, rate, spacing, backend)


class SpectralBioheat:
    """A uniform medium, exactly in time: each cosine mode decays, and the source is integrated.

    T <- exp(-(D k^2 + P) t) T + (1 - exp(-(D k^2 + P) t)) / (D k^2 + P) Q / (rho C), with
    D = k / (rho C), for the coefficients of the cosine transform (type 2) of T and Q. Its modes
    have no flux through the sides. See `bioheat` for the arguments.
    """

    def __init__(
        self, coefficients: Coefficients, rate: Floats, spacing: Sequence[float], backend: Backend
    ) -> None:
        diffusivity = float(coefficients.conductivity / coefficients.capacity)
        along_z, along_y, along_x = (
            backend.to_device(diffusivity * (np.pi * np.arange(n) / (n * h)) ** 2)
            for n, h in zip(rate.shape, spacing, strict=True)
        )
        sums = along_z[:, None, None] + along_y[:, None] + along_x
        self._decay = sums + float(coefficients.cooling)
        self._transform = backend.cosine_transform()
        rates = backend.to_device(rate / float(coefficients.capacity))
        self.rise, self._source = np.zeros_like(rates), self._transform.forward(rates)
        self._modes = np.zeros_like(self._source)

    def start(self, rise: DeviceArray) -> None:
        """Start from a rise of the temperature, (z, y, x), K, instead of 0."""
        self.rise, self._modes = rise, self._transform.forward(rise)

    def advance(self, seconds: float, heating: float) -> DeviceArray:
        """Advance in one step; see `Bioheat`."""
        self._modes *= np.exp(-self._decay * seconds)
        if heating:
            self._modes += heating * _accumulated(self._decay, seconds) * self._source
        self.rise = self._transform.inverse(self._modes)
        return self.rise


class SplitBioheat:
    """A medium whose properties vary, by operator splitting of second order in time.

    A step makes half a step of the perfusion and the source, which is exact, half a step of
    diffusion along x and along y, a step along z, and the halves in reverse (Strang 1968, SIAM J.
    Numer. Anal. 5, 506-517). Diffusion along an axis is a step of Crank & Nicolson on finite
    volumes, with the harmonic mean of the conductivities of two points between them, so that heat
    is conserved and may flow through sharp boundaries. Steps of any length are stable. See
    `bioheat` for the arguments.
    """

    def __init__(
        self, coefficients: Coefficients, rate: Floats, spacing: Sequence[float], backend: Backend
    ) -> None:
        conductivity, capacity, cooling = map(backend.to_device, coefficients)
        self._cooling, self._source = cooling, backend.to_device(rate) / capacity
        self.rise = np.zeros_like(self._source)
        k, c = (np.broadcast_to(each, rate.shape) for each in (conductivity, capacity))
        self._lines = [_LineDiffusion(k, c, axis, h) for axis, h in enumerate(spacing)]

    def start(self, rise: DeviceArray) -> None:
        """Start from a rise of the temperature, (z, y, x), K, instead of 0."""
        self.rise = rise.copy()

    def advance(self, seconds: float, heating: float) -> DeviceArray:
        """Advance in one step; see `Bioheat`."""
        self._react(seconds / 2, heating)
        for axis, share in ((2, 0.5), (1, 0.5), (0, 1.0), (1, 0.5), (2, 0.5)):
            self._lines[axis].advance(self.rise, share * seconds)
        self._react(seconds / 2, heating)
        return self.rise

    def _react(self, seconds: float, heating: float) -> None:
        """Perfusion and the source."""
        self.rise *= np.exp(-self._cooling * seconds)
        if heating:
            self.rise += heating * _accumulated(self._cooling, seconds) * self._source


class _LineDiffusion:
    """Diffusion along one axis.

    Args:
        conductivity, capacity: at the points, (z, y, x).
        axis: the axis of the array.
        spacing: distance of points along it, m.
    """

    def __init__(
        self, conductivity: DeviceArray, capacity: DeviceArray, axis: int, spacing: float
    ) -> None:
        self._axis = axis
        along = np.moveaxis(conductivity, axis, 0)
        sums = along[1:] + along[:-1]
        means = 2 * along[1:] * along[:-1] / np.where(sums > 0, sums, 1.0)
        self._flow = means / spacing**2  # between each point and the next one
        self._capacity = np.moveaxis(capacity, axis, 0)

    def advance(self, rise: DeviceArray, seconds: float) -> None:
        """Make a step of Crank & Nicolson in place."""
        values = np.moveaxis(rise, self._axis, 0)
        if len(values) == 1:
            return
        flow, weight = self._flow * (seconds / 2), self._capacity
        flux = flow * np.diff(values, axis=0)
        right = weight * values
        right[:-1] += flux
        right[1:] -= flux
        diagonal = weight.copy()
        diagonal[:-1] += flow
        diagonal[1:] += flow
        values[:] = solve_tridiagonal(diagonal, -flow, right)


def solve_tridiagonal(
    diagonal: DeviceArray, beside: DeviceArray, right: DeviceArray
) -> DeviceArray:
    """Solutions along the first axis of symmetric, diagonally dominant tridiagonal systems.

    Args:
        diagonal, right: (n, ...); they are overwritten.
        beside: what is beside the diagonal, (n - 1, ...).
    """
    for n in range(1, len(diagonal)):
        factor = beside[n - 1] / diagonal[n - 1]
        diagonal[n] -= factor * beside[n - 1]
        right[n] -= factor * right[n - 1]
    right[-1] /= diagonal[-1]
    for n in range(len(diagonal) - 2, -1, -1):
        right[n] = (right[n] - beside[n] * right[n + 1]) / diagonal[n]
    return right


def _accumulated(decay: DeviceArray, seconds: float) -> DeviceArray:
    """The integral of exp(-decay t) from 0 to a time, s."""
    safe = np.where(decay > 0, decay, 1.0)
    return np.where(decay > 0, -np.expm1(-safe * seconds) / safe, seconds)
