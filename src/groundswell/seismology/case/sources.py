"""Section `[[source]]` of a case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from groundswell.case.common import DataFile, Section, TaggedUnion, exactly_one
from groundswell.case.problems import Location, Violation
from groundswell.case.units import (
    Angle,
    Count,
    Force,
    Length,
    Moment,
    Positive,
    SourceStrength,
    Time,
    Volume,
)
from groundswell.seismology.case.events import MAX_MAGNITUDE, EventFile, Magnitude
from groundswell.seismology.case.grid import GridSection, Position
from groundswell.seismology.sources.moment import (
    from_ned,
    from_rtp,
    magnitude_from_moment,
    scalar_moment,
)
from groundswell.seismology.sources.time_functions import AnyTimeFunction

# --- sources --------------------------------------------------------------------------------------


class PointSourceSection(Position):
    """A point source."""

    time_function: AnyTimeFunction
    """Rate of the moment, or shape of a force, over time."""


def _too_large(moment: float, place: Location) -> Iterator[Violation]:
    """A violation if a scalar moment (N m) exceeds that of the largest magnitude."""
    if (magnitude := magnitude_from_moment(moment)) > MAX_MAGNITUDE:
        allowed = f"gives Mw {magnitude:.1f}, and at most {MAX_MAGNITUDE:g} is allowed"
        yield place, f'{allowed}; if the unit is dyn cm, write values as "1e25 dyn cm"'


class SizedSource(PointSourceSection):
    """A point source with a magnitude (Mw) or a scalar moment."""

    magnitude: Magnitude | None = None
    """Moment magnitude Mw."""
    moment: Annotated[Moment, Positive] | None = None
    """Scalar moment, instead of the magnitude."""

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of magnitude and moment, or an impossible moment."""
        yield from super().violations()
        yield from exactly_one(self, "magnitude", "moment")
        if self.moment is not None:
            yield from _too_large(self.moment, ("moment",))


class DoubleCouple(SizedSource):
    """Shear slip on a small fault; angles as in Aki & Richards."""

    kind: Literal["double-couple"]
    strike: Annotated[Angle, Field(ge=-360, le=360)]
    """Direction of the fault's trace, clockwise from north; the fault dips to its right."""
    dip: Annotated[Angle, Field(ge=0, le=90)]
    """Angle between the fault and the horizontal."""
    rake: Annotated[Angle, Field(ge=-360, le=360)]
    """Direction of slip of the hanging wall, from the strike towards updip."""


class Explosion(SizedSource):
    """An isotropic source.

    Its moment is each diagonal element of the tensor, and its magnitude that of this moment. The
    scalar moment in the results is sqrt(1.5) times larger, and the Mw 0.06 larger.
    """

    kind: Literal["explosion"]


_FRAMES = (("nn", "ee", "dd", "ne", "nd", "ed"), ("rr", "tt", "pp", "rt", "rp", "tp"))


class Components(Section):
    """A moment tensor along north, east, down, or r (up), t (south), p (east) of Global CMT."""

    nn: Moment | None = None
    """Moment north-north."""
    ee: Moment | None = None
    """Moment east-east."""
    dd: Moment | None = None
    """Moment down-down."""
    ne: Moment | None = None
    """Moment north-east."""
    nd: Moment | None = None
    """Moment north-down."""
    ed: Moment | None = None
    """Moment east-down."""
    rr: Moment | None = None
    """Moment up-up."""
    tt: Moment | None = None
    """Moment south-south."""
    pp: Moment | None = None
    """Moment east-east."""
    rt: Moment | None = None
    """Moment up-south."""
    rp: Moment | None = None
    """Moment up-east."""
    tp: Moment | None = None
    """Moment south-east."""

    def violations(self) -> Iterator[Violation]:
        """Not exactly the six components of one frame, or all of them zero."""
        given = {name: value for name, value in self if value is not None}
        if set(given) not in map(set, _FRAMES):
            sets = " or ".join(", ".join(frame) for frame in _FRAMES)
            yield (), f"give all six of one frame: {sets}"
        elif not any(given.values()):
            yield (), "are all zero; give at least one that is not"
        else:
            convert = from_rtp if "rr" in given else from_ned
            yield from _too_large(float(scalar_moment(convert(given.values()))), ())


class MomentTensor(PointSourceSection):
    """A general moment tensor."""

    kind: Literal["moment-tensor"]
    components: Components
    """The six moments, in one of two frames."""


class PointForce(PointSourceSection):
    """A force at a point, the peak of its time function or, of a table, a factor of its values."""

    kind: Literal["force"]
    force: tuple[Force, Force, Force]
    """Force along x, y and down."""

    def violations(self) -> Iterator[Violation]:
        """A zero force."""
        yield from super().violations()
        if not any(self.force):
            yield ("force",), "is zero; give a force that is not"


class Airgun(PointSourceSection):
    """A source of volume in water.

    It has a `volume`, the largest that it displaces, whose rate is the time function; or a
    `strength`, the largest product of its pressure and the distance from it, without reflections.
    The time function is then the shape of that pressure: the far-field signature without ghost.
    For a signature in a file, give `strength = "1 bar m"` and a table of s and bar m.
    """

    kind: Literal["airgun"]
    volume: Annotated[Volume, Positive] | None = None
    """Largest volume that the source displaces, not that of the chamber."""
    strength: Annotated[SourceStrength, Positive] | None = None
    """Largest product of its pressure and the distance from it, instead of the volume."""

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of volume and strength."""
        yield from super().violations()
        yield from exactly_one(self, "volume", "strength")


class RuptureFile(Section):
    """A rupture of a file, which has longitudes, latitudes and depths.

    By default, the subfaults are at these positions, which requires `[grid.geography]`. With `x`
    and `y`, the rupture is moved so that the subfault that slips first is there, and with `depth`
    so that this subfault is at that depth. Strikes and positions in the file are relative to north.
    The y axis of the grid points `azimuth` degrees clockwise from north, by default as in
    `[grid.geography]`.
    """

    file: DataFile
    """File of the rupture."""
    x: Length | None = None
    """Position of the subfault that slips first, instead of the longitudes of the file."""
    y: Length | None = None
    """Position of the subfault that slips first, instead of the latitudes of the file."""
    depth: Length | None = None
    """Depth of that subfault, instead of that in the file; requires x and y."""
    azimuth: Annotated[Angle, Field(ge=-360, le=360)] | None = None
    """Direction of the y axis, clockwise from north; requires x and y."""

    @property
    def place(self) -> tuple[float, float] | None:
        """Horizontal position (x, y) of the subfault that slips first, m; None if not given."""
        return None if self.x is None or self.y is None else (self.x, self.y)

    def violations(self) -> Iterator[Violation]:
        """Yield a violation if only one of x and y is given, or keys that need both."""
        if (self.x is None) != (self.y is None):
            yield ("y" if self.y is None else "x",), "is required: give both x and y, or neither"
        elif self.x is None:
            for name in ("depth", "azimuth"):
                if getattr(self, name) is not None:
                    yield (name,), "requires x and y; give both, or leave it out"


class SrfRupture(RuptureFile):
    """A rupture in Standard Rupture Format, in cm, cm/s, cm^2, g/cm^3 and, for depths, km.

    The moment of a subfault is rigidity times area times slip, the integral of its slip rates. The
    rigidity follows from `vs` and density in the file (SRF 2.0) or from the medium. `check` warns
    if the slips or the rigidities of the file differ from these. Without `[grid.geography]`,
    components E and N of seismograms are along x and y, whatever `azimuth` is.
    """

    kind: Literal["srf"]


class FspRupture(RuptureFile):
    """A slip model in FSP of SRCMOD or the USGS, or `basic_inversion.param` of the USGS.

    Time 0 is the zero of the column TRUP. Without it, the rupture spreads from the hypocentre,
    moved onto the plane of the nearest subfault, at the mean rupture velocity of the file (avVr).
    The slip rate is one cosine pulse of the duration RISE, with T_RIS and T_FAL an asymmetric one,
    or one of the length LEN for each time window. Where the file of the USGS has only RISE, the
    fall is taken to be as long as the rise. Moments are those of SF_MOMENT or, without it, follow
    from the structure in the file or else from the medium.
    """

    kind: Literal["fsp"]
    rise: Annotated[Time, Positive] | None = None
    """Duration of slip where the file has none; by default the average in the file (avTr)."""


class AwpRupture(Section):
    """An AWP source file: moment rates at `points` cells, in `steps` samples `step` (s) apart."""

    kind: Literal["awp"]
    file: DataFile
    """File of moment rates in AWP's format."""
    points: Count
    """Number of cells in the file."""
    steps: Count
    """Number of samples of each cell."""
    step: Annotated[Time, Positive]
    """Time between samples."""
    format: Literal["binary", "text"] = "binary"
    """Format of the numbers."""


Source = Annotated[
    DoubleCouple
    | MomentTensor
    | Explosion
    | PointForce
    | Airgun
    | EventFile
    | SrfRupture
    | FspRupture
    | AwpRupture,
    TaggedUnion(),
]


# --- checks across sections -----------------------------------------------------------------------


def misplaced_rupture(rupture: RuptureFile, grid: GridSection) -> Iterator[Violation]:
    """Yield the violations of a rupture that has no position in the grid, or is outside."""
    if rupture.place is None:
        if grid.geography is None:
            needed = "give x and y of the subfault that slips first, or add [grid.geography]"
            yield ("kind",), f"has longitudes and latitudes; {needed}"
        return
    x, y = rupture.place
    yield from grid.misplaced(Position(x=x, y=y, depth=rupture.depth or 0.0))
    if rupture.azimuth is not None and grid.geography is not None:
        yield ("azimuth",), "is given by [grid.geography]; leave it out"
