"""Outputs: seismograms, tables of `[[output.record]]`, and the fields at the end of the run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Launch
from groundswell.case.recording import PointsWhere
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.launches import RecordLaunches, Targets
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.recording import RecordableField, Recording
from groundswell.outputs.ring_buffer import Output, Ring, ring_slots
from groundswell.seismology.formats.seismograms import (
    SeismogramWriter,
    read_seismograms,
    write_mseed,
    write_sac,
)
from groundswell.seismology.sources.event import event_attributes
from groundswell.spectral_elements.fields import gather_on_root
from groundswell.spectral_elements.recording import ElementDomain
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup
    from groundswell.solvers.dgwave.solver import DgWave

VELOCITIES = ("vx", "vy", "vz")
_ALONG = dict(zip(VELOCITIES, ("x", "y", "z, down"), strict=True))
RECORDABLE = {
    "p": RecordableField("p", "Pa", "pressure"),
    **{n: RecordableField(n, "m s-1", f"particle velocity along {a}") for n, a in _ALONG.items()},
    **{
        f"s{axes}": RecordableField(f"s{axes}", "Pa", f"stress {axes}")
        for axes in ("xx", "yy", "zz", "yz", "xz", "xy")
    },
}


class Outputs:
    """All recorders of a case on one rank.

    Attributes:
        launches: their kernels, independent of each other, for the beginning of a step.
    """

    def __init__(self, solver: DgWave) -> None:
        self._solver, self._setup = solver, solver.setup
        self._backend, self._comm = solver.backend, solver.comm
        self._fields = solver.propagation.fields
        setup, clock = self._setup, solver.propagation.clock
        domain = ElementDomain(self._comm, setup.hexahedra, setup.degree, solver.elements.numbers)
        recordable = {name: RECORDABLE[name] for name in self._fields}
        self._recording = Recording(domain, recordable, setup.dtype, setup.dt, steps=setup.steps)
        sections = setup.case.output.record
        self._recording.require_samples(sections, setup.steps)
        self._recorders = Recorders(
            sections, self._recording, self._fields, self._backend, self._comm, clock
        )
        self._record = RecordLaunches(self._backend, setup.dtype, clock)
        self._own: NDArray[np.intp] = np.empty(0, np.intp)
        self._ring: Ring | None = None
        self._seismograms: Path | None = None  # temporary path, valid until the end of the run
        self.launches: list[Launch] = [*self._points(), *self._recorders.launches]

    def _points(self) -> list[Launch]:
        """Launches that record the velocities at the receivers."""
        setup, receivers = self._setup, self._setup.receivers
        if not receivers:
            return []
        places = setup.place(np.array([r.position for r in receivers]))
        where = PointsWhere(kind="points", positions=tuple(map(tuple, places.tolist())))
        fields = [RECORDABLE[name] for name in VELOCITIES]
        selection = self._recording.domain.select(where, fields)
        self._own = selection.place[0]
        every = setup.sampling_stride
        sample = len(receivers) * len(fields) * np.dtype(setup.dtype).itemsize
        shape = (len(fields), *selection.count)
        slots = ring_slots(sample, every)
        self._ring = ring = Ring(self._backend, shape, every, slots, setup.dtype)
        arrays = [self._fields[name] for name in VELOCITIES]
        return self._record.record(arrays, selection, Targets(0, every, ring))

    def latest_seismograms(self, begin: int, end: int) -> NDArray[Any]:
        """Velocity of steps begin .. end - 1 at this rank's receivers, (samples, 3, receivers)."""
        assert self._ring is not None
        samples = self._ring.read(begin, end, None)
        found = np.empty_like(samples)
        found[..., np.argsort(np.argsort(self._own))] = samples
        return found

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """Open the growing files; `lengths` are the samples to keep from before."""
        own = {}
        if self._ring is not None:
            length = None if lengths is None else lengths["seismograms"]
            own["seismograms"] = self._seismogram_output(folder, length)
        return own | self._recorders.open(folder, lengths)

    def _seismogram_output(self, folder: Path, length: int | None) -> Output:
        setup = self._setup
        writer: Any = self._comm.first and SeismogramWriter(
            folder / "seismograms.h5",
            setup.receivers,
            setup.sampling_stride * setup.dt,
            attrs=event_attributes(setup),
            resume=length,
            dtype=setup.dtype,
        )
        self._seismograms = writer.part if writer else None

        def write(block: NDArray[Any], _: range) -> None:
            writer.append(block.swapaxes(1, 2))

        shape, place = (len(VELOCITIES), len(setup.receivers)), (slice(None), self._own)
        assert self._ring is not None
        return Output(self._ring, writer or None, write, shape, place, self._comm)

    def state(self) -> dict[str, DistributedArray]:
        """Running statistics, for checkpoints."""
        return self._recorders.state()

    def write(self, folder: Path) -> list[Path]:
        """Write the files of the end of the run; rank 0 writes."""
        records, fields = self._recorders.write(folder), self._final_fields(folder)
        return [*records, *fields, *self._formats(folder)] if self._comm.first else []

    def _formats(self, folder: Path) -> list[Path]:
        formats = self._setup.case.output.seismograms.formats
        if self._seismograms is None or set(formats) == {"hdf5"}:
            return []
        velocity = read_seismograms(self._seismograms)
        sac = write_sac(velocity, folder / "sac") if "sac" in formats else []
        mseed = [write_mseed(velocity, folder / "seismograms.mseed")] if "mseed" in formats else []
        return [*sac, *mseed]

    def _final_fields(self, folder: Path) -> list[Path]:
        """Write all fields at the end as high-order elements; all ranks must call it."""
        setup = self._setup
        if not setup.case.output.final_fields:
            return []
        mesh, numbers = setup.hexahedra, self._solver.elements.numbers
        whole = {
            name: gather_on_root(self._comm, mesh, numbers, self._backend.to_host(array))
            for name, array in self._fields.items()
        }
        if not self._comm.first:
            return []
        attrs = {**_title(setup), "time": setup.steps * setup.dt}
        elements = LagrangeElements.of(mesh, setup.degree, whole, attrs)
        return [elements.write(folder / "fields.vtkhdf")]


def _title(setup: Setup) -> dict[str, str]:
    return {"title": setup.case.title}
