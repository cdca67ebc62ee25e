"""The fused step of the k-space scheme for GPUs: passes along lines of the grid.

A pass transforms all lines of one axis in shared memory, and also does other work on the values
before it writes them back. Passes along x update the fields at points, and passes along z multiply
the spectra by operators (kernels/rows.h and planes.h). A pass therefore reads and writes each of
its arrays once. A step starts from the spectrum of p along x, which the previous step has left.

In a window with overlaps, a step updates only the rows of the block. It updates the rows that
neighbours need first, so that the exchange runs during the update of the others. It transforms rows
that contain values of neighbours after the exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Constant, Launch
from groundswell.backends.source import precision
from groundswell.backends.transforms import spectrum_dtype
from groundswell.solvers.ultrasound.absorption import STOKES
from groundswell.solvers.ultrasound.fields import (
    AXES,
    TO_PRESSURE,
    TO_VELOCITY,
    Fields,
    FillOverlaps,
    without_overlaps,
)
from groundswell.solvers.ultrasound.fused_coefficients import FusedCoefficients, by_axis
from groundswell.solvers.ultrasound.fused_launches import Kind, LinePasses
from groundswell.solvers.ultrasound.fused_sources import FusedSources, SeparatedSources
from groundswell.solvers.ultrasound.line_transforms import Passes
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.point_source import Injection, PointSource
from groundswell.solvers.ultrasound.rows import WindowRows
from groundswell.solvers.ultrasound.window import Window

ArrayAndSpectrum = tuple[DeviceArray, DeviceArray]  # an array and its spectrum along x


class FusedStep:
    """A step on a grid, or on a window of it, for which `supports` is true.

    Args:
        backend: a GPU.
        operators: operators of the grid and the time step.
        medium: the medium.
        fields: the fields, which the step updates.
        sources: time-dependent sources.
        inject: see `Injection`.

    Attributes:
        launches: the launches of a step, without the one that advances the clock.
        differentiate: launches that write the derivatives of p at velocity points to u.
        begin: launches that must run before the first step and after every change of p.
    """

    def __init__(
        self,
        backend: Backend,
        operators: SpectralOperators,
        medium: AcousticMedium,
        fields: Fields,
        sources: Sequence[PointSource],
        inject: Injection,
    ) -> None:
        self._backend, self._operators, self._medium = backend, operators, medium
        self._fields, self._dtype = fields, np.dtype(fields.p.dtype)
        self._separated = SeparatedSources.of(sources, self._dtype)
        self._rows = WindowRows.of(operators.window or Window.whole_of(operators.grid.cells))
        self._plan = Passes.of(operators.grid.shape, self._dtype, self._rows.divisor)
        self._coefficients = FusedCoefficients(backend, operators, medium, self._plan, self._dtype)
        found = self._coefficients
        self._passes = LinePasses(backend, self._plan, self._rows, found, self._constants)
        _ = found.state, found.density  # threads compute them while kernels compile
        count = self._plan.spectrum_values
        self._spectra = [backend.zeros((count,), spectrum_dtype(self._dtype)) for _ in AXES]
        self._sources = FusedSources(
            backend, self._separated, inject, self._passes, fields, self._spectra
        )
        self._u_sources, self._p_sources = (
            self._sources.term_arguments(kind, self._coefficients) for kind in "up"
        )
        self.set_exchange(without_overlaps)

    def set_exchange(self, fill_overlaps: FillOverlaps) -> None:
        """Compose the step with an exchange between ranks."""
        self._fill_overlaps = fill_overlaps
        pair = self._fields.p, self._spectra[0]
        self.begin = [*fill_overlaps([self._fields.p]), *self._passes.forward_all(*pair)]
        self.differentiate = [*self.begin, *self._gradient(), *self._gradients_to_velocities()]
        self.launches = list(self._compose())

    # --- the step ---------------------------------------------------------------------------------

    def _compose(self) -> Iterator[Launch]:
        """Launches of a step: velocity, velocity sources, density, pressure sources, pressure."""
        yield from self._gradient()
        pairs = list(zip(self._fields.u, self._spectra, strict=True))
        sources = self._sources.launches_of("u")
        deferred = [pairs[axis] for axis in self._separated.axes]
        yield from self._exchanged(self._accelerate, pairs, sources, deferred)
        yield from self._divergence()
        if self._fractional:
            yield from self._exchanged(self._compress, self._losses, self._density_sources())
            yield from self._fractional_laplacians()
        elif not self._state_follows:
            yield from [*self._compress("own"), *self._sources.launches_of("p")]
        find_pressure = self._compress if self._state_follows else self._find_pressure
        yield from self._exchanged(find_pressure, [(self._fields.p, self._spectra[0])])

    def _exchanged(
        self,
        update: Callable[[Kind], list[Launch]],
        pairs: Sequence[ArrayAndSpectrum],
        sources: Sequence[Launch] = (),
        deferred: Sequence[ArrayAndSpectrum] = (),
    ) -> Iterator[Launch]:
        """Launches that update arrays in the block, fill their overlaps, and find their spectra.

        Args:
            update: returns launches that update rows, and transform the local ones among them.
            pairs: the arrays and their spectra.
            sources: launches that act on the arrays after the update.
            deferred: pairs that `update` does not transform, because the sources act first.
        """
        if sources:
            boundary = [*update("own"), *sources]
            forward = self._passes.forward
            interior = [launch for pair in deferred for launch in forward("local", *pair)]
        else:
            boundary, interior = update("boundary"), update("interior")
        yield from self._fill_overlaps([array for array, _ in pairs], boundary, interior)
        for pair in pairs:
            yield from self._passes.forward("mixed", *pair)

    def _gradient(self) -> Iterator[Launch]:
        """Derivatives of the pressure at velocity points, as spectra along x."""
        x, y, z = self._spectra
        arrays = *self._coefficients.squares, *self._coefficients.derivatives(TO_VELOCITY)
        extent = self._plan.plane_blocks(4, 1, lines=2)
        yield from self._passes.along_planes("find_gradient", extent, x, y, z, *arrays)

    def _divergence(self) -> Iterator[Launch]:
        """Derivatives of the velocities along their axes at pressure points, as spectra along x."""
        factors = self._coefficients.derivatives(TO_PRESSURE)
        arrays = (*self._spectra, *self._coefficients.squares, *factors)
        extent = self._plan.plane_blocks(3, 3)
        yield from self._passes.along_planes("find_divergence", extent, *arrays)

    def _fractional_laplacians(self) -> Iterator[Launch]:
        """Fractional Laplacians: of the rate of density (absorption), of density (dispersion)."""
        rate, density, _ = self._spectra
        count = self._medium.is_absorbing + self._medium.is_dispersive
        extent = self._plan.plane_blocks(3, count)
        arrays = rate, density, *self._coefficients.squares
        yield from self._passes.along_planes("find_laplacians", extent, *arrays)

    @property
    def _losses(self) -> list[ArrayAndSpectrum]:
        """Arrays whose fractional Laplacians the losses need, and their spectra."""
        rate, density = zip((self._fields.p, self._total), self._spectra, strict=False)
        return [*[rate] * self._medium.is_absorbing, *[density] * self._medium.is_dispersive]

    @cached_property
    def _total(self) -> DeviceArray:
        """The density, whose overlaps ranks exchange for the dispersion; otherwise unused."""
        needed = self._rows.has_overlaps and self._fractional and self._medium.is_dispersive
        return self._backend.zeros(self._operators.grid.shape if needed else (1,), self._dtype)

    # --- passes along x ---------------------------------------------------------------------------

    def _gradients_to_velocities(self) -> Iterator[Launch]:
        for spectrum, u in zip(self._spectra, self._fields.u, strict=True):
            yield from self._passes.along_x("inverse_x", "own", spectrum, u)

    def _accelerate(self, kind: Kind) -> list[Launch]:
        arrays = {**by_axis("u", self._fields.u), **by_axis("spectrum_", self._spectra)}
        more = {**self._coefficients.of_velocities, **self._u_sources}
        return self._passes.along_x("accelerate", kind, **arrays, **more)

    def _compress(self, kind: Kind) -> list[Launch]:
        arrays = {**by_axis("rho_", self._fields.rho), **by_axis("spectrum_", self._spectra)}
        more = {**self._coefficients.of_pressure, **self._p_sources, "total": self._total}
        return self._passes.along_x("compress", kind, p=self._fields.p, **arrays, **more)

    def _find_pressure(self, kind: Kind) -> list[Launch]:
        rate, density, _ = self._spectra
        spectra = {"spectrum_rate": rate, "spectrum_density": density}
        arrays = {"p": self._fields.p, **by_axis("rho_", self._fields.rho), **spectra}
        return self._passes.along_x("find_pressure", kind, **arrays, **self._coefficients.state)

    def _density_sources(self) -> list[Launch]:
        """Pressure sources, and then the transform of the density if the medium is dispersive."""
        launches = self._sources.launches_of("p")
        if launches and self._medium.is_dispersive:
            arrays = *self._fields.rho, self._spectra[1], self._total
            launches += self._passes.along_x("forward_density", "own", *arrays)
        return launches

    # --- properties of the step -------------------------------------------------------------------

    @property
    def _fractional(self) -> bool:
        medium = self._medium
        return medium.power != STOKES and (medium.is_absorbing or medium.is_dispersive)

    @property
    def _state_follows(self) -> bool:
        return not self._fractional and not self._separated.others_of("p")

    # --- constants --------------------------------------------------------------------------------

    def _constants(self, file: str) -> dict[str, Constant]:
        medium = self._medium
        losses = {"ABSORBING": medium.is_absorbing, "DISPERSIVE": medium.is_dispersive}
        own = self._coefficients.mode_constants() if file == "planes" else self._point_constants()
        return precision(self._dtype) | self._plan.constants(file) | losses | own

    def _point_constants(self) -> dict[str, Constant]:
        divided = not len(self._rows.local)
        deferred = range(3) if divided else self._separated.axes
        return {
            "DT": self._operators.dt,
            "NONLINEAR": self._medium.is_nonlinear,
            "FRACTIONAL": self._fractional,
            "STATE_FOLLOWS": self._state_follows,
            "OVERLAPS": self._rows.has_overlaps,
            "DEFER_DENSITY": bool(self._separated.others_of("p")),
            "DEFER_SPECTRA": divided,
            "DEFERRED": sum(1 << axis for axis in deferred),
            **self._separated.term_constants(),
            "MEAN_DENSITY": self._coefficients.takes_means,
            "UNIFORM_DENSITY": self._coefficients.has_uniform_density,
            **self._coefficients.materials.constants(),
        }
