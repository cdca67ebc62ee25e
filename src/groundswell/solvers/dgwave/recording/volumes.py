"""Snapshots of whole fields, as high-order elements for ParaView."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import HostArray
from groundswell.meshes.hexahedra import AXES
from groundswell.outputs.launches import RecordLaunches, Targets
from groundswell.outputs.recording import BoxSelection, Frame
from groundswell.outputs.ring_buffer import Output, Ring, ring_slots
from groundswell.seismology.sources.event import event_attributes
from groundswell.seismology.time_steps import whole_steps
from groundswell.solvers.dgwave.recording.rank import RankFields
from groundswell.solvers.dgwave.setup import Setup
from groundswell.spectral_elements.vtkhdf import MAX_DEGREE, LagrangeElements
from groundswell.spectral_elements.vtkhdf_series import LagrangeSeries

WORD = 8  # bytes, of values in the file of the final fields


def volume_stride(setup: Setup) -> int:
    """Number of steps between snapshots, at least 1."""
    section = setup.case.output.volumes
    assert section is not None  # otherwise, there are no snapshots
    return whole_steps(section.interval, setup.dt)


def snapshot_bytes(setup: Setup) -> int:
    """Size of a snapshot, bytes."""
    per_field = setup.unknowns // len(setup.equations.fields)
    section = setup.case.output.volumes
    assert section is not None  # otherwise, there are no snapshots
    return per_field * len(section.fields) * np.dtype(setup.dtype).itemsize


def volume_bytes(setup: Setup) -> int:
    """Size of all snapshots, bytes."""
    if setup.case.output.volumes is None:
        return 0
    return ceil(setup.steps / volume_stride(setup)) * snapshot_bytes(setup)


def final_field_bytes(setup: Setup) -> int:
    """Size of the final fields, bytes: index, position and values of each node."""
    if not setup.case.output.final_fields:
        return 0
    nodes = setup.geometry.count * (min(setup.degree, MAX_DEGREE) + 1) ** AXES
    return nodes * (1 + AXES + len(setup.equations.fields)) * WORD


class Volumes:
    """Snapshots of fields, on one rank.

    Attributes:
        name: name of the output.
        launches: the kernel that records them at the beginning of a step.
    """

    name = "volumes"

    def __init__(self, rank: RankFields, record: RecordLaunches) -> None:
        self._setup, self._comm = rank.setup, rank.comm
        self._elements = rank.elements.numbers
        section = rank.setup.case.output.volumes
        assert section is not None  # otherwise, there are no snapshots
        self._fields = section.fields
        arrays = [rank.propagation.fields[name][:, None] for name in self._fields]
        every, dtype = volume_stride(self._setup), self._setup.dtype
        slots = ring_slots(snapshot_bytes(self._setup), every)
        shape = (len(self._fields), *arrays[0].shape)
        self._ring = Ring(rank.backend, shape, every, slots, dtype)
        whole = (self._setup.geometry.count, *arrays[0].shape[1:])
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
        writer: Any = self._comm.first and self._writer(folder / "volumes.vtkhdf", length)
        every = volume_stride(self._setup)
        interval = every * self._setup.dt
        start = self._setup.time_axis.first_sample(every, interval)

        def write(block: HostArray, numbers: range) -> None:
            for n, fields in zip(numbers, block, strict=True):
                values = dict(zip(self._fields, fields[:, :, 0], strict=True))
                writer.append(start + n * interval, values)

        place = (slice(None), self._elements)
        return Output(self._ring, writer or None, write, self._whole, place, self._comm)

    def _writer(self, path: Path, length: int | None) -> LagrangeSeries:
        setup = self._setup
        attrs = event_attributes(setup.case, setup.geography, setup.survey)
        elements = LagrangeElements.of(setup.geometry.hexahedra, setup.degree, {}, attrs)
        return LagrangeSeries(path, elements, self._fields, length, setup.dtype)
