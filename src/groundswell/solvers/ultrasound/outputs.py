"""The files of a run: recorded fields, maps of the pressure, and the medium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Launch
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import Communicator
from groundswell.formats.netcdf import Variable
from groundswell.grids.cartesian import Part
from groundswell.outputs.files import write_fields
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.recording import RecordableField
from groundswell.solvers.ultrasound.case import MEDIUM_FILE
from groundswell.solvers.ultrasound.propagation import Propagation
from groundswell.solvers.ultrasound.setup import Setup

PROPERTIES = (
    RecordableField("speed", "m s-1", "sound speed"),
    RecordableField("density", "kg m-3", "density"),
    RecordableField("absorption", "Np (rad/s)^-y m-1", "absorption coefficient"),
    RecordableField("nonlinearity", "1", "nonlinearity parameter B/A"),
)


class Outputs(Recorders):
    """Recorders, and the file of the properties of the medium that vary in space.

    Args:
        fields: this rank's part of the recordable fields over the region, by name.

    Attributes:
        fill_overlaps: launches that fill the overlaps that recorders read.
    """

    include_end = True

    def __init__(
        self,
        setup: Setup,
        part: Part,
        fields: Mapping[str, DeviceArray],
        propagation: Propagation,
        comm: Communicator,
    ) -> None:
        self._setup, self._first = setup, comm.first
        self.fill_overlaps: Sequence[Launch] = ()
        super().__init__(
            setup.case.output.records,
            setup.recording(part),
            fields,
            propagation.backend,
            comm,
            propagation.clock,
        )

    def write(self, folder: Path) -> list[Path]:
        """Write statistics, final values and the medium; rank 0 writes and returns the paths."""
        in_order(self.fill_overlaps)()
        with ThreadPoolExecutor(1) as writer:  # while values come from the device
            medium = writer.submit(self._write_medium, folder / MEDIUM_FILE)
            return super().write(folder) + medium.result()

    def _write_medium(self, path: Path) -> list[Path]:
        """Write the properties that vary in space, over the region, (z, y, x); rank 0 does so."""
        if not (self._first and self._setup.case.output.medium):
            return []
        medium, grid = self._setup.medium, self._setup.grid
        varying = [of for of in PROPERTIES if np.ndim(getattr(medium, of.name))]
        if not varying:
            return []
        x, y, z = (self._setup.coordinates(axis)[grid.region_slices[2 - axis]] for axis in range(3))
        positions = {"z": z, "y": y, "x": x}
        coordinates = {
            name: Variable((name,), at, attrs={"units": "m", "axis": name.upper()})
            for name, at in positions.items()
        }
        fields = {
            of.name: Variable(
                tuple(positions), getattr(medium, of.name)[grid.region_slices], attrs=of.attrs
            )
            for of in varying
        }
        attrs = {"title": self._setup.case.title, "power": medium.power}
        return [write_fields(path, coordinates, fields, attrs)]
