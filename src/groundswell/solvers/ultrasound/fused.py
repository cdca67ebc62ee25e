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
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Blocks, Items, Launch, Source
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
from groundswell.solvers.ultrasound.fused_tables import FusedTables, by_axis
from groundswell.solvers.ultrasound.line_transforms import FILES, TILINGS, Passes
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.point_source import Injection, PointSource
from groundswell.solvers.ultrasound.rows import Rows
from groundswell.solvers.ultrasound.separable import DeviceTerms, Term, separate
from groundswell.solvers.ultrasound.window import Window

KERNELS = Path(__file__).parent / "kernels"
Kind = Literal["own", "boundary", "interior", "local", "mixed"]  # of rows, see `Rows`
Pair = tuple[DeviceArray, DeviceArray]  # an array and its spectrum along x


class FusedStep:
    """A step on a grid, or on a window of it, for which `supports` is true.

    Args:
        backend: a GPU.
        operators: operators of the grid and the time step.
        medium: the medium.
        fields: the fields, which the step updates.
        sources: time-dependent sources.
        inject: required with sources.

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
        sources: Sequence[PointSource] = (),
        inject: Injection | None = None,
    ) -> None:
        self._backend, self._operators, self._medium = backend, operators, medium
        self._fields, self._inject = fields, inject
        self._clock = inject.clock if inject else backend.zeros((1,), np.int64)
        self._dtype, shape = np.dtype(fields.p.dtype), operators.grid.shape
        self._terms, self._sources = separate(sources, self._dtype)
        self._window = operators.window or Window.whole_of(operators.grid.cells)
        self._rows = Rows.of(self._window)
        self._passes = Passes.of(shape, self._dtype, self._rows.divisor)
        self._tables = FusedTables(backend, operators, medium, self._passes, self._dtype)
        self._modules = {
            file: backend.compile(Source(KERNELS / f"{file}.h", self._constants(file)))
            for file in TILINGS
        }
        count = self._passes.spectrum_values
        self._spectra = [backend.zeros((count,), spectrum_dtype(self._dtype)) for _ in AXES]
        self._u_sources, self._p_sources = map(self._separable_sources, "up")
        self.set_exchange(without_overlaps)

    def set_exchange(self, fill_overlaps: FillOverlaps) -> None:
        """Compose the step with an exchange between ranks."""
        self._fill_overlaps = fill_overlaps
        pair = self._fields.p, self._spectra[0]
        self.begin = [*fill_overlaps([self._fields.p]), *self._forward_all(*pair)]
        self.differentiate = [*self.begin, *self._gradient(), *self._gradients_to_velocities()]
        self.launches = list(self._compose())

    # --- the step ---------------------------------------------------------------------------------

    def _compose(self) -> Iterator[Launch]:
        """Launches of a step: velocity, velocity sources, density, pressure sources, pressure."""
        yield from self._gradient()
        pairs = list(zip(self._fields.u, self._spectra, strict=True))
        sources, deferred = self._sources_of("u"), [pairs[axis] for axis in self._source_axes]
        yield from self._exchanged(self._accelerate, pairs, sources, deferred)
        yield from self._divergence()
        if self._fractional:
            yield from self._exchanged(self._compress, self._losses, self._density_sources())
            yield from self._fractional_laplacians()
        elif not self._state_follows:
            yield from [*self._compress("own"), *self._sources_of("p")]
        find_pressure = self._compress if self._state_follows else self._find_pressure
        yield from self._exchanged(find_pressure, [(self._fields.p, self._spectra[0])])

    def _exchanged(
        self,
        update: Callable[[Kind], list[Launch]],
        pairs: Sequence[Pair],
        sources: Sequence[Launch] = (),
        deferred: Sequence[Pair] = (),
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
            interior = [launch for pair in deferred for launch in self._forward("local", *pair)]
        else:
            boundary, interior = update("boundary"), update("interior")
        yield from self._fill_overlaps([array for array, _ in pairs], boundary, interior)
        for pair in pairs:
            yield from self._forward("mixed", *pair)

    def _gradient(self) -> Iterator[Launch]:
        """Derivatives of the pressure at velocity points, as spectra along x."""
        x, y, z = self._spectra
        factors = self._tables.derivatives(TO_VELOCITY)
        extent = self._passes.plane_blocks(4, 1, lines=2)
        yield from self._planes("find_gradient", extent, x, y, z, *self._tables.squares, *factors)

    def _divergence(self) -> Iterator[Launch]:
        """Derivatives of the velocities along their axes at pressure points, as spectra along x."""
        factors = self._tables.derivatives(TO_PRESSURE)
        arrays = (*self._spectra, *self._tables.squares, *factors)
        yield from self._planes("find_divergence", self._passes.plane_blocks(3, 3), *arrays)

    def _fractional_laplacians(self) -> Iterator[Launch]:
        """Fractional Laplacians: of the rate of density (absorption), of density (dispersion)."""
        rate, density, _ = self._spectra
        count = self._medium.is_absorbing + self._medium.is_dispersive
        extent = self._passes.plane_blocks(3, count)
        yield from self._planes("find_laplacians", extent, rate, density, *self._tables.squares)

    @property
    def _losses(self) -> list[Pair]:
        """Arrays whose fractional Laplacians the losses need, and their spectra."""
        rate, density = zip((self._fields.p, self._total), self._spectra, strict=False)
        return [*[rate] * self._medium.is_absorbing, *[density] * self._medium.is_dispersive]

    @cached_property
    def _total(self) -> DeviceArray:
        """The density, whose overlaps ranks exchange for the dispersion; otherwise unused."""
        needed = self._has_overlaps and self._fractional and self._medium.is_dispersive
        return self._backend.zeros(self._operators.grid.shape if needed else (1,), self._dtype)

    # --- passes along x ---------------------------------------------------------------------------

    def _forward_all(self, array: DeviceArray, spectrum: DeviceArray) -> list[Launch]:
        pair = array, spectrum
        return [*self._forward("local", *pair), *self._forward("mixed", *pair)]

    def _forward(self, kind: Kind, array: DeviceArray, spectrum: DeviceArray) -> list[Launch]:
        return self._along_x("forward_x", kind, array, spectrum, *self._tables.bells)

    def _gradients_to_velocities(self) -> Iterator[Launch]:
        for spectrum, u in zip(self._spectra, self._fields.u, strict=True):
            yield from self._along_x("inverse_x", "own", spectrum, u)

    def _accelerate(self, kind: Kind) -> list[Launch]:
        arrays = {**by_axis("u", self._fields.u), **by_axis("spectrum_", self._spectra)}
        more = {**self._tables.of_velocities, **self._u_sources}
        return self._along_x("accelerate", kind, fields=3, **arrays, **more)

    def _compress(self, kind: Kind) -> list[Launch]:
        arrays = {**by_axis("rho_", self._fields.rho), **by_axis("spectrum_", self._spectra)}
        more = {**self._tables.of_pressure, **self._p_sources, "total": self._total}
        return self._along_x("compress", kind, tiles=3, p=self._fields.p, **arrays, **more)

    def _find_pressure(self, kind: Kind) -> list[Launch]:
        rate, density, _ = self._spectra
        spectra = {"spectrum_rate": rate, "spectrum_density": density}
        arrays = {"p": self._fields.p, **by_axis("rho_", self._fields.rho), **spectra}
        return self._along_x("find_pressure", kind, tiles=2, **arrays, **self._tables.state)

    # --- sources of few terms, which the updates of the fields add --------------------------------

    def _terms_of(self, kind: str) -> list[Term]:
        """Terms of the pressure ("p"), or of all velocities ("u") by axis."""
        terms = sorted(self._terms, key=lambda term: term.field)
        return [term for term in terms if term.field[0] == kind]

    def _separable_sources(self, kind: str) -> dict[str, Any]:
        """Arguments of kernels for the terms of the pressure ("p") or of the velocities ("u")."""
        shape = self._operators.grid.shape
        terms = self._terms_of(kind)
        found = DeviceTerms(self._backend, self._tables, terms, shape, self._correct)
        return {
            "source_fields": found.fields,
            "source_signals": found.signals,
            "clock": self._clock,
            "samples": found.samples,
        }

    def _correct(self, term: Term, field: DeviceArray) -> Iterator[Launch]:
        """Write the corrected field of a term to an array of zeros."""
        assert self._inject is not None
        spectrum = self._spectra[2]  # the first one is that of p
        yield self._inject("add_source", term.weights_alone, field)
        yield from self._forward_all(field, spectrum)
        yield from self._correct_source(spectrum)
        yield from self._along_x("inverse_x", "own", spectrum, field)

    # --- other sources ----------------------------------------------------------------------------

    def _acts_on(self, kind: str) -> bool:
        return any(source.field[0] == kind for source in self._sources)

    @property
    def _source_axes(self) -> list[int]:
        """Axes with velocity sources, which act before the transform of u; it is deferred."""
        names = {source.field for source in self._sources}
        return [axis for axis, name in enumerate(AXES) if f"u{name}" in names]

    def _density_sources(self) -> list[Launch]:
        """Pressure sources, and then the transform of the density if the medium is dispersive."""
        launches = self._sources_of("p")
        if launches and self._medium.is_dispersive:
            arrays = *self._fields.rho, self._spectra[1], self._total
            launches += self._along_x("forward_density", "own", *arrays)
        return launches

    def _sources_of(self, kind: str) -> list[Launch]:
        """Pressure sources, which act on each split density, or velocity sources."""
        launches: list[Launch] = []
        for source in self._sources:
            if source.field[0] == kind:
                axis = AXES.index(source.field[-1]) if kind == "u" else 2
                fields = self._fields.rho if kind == "p" else [self._fields.u[axis]]
                launches += self._apply(source, fields, self._spectra[axis])
        return launches

    def _apply(
        self, source: PointSource, fields: Sequence[DeviceArray], spectrum: DeviceArray
    ) -> Iterator[Launch]:
        """Add a source to fields, or set their values; `spectrum` may be overwritten."""
        assert self._inject is not None
        if source.mode != "additive":
            name = "set_source" if source.mode == "dirichlet" else "add_source"
            yield from (self._inject(name, source, field) for field in fields)
            return
        yield self._inject("add_source", source, self._source_term)
        yield from self._forward_all(self._source_term, spectrum)
        yield self._erase(source)
        yield from self._correct_source(spectrum)
        three = [*fields, fields[0], fields[0]][:3]
        yield from self._along_x("add_inverse_x", "own", spectrum, *three, len(fields))

    def _correct_source(self, spectrum: DeviceArray) -> Iterator[Launch]:
        extent = self._passes.plane_blocks(3, 1)
        yield from self._planes("correct_source", extent, spectrum, *self._tables.squares)

    def _erase(self, source: PointSource) -> Launch:
        """Launch that resets the source term to zero at the points of a source."""
        points = self._backend.to_device(np.ascontiguousarray(source.points, np.int64))
        launch, count = self._modules[FILES["erase"]].launch, len(source.points)
        return launch("erase", Items(count), self._source_term, points, count)

    @cached_property
    def _source_term(self) -> DeviceArray:
        """Additive sources before the k-space correction; zero between launches, (nz, ny, nx)."""
        return self._backend.zeros(self._operators.grid.shape, self._dtype)

    # --- launches ---------------------------------------------------------------------------------

    def _along_x(
        self, name: str, kind: Kind, *arguments: Any, fields: int = 1, tiles: int = 1, **named: Any
    ) -> list[Launch]:
        """The launch of a pass over the rows of a kind; none if there are no such rows.

        Args:
            arguments, named: arguments of the kernel, without those that all passes have.
            fields: number of fields whose rows blocks process separately.
            tiles: number of rows in shared memory for each row of the pass.
        """
        rows, count = self._lists[kind], len(getattr(self._rows, kind))
        extent = self._passes.row_blocks(FILES[name], fields * count, tiles)
        named |= {"roots": self._tables.roots, "twiddles": self._tables.twiddles[0]}
        launch = self._modules[FILES[name]].launch
        return [launch(name, extent, *arguments, **named, rows=rows, count=count)] if count else []

    def _planes(self, name: str, extent: Blocks, *arrays: DeviceArray) -> Iterator[Launch]:
        launch = self._modules["planes"].launch
        yield launch("clear_counts", Items(self._counts.size), self._counts, self._counts.size)
        yield launch(name, extent, *arrays, *self._tables.twiddles[1:], self._counts)

    @cached_property
    def _lists(self) -> dict[Kind, DeviceArray]:
        """Numbers of the rows of each kind; kernels read them only if there are overlaps."""
        to_device = self._backend.to_device
        listed: Any = dict.fromkeys(get_args(Kind), np.zeros(1, np.int32))
        if self._has_overlaps:
            listed = {kind: getattr(self._rows, kind) for kind in listed}
        return {kind: to_device(rows) for kind, rows in listed.items()}

    @cached_property
    def _counts(self) -> DeviceArray:
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
    def _has_overlaps(self) -> bool:
        return any(self._window.overlap)

    # --- constants --------------------------------------------------------------------------------

    def _constants(self, file: str) -> dict[str, Any]:
        medium = self._medium
        losses = {"ABSORBING": medium.is_absorbing, "DISPERSIVE": medium.is_dispersive}
        own = self._tables.mode_constants() if file == "planes" else self._point_constants()
        return precision(self._dtype) | self._passes.constants(file) | losses | own

    def _point_constants(self) -> dict[str, Any]:
        medium, divided = self._medium, not len(self._rows.local)
        uniform = {
            "SPEED": (medium.speed,),
            "NONLINEARITY": (medium.nonlinearity, medium.density),
            "ABSORPTION": (medium.absorption, medium.speed),
        }
        deferred = range(3) if divided else self._source_axes
        return {
            "DT": self._operators.dt,
            "NONLINEAR": medium.is_nonlinear,
            "FRACTIONAL": self._fractional,
            "STATE_FOLLOWS": self._state_follows,
            "OVERLAPS": self._has_overlaps,
            "DEFER_DENSITY": self._acts_on("p"),
            "DEFER_SPECTRA": divided,
            "DEFERRED": sum(1 << axis for axis in deferred),
            **self._term_constants(),
            "MEAN_DENSITY": self._tables.takes_means,
            "UNIFORM_DENSITY": self._tables.has_uniform_density,
            **{f"UNIFORM_{key}": not any(map(np.ndim, used)) for key, used in uniform.items()},
        }

    def _term_constants(self) -> dict[str, int]:
        """Numbers of the terms of the pressure and the velocities, and the first of u_y and u_z."""
        names = [term.field for term in self._terms_of("u")]
        first = {f"{name.upper()}_TERM": sum(of < name for of in names) for name in ("uy", "uz")}
        return first | {"P_TERMS": len(self._terms_of("p")), "U_TERMS": len(names)}
