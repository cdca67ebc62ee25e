"""Time series of faults: at points, and the mean slip of all subfaults for a kinematic source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import DeviceArray, Floats, HostArray, Integers
from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.grids.geography import Geography
from groundswell.outputs.files import SeriesWriter
from groundswell.outputs.launches import RecordLaunches, Targets
from groundswell.outputs.recording import PointSelection
from groundswell.outputs.ring_buffer import Output, Ring, ring_slots
from groundswell.seismology.case.fault_outputs import FaultPointsOutput, RuptureOutput
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.faults.subfaults import Subfaults
from groundswell.seismology.formats.fault_series import (
    HISTORY,
    HISTORY_FILE,
    POINTS_FILE,
    SERIES,
    open_history,
    open_points,
    read_history,
    read_points,
)
from groundswell.seismology.time_steps import TimeAxis, whole_steps

if TYPE_CHECKING:
    import xarray

SLIP = HISTORY[:2]
DTYPE = "float64"  # of all values on faults
WORD = np.dtype(DTYPE).itemsize


@dataclass(frozen=True, eq=False)
class FaultRun:
    """A run with faults, on one rank.

    Args:
        clock: number of steps made, on the device.
        faults: the points of each fault, on all ranks, by its name.
        attrs: attributes of files.
    """

    backend: Backend
    comm: Communicator
    clock: DeviceArray
    time_axis: TimeAxis
    faults: Mapping[str, FaultPoints]
    geography: Geography | None
    attrs: Mapping[str, object]

    @cached_property
    def points(self) -> FaultPoints:
        """The points of all faults."""
        return FaultPoints.concatenate([*self.faults.values()])


@dataclass(frozen=True, eq=False)
class RankValues:
    """What a rank has of several fields at places on faults.

    Args:
        arrays: the fields, with equal strides.
        selection: the places.
    """

    arrays: Sequence[DeviceArray]
    selection: PointSelection


class FaultSeries:
    """Samples of several fields at places on the faults, on one rank.

    Args:
        every: steps between samples.

    Attributes:
        launches: the kernel that records them.
    """

    def __init__(self, run: FaultRun, values: RankValues, every: int) -> None:
        self._run, self._place = run, values.selection.place
        fields = len(values.arrays)
        self._shape = (fields, *values.selection.shape)
        slots = ring_slots(int(np.prod(self._shape)) * WORD, every)
        self._ring = Ring(run.backend, (fields, *values.selection.count), every, slots, DTYPE)
        record = RecordLaunches(run.backend, DTYPE, run.clock)
        targets = Targets(0, every, self._ring)
        self.launches = record.record(values.arrays, values.selection, targets)

    @property
    def interval(self) -> float:
        """Time between samples, s."""
        return self._ring.every * self._run.time_axis.dt

    def times(self, numbers: range) -> Floats:
        """Times of samples, s."""
        start = self._run.time_axis.first_sample(self._ring.every, self.interval)
        return np.asarray(start + self.interval * np.array(numbers), float)

    def output(self, writer: SeriesWriter | None, names: tuple[str, ...]) -> Output:
        """The samples and the file, on rank 0, in which the fields have these names."""

        def write(block: HostArray, numbers: range) -> None:
            assert writer is not None  # rank 0 writes
            writer.append(self.times(numbers), dict(zip(names, block.swapaxes(0, 1), strict=True)))

        place = (slice(None), *self._place)
        return Output(self._ring, writer, write, self._shape, place, self._run.comm)


class FaultPointSeries:
    """Slip, slip rate, stress and state at points on faults, on one rank.

    Args:
        points: the points, among those of all faults.
        values: SERIES at these points.

    Attributes:
        name: name of the output.
        launches: the kernel that records them.
        formats: of the files.
    """

    name = Path(POINTS_FILE).stem

    def __init__(
        self, run: FaultRun, section: FaultPointsOutput, points: Integers, values: RankValues
    ) -> None:
        self._run, self._section, self._points, self._part = run, section, points, Path()
        every = whole_steps(section.interval, run.time_axis.dt)
        self._series = FaultSeries(run, values, every)
        self.launches, self.formats = self._series.launches, section.formats

    @property
    def interval(self) -> float:
        """Time between samples, s."""
        return self._series.interval

    def open(self, folder: Path, length: int | None) -> Output:
        """Open `fault_points.nc`; `length` is the number of samples to keep on resume."""
        writer = None
        if self._run.comm.first:
            names = [point.name for point in self._section.point]
            at = self._run.points.take(self._points)
            writer = open_points(folder / POINTS_FILE, names, at, self._run.attrs, length)
            self._part = writer.part
        return self._series.output(writer, tuple(SERIES))

    def read(self) -> xarray.Dataset:
        """All samples, on rank 0, at the end of the run."""
        return read_points(self._part)


class SlipHistory:
    """The slip of each subfault, on one rank.

    Args:
        subfaults: those of all faults.
        values: HISTORY of the subfaults.

    Attributes:
        name: name of the output.
        launches: the kernel that records it.
    """

    name = Path(HISTORY_FILE).stem

    def __init__(
        self, run: FaultRun, section: RuptureOutput, subfaults: Subfaults, values: RankValues
    ) -> None:
        self._run, self._part, self.subfaults = run, Path(), subfaults
        self._series = FaultSeries(run, values, whole_steps(section.interval, run.time_axis.dt))
        self.launches = self._series.launches

    def open(self, folder: Path, length: int | None) -> Output:
        """Open `rupture.nc`; `length` is the number of samples to keep on resume."""
        writer = None
        if self._run.comm.first:
            path = folder / HISTORY_FILE
            writer = open_history(path, self.subfaults, self._run.attrs, length)
            self._part = writer.part
        return self._series.output(writer, HISTORY)

    def read(self, final: Floats) -> tuple[Floats, Floats]:
        """All samples, and the slip at the end of the run as a last one; on rank 0.

        Args:
            final: slip along strike and up dip at all points, (2, points), m.

        Returns:
            Slip (samples, 2, subfaults), m, and times (samples,), s.
        """
        found = read_history(self._part)
        samples = np.stack([found[name].values for name in SLIP], axis=1)
        last = self.subfaults.quadrature.at_subfaults(final.T).T
        numbers = range(len(samples) + 1)
        return np.concatenate([samples, last[None]]), self._series.times(numbers)


def series_sizes(
    points: FaultPointsOutput | None, rupture: RuptureOutput | None, subfaults: int, dt: float
) -> Iterator[tuple[int, int]]:
    """Yield the steps between samples, and bytes of a sample, of series of faults."""
    if points:
        yield whole_steps(points.interval, dt), len(points.point) * len(SERIES) * WORD
    if rupture:
        yield whole_steps(rupture.interval, dt), subfaults * len(HISTORY) * WORD
