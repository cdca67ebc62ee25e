"""What a solver offers for recording: fields, the positions of their values, the time step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, prod
from typing import Any, Protocol

import numpy as np

from groundswell.arrays import Floats, HostArray, Integers
from groundswell.case.recording import HARMONICS, RecordSection, Where
from groundswell.errors import InputError, counted
from groundswell.formats.netcdf import TIME, Variable
from groundswell.outputs.distributed_array import ArrayIndex
from groundswell.outputs.files import sizes_of
from groundswell.outputs.harmonics import basis_functions, require_resolved
from groundswell.outputs.ring_buffer import ring_slots, samples_before

STEP = Variable(
    ("step",),
    dtype="float64",
    chunks=(4096,),
    attrs={"units": "1", "long_name": "steps made", "axis": "T"},
)
EXACT = {"mean", "rms"}  # statistics that are summed in double precision


@dataclass(frozen=True)
class RecordableField:
    """A field that outputs can record.

    Args:
        name: its name in cases and files.
        units: in CF notation, such as "m s-1".
        long_name: description for files and plots.
        offset: offset of its values from cell centres along (x, y, z), in cells.
        shift: constant added to the solver's values.
        time_offset: offset of its values from the times of samples, in steps.
    """

    name: str
    units: str
    long_name: str
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    shift: float = 0.0
    time_offset: float = 0.0

    @property
    def attrs(self) -> dict[str, str]:
        """Attributes of a variable in a file."""
        return {"units": self.units, "long_name": self.long_name}


@dataclass(frozen=True)
class Frame:
    """Coordinates and dimensions of fields in a file.

    Args:
        coordinates: variables by name.
        dims: dimensions of each field.
    """

    coordinates: Mapping[str, Variable]
    dims: Mapping[str, tuple[str, ...]]

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of one sample of a field."""
        sizes = sizes_of(self.coordinates)
        return tuple(sizes[dim] for dim in self.dims[name])

    def variable(self, of: RecordableField, growing: str | None = None, **more: Any) -> Variable:
        """The variable of a field; `growing` names an additional first dimension that grows."""
        dims = self.dims[of.name]
        others = [name for name, c in self.coordinates.items() if name not in dims]
        located = {"coordinates": " ".join(others)} if others else {}
        front = () if growing is None else (growing,)
        attrs = {**of.attrs, **located, **more.pop("attrs", {})}
        return Variable((*front, *dims), attrs=attrs, **more)


@dataclass(frozen=True)
class Selection:
    """The values of each field that make up a sample, and this rank's part of them.

    Args:
        shape: shape of a whole sample of one field.
        count: shape of this rank's part.
        place: index of this part in the whole.
        frame: coordinates of the whole sample in a file.
    """

    shape: tuple[int, ...]
    count: tuple[int, ...]
    place: ArrayIndex
    frame: Frame

    def complete(self, whole: HostArray) -> HostArray:
        """Whole samples (..., *shape), in which values that no rank has are NaN."""
        return whole


@dataclass(frozen=True)
class BoxSelection(Selection):
    """Regularly spaced values of arrays (z, y, x).

    Args:
        first: index of the first value in this rank's arrays.
        step: index increment along each axis.
    """

    first: tuple[int, int, int]
    step: tuple[int, int, int]


@dataclass(frozen=True)
class PointSelection(Selection):
    """Values at single points, or weighted sums of values around them.

    Args:
        cells: indices of the first value of each field and point, (fields, points, axes).
        taps: number of values in a sum along each axis of the arrays.
        weights: weights of the sums, (fields, points, taps); None for single values.
        missing: points that no rank has; their values are NaN.
    """

    cells: Integers
    taps: tuple[int, ...] = (1, 1, 1)
    weights: HostArray | None = None
    missing: Integers = field(default_factory=lambda: np.empty(0, np.int64))

    def complete(self, whole: HostArray) -> HostArray:
        """Whole samples (..., *shape), in which values that no rank has are NaN."""
        if len(self.missing):
            whole[..., self.missing] = np.nan
        return whole


class RecordingDomain(Protocol):
    """The geometry of a solver's values on one rank."""

    def select(self, where: Where, fields: Sequence[RecordableField]) -> Selection:
        """Select the values of fields at a place.

        Raises:
            InputError: there are no values, or the domain does not support this kind of place.
        """
        ...


@dataclass(frozen=True)
class Schedule:
    """The steps at which samples are taken: `begin`, and every `every` steps after it.

    Args:
        seconds: length of a time step; None if steps have no common length.
        start: time of step 0, s.
        time_unit: unit of times in files; "1" if the solver has none.
    """

    begin: int
    every: int
    seconds: float | None
    start: float = 0.0
    time_unit: str = "s"

    @classmethod
    def of(
        cls, section: RecordSection, seconds: float | None, at_once: int = 1, start: float = 0.0
    ) -> Schedule:
        """The schedule of a section.

        Args:
            at_once: number of steps that the solver makes at once; it cannot record within them.
            start: time of step 0, s.

        Raises:
            InputError: `begin` or `every` is not a multiple of `at_once`, or `begin` is before the
                start of the run.
        """
        begin, every = section.begin, section.every or at_once
        if seconds is not None and section.interval is not None:
            every = max(1, round(section.interval / seconds))
        if seconds is not None and isinstance(begin, float):
            begin = round((begin - start) / seconds)
        if begin < 0:
            raise InputError(
                f"the record {section.file!r} begins at {section.begin:g} s, but the run starts at "
                f"{start:g} s; choose a later time"
            )
        if begin % at_once or every % at_once:
            raise InputError(
                f"the record {section.file!r} begins at step {begin} and samples every {every} "
                f"steps; the scheme makes {at_once} at once, so give multiples of {at_once}"
            )
        return cls(int(begin), every, seconds, start)

    def samples(self, steps: int) -> int:
        """Number of samples in a number of steps."""
        return samples_before(steps, self.begin, self.every)

    @property
    def axis(self) -> tuple[str, Variable]:
        """Name and variable of the axis of samples: time or steps."""
        if self.seconds is None:
            return "step", STEP
        return "time", replace(TIME, attrs={**TIME.attrs, "units": self.time_unit})

    def times(self, numbers: range) -> Floats:
        """Times of these samples, s, or their steps."""
        steps = self.begin + self.every * np.arange(numbers.start, numbers.stop)
        times = steps * (1.0 if self.seconds is None else self.seconds)
        return np.asarray(self.start + times, np.float64)


@dataclass(frozen=True)
class Recording:
    """The recordable fields of a solver on one rank; independent of a device.

    Args:
        domain: the geometry of the values.
        fields: recordable fields by name.
        dtype: floating-point type of the values.
        seconds: length of a time step; None if steps have no common length.
        at_once: steps that one call of the solver's `step` makes.
        attrs: attributes of the files.
        steps: number of steps of the run; required for amplitudes and phases.
        start: time of step 0, s.
        time_unit: unit of times in files; "1" if the solver has none.
    """

    domain: RecordingDomain
    fields: Mapping[str, RecordableField]
    dtype: str
    seconds: float | None = None
    at_once: int = 1
    attrs: Mapping[str, object] = field(default_factory=dict)
    steps: int | None = None
    start: float = 0.0
    time_unit: str = "s"

    def fields_of(self, section: RecordSection) -> list[RecordableField]:
        """The fields that a section names."""
        return [self.fields[name] for name in section.fields]

    def select(self, section: RecordSection) -> Selection:
        """The values that a section selects; raises InputError if there are none."""
        return self.domain.select(section.where, self.fields_of(section))

    def schedule(self, section: RecordSection) -> Schedule:
        """The schedule of a section; raises what `Schedule.of` raises."""
        found = Schedule.of(section, self.seconds, self.at_once, self.start)
        return replace(found, time_unit=self.time_unit)

    def basis(self, section: RecordSection) -> Floats:
        """The basis functions of a section's harmonics at all of its samples, (samples, terms)."""
        assert self.steps is not None
        schedule = self.schedule(section)
        times = schedule.times(range(schedule.samples(self.steps)))
        return basis_functions(section.frequencies, times)

    def sample_bytes(self, section: RecordSection, selection: Selection) -> int:
        """Size of a whole sample of all fields, bytes."""
        return len(section.fields) * prod(selection.shape) * np.dtype(self.dtype).itemsize

    def device_bytes(self, sections: Sequence[RecordSection]) -> int:
        """Size of this rank's ring buffers and running statistics, bytes."""
        return sum(self._device_bytes(section) for section in sections)

    def _device_bytes(self, section: RecordSection) -> int:
        itemsize, chosen = np.dtype(self.dtype).itemsize, self.select(section)
        slots = ring_slots(self.sample_bytes(section, chosen), self.schedule(section).every)
        running = set(section.statistics) - {"final", *HARMONICS}
        sizes = [8 if name in EXACT else itemsize for name in running]
        if section.has_harmonics:
            sizes.append(itemsize * (1 + 2 * len(section.frequencies)))
        bytes_per_value = slots * itemsize * ("raw" in section.what) + sum(sizes)
        return bytes_per_value * len(section.fields) * prod(chosen.count)

    def file_bytes(self, sections: Sequence[RecordSection], steps: int) -> int:
        """Size of the files for a number of steps, bytes."""
        return sum(
            self._files_of(section, steps) * self.sample_bytes(section, self.select(section))
            for section in sections
        )

    def _files_of(self, section: RecordSection, steps: int) -> int:
        """Number of samples and statistics in a section's files."""
        raw = self.schedule(section).samples(steps) if "raw" in section.what else 0
        fitted = sum(len(section.frequencies) for what in section.statistics if what in HARMONICS)
        return raw + fitted + sum(what not in HARMONICS for what in section.statistics)

    def require_samples(self, sections: Sequence[RecordSection], steps: int) -> None:
        """Check that every section selects values and takes at least one sample.

        Raises:
            InputError: a section selects no values, or takes no sample in `steps` steps.
        """
        for section in sections:
            self.select(section)
            schedule = self.schedule(section)
            if section.has_harmonics:
                times = schedule.times(range(schedule.samples(steps)))
                require_resolved(section.frequencies, times, section.file)
            if set(section.what) != {"final"} and not schedule.samples(steps):
                raise InputError(
                    f"the record {section.file!r} begins at step {schedule.begin}, but the run "
                    f"has {counted(ceil(steps), 'step')}; choose an earlier step"
                )
