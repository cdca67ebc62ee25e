"""The k-space pseudospectral scheme: its fields, and a step as a list of launches.

Pressure p and the density rho are at pressure points and times n dt; the velocities u are at points
half a cell further along their axis, and half a step earlier. Density and velocity are split along
the axes for the perfectly matched layers (Tabei, Mast & Waag 2002, J. Acoust. Soc. Am. 111, 53-63;
Treeby, Jaros, Rendell & Cox 2012, J. Acoust. Soc. Am. 131, 4324-4336).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.grids.cartesian import Triple
from groundswell.solvers.ultrasound.fields import Fields, FillOverlaps
from groundswell.solvers.ultrasound.fused import FusedStep
from groundswell.solvers.ultrasound.line_transforms import fits
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.point_source import Injection, PointSource
from groundswell.solvers.ultrasound.spectral_step import SpectralStep


def can_fuse(backend: Backend, shape: Triple, dtype: str) -> bool:
    """Whether a device can make the fused step of fields of this shape (nz, ny, nx)."""
    return not backend.on_host and fits(shape, dtype, backend.shared_bytes_per_block)


class Propagation:
    """Fields of a medium and their step.

    Args:
        backend: the device.
        operators: operators of the grid and the time step. A grid of one cell along z is
            two-dimensional.
        medium: the medium.
        dtype: floating-point type.
        sources: time-dependent sources.
        fused: whether to use the fused step where the device and the grid allow it. All ranks of a
            run must use the same step.
    Attributes:
        p: pressure, (nz, ny, nx), Pa.
        u: velocity along each axis, m/s.
        rho: density split along the axes, kg/m^3.
        clock: number of steps made, on the device, (1,).
    """

    def __init__(
        self,
        backend: Backend,
        operators: SpectralOperators,
        medium: AcousticMedium,
        dtype: str = "float32",
        sources: Sequence[PointSource] = (),
        fused: bool = True,
    ) -> None:
        self.backend, self.operators, self.medium = backend, operators, medium
        self.dtype, self.grid = dtype, operators.grid
        self.axes = range(3 if self.grid.cells[2] > 1 else 2)
        self.p = self._zeros()
        self.u, self.rho = ([self._zeros() for _ in self.axes] for _ in range(2))
        self._inject = Injection(backend, dtype)
        self.clock = self._inject.clock
        fused = fused and can_fuse(backend, self.grid.shape, dtype)
        step = FusedStep if fused else SpectralStep
        fields = Fields(self.p, self.u, self.rho)
        self._scheme = step(backend, operators, medium, fields, sources, self._inject)
        self.launches = [*self._scheme.launches, self._inject.advance]

    def set_exchange(self, fill_overlaps: FillOverlaps) -> None:
        """Compose the step with an exchange between ranks."""
        self._scheme.set_exchange(fill_overlaps)
        self.launches = [*self._scheme.launches, self._inject.advance]

    # --- starting ---------------------------------------------------------------------------------

    def start_at_rest(self) -> None:
        """Set all fields and the clock to zero."""
        for array in (self.p, *self.u, *self.rho, self.clock):
            self.backend.assign(array, np.zeros(1, array.dtype))
        self.prepare()

    def start(self, pressure: ArrayLike) -> None:
        """Set the initial pressure of a fluid at rest, (nz, ny, nx), Pa.

        Velocities are half a step earlier, so they result from half a step backwards in time.
        """
        values = np.broadcast_to(np.asarray(pressure, float), self.grid.shape)
        density = values / (len(self.axes) * np.square(self.medium.speed))
        self.backend.assign(self.p, values.astype(self.dtype))
        self.backend.assign(self.clock, np.zeros(1, np.int64))
        for rho in self.rho:
            self.backend.assign(rho, density.astype(self.dtype))
        in_order(self._scheme.differentiate)()
        for axis, u in enumerate(self.u):
            weight = self.operators.dt / (2 * np.asarray(self.medium.staggered_density(axis)))
            self.backend.assign(u, (weight * self.backend.to_host(u)).astype(self.dtype))
        self.prepare()

    def prepare(self) -> None:
        """Enqueue the launches that must precede a step if something else has set the pressure."""
        if isinstance(self._scheme, FusedStep):
            in_order(self._scheme.begin)()

    def step(self) -> None:
        """Enqueue a step."""
        in_order(self.launches)()

    def _zeros(self) -> DeviceArray:
        return self.backend.zeros(self.grid.shape, self.dtype)
