"""Sections `[[source]]` of an ultrasound case: transducers, their signals and amplitudes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, PlainValidator

from groundswell.case.common import DataFile, NotEmpty, Section, TaggedUnion, exactly_one
from groundswell.case.problems import Violation, reject
from groundswell.case.recording import MaskWhere
from groundswell.case.units import (
    Accepts,
    Angle,
    Frequency,
    Length,
    NonNegative,
    Number,
    Positive,
    Pressure,
    Speed,
    Time,
)
from groundswell.errors import InputError
from groundswell.solvers.ultrasound import transducers
from groundswell.solvers.ultrasound.transducers import Signal, Surface

Edge = Annotated[Length, Positive]
PER_ELEMENT = ("weights", "phases", "delays")  # keys with one entry per element


def two_or_three(entries: Sequence[object]) -> Sequence[object]:
    """The entries; a list with another length than two or three is invalid."""
    if len(entries) not in (2, 3):
        reject([((), "must have 2 or 3 entries: x, y and, in three dimensions, z")])
    return entries


def _with_z(entries: object) -> object:
    """Three entries; z = 0 is added to two entries."""
    if isinstance(entries, list | tuple):
        return (*two_or_three(entries), 0.0)[:3]
    return entries


Position = Annotated[tuple[Length, Length, Length], BeforeValidator(_with_z)]
Direction = Annotated[tuple[Number, Number, Number], BeforeValidator(_with_z)]


# --- shapes ---------------------------------------------------------------------------------------


class ShapeSection(Section):
    """The surface of a transducer or of one of its elements, as a class with the same keys."""

    surface: ClassVar[Callable[..., Surface]]

    @property
    def elements(self) -> tuple[Surface, ...]:
        """The surfaces, one for each element."""
        content = {name: getattr(self, name) for name in type(self).model_fields if name != "kind"}
        return (type(self).surface(**content),)


class PointShape(ShapeSection):
    """`kind = "point"`."""

    surface = transducers.Point

    kind: Literal["point"]
    position: Position
    """Position of the point."""


class LineShape(ShapeSection):
    """`kind = "line"`: a straight line."""

    surface = transducers.Line

    kind: Literal["line"]
    start: Position
    """First end of the line."""
    end: Position
    """Second end of the line."""


class ArcShape(ShapeSection):
    """`kind = "arc"`: an arc of a circle, the two-dimensional form of a bowl.

    In three dimensions, it lies in a plane of constant z.
    """

    surface = transducers.Arc

    kind: Literal["arc"]
    apex: Position
    """Middle of the arc."""
    radius: Edge
    """Radius of curvature: distance of the geometric focus from the apex."""
    diameter: Edge
    """Diameter of the aperture."""
    focus: Position
    """Any point on the axis: it gives only the direction."""


class DiscShape(ShapeSection):
    """`kind = "disc"`: a plane piston, in three dimensions."""

    surface = transducers.Disc

    kind: Literal["disc"]
    centre: Position
    """Centre of the disc."""
    diameter: Edge
    """Diameter of the disc."""
    normal: Direction = (0.0, 0.0, 1.0)
    """Direction normal to the disc."""


class BowlShape(ShapeSection):
    """`kind = "bowl"`: a spherical cap, in three dimensions."""

    surface = transducers.Bowl

    kind: Literal["bowl"]
    apex: Position
    """Deepest point of the bowl."""
    radius: Edge
    """Radius of curvature: distance of the geometric focus from the apex."""
    diameter: Edge
    """Diameter of the aperture."""
    focus: Position
    """Any point on the axis: it gives only the direction."""


class RectangleShape(ShapeSection):
    """`kind = "rectangle"`, in three dimensions."""

    surface = transducers.Rectangle

    kind: Literal["rectangle"]
    centre: Position
    """Centre of the rectangle."""
    width: Edge
    """Length of one side."""
    height: Edge
    """Length of the other side."""
    normal: Direction = (0.0, 0.0, 1.0)
    """Direction normal to the rectangle."""
    rotation: Angle = 0.0
    """Rotation about the normal."""


class AnnularShape(ShapeSection):
    """`kind = "annular-array"`: rings of a bowl, each an element, in three dimensions."""

    kind: Literal["annular-array"]
    apex: Position
    """Deepest point of the bowl."""
    radius: Edge
    """Radius of curvature: distance of the geometric focus from the apex."""
    diameters: Annotated[tuple[tuple[Annotated[Length, NonNegative], Edge], ...], NotEmpty]
    """Inner and outer diameter of each ring."""
    focus: Position
    """Any point on the axis: it gives only the direction."""

    @property
    def elements(self) -> tuple[Surface, ...]:
        """The surfaces, one for each element."""
        array = transducers.AnnularArray(self.apex, self.radius, self.diameters, self.focus)
        return tuple(array.elements)


Shape = Annotated[
    PointShape
    | LineShape
    | ArcShape
    | DiscShape
    | BowlShape
    | RectangleShape
    | AnnularShape
    | MaskWhere,
    TaggedUnion(),
]


# --- signals --------------------------------------------------------------------------------------


class SineSignal(Section):
    """`kind = "sine"`: a continuous wave whose amplitude ramps up during `ramp` cycles."""

    kind: Literal["sine"]
    frequency: Annotated[Frequency, Positive]
    """Frequency of the wave."""
    ramp: Annotated[Number, NonNegative] = 3.0
    """Cycles during which the amplitude grows."""

    @property
    def signal(self) -> Signal:
        """The signal with the amplitude 1."""
        return transducers.ContinuousWave(self.frequency, self.ramp)


class BurstSignal(Section):
    """`kind = "burst"`: `cycles` cycles of a sine times a window."""

    kind: Literal["burst"]
    frequency: Annotated[Frequency, Positive]
    """Frequency of the wave."""
    cycles: Annotated[Number, Positive]
    """Number of cycles."""
    window: Literal["gaussian", "hann"] = "gaussian"
    """Window that the cycles are multiplied by; a Gaussian ends at 3 standard deviations."""

    @property
    def signal(self) -> Signal:
        """The signal with the amplitude 1."""
        return transducers.ToneBurst(self.frequency, self.cycles, self.window)


def _as_samples(value: object) -> object:
    import numpy as np

    try:
        samples = np.asarray(value)
    except ValueError:  # rows of different lengths
        samples = np.empty(0)
    numbers = samples.dtype.kind in "fiu" and np.isfinite(samples).all()
    if not numbers or samples.ndim not in (1, 2) or len(samples) < 2:
        reject([((), "must be 2 or more finite numbers, or an array (samples, elements) of them")])
    return samples.astype(float)


_NUMBERS = Accepts("numbers, or rows of them")


class SampledSignal(Section):
    """`kind = "samples"`: a cubic spline through values at equal intervals, and then 0.

    An array (samples, elements) has a signal for each element, or for each point of a mask.
    """

    kind: Literal["samples"]
    interval: Annotated[Time, Positive]
    """Time between samples."""
    values: (
        Annotated[Any, PlainValidator(_as_samples), Accepts("numbers, or rows of them")] | None
    ) = None
    """Samples, or an array (samples, elements)."""
    file: DataFile | None = None
    """NumPy file (.npy) of samples, instead of values."""

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of values and file."""
        yield from exactly_one(self, "values", "file")


SignalSection = Annotated[SineSignal | BurstSignal | SampledSignal, TaggedUnion()]


# --- sources --------------------------------------------------------------------------------------


class SourceSection(Section):
    """`[[source]]`: a transducer of one or more elements.

    All elements emit the same signal, unless it has samples for each. `pressure` or `velocity` is
    the amplitude. A plane source of pressure p emits waves of amplitude p to both sides. A velocity
    moves the medium along `direction`. `weights`, `phases` and `delays` have one entry per element.
    `steering` is the point at which delays focus the elements.
    """

    shape: Shape | None = None
    """Shape of the transducer, or a mask of points."""
    elements: Annotated[tuple[Shape, ...], NotEmpty] | None = None
    """Shapes of the elements of an array, instead of one shape."""
    pressure: Pressure | None = None
    """Amplitude of the pressure."""
    velocity: Speed | None = None
    """Amplitude of the particle velocity, instead of the pressure."""
    direction: Direction | None = None
    """Direction of the velocity."""
    signal: SignalSection
    """Signal of all elements, or samples for each."""
    mode: Literal["additive", "uncorrected", "dirichlet"] = "additive"
    """Whether the source adds to the field ("additive"; "uncorrected" without the k-space
    correction), or sets it until the signal ends ("dirichlet")."""
    weights: Annotated[tuple[Number, ...], NotEmpty] | None = None
    """Factor of each element; 1 by default."""
    phases: Annotated[tuple[Angle, ...], NotEmpty] | None = None
    """Phase of each element; 0 by default."""
    delays: Annotated[tuple[Annotated[Time, NonNegative], ...], NotEmpty] | None = None
    """Delay of each element; 0 by default."""
    steering: Position | None = None
    """Point at which the sound of all elements arrives at the same time, instead of delays."""

    @property
    def shapes(self) -> tuple[Any, ...]:
        """The shapes of all elements."""
        return self.elements or (self.shape,)

    @property
    def mask(self) -> MaskWhere | None:
        """The points of the source, if it is a mask and not a surface."""
        return self.shape if isinstance(self.shape, MaskWhere) else None

    def violations(self) -> Iterator[Violation]:
        """Conflicting or missing keys, or impossible surfaces."""
        yield from exactly_one(self, "shape", "elements")
        yield from exactly_one(self, "pressure", "velocity")
        if self.velocity is not None and (self.direction is None or not any(self.direction)):
            yield ("direction",), "must be a direction of the velocity, such as [1, 0, 0]"
        if self.velocity is None and self.direction is not None:
            yield ("direction",), "is for a velocity; leave it out"
        if self.steering and self.delays:
            yield from exactly_one(self, "steering", "delays")
        if self.phases and isinstance(self.signal, SampledSignal):
            yield ("phases",), "is for a sine or a burst; samples have delays only"
        yield from self._mask_violations() if self.mask else self._element_violations()

    def _mask_violations(self) -> Iterator[Violation]:
        """Keys that only surfaces may have."""
        for name in (*PER_ELEMENT, "steering"):
            if getattr(self, name) is not None:
                yield (name,), "is for surfaces; a mask has one signal per point instead"

    def _element_violations(self) -> Iterator[Violation]:
        """Invalid surfaces, masks as elements, or lists with too few or too many entries."""
        count = 0
        for n, shape in enumerate(self.shapes if self.shape or self.elements else ()):
            place = ("shape",) if self.elements is None else ("elements", n)
            if isinstance(shape, MaskWhere):
                yield (*place, "kind"), 'cannot be "mask"; use shape instead of elements'
                return
            try:
                count += len(shape.elements)
            except InputError as error:
                yield place, str(error)
                return
        for name in PER_ELEMENT:
            entries = getattr(self, name)
            if count and entries is not None and len(entries) != count:
                yield (name,), f"must have one entry per element: {count}"
