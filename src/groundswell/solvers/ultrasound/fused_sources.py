"""Sources of the fused step: terms that kernels add, and sources that act between its passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Launch
from groundswell.solvers.ultrasound.device_coefficients import DeviceCoefficients
from groundswell.solvers.ultrasound.fields import AXES, Fields
from groundswell.solvers.ultrasound.fused_launches import LinePasses
from groundswell.solvers.ultrasound.point_source import Injection, PointSource
from groundswell.solvers.ultrasound.separable import DeviceTerms, Term, separate


@dataclass(frozen=True)
class SeparatedSources:
    """Sources of few terms, which the updates of the fields add, and other sources.

    Args:
        terms: the terms, by field.
        others: the other sources.
    """

    terms: Sequence[Term]
    others: Sequence[PointSource]

    @classmethod
    def of(cls, sources: Iterable[PointSource], dtype: DTypeLike) -> SeparatedSources:
        """Separate sources; see `separate`."""
        terms, others = separate(sources, dtype)
        return cls(sorted(terms, key=lambda term: term.field), others)

    def terms_of(self, kind: str) -> list[Term]:
        """Terms of the pressure ("p"), or of all velocities ("u") by axis."""
        return [term for term in self.terms if term.field[0] == kind]

    def others_of(self, kind: str) -> list[PointSource]:
        """Other sources of the pressure ("p"), or of the velocities ("u")."""
        return [source for source in self.others if source.field[0] == kind]

    @property
    def axes(self) -> list[int]:
        """Axes whose velocities have other sources."""
        names = {source.field for source in self.others}
        return [axis for axis, name in enumerate(AXES) if f"u{name}" in names]

    def term_constants(self) -> dict[str, int]:
        """Numbers of the terms of the pressure and the velocities, and the first of u_y and u_z."""
        names = [term.field for term in self.terms_of("u")]
        first = {f"{name.upper()}_TERM": sum(of < name for of in names) for name in ("uy", "uz")}
        return first | {"P_TERMS": len(self.terms_of("p")), "U_TERMS": len(names)}


class FusedSources:
    """Launches of sources.

    Args:
        backend: a GPU.
        sources: the sources.
        inject: adds the signals of sources to fields.
        passes: the passes of the step.
        fields: the fields on which the sources act.
        spectra: of the fields, along x.
    """

    def __init__(
        self,
        backend: Backend,
        sources: SeparatedSources,
        inject: Injection,
        passes: LinePasses,
        fields: Fields,
        spectra: Sequence[DeviceArray],
    ) -> None:
        self._backend, self._sources, self._inject = backend, sources, inject
        self._passes, self._fields, self._spectra = passes, fields, spectra

    # --- terms ------------------------------------------------------------------------------------

    def term_arguments(
        self, kind: str, coefficients: DeviceCoefficients
    ) -> dict[str, DeviceArray | int]:
        """Arguments of kernels for the terms of the pressure ("p") or of the velocities ("u")."""
        terms, shape = self._sources.terms_of(kind), self._fields.p.shape
        found = DeviceTerms(self._backend, coefficients, terms, shape, self._correct)
        return {
            "source_fields": found.fields,
            "source_signals": found.signals,
            "clock": self._inject.clock,
            "samples": found.samples,
        }

    def _correct(self, term: Term, field: DeviceArray) -> Iterator[Launch]:
        """Write the corrected field of a term to an array of zeros."""
        spectrum = self._spectra[2]  # the first one is that of p
        yield self._inject("add_source", term.weights_alone, field)
        yield from self._passes.forward_all(field, spectrum)
        yield from self._passes.correct_source(spectrum)
        yield from self._passes.along_x("inverse_x", "own", spectrum, field)

    # --- other sources ----------------------------------------------------------------------------

    def launches_of(self, kind: str) -> list[Launch]:
        """Pressure sources, which act on each split density, or velocity sources."""
        launches: list[Launch] = []
        for source in self._sources.others_of(kind):
            axis = AXES.index(source.field[-1]) if kind == "u" else 2
            fields = self._fields.rho if kind == "p" else [self._fields.u[axis]]
            launches += self._apply(source, fields, self._spectra[axis])
        return launches

    def _apply(
        self, source: PointSource, fields: Sequence[DeviceArray], spectrum: DeviceArray
    ) -> Iterator[Launch]:
        """Add a source to fields, or set their values; `spectrum` may be overwritten."""
        if source.mode != "additive":
            name = "set_source" if source.mode == "dirichlet" else "add_source"
            yield from (self._inject(name, source, field) for field in fields)
            return
        yield self._inject("add_source", source, self._source_term)
        yield from self._passes.forward_all(self._source_term, spectrum)
        yield self._passes.erase(self._source_term, source.points)
        yield from self._passes.correct_source(spectrum)
        three = [*fields, fields[0], fields[0]][:3]
        yield from self._passes.along_x("add_inverse_x", "own", spectrum, *three, len(fields))

    @cached_property
    def _source_term(self) -> DeviceArray:
        """Additive sources before the k-space correction; zero between launches, (nz, ny, nx)."""
        return self._backend.zeros(self._fields.p.shape, self._fields.p.dtype)
