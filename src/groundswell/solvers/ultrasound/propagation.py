"""The k-space pseudospectral scheme: fields, and a step as a list of launches.

Pressure p and the density rho are at pressure points and times n dt; the velocities u are at points
half a cell further along their axis, and half a step earlier. Density and velocity are split along
the axes for the perfectly matched layers (Tabei, Mast & Waag 2002, J. Acoust. Soc. Am. 111, 53-63;
Treeby, Jaros, Rendell & Cox 2012, J. Acoust. Soc. Am. 131, 4324-4336).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from groundswell.backends import Array, Backend, Cells, Items, Launch, Source
from groundswell.backends.base import in_order
from groundswell.backends.source import precision
from groundswell.backends.transforms import spectrum_dtype, spectrum_shape
from groundswell.grids.cartesian import Triple
from groundswell.solvers.ultrasound.absorption import STOKES
from groundswell.solvers.ultrasound.medium import AcousticMedium, Values
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.window import bell

KERNELS = Path(__file__).parent / "kernels" / "kspace.h"
AXES = "xyz"
Exchanged = Callable[[Sequence[Array]], Sequence[Launch]]
TO_VELOCITY, TO_PRESSURE = 1, -1  # shifts of derivatives, in half cells


@dataclass(frozen=True)
class PointSource:
    """Signals that are added to fields, or replace them, at some points.

    Args:
        field: "p", or "ux", "uy" or "uz".
        points: indices into the flattened field, (points,).
        signals: one signal for all points, (samples,), or several, (samples, signals). A pressure
            source acts on each split density: its signal has the unit of density.
        mode: "additive" with the k-space correction, "uncorrected" without, or "dirichlet".
        weights: share of each signal at each point, a sparse matrix (points, signals). By default
            the one signal acts at all points, or signal n at point n.
    """

    field: str
    points: NDArray[np.int64]
    signals: NDArray[np.floating]
    mode: Literal["additive", "uncorrected", "dirichlet"] = "additive"
    weights: csr_matrix | None = None

    @property
    def matrix(self) -> csr_matrix:
        """The weights, (points, signals)."""
        count = len(self.points)
        if self.weights is not None:
            return self.weights
        if np.ndim(self.signals) == 2:
            return csr_matrix((np.ones(count), np.arange(count), np.arange(count + 1)))
        return csr_matrix(np.ones((count, 1)))


class Propagation:
    """Fields of a medium and their step.

    Args:
        backend: the device.
        operators: operators of the grid and the time step. A grid of one cell along z is
            two-dimensional.
        medium: the medium.
        dtype: floating-point type.
        sources: time-dependent sources.

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
    ) -> None:
        self.backend, self.operators, self.medium = backend, operators, medium
        self.dtype, self.grid, self._sources = dtype, operators.grid, sources
        self.axes = range(3 if self.grid.cells[2] > 1 else 2)
        shape = self.grid.shape
        self.p = self._zeros()
        self.u, self.rho = ([self._zeros() for _ in self.axes] for _ in range(2))
        self._derivatives = [self._zeros() for _ in self.axes]
        self._spectrum, self._work = (
            backend.zeros(spectrum_shape(shape), spectrum_dtype(dtype)) for _ in range(2)
        )
        self._transform = backend.real_transform(shape, dtype)
        self._module = backend.compile(self._source())
        self._layers = {
            (axis, staggered): self._table(operators.layer(axis, staggered=staggered))
            for axis in self.axes
            for staggered in (False, True)
        }
        self.clock = backend.zeros((1,), np.int64)
        self.set_exchange(lambda arrays: [])

    def set_exchange(self, exchange: Exchanged) -> None:
        """Compose the step with a function that returns launches which fill overlaps of arrays."""
        self._exchange = exchange
        self._gradient_launches = list(self._gradients())
        self.launches = list(self._compose())

    # --- starting ---------------------------------------------------------------------------------

    def start(self, pressure: ArrayLike) -> None:
        """Set the initial pressure of a fluid at rest, (nz, ny, nx), Pa.

        Velocities belong to half a step before, so they are half a step backwards from rest.
        """
        values = np.broadcast_to(np.asarray(pressure, float), self.grid.shape)
        density = values / (len(self.axes) * np.square(self.medium.speed))
        self.backend.assign(self.p, values.astype(self.dtype))
        self.backend.assign(self.clock, np.zeros(1, np.int64))
        for rho in self.rho:
            self.backend.assign(rho, density.astype(self.dtype))
        in_order(self._gradient_launches)()
        for axis, u in enumerate(self.u):
            derivative = self.backend.to_host(self._derivatives[axis])
            weight = self.operators.dt / (2 * np.asarray(self.medium.staggered_density(axis)))
            self.backend.assign(u, (weight * derivative).astype(self.dtype))

    def prepare(self) -> None:
        """Enqueue what must precede steps after the fields have changed otherwise: nothing here."""

    def step(self) -> None:
        """Enqueue a step."""
        for launch in self.launches:
            launch()

    # --- the step ---------------------------------------------------------------------------------

    def _compose(self) -> Iterator[Launch]:
        """A step: velocity, velocity sources, density, pressure sources, pressure."""
        yield from self._gradient_launches
        yield from (self._accelerate(axis) for axis in self.axes)
        yield from self._add_sources("u")
        yield from self._divergence()
        yield self._compress()
        yield from self._add_sources("p")
        yield from self._losses()
        yield self._equation_of_state()
        yield self._module.launch("next_step", Items(1), self.clock)

    def _gradients(self) -> Iterator[Launch]:
        """Derivatives of the pressure at velocity points."""
        yield from self._fill_overlaps([self.p])
        yield self._transform.forward(self.p, self._spectrum)
        for axis in self.axes:
            yield self._derivative(axis, TO_VELOCITY)
            yield self._transform.inverse(self._work, self._derivatives[axis])

    def _divergence(self) -> Iterator[Launch]:
        """Derivatives of the velocities along their axes at pressure points."""
        yield from self._fill_overlaps(self.u)
        for axis in self.axes:
            yield self._transform.forward(self.u[axis], self._spectrum)
            yield self._derivative(axis, TO_PRESSURE)
            yield self._transform.inverse(self._work, self._derivatives[axis])

    def _derivative(self, axis: int, shift: int) -> Launch:
        """Spectrum of the derivative along an axis."""
        arrays = self._work, self._spectrum, self._table(self.operators.derivative(axis, shift))
        name = f"derivative_{AXES[axis]}"
        return self._module.launch(name, self._modes, *arrays, self._kappa)

    def _accelerate(self, axis: int) -> Launch:
        return self._module.launch(
            f"accelerate_{AXES[axis]}",
            self._points,
            self.u[axis],
            self._derivatives[axis],
            self._layers[axis, True],
            self._property(self.operators.dt / self.medium.staggered_density(axis)),
        )

    def _compress(self) -> Launch:
        layers = [self._layers[axis, False] for axis in self.axes]
        split = (self._three(arrays) for arrays in (self.rho, self._derivatives, layers))
        arguments = [array for arrays in split for array in arrays]
        density = self._property(self.medium.density)
        return self._module.launch("compress", self._points, *arguments, density)

    def _losses(self) -> Iterator[Launch]:
        """Fractional Laplacians: of the rate of density for absorption, of density for dispersion.

        `compress` has left rho_0 div u in the first derivative.
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

    def _fractional_laplacian(self, values: Array, power: float) -> Iterator[Launch]:
        yield from self._scaled(values, self._table(self.operators.fractional_laplacian(power)))

    def _scaled(self, values: Array, factors: Array) -> Iterator[Launch]:
        """Multiply the spectrum of an array by real factors."""
        yield self._transform.forward(values, self._spectrum)
        yield self._module.launch("scale", self._modes, self._spectrum, factors)
        yield self._transform.inverse(self._spectrum, values)

    def _equation_of_state(self) -> Launch:
        medium, absorption, dispersion = self.medium, *self._derivatives[:2]
        return self._module.launch(
            "equation_of_state",
            self._points,
            self.p,
            *self._three(self.rho),
            self._property(np.square(medium.speed)),
            self._property(np.asarray(medium.nonlinearity) / (2 * np.asarray(medium.density))),
            self._property(medium.tau if medium.is_absorbing else 0.0),
            absorption,
            self._property(medium.eta if medium.is_dispersive else 0.0),
            dispersion,
        )

    # --- overlaps ---------------------------------------------------------------------------------

    def _fill_overlaps(self, arrays: Sequence[Array]) -> Iterator[Launch]:
        """Fill the overlaps with the neighbours' values times the bell function."""
        if arrays:
            yield from self._exchange(arrays)
        for array in arrays:
            yield from self._taper(array)

    def _taper(self, array: Array) -> Iterator[Launch]:
        """Multiply the overlaps of an array by the bell function."""
        for axis in self.axes:
            if overlap := self._overlaps[axis]:
                extent = [2 * overlap if a == axis else n for a, n in enumerate(self.grid.cells)]
                values = bell(overlap)
                table = self._table(np.concatenate([values[::-1], values]))
                name = f"taper_{AXES[axis]}"
                yield self._module.launch(name, Cells(*extent), array, table, overlap)

    @property
    def _overlaps(self) -> Triple:
        window = self.operators.window
        return window.overlap if window else (0, 0, 0)

    # --- filters ----------------------------------------------------------------------------------

    def filter_along(
        self, axis: int, factors: ArrayLike, values: Array, result: Array
    ) -> Iterator[Launch]:
        """Multiply the spectrum of an array by factors of the wavenumbers along an axis, (n,)."""
        arrays = self._work, self._spectrum, self._table(np.asarray(factors, complex))
        yield self._transform.forward(values, self._spectrum)
        yield self._module.launch(f"derivative_{AXES[axis]}", self._modes, *arrays, self._ones)
        yield self._transform.inverse(self._work, result)

    # --- sources ----------------------------------------------------------------------------------

    def _add_sources(self, kind: str) -> Iterator[Launch]:
        """Sources of the pressure, which act on each split density, or of velocities."""
        for source in self._sources:
            if source.field[0] == kind:
                fields = self.rho if kind == "p" else [self.u[AXES.index(source.field[1])]]
                yield from self._apply(source, fields)

    def _apply(self, source: PointSource, fields: Sequence[Array]) -> Iterator[Launch]:
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

    def _inject(self, name: str, source: PointSource, field: Array) -> Launch:
        """Launch that adds or sets the signals of a source at the current step."""
        signals = np.asarray(source.signals).reshape(len(source.signals), -1)
        matrix, table = source.matrix, np.int64
        arrays = (
            self.backend.to_device(np.ascontiguousarray(values, dtype))
            for values, dtype in (
                (source.points, table),
                (matrix.indptr, table),
                (matrix.indices, table),
                (matrix.data, self.dtype),
                (signals, self.dtype),
            )
        )
        sizes = (len(source.points), *signals.shape)
        return self._module.launch(name, Items(sizes[0]), field, *arrays, self.clock, *sizes)

    # --- tables -----------------------------------------------------------------------------------

    def _source(self) -> Source:
        medium, (nx, ny, nz) = self.medium, self.grid.cells
        uniform = {
            "DENSITY": (medium.density,),
            "SPEED": (medium.speed,),
            "NONLINEARITY": (medium.nonlinearity, medium.density),
            "ABSORPTION": (medium.absorption, medium.speed),
        }
        constants = {
            "AXES": len(self.axes),
            "NONLINEAR": medium.is_nonlinear,
            "ABSORBING": medium.is_absorbing,
            "DISPERSIVE": medium.is_dispersive,
            **{f"UNIFORM_{key}": not any(map(np.ndim, used)) for key, used in uniform.items()},
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

    def _zeros(self) -> Array:
        return self.backend.zeros(self.grid.shape, self.dtype)

    def _table(self, values: ArrayLike) -> Array:
        """A device copy of real or complex values."""
        values = np.asarray(values)
        wanted = spectrum_dtype(self.dtype) if np.iscomplexobj(values) else self.dtype
        return self.backend.to_device(np.ascontiguousarray(values, wanted))

    def _property(self, values: Values) -> Array:
        """A device copy of a property: one value, or one of each point."""
        return self._table(np.atleast_1d(values))

    def _three(self, arrays: Sequence[Array]) -> list[Array]:
        """One array for each axis; kernels do not use that of an axis that the grid lacks."""
        return [*arrays, arrays[0]][:3]

    @cached_property
    def _kappa(self) -> Array:
        return self._table(self.operators.kappa())

    @cached_property
    def _ones(self) -> Array:
        return self._table(np.ones(spectrum_shape(self.grid.shape)))

    @cached_property
    def _source_kappa(self) -> Array:
        return self._table(self.operators.source_kappa())
