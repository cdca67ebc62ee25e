"""What is recorded of faults: slip, rupture times and stresses at the centres of their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray, Floats, HostArray, Mask
from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.seismology.case.fault_outputs import FaultPointsOutput, RuptureOutput
from groundswell.seismology.faults.stations import nearest_points
from groundswell.seismology.formats.fault_series import HISTORY, SERIES
from groundswell.seismology.recording.fault_results import FaultResults
from groundswell.seismology.recording.fault_series import (
    FaultPointSeries,
    FaultRun,
    SlipHistory,
)
from groundswell.seismology.sources.event import event_attributes
from groundswell.solvers.earthquake.fault_selection import select_centres
from groundswell.solvers.earthquake.fault_slip import RECORDED, FaultSlip
from groundswell.solvers.earthquake.faults.model import Fault, subfaults_of
from groundswell.solvers.earthquake.faults.plane import FaultPlane, Kind
from groundswell.solvers.earthquake.rank_faults import RankFaults
from groundswell.solvers.earthquake.setup import Setup

KEPT = ("recorded", "onset")  # arrays from which maps follow


@dataclass(frozen=True)
class FaultOutputs:
    """What a case records of faults.

    Args:
        header: problem and size of cells, for SCEC's files.
    """

    points: FaultPointsOutput | None
    rupture: RuptureOutput | None
    header: Mapping[str, object]


class FaultRecords:
    """The faults of a run on one rank.

    Args:
        own: the rank's part of them.
        outputs: what is recorded.

    Attributes:
        series: their time series.
        results: what is written of them, and what they have done.
    """

    def __init__(
        self, run: FaultRun, faults: Sequence[Fault], own: RankFaults, outputs: FaultOutputs
    ) -> None:
        self._run, self._faults, self._own, self._outputs = run, faults, own, outputs
        points = self._point_series(outputs.points) if outputs.points else None
        history = self._history(outputs.rupture) if outputs.rupture else None
        self.results = FaultResults(run, points, history)
        self.series = [each for each in (points, history) if each]

    def _point_series(self, section: FaultPointsOutput) -> FaultPointSeries:
        points = nearest_points(section, self._run.faults)
        values = select_centres(tuple(SERIES), self._faults, self._own, points)
        return FaultPointSeries(self._run, section, points, values)

    def _history(self, section: RuptureOutput) -> SlipHistory:
        """The slip of all cells."""
        subfaults = subfaults_of(self._faults)
        values = select_centres(HISTORY, self._faults, self._own, np.arange(len(subfaults.area)))
        return SlipHistory(self._run, section, subfaults, values)

    def state(self) -> dict[str, DistributedArray]:
        """Jumps, slip, state of friction and records, for checkpoints."""
        return {
            f"fault/{fault.name}/{name}": array
            for fault, slip in zip(self._faults, self._own.slips, strict=True)
            for name, array in self._arrays(fault, slip).items()
        }

    def _arrays(self, fault: Fault, slip: FaultSlip | None) -> dict[str, DistributedArray]:
        shapes = FaultSlip.shapes(fault.plane)
        return {name: self._whole(slip, name, shape) for name, shape in shapes.items()}

    def _whole(self, slip: FaultSlip | None, name: str, shape: tuple[int, ...]) -> DistributedArray:
        """An array of a whole fault."""
        if slip is None:
            return DistributedArray(self._run.backend.zeros((0,), "f8"), shape, (), ())
        window, leading = slip.window, shape[0]
        own = window.owned(leading)
        return DistributedArray(slip.arrays[name], shape, window.windows(leading), own)

    def write(self, folder: Path) -> list[Path]:
        """Write `fault.nc` and what follows from the series; all ranks call it, rank 0 writes."""
        found = [self._gather(*pair) for pair in zip(self._faults, self._own.slips, strict=True)]
        if not self._run.comm.first or not self._faults:
            return []
        parts = [at_centres(f.plane, a) for f, a in zip(self._faults, found, strict=True)]
        values = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        values["mu"] = np.concatenate([fault.mu for fault in self._faults])
        return self.results.write(
            folder, values, [f.conditions for f in self._faults], self._outputs.header
        )

    def _gather(self, fault: Fault, slip: FaultSlip | None) -> dict[str, HostArray]:
        """The arrays of a fault's map at rank 0; elsewhere nothing."""
        arrays, run = self._arrays(fault, slip), self._run
        gathered = {name: arrays[name].gather(run.backend, run.comm) for name in KEPT}
        return {name: array for name, array in gathered.items() if array is not None}


def fault_records(
    setup: Setup, backend: Backend, comm: Communicator, clock: DeviceArray, own: RankFaults
) -> FaultRecords | None:
    """The faults of a case; None without.

    Args:
        clock: number of steps made, on the device.
        own: the rank's part of the faults.
    """
    case, geography, faults = setup.case, setup.geography, setup.faults
    if not faults:
        return None
    attrs = event_attributes(case, geography, setup.survey)
    points = {fault.name: fault.points for fault in faults}
    run = FaultRun(backend, comm, clock, setup.time_axis, points, geography, attrs)
    size = f"{min(fault.spacing for fault in faults):.6g} m"
    header = {"problem": case.title or "without a title", "element_size": size}
    outputs = FaultOutputs(case.output.fault_points, case.output.rupture, header)
    return FaultRecords(run, faults, own, outputs)


def at_centres(plane: FaultPlane, arrays: Mapping[str, HostArray]) -> dict[str, Floats]:
    """Values of a fault map at the centres of a fault's cells, (cells,).

    Args:
        arrays: KEPT of `FaultSlip`.
    """
    inside, onset = plane.slips(Kind.CENTRE), arrays["onset"]
    found = dict(zip(RECORDED, arrays["recorded"], strict=True))
    found["rupture_time"] = _mean_around(onset, np.isfinite(onset), none=np.inf)
    return {name: values[inside] for name, values in found.items()}


def _mean_around(values: HostArray, valid: Mask, none: float) -> Floats:
    """Mean of the points around a cell with valid values; `none` where there are none."""
    counts = _around(valid.astype(float))
    sums = _around(np.where(valid, values, 0.0))
    return np.where(counts > 0, sums / np.maximum(counts, 1), none)


def _around(values: HostArray) -> HostArray:
    """Sums over the four points around a cell."""
    along, down = values
    return np.asarray(along + np.roll(along, -1, axis=1) + down + np.roll(down, -1, axis=0))
