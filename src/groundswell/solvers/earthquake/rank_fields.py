"""What recorders read in a rank's part of the grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Module, Source
from groundswell.exchange.communicator import Communicator
from groundswell.grids.cartesian import Part
from groundswell.solvers.earthquake.rank_faults import RankFaults


@dataclass(frozen=True, eq=False)
class RankFields:
    """What outputs read in a rank's part of the grid.

    Args:
        fields: velocities and stresses without ghosts, (nz, ny, nx).
        compliance: 1 / mu of each cell, with which the surface moves, and classes of cells; see
            kernels/materials.h.
        clock: the number of steps made, on the device, (1,).
        module: the kernels of the solver.
        source: their source.
        faults: slip on the faults.
    """

    backend: Backend
    comm: Communicator
    part: Part
    fields: Mapping[str, DeviceArray]
    compliance: tuple[DeviceArray, DeviceArray]
    clock: DeviceArray
    module: Module
    source: Source
    faults: RankFaults

    @property
    def has_top(self) -> bool:
        """Whether this part has the region's uppermost cells."""
        return self.part.region_start[2] == 0 and all(self.part.region)
