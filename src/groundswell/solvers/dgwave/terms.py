"""Local terms of the equations: point sources, and damping of all fields."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import DTypeLike, NDArray

from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Numbers

Floats = NDArray[np.float64]
SourceKind = Literal["pressure", "force", "stress"]

# Lowest degree of elements in which a source has a lower degree, see `projection_degrees`.
LOWER_FROM: dict[SourceKind, float] = {"pressure": np.inf, "force": 4, "stress": 5}


@dataclass(frozen=True, eq=False)
class ElementSource:
    """A point source in an element.

    Args:
        element: index of the element within the rank.
        place: reference coordinates in the element, -1 to 1 along x, y, z, (3,).
        projection: degrees along x, y, z of the polynomial that represents it, see
            `projection_degrees`.
        rates: rates of the fields per unit of the time function, times m^3, (fields,).
        start, step: time of the first sample and interval between samples, s.
        samples: samples of the time function.
        volume: volume of a brick, m^3; 8, that of the reference element, for other elements.
    """

    element: int
    place: Floats
    projection: Sequence[int]
    rates: Floats
    start: float
    step: float
    samples: Floats
    volume: float

    def shape(self, degree: int) -> Floats:
        """The row of the source in kernels/terms.h."""
        axes = zip(self.place, self.projection, strict=True)
        along = [delta_function(degree, place, projection) for place, projection in axes]
        return np.concatenate([*along, self.rates * 2**AXES / self.volume])


def projection_degrees(
    degree: int, kind: SourceKind, lowered: Collection[int] = range(AXES)
) -> list[int]:
    """Degrees along x, y, z of the polynomial that represents a source in an element of degree N.

    They are N - 1, or 1 if N = 1. A projection on degree N would excite the Legendre polynomial of
    that degree. Its derivative vanishes at the inner nodes, so a part of the motion near the source
    would neither propagate nor decay. From the degrees in LOWER_FROM on, they are N - 2 along the
    axes `lowered`:

    - The stress in equilibrium with a force whose degree along its direction is N - 1 has degree N,
      but strains have degree N - 1. The rest acts at the faces. At a free surface, the radial
      motion has an error of first order. Only the axis of the force matters for that.
    - Normal stresses of a solid whose degree across their direction is N - 1 relax slowly by the
      Riemann flux, in up to a hundred travel times through the element. They move the elements in
      line with the source.

    In elements of lower degree, the error of the waves would grow more than these errors fall.
    """
    lower = lowered if degree >= LOWER_FROM[kind] else ()
    return [max(degree - (2 if axis in lower else 1), 1) for axis in range(AXES)]


def delta_function(degree: int, place: float, projection: int) -> Floats:
    """The projection of a delta function at a reference coordinate on a line, (N + 1,).

    Returns:
        Nodal values of a polynomial of degree `projection`.
    """
    degrees = np.arange(projection + 1)
    at_nodes, at_place = (legendre.legvander(x, projection) for x in (gll(degree).points, place))
    return np.asarray(at_nodes @ (at_place[0] * (degrees + 0.5)))


@dataclass(frozen=True, eq=False)
class Terms:
    """Sources and damping of a rank's elements.

    Args:
        degree: degree of the elements.
        fields: number of fields.
        count: number of elements.
        sources: point sources in ascending order of their elements.
        damped: row of each element in `decay`, or -1, (elements,).
        decay: rates of decay at the nodes of elements, (rows, nodes), 1/s.
    """

    degree: int
    fields: int
    count: int
    sources: Sequence[ElementSource] = ()
    damped: NDArray[np.int32] | None = None
    decay: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def has_sources(self) -> bool:
        """Whether there are sources in these elements."""
        return bool(self.sources)

    @property
    def has_damping(self) -> bool:
        """Whether an element is damped."""
        return self.damped is not None

    def tables(self, dtype: DTypeLike) -> list[NDArray[np.generic]]:
        """The tables of TERM_ARGUMENTS in kernels/terms.h, for a floating-point type."""
        sources = self.sources or [_NO_SOURCE]
        lengths = [len(source.samples) for source in sources]
        nowhere = np.full(1, -1, np.int32)
        return [
            self._first_sources(),
            np.array([source.shape(self.degree) for source in sources]).astype(dtype),
            np.array([(source.start, source.step) for source in sources], np.float64),
            np.cumsum([0, *lengths]).astype(np.int64),
            np.concatenate([source.samples for source in sources]).astype(dtype),
            nowhere if self.damped is None else self.damped,
            np.append(self.decay.ravel(), 0.0).astype(dtype),
        ]

    def _first_sources(self) -> Numbers:
        elements = [source.element for source in self.sources]
        return np.searchsorted(elements, np.arange(self.count + 1)).astype(np.int64)


# Kernels without sources do not read these tables.
_NO_SOURCE = ElementSource(0, np.zeros(AXES), [1] * AXES, np.zeros(1), 0.0, 1.0, np.zeros(1), 1.0)
