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
from groundswell.case.units import (
    Accepts,
    Angle,
    Length,
    NonNegative,
    Positive,
    Pressure,
    Speed,
    Time,
    Unit,
)
from groundswell.case.value_text import words
from groundswell.errors import did_you_mean, listed, quoted
from groundswell.seismology.case.fault_friction import (
    FRICTIONS,
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
_COORDINATE = Accepts("a length or a list of 2", "m")


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

    x: Annotated[float | Extent, PlainValidator(_length_or_extent), _COORDINATE]
    """Position of a plane normal to x, or the two ends along x."""
    y: Annotated[float | Extent, PlainValidator(_length_or_extent), _COORDINATE]
    """Position of a plane normal to y, or the two ends along y."""
    depth: tuple[Annotated[Length, NonNegative], Annotated[Length, NonNegative]]
    """Depth of the upper and the lower end."""

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
    """Distance from the hypocenter up to which friction is forced to fall."""
    speed: Annotated[Speed, Positive]
    """Speed at which the forced front leaves the hypocenter."""
    duration: Annotated[Time, Positive]
    """Time in which friction falls at each point."""


class StressNucleation(Section):
    """A smooth additional shear stress around the hypocenter, raised within `duration`.

    By default it has the direction of the initial shear stress.
    """

    kind: Literal["stress"]
    shear: Annotated[Pressure, Positive]
    """Largest additional shear stress."""
    radius: PositiveLength
    """Distance from the hypocenter at which it has fallen to zero."""
    duration: Annotated[Time, Positive]
    """Time in which it is raised."""
    rake: Annotated[Angle, Field(ge=-360, le=360)] | None = None
    """Direction of the additional stress; by default that of the initial shear stress."""


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


AnyFriction = Annotated[
    SerializeAsAny[FrictionSection], PlainValidator(_friction), Accepts("a table", tables=FRICTIONS)
]


class Patch(Section):
    """Part of a fault whose friction or stress differs, around the nearest point to `center`."""

    center: Point
    """Position x, y and depth; the patch is around the nearest point of the fault."""
    friction: AnyFriction | None = None
    """Parameters of the law that differ."""
    stress: StressSection | None = None
    """Initial stress that differs."""

    def violations(self) -> Iterator[Violation]:
        """A patch that changes nothing, or an incomplete stress."""
        if not ((self.friction and self.friction.given) or (self.stress and self.stress.given)):
            yield (), "changes nothing; give friction or stress, or leave the patch out"


class Rectangle(Patch):
    """A patch of `size` along strike and down dip."""

    shape: Literal["rectangle"]
    size: tuple[PositiveLength, PositiveLength]
    """Lengths along strike and down dip."""


class Circle(Patch):
    """A patch of the points within `radius`."""

    shape: Literal["circle"]
    radius: PositiveLength
    """Radius of the patch."""


_SHAPES = (('shape = "rectangle"', Rectangle), ('shape = "circle"', Circle))
_PATCH: TypeAdapter[Any] = TypeAdapter(Annotated[Rectangle | Circle, TaggedUnion("shape")])


def _patch(value: object, info: ValidationInfo) -> Rectangle | Circle:
    """A patch of a fault with this law."""
    context = {**(info.context or {}), "law": info.data.get("law")}
    patch: Rectangle | Circle = _PATCH.validate_python(value, context=context)
    return patch


AnyPatch = Annotated[
    SerializeAsAny[Rectangle | Circle], PlainValidator(_patch), Accepts("a table", tables=_SHAPES)
]

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
    """Name of the fault: letters, digits, - and _."""
    plane: PlaneSection | None = None
    """Upright plane along x or y, on a grid."""
    surface: Annotated[str, Field(min_length=1)] | None = None
    """Name of a surface of the mesh, instead of a plane."""
    strike: Annotated[Angle, Field(ge=-360, le=360)] | None = None
    """Azimuth of a surface in the frame of the grid, within 90 degrees of its strike."""
    hypocenter: Point | None = None
    """Point x, y and depth on the fault where the rupture starts; required for nucleation."""
    law: Annotated[str, PlainValidator(_law), Accepts(words([*LAWS]))]
    """Friction law."""
    friction: AnyFriction
    """Parameters of the law."""
    stress: StressSection
    """Stress before the rupture."""
    initial_rate: Rate = None
    """Slip rate before the rupture, for laws of rate and state."""
    nucleation: Nucleation | None = None
    """How the rupture starts."""
    patch: tuple[AnyPatch, ...] = ()
    """Parts of the fault with other friction or stress. Later ones replace earlier ones."""

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
