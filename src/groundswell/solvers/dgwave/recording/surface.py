"""The motion of the surface at regular points: a shaking map and time series of velocity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Items, Launch, Source
from groundswell.backends.source import precision
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.launches import RecordLaunches, Targets
from groundswell.outputs.ring_buffer import Output, Ring, ring_slots
from groundswell.seismology.formats.shaking_maps import (
    SurfaceWriter,
    write_shaking_map,
)
from groundswell.seismology.sources.event import event_attributes
from groundswell.solvers.dgwave.propagation import KERNELS
from groundswell.solvers.dgwave.recording.lattice import Lattice, sample_bytes, surface_stride
from groundswell.solvers.dgwave.recording.receivers import VELOCITIES

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.solver import DgWave

Floats = NDArray[np.float64]
PEAKS = 2  # of velocity and of acceleration


def surface_source(dtype: str) -> Source:
    """The kernel that records peaks, for a floating-point type."""
    return Source(KERNELS / "surface.h", precision(dtype))


class ShakingMap:
    """Peak ground velocity and acceleration on one rank.

    Attributes:
        launches: the kernel that records them at the beginning of a step.
    """

    def __init__(self, solver: DgWave) -> None:
        self._setup, self._backend, self._comm = solver.setup, solver.backend, solver.comm
        self._lattice = Lattice.of(self._setup, solver.elements.numbers)
        shape = (PEAKS, len(self._lattice.mine))
        self._peaks, self._past = (self._backend.zeros(shape, self._setup.dtype) for _ in range(2))
        self.launches = self._launch(solver) if len(self._lattice.mine) else []

    def _launch(self, solver: DgWave) -> list[Launch]:
        backend, dtype, lattice = self._backend, self._setup.dtype, self._lattice
        vx, vy = (solver.propagation.fields[name] for name in VELOCITIES[:2])
        places = lattice.elements * (vx.strides[0] // vx.itemsize)
        tables = (places.astype(np.int64), lattice.weights.astype(dtype))
        on_device = [backend.to_device(table) for table in tables]
        step = backend.to_device(np.array([self._setup.dt]))
        points, taps = lattice.weights.shape
        arguments = (self._peaks, self._past, vx, vy, *on_device, taps, step, points)
        module = backend.compile(surface_source(dtype))
        return [module.launch("record_peaks", Items(points), *arguments)]

    def state(self) -> dict[str, DistributedArray]:
        """The peaks so far, and the last velocities, for checkpoints."""
        arrays = {"peaks": self._peaks, "past": self._past}
        return {
            f"shaking_map/{name}/{n}": part
            for name, array in arrays.items()
            for n, part in enumerate(self._distributed(array))
        }

    def _distributed(self, array: Array) -> list[DistributedArray]:
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
        points, attrs = self._lattice.points(self._setup), event_attributes(self._setup)
        return [write_shaking_map(folder / "shaking_map.nc", pgv, pga, points, attrs)]


class SurfaceSeries:
    """Time series of the surface velocity, on one rank.

    Attributes:
        name: name of the output.
        launches: the kernel that records it at the beginning of a step.
    """

    name = "surface"

    def __init__(self, solver: DgWave, record: RecordLaunches) -> None:
        self._setup, self._comm = solver.setup, solver.comm
        setup, stride = solver.setup, solver.setup.case.output.surface.stride
        self._lattice = Lattice.of(setup, solver.elements.numbers, stride)
        selection = self._lattice.select(len(VELOCITIES))
        every, sample = surface_stride(setup), sample_bytes(setup)
        shape = (len(VELOCITIES), *selection.count)
        self._ring = Ring(solver.backend, shape, every, ring_slots(sample, every), setup.dtype)
        arrays = [solver.propagation.fields[name] for name in VELOCITIES]
        self.launches = record.record(arrays, selection, Targets(0, every, self._ring))

    def open(self, folder: Path, length: int | None) -> Output:
        """Open `surface.nc`; `length` is the number of samples to keep when a run resumes."""
        setup, lattice = self._setup, self._lattice
        writer: Any = self._comm.first and SurfaceWriter(
            folder / "surface.nc",
            lattice.points(setup),
            surface_stride(setup) * setup.dt,
            attrs=event_attributes(setup),
            resume=length,
            dtype=setup.dtype,
        )

        def write(block: NDArray[Any], _: range) -> None:
            writer.append_velocity(lattice.whole(block))

        shape, place = (len(VELOCITIES), lattice.count), (slice(None), lattice.mine)
        return Output(self._ring, writer or None, write, shape, place, self._comm)
