"""The files of a run: recorded fields, maps of the pressure, and the medium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Launch
from groundswell.backends.base import in_order
from groundswell.case.quantities import Quantity
from groundswell.exchange.communicator import Communicator
from groundswell.formats.netcdf import Variable
from groundswell.formats.streams import Stream
from groundswell.grids.cartesian import Part
from groundswell.outputs.distributed_array import ArrayIndex
from groundswell.outputs.files import FieldsFile, write_together
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.recording import RecordableField
from groundswell.outputs.ring_buffer import Output
from groundswell.solvers.ultrasound.case import MEDIUM_FILE
from groundswell.solvers.ultrasound.film_plane import records_of
from groundswell.solvers.ultrasound.findings import EndedRun
from groundswell.solvers.ultrasound.propagation import Propagation
from groundswell.solvers.ultrasound.run_facts import run_facts
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
        own: this rank's part in arrays of its medium.
        fields: this rank's part of the recordable fields over the region, by name.

    Attributes:
        fill_overlaps: launches that fill the overlaps that recorders read.
        findings: numbers of the beam, on rank 0 after `write`.
    """

    include_end = True

    def __init__(
        self,
        setup: Setup,
        part: Part,
        own: ArrayIndex,
        fields: Mapping[str, DeviceArray],
        propagation: Propagation,
        comm: Communicator,
    ) -> None:
        self._setup, self._part, self._own = setup, part, own
        self._medium = propagation.medium
        self.fill_overlaps: Sequence[Launch] = ()
        self.findings: list[Quantity] = []
        self._warned: list[str] = []
        self._series: dict[str, Output] = {}
        super().__init__(
            records_of(setup.case.output, setup),
            setup.recording(part),
            fields,
            propagation.backend,
            comm,
            propagation.clock,
        )

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """Open the files of series; see `Recorders`."""
        self._series = super().open(folder, lengths)
        return self._series

    def write(self, folder: Path) -> list[Path]:
        """Write statistics, final values and the medium; rank 0 returns the paths."""
        in_order(self.fill_overlaps)()
        files = super().write(folder)
        if self._setup.case.output.medium and self._varying:
            files += self._write_medium(folder / MEDIUM_FILE)
        if self._comm.first and self._setup.case.output.maps:
            self._find(folder, files)
        return files

    @property
    def warnings(self) -> list[str]:
        """Warnings about records, and about the numbers of the beam after `write`."""
        return [*super().warnings, *self._warned]

    def _find(self, folder: Path, files: Sequence[Path]) -> None:
        """Find the numbers of the beam in the files of the run, some of which have other names."""
        series = {name: of.writer.part for name, of in self._series.items() if of.writer}
        ended = EndedRun(folder, run_facts(self._setup), self._setup.points_per_wavelength)
        self.findings, self._warned = ended.numbers({**{p.name: p for p in files}, **series})

    @property
    def _varying(self) -> list[RecordableField]:
        """The properties that vary in space."""
        return [of for of in PROPERTIES if np.ndim(getattr(self._setup.materials, of.name))]

    def _write_medium(self, path: Path) -> list[Path]:
        """Write the properties that vary in space, over the region, (z, y, x)."""
        setup, region = self._setup, self._part.grid.region_slices
        coordinates = {
            name: Variable((name,), at[along], attrs={"units": "m", "axis": name.upper()})
            for name, at, along in zip("zyx", setup.positions[::-1], region, strict=True)
        }
        fields = {
            of.name: Variable(tuple(coordinates), dtype=setup.dtype, attrs=of.attrs)
            for of in self._varying
        }
        attrs = {"title": setup.case.title, "power": setup.materials.power}
        file = FieldsFile(path, coordinates, fields, attrs)
        streams = [self._stream(of.name) for of in self._varying]
        with ThreadPoolExecutor(1) as disk:
            written = write_together(self._comm, disk, file, streams)
        return [each.result() for each in written]

    def _stream(self, name: str) -> Stream:
        """This rank's values of a property."""
        own = getattr(self._medium, name)[self._own][self._part.region_slices]
        axes = zip(self._part.region_start[::-1], own.shape, strict=True)
        box = [slice(first, first + n) for first, n in axes]
        return Stream.of_box(name, own, self._part.grid.region[::-1], box)
