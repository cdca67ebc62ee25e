"""Section `[[fault]]` of a case: a fault that breaks by itself, and its friction and stress."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    PlainValidator,
    SerializeAsAny,
    TypeAdapter,
    ValidationInfo,
)

from groundswell.case.common import Section, TaggedUnion, exactly_one
from groundswell.case.problems import Violation, reject
from groundswell.case.units import Angle, Length, NonNegative, Positive, Pressure, Speed, Time, Unit
from groundswell.errors import did_you_mean, listed, quoted
from groundswell.seismology.case.fault_friction import (
    LAWS,
    FrictionSection,
    Rate,
    foreign_parameters,
    missing_parameters,
)
from groundswell.seismology.case.fault_stress import StressSection
from groundswell.seismology.case.grid import GridSection

Extent = tuple[float, float]
PositiveLength = Annotated[Length, Positive]
Point = tuple[Length, Length, Length]
TOLERANCE = 1e-3  # m, of a point on a plane

# --- the place ------------------------------------------------------------------------------------

_LENGTH = Unit("m", "a length", "5 km")


def _length_or_extent(value: object) -> float | Extent:
    """A coordinate, or the two ends of an extent."""
    if not isinstance(value, list | tuple):
        return float(_LENGTH.read(value))
    if len(value) != 2:
        reject([((), 'must be a length, or two as in ["5 km", "35 km"]')])
    return float(_LENGTH.read(value[0])), float(_LENGTH.read(value[1]))


class PlaneSection(Section):
    """`plane = { y = "10 km", x = ["5 km", "35 km"], depth = ["0 km", "15 km"] }`: upright.

    The coordinate that is a single length is the position of the plane.
    """

    x: Annotated[float | Extent, PlainValidator(_length_or_extent)]
    y: Annotated[float | Extent, PlainValidator(_length_or_extent)]
    depth: tuple[Annotated[Length, NonNegative], Annotated[Length, NonNegative]]

    @property
    def axis(self) -> int:
        """The axis that the plane is normal to: 0 for x, 1 for y."""
        return 0 if isinstance(self.x, float) else 1

    @property
    def position(self) -> float:
        """The coordinate of the plane on its axis, m."""
        position = self.y if self.axis else self.x
        assert isinstance(position, float)
        return position

    @property
    def extent(self) -> Extent:
        """First and last coordinate along strike, m."""
        extent = self.x if self.axis else self.y
        assert isinstance(extent, tuple)
        return extent

    def violations(self) -> Iterator[Violation]:
        """Not exactly one single coordinate, or an empty extent."""
        if isinstance(self.x, float) == isinstance(self.y, float):
            yield (), "give one length for x or y, the position of the plane, and two for the other"
        for name in ("x", "y", "depth"):
            ends = getattr(self, name)
            if isinstance(ends, tuple) and not ends[0] < ends[1]:
                yield (name,), "must be two lengths that increase; the extent is empty"

    def misplaced(self, point: Sequence[float]) -> Iterator[str]:
        """Yield what is wrong with a point, x, y, depth (m), that is not on the plane."""
        for name, coordinate in zip(("x", "y", "depth"), point, strict=True):
            ends = getattr(self, name)
            first, last = ends if isinstance(ends, tuple) else (ends, ends)
            if not first - TOLERANCE <= coordinate <= last + TOLERANCE:
                where = f"{first:g} to {last:g} m" if first < last else f"{first:g} m"
                yield f"must lie on the plane: {name} is {coordinate:g} m, not {where}"


# --- nucleation -----------------------------------------------------------------------------------


class ForcedNucleation(Section):
    """Friction falls from the hypocenter outwards, up to `radius`, first at `speed`.

    At each point it falls within `duration` to its dynamic value.
    """

    kind: Literal["forced"]
    radius: PositiveLength
    speed: Annotated[Speed, Positive]
    duration: Annotated[Time, Positive]


class StressNucleation(Section):
    """A smooth additional shear stress around the hypocenter, raised within `duration`.

    By default it has the direction of the initial shear stress.
    """

    kind: Literal["stress"]
    shear: Annotated[Pressure, Positive]
    radius: PositiveLength
    duration: Annotated[Time, Positive]
    rake: Annotated[Angle, Field(ge=-360, le=360)] | None = None


Nucleation = Annotated[ForcedNucleation | StressNucleation, TaggedUnion()]

# --- patches --------------------------------------------------------------------------------------


def _friction(value: object, info: ValidationInfo) -> object:
    """Friction of the law of the fault; not validated if the law is invalid."""
    law = str(info.data.get("law") or (info.context or {}).get("law"))
    section = LAWS.get(law)
    if section is None or isinstance(value, FrictionSection):
        return value
    if isinstance(value, dict):
        reject(foreign_parameters(law, value))
    return section.model_validate(value, context=info.context)


class Patch(Section):
    """Part of a fault whose friction or stress differs, around the nearest point to `center`."""

    center: Point
    friction: Annotated[SerializeAsAny[FrictionSection] | None, PlainValidator(_friction)] = None
    stress: StressSection | None = None

    def violations(self) -> Iterator[Violation]:
        """A patch that changes nothing, or an incomplete stress."""
        if not ((self.friction and self.friction.given) or (self.stress and self.stress.given)):
            yield (), "changes nothing; give friction or stress, or leave the patch out"


class Rectangle(Patch):
    """A patch of `size` along strike and down dip."""

    shape: Literal["rectangle"]
    size: tuple[PositiveLength, PositiveLength]


class Circle(Patch):
    """A patch of the points within `radius`."""

    shape: Literal["circle"]
    radius: PositiveLength


_PATCH: TypeAdapter[Any] = TypeAdapter(Annotated[Rectangle | Circle, TaggedUnion("shape")])


def _patch(value: object, info: ValidationInfo) -> Rectangle | Circle:
    """A patch of a fault with this law."""
    context = {**(info.context or {}), "law": info.data.get("law")}
    patch: Rectangle | Circle = _PATCH.validate_python(value, context=context)
    return patch


# --- the fault ------------------------------------------------------------------------------------


def _law(value: object) -> str:
    if not isinstance(value, str) or value not in LAWS:
        reject([((), f"must be {listed(map(quoted, LAWS))}{did_you_mean(value, LAWS)}")])
    return str(value)


def fault_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", text):
        reject([((), "must be letters, digits, - or _")])
    return text


class FaultSection(Section):
    """`[[fault]]`: a fault, the friction and stress on it, and the start of its rupture.

    It is a `plane`, or the `surface` of this name of a mesh. `strike` is an azimuth in the frame of
    the grid (0 for +y, 90 for +x), within 90 degrees of the strike of the surface.
    """

    name: Annotated[str, AfterValidator(fault_name)] = "main"
    plane: PlaneSection | None = None
    surface: Annotated[str, Field(min_length=1)] | None = None
    strike: Annotated[Angle, Field(ge=-360, le=360)] | None = None
    hypocenter: Point | None = None
    law: Annotated[str, PlainValidator(_law)]
    friction: Annotated[SerializeAsAny[FrictionSection], PlainValidator(_friction)]
    stress: StressSection
    initial_rate: Rate = None
    nucleation: Nucleation | None = None
    patch: tuple[Annotated[SerializeAsAny[Rectangle | Circle], PlainValidator(_patch)], ...] = ()

    def violations(self) -> Iterator[Violation]:
        """Missing parameters, and keys that contradict each other."""
        yield from exactly_one(self, "plane", "surface")
        if self.plane and self.strike is not None:
            yield ("strike",), "is for a surface; a plane has the strike of an axis: leave it out"
        yield from ((("friction", *at), text) for at, text in missing_parameters(self.friction))
        yield from ((("stress", *at), text) for at, text in self.stress.missing())
        yield from self._rate_violations()
        yield from self._misplaced()
        yield from self._nucleation_violations()

    def _rate_violations(self) -> Iterator[Violation]:
        """An initial rate without state, or state without an initial rate."""
        if self.friction.has_state and self.initial_rate is None:
            yield ("initial_rate",), f'is required for law = "{self.law}"; give a speed'
        if not self.friction.has_state and self.initial_rate is not None:
            yield ("initial_rate",), f'is not for law = "{self.law}"; leave it out'

    def _misplaced(self) -> Iterator[Violation]:
        """A hypocenter beside the plane."""
        if self.plane and self.hypocenter:
            yield from ((("hypocenter",), text) for text in self.plane.misplaced(self.hypocenter))

    def _nucleation_violations(self) -> Iterator[Violation]:
        """A nucleation without its centre, or that the law does not have."""
        if self.nucleation is None:
            return
        if self.hypocenter is None:
            yield ("hypocenter",), "is required for nucleation; give a point on the fault"
        if self.nucleation.kind == "forced" and self.friction.has_state:
            yield ("nucleation", "kind"), 'is for law = "slip-weakening"; use "stress"'


def repeated_names(faults: Sequence[FaultSection]) -> Iterator[Violation]:
    """Yield a violation for each fault with the name of an earlier one."""
    first: dict[str, int] = {}
    for n, fault in enumerate(faults):
        if first.setdefault(fault.name, n) != n:
            yield (n, "name"), f"is taken by fault[{first[fault.name]}]; names must be unique"


def missing_excitation(
    sources: Sequence[object], faults: Sequence[FaultSection]
) -> Iterator[Violation]:
    """Yield a violation if a case has neither sources nor faults."""
    if not (sources or faults):
        yield ("source",), "must not be empty unless there is a fault; add a source or a fault"


def misplaced_plane(fault: FaultSection, grid: GridSection) -> Iterator[Violation]:
    """Yield the violations of a plane that leaves the region."""
    if fault.plane is None:
        return
    for name, size in zip(("x", "y", "depth"), grid.size, strict=True):
        ends = getattr(fault.plane, name)
        first, last = ends if isinstance(ends, tuple) else (ends, ends)
        if first < -TOLERANCE or last > size + TOLERANCE:
            allowed = f"leaves the region, {name} from 0 to {size:g} m"
            yield ("plane", name), f"{allowed}; move it, or enlarge grid.size"
