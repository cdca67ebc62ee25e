"""Section `[plasticity]` of a case with soft soil that yields."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, ValidationInfo

from groundswell.case.common import Section
from groundswell.case.problems import Violation, reject
from groundswell.case.units import Accepts, Length, NonNegative, Number, Positive, Speed
from groundswell.case.value_text import words
from groundswell.seismology.case.plasticity import (
    FLUID,
    InitialStressSection,
    OfDepthValue,
    OfRock,
    RockValue,
)

STRAIN = OfRock("", "a plain number", "8e-4", None, 0.0, True)
HYPERBOLIC, DARENDELI = "hyperbolic", "darendeli"
MOST_SURFACES = 40


class CurveSection(Section):
    """`{ strain = [1e-5, 1e-4, 1e-3], modulus = [0.99, 0.8, 0.3] }`: G / Gmax against strain."""

    strain: Annotated[tuple[Annotated[Number, Positive], ...], Field(min_length=2)]
    """Shear strains, in increasing order."""
    modulus: tuple[Annotated[Number, Positive], ...]
    """G / Gmax at these strains, falling from 1."""

    def violations(self) -> Iterator[Violation]:
        """Lists of different lengths, strains out of order, or a modulus that rises."""
        if len(self.modulus) != len(self.strain):
            yield ("modulus",), f"must have one value for each of the {len(self.strain)} strains"
        for n, (first, second) in enumerate(pairwise(self.strain), 1):
            if not first < second:
                yield ("strain", n), f"must be more than the entry before it, {first:g}"
        for n, (first, second) in enumerate(pairwise((1.0, *self.modulus))):
            if second > first:
                yield ("modulus", n), f"must be at most {first:g}, as G / Gmax falls from 1"


def _curve(value: object, info: ValidationInfo) -> Any:
    if isinstance(value, dict):
        return CurveSection.model_validate(value, context=info.context)
    if isinstance(value, CurveSection) or value in (HYPERBOLIC, DARENDELI):
        return value
    reject([((), f'must be "{HYPERBOLIC}", "{DARENDELI}" or a table of strain and modulus')])
    return value


Curve = str | CurveSection
_CURVES = Accepts(f"{words([HYPERBOLIC, DARENDELI])} or a table", tables=(("", CurveSection),))


class SoilCurve(Section):
    """The modulus-reduction curve of soil, and the strain at which G / Gmax is 1/2.

    A hyperbolic curve needs `reference_strain`. The other two have one: that of Darendeli (2001)
    follows from the stress, the plasticity index (per cent) and the overconsolidation ratio.
    """

    curve: Annotated[Curve, PlainValidator(_curve), _CURVES] = HYPERBOLIC
    """Modulus reduction G / Gmax over engineering shear strain: 1 / (1 + g), 1 / (1 + g^0.919) with
    g the strain over the reference strain, up to g = 30, or a table. Beyond, stress is constant."""
    reference_strain: Annotated[RockValue | None, STRAIN] = None
    """Shear strain at which G / Gmax is 1/2, of the hyperbolic curve: shear strength over Gmax."""
    plasticity_index: Annotated[Number, NonNegative] = 0.0
    """Plasticity index in per cent, of Darendeli's curve."""
    overconsolidation: Annotated[Number, Field(ge=1)] = 1.0
    """Overconsolidation ratio, of Darendeli's curve."""

    def violations(self) -> Iterator[Violation]:
        """A missing reference strain, or keys of another curve."""
        yield from super().violations()
        if self.curve == HYPERBOLIC and self.reference_strain is None:
            yield ("reference_strain",), f"is required for the curve; give {STRAIN.expected}"
        if self.curve != HYPERBOLIC and self.reference_strain is not None:
            yield ("reference_strain",), f'belongs to curve = "{HYPERBOLIC}"; remove it'
        if self.curve != DARENDELI:
            for key in ("plasticity_index", "overconsolidation"):
                if key in self.model_fields_set:
                    yield (key,), f'belongs to curve = "{DARENDELI}"; remove it'


class SoilSection(SoilCurve):
    """`[[plasticity.soil]]`: the curve of the soil below the depth `top`."""

    top: Annotated[Length, NonNegative]
    """Depth below which the soil has this curve."""


class IwanSection(SoilCurve):
    """`[plasticity]` with `model = "iwan"`: soft soil near the surface that yields.

    Cells whose centres are above `depth` may yield; with `vs_limit` only those with slower S waves.
    `surfaces` is the number of elements in each of them. `stress` and `fluid_pressure` give the
    effective stress for Darendeli's curve.
    """

    model: Literal["iwan"]
    depth: Annotated[Length, Positive]
    """Depth down to which cells may yield."""
    vs_limit: Annotated[Speed, Positive] | None = None
    """Only cells with slower S waves yield."""
    surfaces: Annotated[int, Field(strict=True, ge=2, le=MOST_SURFACES)] = 10
    """Number of yield surfaces in each cell. Damping errs by up to 9 % with 10, 3 % with 20."""
    stress: InitialStressSection = InitialStressSection(ratio=0.5)
    """Stress before the waves, for Darendeli's curve; by default a ratio of 0.5."""
    fluid_pressure: Annotated[OfDepthValue, FLUID] = 0.0
    """Pore pressure, for Darendeli's curve."""
    soil: tuple[SoilSection, ...] = ()
    """Soils with other curves below their tops. Repeat the table for more."""

    def violations(self) -> Iterator[Violation]:
        """Soils out of order; a curve for all of them is needed only above the first."""
        if not self.soil or self.soil[0].top > 0:
            yield from super().violations()
        for n, (first, second) in enumerate(pairwise(self.soil), 1):
            if not first.top < second.top:
                yield ("soil", n, "top"), f"must be more than the top before it, {first.top:g} m"

    @property
    def curves(self) -> tuple[tuple[str, float, SoilCurve], ...]:
        """The key, the top and the curve of each soil, from the surface down."""
        below = [(f"plasticity.soil[{n}]", each.top, each) for n, each in enumerate(self.soil)]
        is_covered = bool(self.soil) and self.soil[0].top == 0
        return (*(() if is_covered else (("plasticity", 0.0, self),)), *below)
