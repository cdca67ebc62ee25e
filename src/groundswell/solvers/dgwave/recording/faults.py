"""What is recorded of faults: slip, rupture times and stresses at the nodes of their faces."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends import Launch
from groundswell.case.quantities import Quantity, as_values
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.seismology.faults.rupture import rupture_quantities
from groundswell.seismology.formats.fault_maps import FIELDS, NAME, write_fault_map
from groundswell.seismology.sources.event import event_attributes
from groundswell.solvers.dgwave.fault_slip import RECORDED, VARIABLES, FaultSlip
from groundswell.solvers.dgwave.faults.rank import RankFault
from groundswell.solvers.dgwave.recording.fault_files import write_scec, write_source
from groundswell.solvers.dgwave.recording.fault_series import FaultPointSeries, SlipHistory
from groundswell.solvers.dgwave.recording.rank import RankFields


class FaultRecords:
    """The faults of a run on one rank.

    Args:
        slip: the rank's part of them.

    Attributes:
        series: their time series.
        launches: kernels that run at the beginning of a step.
        at_end: kernels that run at the end of a step.
        findings: what the rupture has done, on rank 0 after `write`.
    """

    def __init__(self, rank: RankFields, fault: RankFault, slip: FaultSlip) -> None:
        self._rank, self._fault, self._slip = rank, fault, slip
        self.findings: list[Quantity] = []
        output = rank.setup.case.output
        points, rupture = output.fault_points, output.rupture
        self._points = FaultPointSeries(rank, fault, slip, points) if points else None
        self._history = SlipHistory(rank, fault, slip, rupture) if rupture else None
        self.series = [each for each in (self._points, self._history) if each]
        self.launches: list[Launch] = self._history.launches if self._history else []
        self.at_end: list[Launch] = self._points.launches if self._points else []

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
        if not comm.first or setup.faults is None:
            return []
        values = {name: found.ravel() for name, found in whole.items() if found is not None}
        values["mu"] = setup.faults.mu
        self.findings = [
            *rupture_quantities(setup.faults.named_points, values | setup.faults.loads)
        ]
        return [self._write_map(folder, values), *self._write_series(folder, values)]

    def _write_map(self, folder: Path, values: Mapping[str, Floats]) -> Path:
        setup = self._rank.setup
        assert setup.faults is not None
        attrs = event_attributes(setup.case, setup.geography, setup.survey)
        magnitude = attrs["magnitude"] or as_values(self.findings)["magnitude"]
        known = {**attrs, "magnitude": magnitude}
        return write_fault_map(folder / NAME, setup.faults.named_points, values, known)

    def _write_series(self, folder: Path, values: Mapping[str, Floats]) -> list[Path]:
        """Write the files in formats other than NetCDF."""
        found: list[Path] = []
        if self._points and "scec" in self._points.formats:
            found += write_scec(folder, self._rank.setup, self._points, values["rupture_time"])
        if self._history:
            path, quantity = write_source(folder, self._rank.setup, self._history, values)
            self.findings += quantity
            found += path
        return found
