"""What a solver lets outputs record: fields, where their values lie, and how long a step is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groundswell.case.recording import RecordSection, Where
from groundswell.errors import InputError
from groundswell.exchange.distributed_array import Index
from groundswell.formats.netcdf import TIME, Variable
from groundswell.outputs.files import sizes_of
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
        name: as a case and files call it.
        units: in the notation of CF, such as "m s-1".
        long_name: what it is, for files and axes of pictures.
        offset: of its values from the middles of cells along (x, y, z), in cells.
        shift: added to the solver's values to make them the field's.
    """

    name: str
    units: str
    long_name: str
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    shift: float = 0.0

    @property
    def attrs(self) -> dict[str, str]:
        """Attributes of a variable in a file."""
        return {"units": self.units, "long_name": self.long_name}


@dataclass(frozen=True)
class Frame:
    """How samples of some fields lie in a file.

    Args:
        coordinates: by name.
        dims: of each field.
    """

    coordinates: Mapping[str, Variable]
    dims: Mapping[str, tuple[str, ...]]

    def shape(self, name: str) -> tuple[int, ...]:
        """Of a sample of a field."""
        sizes = sizes_of(self.coordinates)
        return tuple(sizes[dim] for dim in self.dims[name])

    def variable(self, of: RecordableField, growing: str | None = None, **more: Any) -> Variable:
        """A field's variable, along a growing dimension too if one is named."""
        dims = self.dims[of.name]
        others = [name for name, c in self.coordinates.items() if name not in dims]
        located = {"coordinates": " ".join(others)} if others else {}
        front = () if growing is None else (growing,)
        attrs = {**of.attrs, **located, **more.pop("attrs", {})}
        return Variable((*front, *dims), attrs=attrs, **more)


@dataclass(frozen=True)
class Selection:
    """Which values of each field belong to a sample, and which of them a rank has.

    Args:
        shape: of a whole sample of one field.
        count: of this rank's part.
        place: of this part in the whole.
        frame: of the whole in a file.
    """

    shape: tuple[int, ...]
    count: tuple[int, ...]
    place: Index
    frame: Frame

    def complete(self, whole: NDArray[Any]) -> NDArray[Any]:
        """Whole samples (..., *shape), in which places that no rank has are marked."""
        return whole


@dataclass(frozen=True)
class BoxSelection(Selection):
    """Regularly spaced values of arrays (z, y, x).

    Args:
        first: index of the first of them in this rank's arrays.
        step: from one to the next along each axis.
    """

    first: tuple[int, int, int]
    step: tuple[int, int, int]


@dataclass(frozen=True)
class PointSelection(Selection):
    """Values at single points, or weighted sums of values around them.

    Args:
        cells: indices of the first value of each field and point, (fields, points, axes).
        taps: values along each axis of the arrays that are summed.
        weights: of them, (fields, points, taps); None if there is one.
        missing: points that no rank has, whose values are not numbers.
    """

    cells: NDArray[np.int64]
    taps: tuple[int, ...] = (1, 1, 1)
    weights: NDArray[Any] | None = None
    missing: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def complete(self, whole: NDArray[Any]) -> NDArray[Any]:
        """See `Selection`: missing points are not numbers."""
        if len(self.missing):
            whole[..., self.missing] = np.nan
        return whole


class Domain(Protocol):
    """Where the values of a solver lie, as one rank holds its part."""

    def select(self, where: Where, fields: Sequence[RecordableField]) -> Selection:
        """The values of fields that lie somewhere.

        Raises:
            InputError: there are none, or this domain has no such places.
        """
        ...


@dataclass(frozen=True)
class Schedule:
    """When samples are taken: at step `begin`, and every `every` steps after it.

    Args:
        seconds: of a step; None if steps have no common length.
    """

    begin: int
    every: int
    seconds: float | None

    @classmethod
    def of(cls, section: RecordSection, seconds: float | None, at_once: int = 1) -> Schedule:
        """What a section asks for.

        Args:
            at_once: steps that the solver makes at once, between which nothing can be recorded.

        Raises:
            InputError: it asks for samples between these.
        """
        begin, every = section.begin, section.every or at_once
        if seconds is not None and section.interval is not None:
            every = max(1, round(section.interval / seconds))
        if seconds is not None and isinstance(begin, float):
            begin = round(begin / seconds)
        if begin % at_once or every % at_once:
            raise InputError(
                f"the record {section.file!r} begins at step {begin} and samples every {every} "
                f"steps; the scheme makes {at_once} at once, so give multiples of {at_once}"
            )
        return cls(int(begin), every, seconds)

    def samples(self, steps: int) -> int:
        """How many are taken in so many steps."""
        return samples_before(steps, self.begin, self.every)

    @property
    def axis(self) -> tuple[str, Variable]:
        """Name and variable of what samples are counted in: time or steps."""
        return ("time", TIME) if self.seconds is not None else ("step", STEP)

    def times(self, numbers: range) -> NDArray[np.float64]:
        """Of these samples, s or steps."""
        steps = self.begin + self.every * np.arange(numbers.start, numbers.stop)
        return np.asarray(steps * (1.0 if self.seconds is None else self.seconds), np.float64)


@dataclass(frozen=True)
class Recording:
    """What one rank of a solver offers to record; known without a device.

    Args:
        domain: where values lie.
        fields: by name.
        dtype: of their values.
        seconds: of a step; None if steps have no common length.
        at_once: steps that one call of the solver's `step` makes.
        attrs: what files say of the run.
    """

    domain: Domain
    fields: Mapping[str, RecordableField]
    dtype: str
    seconds: float | None = None
    at_once: int = 1
    attrs: Mapping[str, Any] = field(default_factory=dict)

    def fields_of(self, section: RecordSection) -> list[RecordableField]:
        """Those that a section names."""
        return [self.fields[name] for name in section.fields]

    def select(self, section: RecordSection) -> Selection:
        """The values that a section asks for; raises InputError if there are none."""
        return self.domain.select(section.where, self.fields_of(section))

    def schedule(self, section: RecordSection) -> Schedule:
        """When a section asks for them; raises as `Schedule.of`."""
        return Schedule.of(section, self.seconds, self.at_once)

    def sample_bytes(self, section: RecordSection, selection: Selection) -> int:
        """Of a whole sample of all fields."""
        return len(section.fields) * prod(selection.shape) * np.dtype(self.dtype).itemsize

    def device_bytes(self, sections: Sequence[RecordSection]) -> int:
        """What this rank's rings and running statistics take."""
        return sum(self._device_bytes(section) for section in sections)

    def _device_bytes(self, section: RecordSection) -> int:
        itemsize, chosen = np.dtype(self.dtype).itemsize, self.select(section)
        slots = ring_slots(self.sample_bytes(section, chosen), self.schedule(section).every)
        sizes = [8 if name in EXACT else itemsize for name in section.statistics if name != "final"]
        a_value = slots * itemsize * ("raw" in section.what) + sum(sizes)
        return a_value * len(section.fields) * prod(chosen.count)

    def file_bytes(self, sections: Sequence[RecordSection], steps: int) -> int:
        """What the files of so many steps take."""
        return sum(
            self._files_of(section, steps) * self.sample_bytes(section, self.select(section))
            for section in sections
        )

    def _files_of(self, section: RecordSection, steps: int) -> int:
        """Samples and statistics that a section's files hold."""
        raw = self.schedule(section).samples(steps) if "raw" in section.what else 0
        return raw + len(section.statistics)

    def require_samples(self, sections: Sequence[RecordSection], steps: int) -> None:
        """See that every section selects values, and samples some of them in so many steps.

        Raises:
            InputError: one does not.
        """
        for section in sections:
            self.select(section)
            schedule = self.schedule(section)
            if set(section.what) != {"final"} and not schedule.samples(steps):
                raise InputError(
                    f"the record {section.file!r} begins at step {schedule.begin}, but the run "
                    f"has {ceil(steps)} steps; let it begin earlier"
                )
