"""Time series of faults: at points, and the mean slip of all faces for a kinematic source."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import DeviceArray, Floats, HostArray, Integers
from groundswell.outputs.files import SeriesWriter
from groundswell.outputs.launches import RecordLaunches, Targets
from groundswell.outputs.recording import Frame, PointSelection
from groundswell.outputs.ring_buffer import Output, Ring, ring_slots
from groundswell.seismology.case.fault_outputs import FaultPointsOutput, RuptureOutput
from groundswell.seismology.faults.stations import nearest_points
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
from groundswell.seismology.sources.event import event_attributes
from groundswell.seismology.time_steps import whole_steps
from groundswell.solvers.dgwave.fault_slip import SERIES_ROWS, VARIABLES, FaultSlip
from groundswell.solvers.dgwave.faults.rank import RankFault
from groundswell.solvers.dgwave.recording.rank import RankFields

if TYPE_CHECKING:
    import xarray

SLIP = HISTORY[:2]
DTYPE = "float64"  # of all values on faults


class FaultSeries:
    """Samples of several fields at places on the faults, on one rank.

    Args:
        arrays: the fields on the rank.
        selection: the rank's places.
        every: steps between samples.

    Attributes:
        launches: the kernel that records them.
    """

    def __init__(
        self,
        rank: RankFields,
        arrays: list[DeviceArray],
        selection: PointSelection,
        every: int,
    ) -> None:
        self._rank, self._place = rank, selection.place
        self._shape = (len(arrays), *selection.shape)
        slots = ring_slots(int(np.prod(self._shape)) * np.dtype(DTYPE).itemsize, every)
        self._ring = Ring(rank.backend, (len(arrays), *selection.count), every, slots, DTYPE)
        record = RecordLaunches(rank.backend, DTYPE, rank.propagation.clock)
        self.launches = record.record(arrays, selection, Targets(0, every, self._ring))

    @property
    def interval(self) -> float:
        """Time between samples, s."""
        return self._ring.every * self._rank.setup.dt

    def times(self, numbers: range) -> Floats:
        """Times of samples, s."""
        start = self._rank.setup.time_axis.first_sample(self._ring.every, self.interval)
        return np.asarray(start + self.interval * np.array(numbers), float)

    def output(self, writer: SeriesWriter | None, names: tuple[str, ...]) -> Output:
        """The samples and the file, on rank 0, in which the fields have these names."""

        def write(block: HostArray, numbers: range) -> None:
            assert writer is not None  # rank 0 writes
            writer.append(self.times(numbers), dict(zip(names, block.swapaxes(0, 1), strict=True)))

        place = (slice(None), *self._place)
        return Output(self._ring, writer, write, self._shape, place, self._rank.comm)


class FaultPointSeries:
    """Slip, slip rate, stress and state at points on faults, on one rank.

    Attributes:
        name: name of the output.
        launches: the kernel that records them, at the end of a step: the values are those at its
            beginning.
        formats: of the files.
    """

    name = Path(POINTS_FILE).stem

    def __init__(
        self, rank: RankFields, fault: RankFault, slip: FaultSlip, section: FaultPointsOutput
    ) -> None:
        assert rank.setup.faults is not None
        self._rank, self._section, self._part = rank, section, Path()
        self._points = nearest_points(section, rank.setup.faults.named_points)
        every = whole_steps(section.interval, rank.setup.dt)
        rows = [slip.recorded[row] for row in SERIES_ROWS]
        selection = _at_points(self._points, fault, len(rows))
        self._series = FaultSeries(rank, rows, selection, every)
        self.launches, self.formats = self._series.launches, section.formats

    @property
    def interval(self) -> float:
        """Time between samples, s."""
        return self._series.interval

    def open(self, folder: Path, length: int | None) -> Output:
        """Open `fault_points.nc`; `length` is the number of samples to keep on resume."""
        setup, writer = self._rank.setup, None
        assert setup.faults is not None
        if self._rank.comm.first:
            names = [point.name for point in self._section.point]
            at = setup.faults.all_points.take(self._points)
            attrs = event_attributes(setup.case, setup.geography, setup.survey)
            writer = open_points(folder / POINTS_FILE, names, at, attrs, length)
            self._part = writer.part
        return self._series.output(writer, tuple(SERIES))

    def read(self) -> xarray.Dataset:
        """All samples, on rank 0, at the end of the run."""
        return read_points(self._part)


class SlipHistory:
    """The mean slip of each face of the faults, on one rank.

    Attributes:
        name: name of the output.
        launches: the kernel that records it, at the beginning of a step.
        subfaults: the faces of all faults.
    """

    name = Path(HISTORY_FILE).stem

    def __init__(
        self, rank: RankFields, fault: RankFault, slip: FaultSlip, section: RuptureOutput
    ) -> None:
        setup = rank.setup
        assert setup.faults is not None
        self._rank, self._part, nodes = rank, Path(), setup.face_nodes
        self.subfaults = setup.faults.subfaults(nodes)
        every = whole_steps(section.interval, setup.dt)
        rows = [slip.slip[VARIABLES.index(name)] for name in HISTORY]
        fields = [row.reshape(fault.count, nodes) for row in rows]
        selection = _mean_of_faces(self.subfaults, fault, len(fields))
        self._series = FaultSeries(rank, fields, selection, every)
        self.launches = self._series.launches

    def open(self, folder: Path, length: int | None) -> Output:
        """Open `rupture.nc`; `length` is the number of samples to keep on resume."""
        setup, writer = self._rank.setup, None
        if self._rank.comm.first:
            attrs = event_attributes(setup.case, setup.geography, setup.survey)
            writer = open_history(folder / HISTORY_FILE, self.subfaults, attrs, length)
            self._part = writer.part
        return self._series.output(writer, HISTORY)

    def read(self, final: Floats) -> tuple[Floats, Floats]:
        """All samples, and the slip at the end of the run as a last one; on rank 0.

        Args:
            final: slip along strike and up dip at all points, (2, points), m.

        Returns:
            Slip (samples, 2, faces), m, and times (samples,), s.
        """
        found = read_history(self._part)
        samples = np.stack([found[name].values for name in SLIP], axis=1)
        weights = self.subfaults.weights
        last = np.einsum("fn,cfn->cf", weights, final.reshape(len(SLIP), *weights.shape))
        numbers = range(len(samples) + 1)
        return np.concatenate([samples, last[None]]), self._series.times(numbers)


def _at_points(points: Integers, fault: RankFault, fields: int) -> PointSelection:
    """The points of which this rank has the footwall, from rows of values at its points.

    Args:
        points: those of all ranks, among the points of all faces.
    """
    nodes, owned = fault.nodes, fault.owned
    face = np.full(fault.total, -1)
    face[fault.numbers[owned]] = owned
    own = face[points // max(nodes, 1)] if nodes else np.full(len(points), -1)
    mine = np.flatnonzero(own >= 0)
    cells = own[mine] * nodes + points[mine] % max(nodes, 1)
    return PointSelection(
        (len(points),),
        (len(mine),),
        (mine,),
        Frame({}, {}),
        np.tile(cells[None, :, None], (fields, 1, 1)),
        taps=(1,),
    )


def _mean_of_faces(subfaults: Subfaults, fault: RankFault, fields: int) -> PointSelection:
    """Means over the faces of which this rank has the footwall, from values (faces, nodes)."""
    owned = fault.owned
    numbers = fault.numbers[owned]
    cells = np.column_stack([owned, np.zeros_like(owned)])
    weights = subfaults.weights[numbers]
    return PointSelection(
        (fault.total,),
        (len(owned),),
        (numbers,),
        Frame({}, {}),
        np.tile(cells, (fields, 1, 1)),
        taps=(1, weights.shape[1]),
        weights=np.tile(weights, (fields, 1, 1)),
    )
