"""The motion of the surface at regular points: a shaking map and time series of velocity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import Items, Launch, Source
from groundswell.backends.source import precision
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.ring_buffer import Output, Ring, ring_slots
from groundswell.seismology.case.outputs import SurfaceOutput
from groundswell.seismology.formats.shaking_maps import (
    SurfaceWriter,
    write_shaking_map,
)
from groundswell.seismology.recording.peak_motion import PeakMotion
from groundswell.seismology.sources.event import event_attributes
from groundswell.seismology.time_steps import whole_steps
from groundswell.solvers.dgwave.equations import KERNELS
from groundswell.solvers.dgwave.mesh.elements import face_nodes
from groundswell.solvers.dgwave.recording.lattice import (
    PEAKS,
    Lattice,
    sample_bytes,
)
from groundswell.solvers.dgwave.recording.rank import RankFields
from groundswell.solvers.dgwave.recording.receivers import VELOCITIES


def surface_source(dtype: str) -> Source:
    """The kernels that record the surface, for a floating-point type."""
    return Source(KERNELS / "surface.h", precision(dtype))


def point_arguments(rank: RankFields, lattice: Lattice) -> dict[str, DeviceArray | int]:
    """Kernel arguments by name: the points of a lattice, see kernels/surface.h."""
    setup, field, at = rank.setup, rank.propagation.fields[VELOCITIES[0]], lattice.located
    starts = at.elements * (field.strides[0] // field.itemsize)
    nodes = face_nodes(setup.degree)
    weights = at.weights(setup.degree).astype(setup.dtype)
    tables: dict[str, HostArray] = {
        "starts": starts.astype(np.int64),
        "faces": at.faces.astype(np.int32),
        "nodes": nodes.astype(np.int32),
        "weights": weights,
    }
    found = {name: rank.backend.to_device(table) for name, table in tables.items()}
    return {**found, "taps": nodes.shape[1], "points": len(starts)}


class ShakingMap(PeakMotion):
    """Peak ground velocity and acceleration on one rank.

    Attributes:
        launches: the kernel that records them at the beginning of a step.
    """

    def __init__(self, rank: RankFields) -> None:
        super().__init__()
        self._setup, self._backend, self._comm = rank.setup, rank.backend, rank.comm
        self._lattice = Lattice.of(self._setup.geometry, rank.elements.numbers)
        shape = (PEAKS, len(self._lattice.mine))
        self._peaks, self._past = (self._backend.zeros(shape, self._setup.dtype) for _ in range(2))
        self.launches = self._launch(rank) if len(self._lattice.mine) else []

    def _launch(self, rank: RankFields) -> list[Launch]:
        points = point_arguments(rank, self._lattice)
        arguments = {name: rank.propagation.fields[name] for name in VELOCITIES[:2]}
        arguments |= {"peaks": self._peaks, "past": self._past}
        arguments["step"] = self._backend.to_device(np.array([self._setup.dt]))
        module = self._backend.compile(surface_source(self._setup.dtype))
        extent = Items(len(self._lattice.mine))
        return [module.launch("record_peaks", extent, **arguments, **points)]

    def state(self) -> dict[str, DistributedArray]:
        """The peaks so far, and the last velocities, for checkpoints."""
        arrays = {"peaks": self._peaks, "past": self._past}
        return {
            f"shaking_map/{name}/{n}": part
            for name, array in arrays.items()
            for n, part in enumerate(self._distributed(array))
        }

    def _distributed(self, array: DeviceArray) -> list[DistributedArray]:
        """A distributed array for each value of a point."""
        lattice = self._lattice
        own = (((slice(0, len(lattice.mine)),), (lattice.mine,)),)
        return [DistributedArray(values, (lattice.count,), own, own) for values in array]

    def write(self, folder: Path) -> list[Path]:
        """Write `shaking_map.nc`; all ranks call it, rank 0 writes."""
        peaks = self._distributed(self._peaks)
        whole: list[Any] = [part.gather(self._backend, self._comm) for part in peaks]
        if not self._comm.first:
            return []
        pgv, pga = map(self._lattice.whole, whole)
        setup, points = self._setup, self._lattice.points(self._setup.geography)
        self.keep(pgv, pga, points)
        attrs = event_attributes(setup.case, setup.geography, setup.survey)
        return [write_shaking_map(folder / "shaking_map.nc", pgv, pga, points, attrs)]


class SurfaceSeries:
    """Time series of the surface velocity, on one rank.

    Attributes:
        name: name of the output.
        launches: the kernel that records it at the beginning of a step.
    """

    name = "surface"

    def __init__(self, rank: RankFields, section: SurfaceOutput) -> None:
        setup = self._setup = rank.setup
        self._comm = rank.comm
        self._lattice = Lattice.of(setup.geometry, rank.elements.numbers, section.stride)
        every = whole_steps(section.interval, setup.dt)
        sample = sample_bytes(section, setup.geometry, setup.dtype)
        shape = (len(VELOCITIES), len(self._lattice.mine))
        self._ring = Ring(rank.backend, shape, every, ring_slots(sample, every), setup.dtype)
        self.launches = self._launch(rank) if len(self._lattice.mine) else []

    def _launch(self, rank: RankFields) -> list[Launch]:
        ring, clock = self._ring, rank.propagation.clock
        velocities = {name: rank.propagation.fields[name] for name in VELOCITIES}
        module = rank.backend.compile(surface_source(self._setup.dtype))
        points = point_arguments(rank, self._lattice)
        series = {"ring": ring.buffer, "clock": clock}
        when = {"every": ring.every, "slots": ring.slots}
        extent = Items(len(self._lattice.mine))
        return [module.launch("record_velocity", extent, **series, **when, **velocities, **points)]

    def open(self, folder: Path, length: int | None) -> Output:
        """Open `surface.nc`; `length` is the number of samples to keep when a run resumes."""
        setup, lattice, every = self._setup, self._lattice, self._ring.every
        points, options = lattice.points(setup.geography), setup.series_options(every, length)
        writer = None
        if self._comm.first:
            writer = SurfaceWriter(folder / "surface.nc", points, every * setup.dt, **options)

        def write(block: HostArray, _: range) -> None:
            assert writer is not None  # rank 0 writes
            writer.append_velocity(lattice.whole(block))

        shape, place = (len(VELOCITIES), lattice.count), (slice(None), lattice.mine)
        return Output(self._ring, writer, write, shape, place, self._comm)
