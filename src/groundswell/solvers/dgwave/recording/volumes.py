"""Snapshots of whole fields, as high-order elements for ParaView."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundswell.arrays import HostArray
from groundswell.meshes.hexahedra import AXES
from groundswell.outputs.launches import RecordLaunches, Targets
from groundswell.outputs.recording import BoxSelection, Frame
from groundswell.outputs.ring_buffer import Output, Ring, ring_slots
from groundswell.seismology.sources.event import event_attributes
from groundswell.seismology.time_steps import whole_steps
from groundswell.solvers.dgwave.case import VolumeOutput
from groundswell.solvers.dgwave.geometry import Geometry
from groundswell.solvers.dgwave.recording.rank import RankFields
from groundswell.spectral_elements.vtkhdf import MAX_DEGREE, LagrangeElements
from groundswell.spectral_elements.vtkhdf_series import LagrangeSeries

WORD = 8  # bytes, of values in the file of the final fields, and on faults


def snapshot_bytes(section: VolumeOutput, geometry: Geometry, dtype: str) -> int:
    """Size of a snapshot, bytes."""
    nodes = geometry.count * (geometry.degree + 1) ** AXES
    return nodes * len(section.fields) * np.dtype(dtype).itemsize


def final_field_bytes(geometry: Geometry, fields: int) -> int:
    """Size of a number of final fields, bytes: index, position and values of each node."""
    nodes = geometry.count * (min(geometry.degree, MAX_DEGREE) + 1) ** AXES
    return nodes * (1 + AXES + fields) * WORD


class Volumes:
    """Snapshots of fields, on one rank.

    Attributes:
        name: name of the output.
        launches: the kernel that records them at the beginning of a step.
    """

    name = "volumes"

    def __init__(self, rank: RankFields, record: RecordLaunches, section: VolumeOutput) -> None:
        self._setup, self._comm = rank.setup, rank.comm
        geometry, self._elements = rank.setup.geometry, rank.elements.numbers
        self._fields = section.fields
        arrays = [rank.propagation.fields[name][:, None] for name in self._fields]
        every, dtype = whole_steps(section.interval, self._setup.dt), self._setup.dtype
        slots = ring_slots(snapshot_bytes(section, geometry, dtype), every)
        shape = (len(self._fields), *arrays[0].shape)
        self._ring = Ring(rank.backend, shape, every, slots, dtype)
        whole = (geometry.count, *arrays[0].shape[1:])
        selection = BoxSelection(
            shape=whole,
            count=arrays[0].shape,
            place=(self._elements,),
            frame=Frame({}, {}),
            first=(0, 0, 0),
            step=(1, 1, 1),
        )
        self._whole = (len(self._fields), *whole)
        self.launches = record.record(arrays, selection, Targets(0, every, self._ring))

    def open(self, folder: Path, length: int | None) -> Output:
        """Open `volumes.vtkhdf`; `length` is the number of snapshots to keep when a run resumes."""
        writer = self._writer(folder / "volumes.vtkhdf", length) if self._comm.first else None
        every = self._ring.every
        interval = every * self._setup.dt
        start = self._setup.time_axis.first_sample(every, interval)

        def write(block: HostArray, numbers: range) -> None:
            assert writer is not None  # rank 0 writes
            for n, fields in zip(numbers, block, strict=True):
                values = dict(zip(self._fields, fields[:, :, 0], strict=True))
                writer.append(start + n * interval, values)

        place = (slice(None), self._elements)
        return Output(self._ring, writer, write, self._whole, place, self._comm)

    def _writer(self, path: Path, length: int | None) -> LagrangeSeries:
        setup = self._setup
        attrs = event_attributes(setup.case, setup.geography, setup.survey)
        elements = LagrangeElements.of(setup.geometry.hexahedra, setup.degree, {}, attrs)
        return LagrangeSeries(path, elements, self._fields, length, setup.dtype)
