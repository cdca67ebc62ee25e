"""Section `[[output.record]]`: fields to record, positions, times and statistics."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from groundswell.case.problems import Violation, reject
from groundswell.case.section import DataFile, NotEmpty, Section, TaggedUnion, exactly_one, repeated
from groundswell.case.units import LARGEST_COUNT, Accepts, Count, Frequency, Length, Positive, Time
from groundswell.errors import did_you_mean, listed

if TYPE_CHECKING:  # NumPy takes long to import
    from groundswell.arrays import Integers

Coordinates = tuple[Length, Length, Length]
AxisName = Literal["x", "y", "z"]
Method = Literal["nearest", "linear", "cubic"]
What = Literal["raw", "max", "min", "rms", "mean", "final", "amplitude", "phase"]
HARMONICS: tuple[What, ...] = ("amplitude", "phase")  # fitted at given frequencies
SUFFIXES = (".h5", ".nc", ".vtkhdf")
_LONGEST_NAME = 180  # bytes; file systems allow 255, and temporary names are longer


# --- positions ------------------------------------------------------------------------------------


class PointsWhere(Section):
    """`kind = "points"`: positions, or a text file of them with x, y and z on each line.

    On a grid, "nearest" takes the values of the cell that contains a position; "linear" and "cubic"
    (Lagrange) interpolate between nodes, across the seam of a periodic axis, too. On elements, the
    polynomial of the solution is evaluated.
    """

    kind: Literal["points"]
    positions: Annotated[tuple[Coordinates, ...], NotEmpty] | None = None
    """Points, each as x, y and depth (z)."""
    file: DataFile | None = None
    """Text file with x, y and z on each line, instead of positions."""
    method: Method = "nearest"
    """Interpolation between the nodes of a grid; elements evaluate their polynomial."""

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of positions and file."""
        yield from exactly_one(self, "positions", "file")


class LineWhere(Section):
    """`kind = "line"`: `points` at equal distances from `start` to `end`."""

    kind: Literal["line"]
    start: Coordinates
    """First point of the line."""
    end: Coordinates
    """Last point of the line."""
    points: Annotated[int, Field(strict=True, ge=2, le=LARGEST_COUNT)]
    """Number of points at equal distances, both ends included."""
    method: Method = "linear"
    """Interpolation between the nodes of a grid; elements evaluate their polynomial."""

    def violations(self) -> Iterator[Violation]:
        """A line of zero length."""
        if self.start == self.end:
            yield ("end",), "must differ from start"


class PlaneWhere(Section):
    """`kind = "plane"`: a plane normal to an axis.

    On grids, every `stride`-th node of the layer nearest to `at`; on elements, `points` along the
    other two axes, over the whole extent of the mesh.
    """

    kind: Literal["plane"]
    normal: AxisName
    """Axis that the plane is normal to."""
    at: Length
    """Position of the plane on that axis."""
    stride: Count | None = None
    """Record every stride-th node along both axes, on grids."""
    points: tuple[Count, Count] | None = None
    """Number of points along the two other axes, on elements."""


class BoxWhere(Section):
    """`kind = "box"`: every `stride`-th node of the cells whose centres lie in a box."""

    kind: Literal["box"]
    low: Coordinates
    """Lowest corner of the box."""
    high: Coordinates
    """Highest corner of the box."""
    stride: Count = 1
    """Record every stride-th node along each axis."""

    def violations(self) -> Iterator[Violation]:
        """A box with `high` below `low`."""
        if any(a > b for a, b in zip(self.low, self.high, strict=True)):
            yield ("high",), "must not lie below low along any axis"


def _as_indices(value: object) -> Integers:
    """Flat indices from a list or an array of indices, or from a mask."""
    import numpy as np

    indices = np.asarray(value) if isinstance(value, list | tuple | np.ndarray) else np.array("")
    if indices.dtype == bool:
        indices = np.flatnonzero(indices)
    if indices.dtype.kind not in "iu" or indices.ndim != 1 or not indices.size or indices.min() < 0:
        reject([((), "must be a list of whole numbers from 0 up, or a mask, that is not empty")])
    return indices.astype(np.int64)


_MOMENT = Accepts("a step or a time", "s")
_INDICES = Accepts("a list of whole numbers or a mask")


class MaskWhere(Section):
    """`kind = "mask"`: nodes given by flat indices in an array (nz, ny, nx), or by a mask of it.

    `file` is a NumPy file (.npy) of either.
    """

    kind: Literal["mask"]
    indices: Annotated[Any, PlainValidator(_as_indices), _INDICES] | None = None
    """Flat indices of nodes in an array (nz, ny, nx), or a mask of that shape."""
    file: DataFile | None = None
    """NumPy file (.npy) of either, instead of indices."""

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of indices and file."""
        yield from exactly_one(self, "indices", "file")


class AllWhere(Section):
    """`kind = "all"`: every `stride`-th node of the whole field."""

    kind: Literal["all"]
    stride: Count = 1
    """Record every stride-th node along each axis."""


Where = Annotated[
    PointsWhere | LineWhere | PlaneWhere | BoxWhere | MaskWhere | AllWhere, TaggedUnion("kind")
]


# --- times and statistics -------------------------------------------------------------------------


def _as_moment(value: object) -> object:
    """A step, or a time (s)."""
    from groundswell.case.units import Unit

    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            reject([((), "must be a step from 0 up")])
        return value
    if not isinstance(value, str | float):
        reject([((), 'must be a step such as 100, or a time such as "0.5 s"')])
    return Unit("s", "a time", "0.5 s").read(value)


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _file_name(value: str) -> str:
    path = PurePath(value)
    if path.name != value or path.suffix not in SUFFIXES or value.startswith("."):
        reject([((), f"must be a name that ends in {listed(SUFFIXES)}, without a folder")])
    if not value.isprintable() or len(os.fsencode(value)) > _LONGEST_NAME:
        reject([((), f"must be at most {_LONGEST_NAME} bytes of printable characters")])
    return value


class RecordSection(Section):
    """`[[output.record]]`: a time series or statistics of fields at selected positions.

    With samples ("raw") and statistics in `what`, `file` contains the samples, and a second file,
    `NAME_statistics.nc`, the statistics. These are those of the samples that `every` and `from`
    select; "final" is the value after the last step. "rms" and "mean" are summed in double
    precision. Amplitudes and phases are those of oscillations at `frequencies`.
    """

    fields: Annotated[tuple[str, ...], BeforeValidator(_as_list), NotEmpty]
    """Names of the fields to record."""
    where: Where
    """Positions at which they are recorded."""
    every: Count | None = None
    """Steps between samples; by default, every step is a sample."""
    interval: Annotated[Time, Positive] | None = None
    """Time between samples, instead of steps. It is rounded to whole steps."""
    begin: Annotated[Any, PlainValidator(_as_moment), _MOMENT] = Field(default=0, alias="from")
    """First step or time that is recorded or enters the statistics; a time may be negative."""
    what: Annotated[tuple[What, ...], BeforeValidator(_as_list), NotEmpty] = ("raw",)
    """Samples in time ("raw"), or statistics over time."""
    frequencies: tuple[Annotated[Frequency, Positive], ...] = ()
    """Frequencies of amplitudes and phases. The samples must span a period of the lowest one."""
    file: Annotated[str, AfterValidator(_file_name), Accepts("the name of a file")]
    """Name of the file to write, ending in .h5, .nc or .vtkhdf."""

    def violations(self) -> Iterator[Violation]:
        """Two intervals, repeated names, or content that VTKHDF does not support."""
        yield from repeated("fields", self.fields)
        yield from repeated("what", self.what)
        yield from repeated("frequencies", self.frequencies)
        if self.has_harmonics and not self.frequencies:
            yield ("frequencies",), 'is required for what = "amplitude" or "phase"'
        if self.frequencies and not self.has_harmonics:
            yield ("frequencies",), 'is for what = "amplitude" or "phase"; leave it out'
        if self.every and self.interval:
            yield from exactly_one(self, "every", "interval")
        images = isinstance(self.where, BoxWhere | AllWhere) and self.what == ("raw",)
        if self.file.endswith(".vtkhdf") and not images:
            yield ("file",), 'can be .vtkhdf for what = "raw" in a box or all of a field; use .nc'

    @property
    def has_harmonics(self) -> bool:
        """Whether amplitudes or phases are recorded."""
        return any(what in HARMONICS for what in self.what)

    @property
    def statistics(self) -> tuple[What, ...]:
        """The entries of `what` other than the series."""
        return tuple(name for name in self.what if name != "raw")

    @property
    def statistics_file(self) -> str:
        """Where these go: to `file`, unless that has a series."""
        return f"{PurePath(self.file).stem}_statistics.nc" if "raw" in self.what else self.file

    @property
    def files(self) -> set[str]:
        """All that it writes."""
        return {self.file} | ({self.statistics_file} if self.statistics else set())


@dataclass(frozen=True)
class Recordable:
    """Options of `[[output.record]]` that a solver supports.

    Args:
        fields: names of the fields.
        kinds: kinds of positions.
        what: series and statistics.
        timed: whether steps have a common length, so that times and intervals are defined.
        files: names of files that the solver itself writes.
        on_elements: whether fields are on elements, so that planes have no points of a grid.
    """

    fields: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("points", "line", "plane", "box", "mask", "all")
    what: tuple[What, ...] = ("raw", "max", "min", "rms", "mean", "final", *HARMONICS)
    timed: bool = True
    files: tuple[str, ...] = ()
    on_elements: bool = False

    def violations(self, records: Sequence[RecordSection]) -> Iterator[Violation]:
        """Yield unsupported options, and files that more than one part of the run would write."""
        taken = set(self.files)
        for n, record in enumerate(records):
            if record.files & taken or record.file.startswith("checkpoint"):
                yield ("record", n, "file"), "is the name of another file of this run"
            taken |= record.files
            for location, text in self._violations_of(record):
                yield ("record", n, *location), text

    def _violations_of(self, record: RecordSection) -> Iterator[Violation]:
        for n, name in enumerate(record.fields):
            if name not in self.fields:
                allowed = f"must be {listed(self.fields)}" if self.fields else "cannot be recorded"
                yield ("fields", n), f"{allowed}{did_you_mean(name, self.fields)}"
        if record.where.kind not in self.kinds:
            yield ("where", "kind"), f"must be {listed(self.kinds)} for this solver"
        if isinstance(record.where, PlaneWhere):
            yield from ((("where", key), text) for key, text in self._misfits(record.where))
        for n, what in enumerate(record.what):
            if what not in self.what:
                yield ("what", n), f"must be {listed(self.what)} for this solver"
        if not self.timed and record.has_harmonics:
            yield (
                ("what",),
                "cannot have amplitudes or phases: the steps of this solver have no common length; "
                "choose other statistics",
            )
        if not self.timed and record.interval is not None:
            yield (
                ("interval",),
                "is not for this solver, whose steps have no common length: use every",
            )
        if not self.timed and isinstance(record.begin, float):
            yield ("from",), "must be a step for this solver, whose steps have no common length"

    def _misfits(self, plane: PlaneWhere) -> Iterator[tuple[str, str]]:
        """Yield keys of a plane that are for grids only, or for elements only."""
        if self.on_elements and plane.points is None:
            yield "points", "is required for a plane across elements; give two, as in [101, 51]"
        if self.on_elements and plane.stride is not None:
            yield "stride", "is for planes of a grid; leave it out, and choose points"
        if not self.on_elements and plane.points is not None:
            yield "points", "is for planes across elements; leave it out, and choose a stride"
