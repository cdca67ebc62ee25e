"""Section `[plasticity]` of a case: strength of the rock, and the stress in it before the waves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, PlainValidator, ValidationInfo

from groundswell.case.common import OutputSection, Section, exactly_one
from groundswell.case.problems import Violation
from groundswell.case.units import Accepts, NonNegative, Time, Unit
from groundswell.errors import did_you_mean, listed, quoted
from groundswell.seismology.case.varying import VaryingUnit

# --- strength -------------------------------------------------------------------------------------

VARIABLES = ("x", "y", "depth", "vp", "vs", "rho")
_BY = {"depth": Unit("m", "a depth", "1 km"), "vs": Unit("m/s", "a speed", "500 m/s")}


def _place(value: object, info: ValidationInfo) -> float:
    """A depth or a speed; not validated if `by` is invalid."""
    return float(_BY[info.data["by"]].read(value)) if "by" in info.data else math.nan


def _entry(value: object, info: ValidationInfo) -> float:
    """A value of the parameter that the table is for."""
    unit = (info.context or {}).get("unit", Unit("", "a plain number", "5"))
    return float(unit.number(value) if isinstance(unit, VaryingUnit) else unit.read(value))


class RockTable(Section):
    """`{ by = "vs", at = ["300 m/s", "1 km/s"], values = ["50 kPa", "5 MPa"] }`.

    Linear between depths or S speeds, constant beyond the first and the last.
    """

    by: Literal["depth", "vs"]
    """What the entries of `at` are."""
    at: tuple[Annotated[float, PlainValidator(_place), Accepts("a depth or a speed")], ...]
    """Depths or S wave speeds, in increasing order."""
    values: tuple[Annotated[float, PlainValidator(_entry), Accepts("a value of the key")], ...]
    """Values there; linear between them, constant beyond the ends."""

    def violations(self) -> Iterator[Violation]:
        """Lists of different lengths, or places out of order."""
        if not self.at or len(self.at) != len(self.values):
            yield ("values",), f"must have one value for each of the {len(self.at)} entries of at"
        for n, (first, second) in enumerate(pairwise(self.at), 1):
            if not first < second:
                unit = _BY[self.by].unit
                yield ("at", n), f"must be more than the entry before it, {first:g} {unit}"


RockValue = float | str | RockTable  # a number, an expression or a table, in SI units


@dataclass(frozen=True)
class OfRock(VaryingUnit):
    """Annotation of a number, expression or table of a parameter that may vary in the rock."""

    variables = VARIABLES
    table = RockTable
    described = 'a table { by = "depth" or "vs", at = [...], values = [...] }'


COHESION = OfRock("Pa", "a pressure", "5 MPa", least=0.0)
ANGLE = OfRock("deg", "an angle", "30 deg", least=0.0, below=90.0)
Cohesion = Annotated[RockValue, COHESION]
FrictionAngle = Annotated[RockValue, ANGLE]


class MaterialStrength(Section):
    """`[[plasticity.material]]`: cohesion and friction angle of one material of the medium."""

    name: Annotated[str, Field(min_length=1)]
    """Name of a volume of the mesh."""
    cohesion: Cohesion
    """Cohesion of this material."""
    friction_angle: FrictionAngle
    """Friction angle of this material."""


# --- stress ---------------------------------------------------------------------------------------

HYDROSTATIC = "hydrostatic"


@dataclass(frozen=True)
class OfDepth(VaryingUnit):
    """Annotation of a number or expression of a parameter that may vary with depth."""

    variables = ("depth",)


RATIO = OfDepth("", "a plain number", "1.0", None, 0.0)
STRESS = OfDepth("Pa", "a pressure", "-120 MPa")
FLUID = OfDepth("Pa", "a pressure", "50 MPa", HYDROSTATIC, 0.0)
OfDepthValue = float | str
Component = Annotated[OfDepthValue, STRESS]


class DepthTensor(Section):
    """A stress tensor that depends on depth: x east, y north, z down; compression negative."""

    xx: Component
    """Stress east-east, tension positive."""
    yy: Component
    """Stress north-north, tension positive."""
    zz: Component
    """Stress down-down, tension positive."""
    xy: Component
    """Stress east-north."""
    xz: Component
    """Stress east-down."""
    yz: Component
    """Stress north-down."""


class InitialStressSection(Section):
    """The weight of the rock above with horizontal stresses `ratio` times as large, or a tensor."""

    ratio: Annotated[OfDepthValue | None, RATIO] = None
    """Horizontal stresses relative to the weight of the rock above."""
    tensor: DepthTensor | None = None
    """Stress tensor, instead of the weight of the rock."""

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of the two."""
        yield from exactly_one(self, "ratio", "tensor")


# --- the section ----------------------------------------------------------------------------------


class DruckerPragerSection(Section):
    """`[plasticity]` with `model = "drucker-prager"`: rock that yields.

    The strength is c cos(phi) + p sin(phi), with the cohesion c, the friction angle phi and the
    effective pressure p, or 0 if this is negative. The shear stress is the square root of J2.
    """

    model: Literal["drucker-prager"]
    cohesion: Cohesion
    """Shear strength without confining stress."""
    friction_angle: FrictionAngle
    """Angle of the growth of strength with confining stress."""
    relaxation_time: Annotated[Time, NonNegative]
    """Time in which an excess over the strength decays to 37 %; 0 if yielding does not depend on
    the rate. Benchmarks of SCEC have 0.03 to 0.05 s."""
    stress: InitialStressSection = InitialStressSection(ratio=1.0)
    """Stress before the waves; by default the weight of the rock above, in all directions. With a
    fault, give the tensor that loads it."""
    fluid_pressure: Annotated[OfDepthValue, FLUID] = 0.0
    """Pore pressure; "hydrostatic" is 9.81 kPa per metre."""
    material: tuple[MaterialStrength, ...] = ()
    """Strength of materials by name, on meshes. Repeat the table for more."""

    def violations(self) -> Iterator[Violation]:
        """A material that is named twice."""
        names = [each.name for each in self.material]
        for n, name in enumerate(names):
            if name in names[:n]:
                yield ("material", n, "name"), "has a strength already; name each material once"

    def strength_of(self, material: str | None) -> DruckerPragerSection | MaterialStrength:
        """The keys `cohesion` and `friction_angle` of a material of the medium."""
        own = (each for each in self.material if each.name == material)
        return next(own, self)


def unknown_materials(
    section: DruckerPragerSection, names: Sequence[str] | None
) -> Iterator[Violation]:
    """Yield the violations of strengths of materials that the medium does not have.

    Args:
        names: of the materials; None if they have none.
    """
    for n, each in enumerate(section.material):
        if names is None:
            text = "needs a medium whose materials have names; use an expression or a table of vs"
            yield ("material", n), text
        elif each.name not in names:
            allowed = f"must be {listed(map(quoted, names))}{did_you_mean(each.name, names)}"
            yield ("material", n, "name"), allowed


STRAIN = "plastic_strain"  # the field of the accumulated plastic strain


def strains_recorded(output: OutputSection) -> Iterator[Violation]:
    """Yield the violations of outputs of the plastic strain, in a case without `[plasticity]`."""
    text = f'"{STRAIN}" needs rock that yields; add [plasticity], or leave the field out'
    volumes = getattr(output, "volumes", None)
    if volumes and STRAIN in volumes.fields:
        yield ("output", "volumes", "fields"), text
    for n, record in enumerate(output.record):
        if STRAIN in record.fields:
            yield ("output", "record", n, "fields"), text
