"""Coefficients, properties and constants that the kernels of the fused step read."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends import Backend, Constant
from groundswell.solvers.ultrasound.device_coefficients import DeviceCoefficients
from groundswell.solvers.ultrasound.device_materials import DeviceMaterials
from groundswell.solvers.ultrasound.line_transforms import Passes
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.window import Window, bell_along

FORWARD_SCALE = 2  # the kernels' forward transforms have twice the usual values


class FusedCoefficients(DeviceCoefficients):
    """Device copies of the coefficients that passes along lines read.

    Args:
        passes: the passes, which determine the order of wavenumbers.
        dtype: floating-point type of the fields.

    Attributes:
        materials: the properties of the medium.
    """

    def __init__(
        self,
        backend: Backend,
        operators: SpectralOperators,
        medium: AcousticMedium,
        passes: Passes,
        dtype: DTypeLike,
    ) -> None:
        super().__init__(backend, dtype, operators.grid.shape)
        self._operators, self._medium, self._passes = operators, medium, passes
        self.materials = DeviceMaterials(self, medium)

    # --- passes along y and z ---------------------------------------------------------------------

    def mode_constants(self) -> dict[str, Constant]:
        """Exponents and factors of the functions of |k|, which use (c_ref |k| dt / 2)^2."""
        operators, power = self._operators, self._medium.power
        unit = 2 / (operators.reference_speed * operators.dt)
        scale = 1 / (FORWARD_SCALE * operators.grid.count)
        largest = sum(float(self._square(axis).max()) for axis in range(3))
        return {
            "SERIES_TERMS": series_terms(largest, float(np.finfo(self.dtype).eps) / 64),
            "SOURCE_SCALE": scale,
            "RATE_EXPONENT": (power - 2) / 2,
            "RATE_SCALE": scale * unit ** (power - 2),
            "DENSITY_EXPONENT": (power - 1) / 2,
            "DENSITY_SCALE": scale * unit ** (power - 1),
        }

    def _square(self, axis: int) -> Floats:
        operators = self._operators
        phase = operators.reference_speed * operators.dt / 2 * operators.wavenumbers(axis)
        return self._passes.in_order(axis, np.square(phase))

    @cached_property
    def squares(self) -> list[DeviceArray]:
        """(c_ref k dt / 2)^2 of each axis."""
        return [self(self._square(axis)) for axis in range(3)]

    def derivatives(self, shift: int) -> list[DeviceArray]:
        """Factors of the derivative along each axis; see `SpectralOperators.derivative`."""
        factors = (self._operators.derivative(axis, shift) / FORWARD_SCALE for axis in range(3))
        return [self(self._passes.in_order(axis, values)) for axis, values in enumerate(factors)]

    # --- passes along x ---------------------------------------------------------------------------

    @cached_property
    def twiddles(self) -> list[DeviceArray]:
        """Twiddle factors of the transforms along each axis."""
        return [self(plan.twiddles()) for plan in self._passes.plans]

    @cached_property
    def roots(self) -> DeviceArray:
        """Roots of unity of the rows, exp(-2 pi i k / nx)."""
        nx = self._operators.grid.cells[0]
        return self(np.exp(-2j * np.pi * np.arange(nx // 4 + 1) / nx))

    @cached_property
    def bells(self) -> list[DeviceArray]:
        """The bell function along each axis."""
        window = self._operators.window or Window.whole_of(self._operators.grid.cells)
        return [self(bell_along(window, axis)) for axis in range(3)]

    @cached_property
    def layers(self) -> list[DeviceArray]:
        """Factors of the absorbing layers along each axis at pressure points."""
        return [self(self._operators.layer(axis, staggered=False)) for axis in range(3)]

    @cached_property
    def staggered_layers(self) -> list[DeviceArray]:
        """The same at the velocity points of each axis."""
        return [self(self._operators.layer(axis, staggered=True)) for axis in range(3)]

    # --- the medium -------------------------------------------------------------------------------

    @property
    def state(self) -> dict[str, DeviceArray]:
        """The coefficients of the equation of state, and the classes of points."""
        return {**self.materials.state, "classes": self.materials.numbers}

    @cached_property
    def density(self) -> DeviceArray:
        """rho_0 at pressure points."""
        return self.materials.density(uniform=self.has_uniform_density)

    @cached_property
    def staggered_densities(self) -> list[DeviceArray]:
        """For each axis, dt / rho_0 at velocity points, or rho_0 if the kernel computes means."""
        if self.takes_means:
            return [self.density] * 3
        uniform, staggered = self.has_uniform_density, self._medium.staggered_density
        values = (self._operators.dt / staggered(axis) for axis in range(3))
        return [self.property(value, uniform=uniform) for value in values]

    @property
    def has_uniform_density(self) -> bool:
        """Whether rho_0 is one number."""
        return np.ndim(self._medium.density) == 0 and self._medium.staggered is None

    @property
    def takes_means(self) -> bool:
        """Whether the density at velocity points is the mean of two pressure points."""
        return np.ndim(self._medium.density) > 0 and self._medium.staggered is None

    # --- arguments of kernels ---------------------------------------------------------------------

    @property
    def of_velocities(self) -> dict[str, DeviceArray]:
        """Those of the update of the velocities."""
        layers = by_axis("layer_", self.staggered_layers)
        density = by_axis("density_", self.staggered_densities)
        return {**layers, **density, "classes": self.materials.numbers}

    @property
    def of_pressure(self) -> dict[str, DeviceArray]:
        """Those of the update of the densities, which may also find the pressure."""
        state = {name: values for name, values in self.state.items() if name != "eta"}
        return {**by_axis("layer_", self.layers), "density": self.density, **state}


def by_axis(prefix: str, arrays: Iterable[DeviceArray]) -> dict[str, DeviceArray]:
    """Arguments of kernels whose names end with x, y and z."""
    return {f"{prefix}{axis}": array for axis, array in zip("xyz", arrays, strict=True)}


def series_terms(square: float, tolerance: float) -> int:
    """Number of terms above a tolerance in the series of sin(x) / x and cos x, for x^2 = square."""
    count, term = 0, 1.0
    while term > tolerance:
        count += 1
        term *= square / ((2 * count - 1) * (2 * count))
    return max(count, 2)
