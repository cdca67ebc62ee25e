"""What is recorded of faults: slip, rupture times and stresses at the nodes of their faces."""

from __future__ import annotations

from pathlib import Path

from groundswell.arrays import DeviceArray
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.seismology.formats.fault_maps import NAME, write_fault_map
from groundswell.seismology.sources.event import event_attributes
from groundswell.solvers.dgwave.fault_slip import RECORDED, VARIABLES, FaultSlip
from groundswell.solvers.dgwave.faults.rank import RankFault
from groundswell.solvers.dgwave.recording.rank import RankFields


class FaultRecords:
    """The faults of a run on one rank.

    Args:
        slip: the rank's part of them.
    """

    def __init__(self, rank: RankFields, fault: RankFault, slip: FaultSlip) -> None:
        self._rank, self._fault, self._slip = rank, fault, slip

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
        """Write `fault.nc`; all ranks call it, rank 0 writes."""
        backend, comm, setup = self._rank.backend, self._rank.comm, self._rank.setup
        whole = {name: part.gather(backend, comm) for name, part in self._values().items()}
        if not comm.first or setup.faults is None:
            return []
        points = {fault.name: fault.points for fault in setup.faults.faults}
        values = {name: found.ravel() for name, found in whole.items() if found is not None}
        attrs = event_attributes(setup.case, setup.geography, setup.survey)
        return [write_fault_map(folder / NAME, points, values, attrs)]
