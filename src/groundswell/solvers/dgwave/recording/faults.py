"""What is recorded of faults: slip, rupture times and stresses at the nodes of their faces."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Launch
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.recording import Frame, PointSelection
from groundswell.seismology.case.fault_outputs import FaultPointsOutput, RuptureOutput
from groundswell.seismology.faults.stations import nearest_points
from groundswell.seismology.faults.subfaults import FaceQuadrature
from groundswell.seismology.formats.fault_maps import FIELDS
from groundswell.seismology.formats.fault_series import HISTORY
from groundswell.seismology.recording.fault_results import FaultResults
from groundswell.seismology.recording.fault_series import (
    FaultPointSeries,
    FaultRun,
    RankValues,
    SlipHistory,
)
from groundswell.seismology.sources.event import event_attributes
from groundswell.solvers.dgwave.fault_slip import RECORDED, SERIES_ROWS, VARIABLES, FaultSlip
from groundswell.solvers.dgwave.faults.model import Faults
from groundswell.solvers.dgwave.faults.rank import RankFault
from groundswell.solvers.dgwave.recording.rank import RankFields


class FaultRecords:
    """The faults of a run on one rank.

    Args:
        faults: those of all ranks.
        fault, slip: the rank's part of them.

    Attributes:
        series: their time series.
        launches: kernels that run at the beginning of a step.
        at_end: kernels that run at the end of a step.
        results: what is written of them, and what they have done.
    """

    def __init__(self, rank: RankFields, faults: Faults, fault: RankFault, slip: FaultSlip) -> None:
        self._rank, self._faults, self._fault, self._slip = rank, faults, fault, slip
        self._run, output = _run(rank, faults), rank.setup.case.output
        points = self._point_series(output.fault_points) if output.fault_points else None
        history = self._history(output.rupture) if output.rupture else None
        self.results = FaultResults(self._run, points, history)
        self.series = [each for each in (points, history) if each]
        self.launches: list[Launch] = history.launches if history else []
        self.at_end: list[Launch] = points.launches if points else []

    def _point_series(self, section: FaultPointsOutput) -> FaultPointSeries:
        """The series at points; their values are those at the beginning of a step."""
        points = nearest_points(section, self._run.faults)
        rows = [self._slip.recorded[row] for row in SERIES_ROWS]
        values = RankValues(rows, _at_points(points, self._fault, len(rows)))
        return FaultPointSeries(self._run, section, points, values)

    def _history(self, section: RuptureOutput) -> SlipHistory:
        """The slip of the subfaults of all faults."""
        setup = self._rank.setup
        nodes, subfaults = setup.face_nodes, self._faults.subfaults(setup.degree)
        rows = [self._slip.slip[VARIABLES.index(name)] for name in HISTORY]
        fields = [row.reshape(self._fault.count, nodes) for row in rows]
        values = RankValues(fields, _at_subfaults(subfaults.quadrature, self._fault, len(fields)))
        return SlipHistory(self._run, section, subfaults, values)

    def state(self) -> dict[str, DistributedArray]:
        """Slip, state of friction and records, for checkpoints."""
        return {f"fault/{name}": values for name, values in self._values().items()}

    def _values(self) -> dict[str, DistributedArray]:
        rows = zip((*VARIABLES, *RECORDED), (*self._slip.slip, *self._slip.recorded), strict=True)
        return {name: self._distributed(values) for name, values in rows}

    def _distributed(self, values: DeviceArray) -> DistributedArray:
        """Values at the points of the rank's faces, (faces, nodes) of all faces."""
        fault, owned = self._fault, self._fault.owned
        shape = (fault.total, self._rank.setup.face_nodes)
        window = (((slice(None),), (fault.numbers,)),)
        own = (((owned,), (fault.numbers[owned],)),)
        return DistributedArray(values.reshape(fault.count, shape[1]), shape, window, own)

    def write(self, folder: Path) -> list[Path]:
        """Write `fault.nc` and what follows from the series; all ranks call it, rank 0 writes."""
        backend, comm, setup = self._rank.backend, self._rank.comm, self._rank.setup
        parts = {name: part for name, part in self._values().items() if name in FIELDS}
        whole = {name: part.gather(backend, comm) for name, part in parts.items()}
        if not comm.first:
            return []
        values = {name: found.ravel() for name, found in whole.items() if found is not None}
        values["mu"] = self._faults.mu
        spacing = min(fault.spacing for fault in self._faults.faults)
        size = f"{spacing * setup.degree:.6g} m, degree {setup.degree}"
        header = {"problem": setup.case.title or "without a title", "element_size": size}
        return self.results.write(folder, values, self._faults.conditions, header)


def _run(rank: RankFields, faults: Faults) -> FaultRun:
    setup = rank.setup
    return FaultRun(
        rank.backend,
        rank.comm,
        rank.propagation.clock,
        setup.time_axis,
        faults.named_points,
        setup.geography,
        event_attributes(setup.case, setup.geography, setup.survey),
    )


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


def _at_subfaults(quadrature: FaceQuadrature, fault: RankFault, fields: int) -> PointSelection:
    """The subfaults of faces of which this rank has the footwall, from values (faces, nodes)."""
    each, owned = quadrature.subfaults, fault.owned
    numbers = (each * fault.numbers[owned][:, None] + np.arange(each)).ravel()
    faces, weights = np.repeat(owned, each), np.tile(quadrature.values, (len(owned), 1))
    cells = np.column_stack([faces, np.zeros_like(faces)])
    return PointSelection(
        (each * fault.total,),
        (len(numbers),),
        (numbers,),
        Frame({}, {}),
        np.tile(cells, (fields, 1, 1)),
        taps=(1, weights.shape[1]),
        weights=np.tile(weights, (fields, 1, 1)),
    )
