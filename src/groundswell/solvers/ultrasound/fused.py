"""The fused step of the k-space scheme for GPUs: passes along lines of the grid.

A pass transforms all lines of one axis in shared memory, and also does other work on the values
before it writes them back. Passes along x update the fields at points, and passes along z multiply
the spectra by operators (kernels/rows.h and planes.h). A pass therefore reads and writes each of
its arrays once. A step starts from the spectrum of p along x, which the previous step has left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.backends import Array, Backend, Blocks, Items, Launch, Source
from groundswell.backends.source import precision
from groundswell.backends.transforms import spectrum_dtype
from groundswell.solvers.ultrasound.absorption import STOKES
from groundswell.solvers.ultrasound.fields import AXES, TO_PRESSURE, TO_VELOCITY, Fields, Inject
from groundswell.solvers.ultrasound.line_transforms import FILES, TILINGS, Passes
from groundswell.solvers.ultrasound.medium import AcousticMedium, Values
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.point_source import PointSource

KERNELS = Path(__file__).parent / "kernels"
FORWARD_SCALE = 2  # the kernels' forward transforms have twice the usual values


class FusedStep:
    """A step on a grid for which `supports` is true.

    Args:
        backend: a GPU.
        operators: operators of the grid and the time step.
        medium: the medium.
        fields: the fields, which the step updates.
        sources: time-dependent sources.
        inject: function that returns a launch which adds the signals of a source to a field
            ("add_source") or sets its values ("set_source").

    Attributes:
        launches: the launches of a step, without the one that advances the clock.
        differentiate: launches that write the derivatives of p at velocity points to u.
        begin: launches that must run before the first step, and whenever p was changed.
    """

    def __init__(
        self,
        backend: Backend,
        operators: SpectralOperators,
        medium: AcousticMedium,
        fields: Fields,
        sources: Sequence[PointSource] = (),
        inject: Inject | None = None,
    ) -> None:
        self._backend, self._operators, self._medium = backend, operators, medium
        self._fields, self._sources, self._inject = fields, sources, inject
        self._dtype = np.dtype(fields.p.dtype)
        self._passes = Passes.of(operators.grid.shape, self._dtype)
        self._modules = {
            file: backend.compile(Source(KERNELS / f"{file}.h", self._constants(file)))
            for file in TILINGS
        }
        count = self._passes.spectrum_values
        self._spectra = [backend.zeros((count,), spectrum_dtype(self._dtype)) for _ in AXES]
        self.begin = [self._rows("forward_x", 1, fields.p, self._spectra[0])]
        self.differentiate = [*self.begin, *self._gradient(), *self._gradients_to_velocities()]
        self.launches = list(self._compose())

    # --- the step ---------------------------------------------------------------------------------

    def _compose(self) -> Iterator[Launch]:
        """Launches of a step: velocity, velocity sources, density, pressure sources, pressure."""
        yield from self._gradient()
        yield self._accelerate()
        yield from self._add_sources("u")
        for axis in self._deferred:
            yield self._rows("forward_x", 1, self._fields.u[axis], self._spectra[axis])
        yield from self._divergence()
        yield self._compress()
        yield from self._add_sources("p")
        if self._fractional:
            yield from self._fractional_laplacians()
        if not self._state_follows:
            yield self._find_pressure()

    def _gradient(self) -> Iterator[Launch]:
        """Derivatives of the pressure at velocity points, as spectra along x."""
        x, y, z = self._spectra
        factors = (self._derivative(axis, TO_VELOCITY) for axis in range(3))
        extent = self._passes.plane_blocks(4, 1, lines=2)
        yield from self._planes("find_gradient", extent, x, y, z, *self._squares, *factors)

    def _divergence(self) -> Iterator[Launch]:
        """Derivatives of the velocities along their axes at pressure points, as spectra along x."""
        factors = (self._derivative(axis, TO_PRESSURE) for axis in range(3))
        arrays = (*self._spectra, *self._squares, *factors)
        yield from self._planes("find_divergence", self._passes.plane_blocks(3, 3), *arrays)

    def _fractional_laplacians(self) -> Iterator[Launch]:
        """Fractional Laplacians: of density's rate for absorption, of density for dispersion."""
        rate, density, _ = self._spectra
        if self._medium.is_dispersive and self._acts_on("p"):
            yield self._rows("forward_density", 1, *self._fields.rho, density)
        count = self._medium.is_absorbing + self._medium.is_dispersive
        extent = self._passes.plane_blocks(3, count)
        yield from self._planes("find_laplacians", extent, rate, density, *self._squares)

    def _gradients_to_velocities(self) -> Iterator[Launch]:
        for spectrum, u in zip(self._spectra, self._fields.u, strict=True):
            yield self._rows("inverse_x", 1, spectrum, u)

    # --- passes along x ---------------------------------------------------------------------------

    def _accelerate(self) -> Launch:
        layers = (self._layer(axis, staggered=True) for axis in range(3))
        densities = self._staggered_densities()
        return self._rows(
            "accelerate", 3, *self._fields.u, *self._spectra, *layers, *densities, tiles=1
        )

    def _compress(self) -> Launch:
        layers = (self._layer(axis, staggered=False) for axis in range(3))
        fields = self._fields
        arrays = (*fields.rho, *self._spectra, fields.p, *layers, self._density, *self._state[:3])
        return self._rows("compress", 1, *arrays, tiles=3)

    def _find_pressure(self) -> Launch:
        arrays = (self._fields.p, *self._fields.rho, *self._spectra[:2], *self._state)
        return self._rows("find_pressure", 1, *arrays, tiles=2)

    @cached_property
    def _state(self) -> tuple[Array, ...]:
        """Device copies of the coefficients of the equation of state."""
        return tuple(map(self._property, self._medium.state_coefficients))

    @cached_property
    def _density(self) -> Array:
        return self._property(self._medium.density, self._has_uniform_density)

    def _staggered_densities(self) -> list[Array]:
        """For each axis, dt / rho_0 at velocity points, or rho_0 if the kernel computes means."""
        medium, dt = self._medium, self._operators.dt
        if self._takes_means:
            return [self._density] * 3
        uniform = self._has_uniform_density
        return [self._property(dt / medium.staggered_density(axis), uniform) for axis in range(3)]

    # --- sources ----------------------------------------------------------------------------------

    def _acts_on(self, kind: str) -> bool:
        return any(source.field[0] == kind for source in self._sources)

    @property
    def _deferred(self) -> list[int]:
        """Axes with velocity sources: sources act first, so the transform of u is deferred."""
        names = {source.field for source in self._sources}
        return [axis for axis, name in enumerate(AXES) if f"u{name}" in names]

    def _add_sources(self, kind: str) -> Iterator[Launch]:
        """Pressure sources, which act on each split density, or velocity sources."""
        for source in self._sources:
            if source.field[0] == kind:
                axis = AXES.index(source.field[-1]) if kind == "u" else 2
                fields = self._fields.rho if kind == "p" else [self._fields.u[axis]]
                yield from self._apply(source, fields, self._spectra[axis])

    def _apply(
        self, source: PointSource, fields: Sequence[Array], spectrum: Array
    ) -> Iterator[Launch]:
        """Add a source to fields, or set their values; `spectrum` may be overwritten."""
        assert self._inject is not None
        if source.mode != "additive":
            name = "set_source" if source.mode == "dirichlet" else "add_source"
            yield from (self._inject(name, source, field) for field in fields)
            return
        yield self._inject("add_source", source, self._source_term)
        yield self._rows("forward_x", 1, self._source_term, spectrum)
        yield self._erase(source)
        extent = self._passes.plane_blocks(3, 1)
        yield from self._planes("correct_source", extent, spectrum, *self._squares)
        three = [*fields, fields[0], fields[0]][:3]
        yield self._rows("add_inverse_x", 1, spectrum, *three, last=(len(fields),))

    def _erase(self, source: PointSource) -> Launch:
        """Launch that resets the source term to zero at the points of a source."""
        points = self._backend.to_device(np.ascontiguousarray(source.points, np.int64))
        launch, count = self._modules[FILES["erase"]].launch, len(source.points)
        return launch("erase", Items(count), self._source_term, points, count)

    @cached_property
    def _source_term(self) -> Array:
        """Additive sources before the k-space correction; zero between launches, (nz, ny, nx)."""
        return self._backend.zeros(self._operators.grid.shape, self._dtype)

    # --- launches ---------------------------------------------------------------------------------

    def _rows(
        self, name: str, fields: int, *arrays: Array, tiles: int = 1, last: tuple[int, ...] = ()
    ) -> Launch:
        extent = self._passes.row_blocks(FILES[name], fields, tiles)
        tables = (self._roots, self._twiddles[0])
        return self._modules[FILES[name]].launch(name, extent, *arrays, *tables, *last)

    def _planes(self, name: str, extent: Blocks, *arrays: Array) -> Iterator[Launch]:
        launch = self._modules["planes"].launch
        yield launch("clear_counts", Items(self._counts.size), self._counts, self._counts.size)
        yield launch(name, extent, *arrays, *self._twiddles[1:], self._counts)

    @cached_property
    def _counts(self) -> Array:
        """Numbers of blocks that have finished the first two passes over each segment and field.

        There are up to three fields. The last entry is the number of blocks that have started.
        """
        return self._backend.zeros((2 * len(AXES) * self._passes.segments + 1,), np.uint32)

    # --- properties of the step -------------------------------------------------------------------

    @property
    def _fractional(self) -> bool:
        medium = self._medium
        return medium.power != STOKES and (medium.is_absorbing or medium.is_dispersive)

    @property
    def _state_follows(self) -> bool:
        return not self._fractional and not self._acts_on("p")

    @property
    def _has_uniform_density(self) -> bool:
        return np.ndim(self._medium.density) == 0 and self._medium.staggered is None

    @property
    def _takes_means(self) -> bool:
        return np.ndim(self._medium.density) > 0 and self._medium.staggered is None

    # --- constants and tables ---------------------------------------------------------------------

    def _constants(self, file: str) -> dict[str, Any]:
        medium = self._medium
        losses = {"ABSORBING": medium.is_absorbing, "DISPERSIVE": medium.is_dispersive}
        own = self._mode_constants() if file == "planes" else self._point_constants()
        return precision(self._dtype) | self._passes.constants(file) | losses | own

    def _point_constants(self) -> dict[str, Any]:
        medium = self._medium
        uniform = {
            "SPEED": (medium.speed,),
            "NONLINEARITY": (medium.nonlinearity, medium.density),
            "ABSORPTION": (medium.absorption, medium.speed),
        }
        return {
            "DT": self._operators.dt,
            "NONLINEAR": medium.is_nonlinear,
            "FRACTIONAL": self._fractional,
            "STATE_FOLLOWS": self._state_follows,
            "DEFER_DENSITY": self._acts_on("p"),
            "DEFERRED": sum(1 << axis for axis in self._deferred),
            "MEAN_DENSITY": self._takes_means,
            "UNIFORM_DENSITY": self._has_uniform_density,
            **{f"UNIFORM_{key}": not any(map(np.ndim, used)) for key, used in uniform.items()},
        }

    def _mode_constants(self) -> dict[str, Any]:
        """Exponents and factors of the functions of |k|, which use (c_ref |k| dt / 2)^2."""
        operators, power = self._operators, self._medium.power
        unit = 2 / (operators.reference_speed * operators.dt)
        scale = 1 / (FORWARD_SCALE * operators.grid.count)
        largest = sum(float(self._square(axis).max()) for axis in range(3))
        return {
            "SERIES_TERMS": series_terms(largest, float(np.finfo(self._dtype).eps) / 64),
            "SOURCE_SCALE": scale,
            "RATE_EXPONENT": (power - 2) / 2,
            "RATE_SCALE": scale * unit ** (power - 2),
            "DENSITY_EXPONENT": (power - 1) / 2,
            "DENSITY_SCALE": scale * unit ** (power - 1),
        }

    def _square(self, axis: int) -> NDArray[np.float64]:
        operators = self._operators
        phase = operators.reference_speed * operators.dt / 2 * operators.wavenumbers(axis)
        return self._passes.in_order(axis, np.square(phase))

    @cached_property
    def _squares(self) -> list[Array]:
        """(c_ref k dt / 2)^2 of each axis."""
        return [self._table(self._square(axis)) for axis in range(3)]

    def _derivative(self, axis: int, shift: int) -> Array:
        factors = self._operators.derivative(axis, shift) / FORWARD_SCALE
        return self._table(self._passes.in_order(axis, factors))

    @cached_property
    def _twiddles(self) -> list[Array]:
        return [self._table(plan.twiddles()) for plan in self._passes.plans]

    @cached_property
    def _roots(self) -> Array:
        """Roots of unity of the rows, exp(-2 pi i k / nx)."""
        nx = self._operators.grid.cells[0]
        return self._table(np.exp(-2j * np.pi * np.arange(nx // 4 + 1) / nx))

    def _layer(self, axis: int, *, staggered: bool) -> Array:
        return self._table(self._operators.layer(axis, staggered=staggered))

    def _table(self, values: ArrayLike) -> Array:
        """A device copy of real or complex values."""
        values = np.asarray(values)
        wanted = spectrum_dtype(self._dtype) if np.iscomplexobj(values) else self._dtype
        return self._backend.to_device(np.ascontiguousarray(values, wanted))

    def _property(self, values: Values, uniform: bool = True) -> Array:
        """A device copy of a property: one value, or one per point; always the latter if not
        `uniform`.
        """
        if not uniform:
            values = np.broadcast_to(np.asarray(values), self._operators.grid.shape)
        return self._table(np.atleast_1d(values))


def series_terms(square: float, tolerance: float) -> int:
    """Number of terms above a tolerance in the series of sin(x) / x and cos x, for x^2 = square."""
    count, term = 0, 1.0
    while term > tolerance:
        count += 1
        term *= square / ((2 * count - 1) * (2 * count))
    return max(count, 2)
