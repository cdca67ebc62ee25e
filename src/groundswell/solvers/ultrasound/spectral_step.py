"""A step of the k-space scheme with Fourier transforms of a library, for any device and grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends import Backend, Cells, Launch, Source
from groundswell.backends.source import precision
from groundswell.backends.transforms import spectrum_dtype, spectrum_shape
from groundswell.solvers.ultrasound.absorption import STOKES
from groundswell.solvers.ultrasound.device_coefficients import DeviceCoefficients
from groundswell.solvers.ultrasound.device_materials import DeviceMaterials
from groundswell.solvers.ultrasound.fields import (
    AXES,
    TO_PRESSURE,
    TO_VELOCITY,
    Fields,
    FillOverlaps,
    without_overlaps,
)
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.point_source import Injection, PointSource
from groundswell.solvers.ultrasound.separable import DeviceTerms, Term, separate

KERNELS = Path(__file__).parent / "kernels" / "kspace.h"


class SpectralStep:
    """A step on a whole grid or on a window of it.

    Args:
        backend: the device.
        operators: operators of the grid and the time step.
        medium: the medium.
        fields: the fields, which the step updates.
        sources: time-dependent sources.
        inject: see `Injection`.

    Attributes:
        launches: the launches of a step, without the one that advances the clock.
        differentiate: launches that write the derivatives of p at velocity points to u.
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
        self._backend, self.operators, self.medium = backend, operators, medium
        self.p, self.u, self.rho = fields.p, fields.u, fields.rho
        self.dtype, self.grid = str(fields.p.dtype), operators.grid
        self._terms, self._sources = separate(sources, self.dtype)
        self._inject, self.axes = inject, range(len(fields.u))
        shape = self.grid.shape
        self._derivatives = [backend.zeros(shape, self.dtype) for _ in self.axes]
        self._spectrum, self._work = (
            backend.zeros(spectrum_shape(shape), spectrum_dtype(self.dtype)) for _ in range(2)
        )
        self._transform = backend.real_transform(shape, self.dtype)
        self._to_device = DeviceCoefficients(backend, self.dtype, shape)
        self._materials = DeviceMaterials(self._to_device, medium)
        self._module = backend.compile(self._source())
        self._layers = {
            (axis, staggered): self._to_device(operators.layer(axis, staggered=staggered))
            for axis in self.axes
            for staggered in (False, True)
        }
        self._device_terms = {
            name: DeviceTerms(backend, self._to_device, self._terms_of(name), shape, self._correct)
            for name in {term.field for term in self._terms}
        }
        self.set_exchange(without_overlaps)

    def set_exchange(self, fill_overlaps: FillOverlaps) -> None:
        """Compose the step with an exchange between ranks."""
        self._exchange = fill_overlaps
        fill = list(self._fill_overlaps([self.p]))
        self.differentiate = [*fill, *self._gradients(self.u)]
        self.launches = [*fill, *self._compose()]

    # --- the step ---------------------------------------------------------------------------------

    def _compose(self) -> Iterator[Launch]:
        """Launches of a step: velocity, velocity sources, density, pressure sources, pressure."""
        yield from self._gradients(self._derivatives)
        yield from (self._accelerate(axis) for axis in self.axes)
        yield from self._add_sources("u")
        yield from self._divergence()
        yield self._compress()
        yield from self._add_sources("p")
        yield from self._losses()
        yield self._equation_of_state()

    def _gradients(self, results: Sequence[DeviceArray]) -> Iterator[Launch]:
        """Derivatives of the pressure at velocity points; its overlaps must be filled."""
        yield self._transform.forward(self.p, self._spectrum)
        for axis in self.axes:
            yield self._derivative(axis, TO_VELOCITY)
            yield self._transform.inverse(self._work, results[axis])

    def _divergence(self) -> Iterator[Launch]:
        """Derivatives of the velocities along their axes at pressure points."""
        yield from self._fill_overlaps(self.u)
        for axis in self.axes:
            yield self._transform.forward(self.u[axis], self._spectrum)
            yield self._derivative(axis, TO_PRESSURE)
            yield self._transform.inverse(self._work, self._derivatives[axis])

    def _derivative(self, axis: int, shift: int) -> Launch:
        """Spectrum of the derivative along an axis."""
        arrays = (
            self._work,
            self._spectrum,
            self._to_device(self.operators.derivative(axis, shift)),
        )
        name = f"derivative_{AXES[axis]}"
        return self._module.launch(name, self._modes, *arrays, self._kappa)

    def _accelerate(self, axis: int) -> Launch:
        arrays = self.u[axis], self._derivatives[axis], self._layers[axis, True]
        density = self._step_over_density[axis], self._materials.numbers
        return self._module.launch(f"accelerate_{AXES[axis]}", self._points, *arrays, *density)

    def _compress(self) -> Launch:
        layers = [self._layers[axis, False] for axis in self.axes]
        split = (self._three(arrays) for arrays in (self.rho, self._derivatives, layers))
        arguments = [array for arrays in split for array in arrays]
        density = self._density, self._materials.numbers
        return self._module.launch("compress", self._points, *arguments, *density)

    def _losses(self) -> Iterator[Launch]:
        """Fractional Laplacians: of the rate of density for absorption, of density for dispersion.

        `compress` has written rho_0 div u to the first derivative.
        """
        medium, absorption, dispersion = self.medium, *self._derivatives[:2]
        powers = {}
        if medium.is_absorbing and medium.power != STOKES:
            powers[medium.power - 2] = absorption
        if medium.is_dispersive:
            powers[medium.power - 1] = dispersion
            rho = self._three(self.rho)
            yield self._module.launch("total_density", self._points, dispersion, *rho)
        yield from self._fill_overlaps(list(powers.values()))
        for power, values in powers.items():
            yield from self._fractional_laplacian(values, power)

    def _fractional_laplacian(self, values: DeviceArray, power: float) -> Iterator[Launch]:
        factors = partial(self.operators.fractional_laplacian, power)
        yield from self._scaled(values, self._table(factors))

    def _scaled(self, values: DeviceArray, factors: DeviceArray) -> Iterator[Launch]:
        """Multiply the spectrum of an array by real factors."""
        yield self._transform.forward(values, self._spectrum)
        yield self._module.launch("scale", self._modes, self._spectrum, factors)
        yield self._transform.inverse(self._spectrum, values)

    def _equation_of_state(self) -> Launch:
        state = self._materials.state.values()
        arguments = (self.p, *self._three(self.rho), self._materials.numbers, *state)
        losses = self._derivatives[:2]
        return self._module.launch("equation_of_state", self._points, *arguments, *losses)

    # --- overlaps ---------------------------------------------------------------------------------

    def _fill_overlaps(self, arrays: Sequence[DeviceArray]) -> Iterator[Launch]:
        """Fill the overlaps of arrays with the neighbours' values times the bell function."""
        if arrays:
            yield from self._exchange(arrays)
        for array in arrays:
            yield from self._taper(array)

    def _taper(self, array: DeviceArray) -> Iterator[Launch]:
        """Multiply the overlaps of an array by the bell function."""
        window = self.operators.window
        for axis in self.axes:
            if window and (overlap := window.overlap[axis]):
                extent = [2 * overlap if a == axis else n for a, n in enumerate(self.grid.cells)]
                values = window.edge(axis)
                table = self._to_device(np.concatenate([values[::-1], values]))
                name = f"taper_{AXES[axis]}"
                yield self._module.launch(name, Cells(*extent), array, table, overlap)

    # --- sources ----------------------------------------------------------------------------------

    def _add_sources(self, kind: str) -> Iterator[Launch]:
        """Pressure sources, which act on each split density, or velocity sources."""
        for name, terms in self._device_terms.items():
            if name[0] == kind:
                yield from (self._add_terms(terms, field) for field in self._fields_of(name))
        for source in self._sources:
            if source.field[0] == kind:
                yield from self._apply(source, self._fields_of(source.field))

    def _fields_of(self, name: str) -> Sequence[DeviceArray]:
        """The fields to which a source of "p", "ux", "uy" or "uz" is added."""
        return self.rho if name == "p" else [self.u[AXES.index(name[1])]]

    def _terms_of(self, name: str) -> list[Term]:
        return [term for term in self._terms if term.field == name]

    def _add_terms(self, terms: DeviceTerms, field: DeviceArray) -> Launch:
        arrays = terms.fields, terms.signals, self._inject.clock
        sizes = len(terms.fields), terms.samples
        return self._module.launch("add_terms", self._points, field, *arrays, *sizes)

    def _correct(self, term: Term, field: DeviceArray) -> Iterator[Launch]:
        """Write the corrected field of a term to an array of zeros."""
        yield self._inject("add_source", term.weights_alone, field)
        yield from self._taper(field)
        yield from self._scaled(field, self._source_kappa)

    def _apply(self, source: PointSource, fields: Sequence[DeviceArray]) -> Iterator[Launch]:
        if source.mode != "additive":
            name = "set_source" if source.mode == "dirichlet" else "add_source"
            yield from (self._inject(name, source, field) for field in fields)
            return
        source_term = self._derivatives[1]
        yield self._module.launch("clear", self._points, source_term)
        yield self._inject("add_source", source, source_term)
        yield from self._taper(source_term)
        yield from self._scaled(source_term, self._source_kappa)
        yield from (
            self._module.launch("add", self._points, field, source_term) for field in fields
        )

    # --- coefficients -----------------------------------------------------------------------------

    def _source(self) -> Source:
        medium, (nx, ny, nz) = self.medium, self.grid.cells
        constants = {
            "AXES": len(self.axes),
            "NONLINEAR": medium.is_nonlinear,
            "ABSORBING": medium.is_absorbing,
            "DISPERSIVE": medium.is_dispersive,
            "UNIFORM_DENSITY": not np.ndim(medium.density),
            "MEAN_DENSITY_OF_CLASSES": self._averages_classes,
            "STEP": repr(self.operators.dt),  # in double precision
            **self._materials.constants(),
        }
        parameters = {"NX": nx, "NY": ny, "NZ": nz, "MX": nx // 2 + 1, "DT": self.operators.dt}
        return Source(KERNELS, precision(self.dtype) | constants, parameters)

    @property
    def _points(self) -> Cells:
        return Cells(*self.grid.cells)

    @property
    def _modes(self) -> Cells:
        nx, ny, nz = self.grid.cells
        return Cells(nx // 2 + 1, ny, nz)

    def _three(self, arrays: Sequence[DeviceArray]) -> list[DeviceArray]:
        """One array for each of three axes; kernels ignore the third in two dimensions."""
        return [*arrays, arrays[0]][:3]

    # Every call of `set_exchange` composes a new step; properties are copied only once.

    @property
    def _averages_classes(self) -> bool:
        """Whether kernels find the density at velocity points from the classes of two points."""
        medium = self.medium
        in_classes = self._materials.classes is not None
        return in_classes and np.ndim(medium.density) > 0 and medium.staggered is None

    @cached_property
    def _step_over_density(self) -> list[DeviceArray]:
        """dt / rho_0 at the velocity points of each axis, or rho_0 of classes."""
        if self._averages_classes:
            assert self._materials.classes
            densities = np.asarray(self._materials.classes.table.density, np.float64)
            return [self._to_device.as_it_is(densities)] * len(self.axes)
        dt, staggered = self.operators.dt, self.medium.staggered_density
        return self._to_device.by_planes(
            lambda planes: [dt / staggered(axis, planes) for axis in self.axes]
        )

    @cached_property
    def _density(self) -> DeviceArray:
        return self._materials.density()

    @cached_property
    def _kappa(self) -> DeviceArray:
        return self._table(self.operators.kappa)

    @cached_property
    def _source_kappa(self) -> DeviceArray:
        return self._table(self.operators.source_kappa)

    def _table(self, find: Callable[[slice], Floats]) -> DeviceArray:
        """A table over all wavenumbers, which a function computes some planes at a time."""
        return self._to_device.by_planes(lambda planes: [find(planes)])[0]
