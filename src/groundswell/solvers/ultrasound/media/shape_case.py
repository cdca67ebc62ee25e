"""Sections `[[medium.shape]]` of an ultrasound case: parts with other properties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from groundswell.case.common import Section, TaggedUnion
from groundswell.case.problems import Violation, reject
from groundswell.case.recording import AxisName
from groundswell.case.units import Density, Length, NonNegative, Number, Positive, Speed
from groundswell.errors import counted, listed
from groundswell.solvers.ultrasound.media import shapes

PROPERTIES = ("speed", "density", "absorption", "nonlinearity")

# --- materials ------------------------------------------------------------------------------------


class MaterialSection(Section):
    """Properties of a part of the medium; those that are left out keep their values.

    Absorption is in dB/(MHz^y cm); nonlinearity is the parameter B/A.
    """

    speed: Annotated[Speed, Positive] | None = None
    """Sound speed in this part."""
    density: Annotated[Density, Positive] | None = None
    """Density in this part."""
    absorption: Annotated[Number, NonNegative] | None = None
    """Absorption in this part, dB/(MHz^y cm)."""
    nonlinearity: Annotated[Number, NonNegative] | None = None
    """Nonlinearity B/A in this part."""

    @property
    def properties(self) -> dict[str, float]:
        """The given properties by name."""
        values = {name: getattr(self, name) for name in PROPERTIES}
        return {name: value for name, value in values.items() if value is not None}

    def violations(self) -> Iterator[Violation]:
        """No property at all."""
        if not self.properties:
            yield (), f"give {listed(PROPERTIES)}"


# --- shapes ---------------------------------------------------------------------------------------


def _two_or_three(point: tuple[float, ...]) -> tuple[float, ...]:
    if len(point) not in (2, 3):
        reject([((), "must be a list of two or three lengths: x, y and, in 3D, z")])
    return point


Point = Annotated[tuple[Length, ...], AfterValidator(_two_or_three)]


def _same_length(section: Section, first: str, second: str) -> Iterator[Violation]:
    n = len(getattr(section, first))
    if len(getattr(section, second)) != n:
        yield (second,), f"must have {counted(n, 'entry', 'entries')}, as {first} has"


class LayerSection(MaterialSection):
    """The layer from <= position < to along an axis; either end may be missing."""

    kind: Literal["layer"]
    axis: AxisName
    """Axis across the layer."""
    low: Length | None = Field(None, alias="from")
    """Where the layer begins; at the edge of the region by default."""
    high: Length | None = Field(None, alias="to")
    """Where the layer ends; at the edge of the region by default."""

    @property
    def geometry(self) -> shapes.Shape:
        """The shape."""
        return shapes.layer("xyz".index(self.axis), self.low, self.high)

    def violations(self) -> Iterator[Violation]:
        """Ends out of order."""
        yield from super().violations()
        if self.low is not None and self.high is not None and not self.low < self.high:
            yield ("to",), f"must be greater than from, {self.low:g} m"


class BoxSection(MaterialSection):
    """The box low <= position < high."""

    kind: Literal["box"]
    low: Point
    """Lowest corner of the box."""
    high: Point
    """Highest corner of the box."""

    @property
    def geometry(self) -> shapes.Shape:
        """The shape."""
        return shapes.Box(self.low, self.high)

    def violations(self) -> Iterator[Violation]:
        """Corners out of order."""
        yield from super().violations()
        yield from _same_length(self, "low", "high")
        for n, (low, high) in enumerate(zip(self.low, self.high, strict=False)):
            if not low < high:
                yield ("high", n), f"must be greater than low[{n}], {low:g} m"


class SphereSection(MaterialSection):
    """A ball; with `inner`, the radius of its hollow, a shell."""

    kind: Literal["sphere"]
    centre: Point
    """Centre of the ball."""
    radius: Annotated[Length, Positive]
    """Radius of the ball."""
    inner: Annotated[Length, Positive] | None = None
    """Radius of its hollow, for a shell."""

    @property
    def geometry(self) -> shapes.Shape:
        """The shape."""
        return shapes.Sphere(self.centre, self.radius, self.inner)

    def violations(self) -> Iterator[Violation]:
        """A hollow that is not smaller than the sphere."""
        yield from super().violations()
        if self.inner is not None and not self.inner < self.radius:
            yield ("inner",), f"must be less than the radius, {self.radius:g} m"


class CylinderSection(MaterialSection):
    """A circular cylinder between two points on its axis."""

    kind: Literal["cylinder"]
    start: Point
    """First end of the axis."""
    end: Point
    """Second end of the axis."""
    radius: Annotated[Length, Positive]
    """Radius of the cylinder."""

    @property
    def geometry(self) -> shapes.Shape:
        """The shape."""
        return shapes.Cylinder(self.start, self.end, self.radius)

    def violations(self) -> Iterator[Violation]:
        """Ends that coincide."""
        yield from super().violations()
        yield from _same_length(self, "start", "end")
        if self.start == self.end:
            yield ("end",), "must differ from start"


ShapeSection = Annotated[LayerSection | BoxSection | SphereSection | CylinderSection, TaggedUnion()]
