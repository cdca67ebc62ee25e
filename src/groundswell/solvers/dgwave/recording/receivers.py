"""Receivers: velocity and pressure at positions in elements, recorded through ring buffers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import Launch
from groundswell.case.recording import PointsWhere
from groundswell.outputs.launches import RecordLaunches, Targets
from groundswell.outputs.recording import PointSelection, RecordableField, RecordingDomain
from groundswell.outputs.ring_buffer import Output, Ring, ring_slots
from groundswell.seismology.formats.seismograms import (
    PRESSURE,
    ReceiverQuantity,
    SeismogramWriter,
    read_seismograms,
)
from groundswell.seismology.receivers import that_record
from groundswell.solvers.dgwave.geometry import OFFSET
from groundswell.solvers.dgwave.recording.rank import RankFields

if TYPE_CHECKING:
    import xarray

VELOCITIES = ("vx", "vy", "vz")


class Seismograms:
    """The recordings of one quantity at the receivers, on one rank.

    Attributes:
        name: name of the output.
        launches: the kernel that records them at the beginning of a step.
    """

    def __init__(
        self,
        rank: RankFields,
        domain: RecordingDomain,
        record: RecordLaunches,
        quantity: ReceiverQuantity,
    ) -> None:
        self._setup, self._comm, self._quantity = rank.setup, rank.comm, quantity
        self._receivers = that_record(quantity.name, rank.setup.survey.receivers)
        self._part: Path | None = None  # the file until the end of the run
        self.name = Path(quantity.file).stem
        arrays, selection = self._select(rank, domain)
        self._own, every = selection.place[0], self._setup.time_step.stride
        dtype, components = self._setup.dtype, len(quantity.components)
        sample = len(self._receivers) * components * np.dtype(dtype).itemsize
        shape = (components, *selection.count)
        self._ring = Ring(rank.backend, shape, every, ring_slots(sample, every), dtype)
        self.launches: list[Launch] = record.record(
            arrays, selection, Targets(0, every, self._ring)
        )

    def _select(
        self, rank: RankFields, domain: RecordingDomain
    ) -> tuple[list[DeviceArray], PointSelection]:
        """The recorded arrays, and the selection of their values."""
        where = PointsWhere(kind="points", positions=self._positions())
        names = VELOCITIES if self._quantity is not PRESSURE else ("p",)
        fields = [RecordableField(name, self._quantity.units, name) for name in names]
        selection = domain.select(where, fields)
        assert isinstance(selection, PointSelection)
        if self._quantity is PRESSURE:
            stresses = 3 if self._setup.equations.elastic else 1
            return [rank.propagation.u[:, :stresses]], _mean_pressure(selection, stresses)
        return [rank.propagation.fields[name] for name in VELOCITIES], selection

    def _positions(self) -> tuple[tuple[float, float, float], ...]:
        """Coordinates x, y, z at which the receivers record, m.

        On the sea floor, where ocean-bottom nodes lie and others may, pressure is recorded in the
        water and velocity in the ground.
        """
        geometry, rigidity = self._setup.geometry, self._setup.materials.elements.rigidity
        places = np.array([receiver.position for receiver in self._receivers])
        offset = OFFSET * geometry.smallest * np.array([0.0, 0.0, 1.0])
        above, at, below = (geometry.keep_inside(places + n * offset, places) for n in (-1, 0, 1))
        is_fluid, is_fluid_below = (rigidity(*beside.T) == 0 for beside in (above, below))
        is_node = np.array([r.kind == "ocean-bottom-node" for r in self._receivers], bool)
        on_floor = is_node | (is_fluid != is_fluid_below)
        moved = np.where(on_floor[:, None], above if self._quantity is PRESSURE else below, at)
        return tuple(map(tuple, geometry.place(moved).tolist()))

    def latest(self, begin: int, end: int) -> HostArray:
        """Samples of steps begin .. end - 1 at this rank's receivers.

        Returns:
            (samples, components, receivers), the receivers in the order of the case.
        """
        samples = self._ring.read(begin, end, None)
        found = np.empty_like(samples)
        found[..., np.argsort(np.argsort(self._own))] = samples
        return found

    def open(self, folder: Path, length: int | None) -> Output:
        """Open the file; `length` is the number of samples to keep when a run resumes."""
        setup, quantity, receivers = self._setup, self._quantity, self._receivers
        every, path = setup.time_step.stride, folder / quantity.file
        options = setup.series_options(every, length)
        writer = None
        if self._comm.first:
            writer = SeismogramWriter(path, receivers, every * setup.dt, quantity, **options)
        self._part = writer.part if writer else None

        def write(block: HostArray, _: range) -> None:
            assert writer is not None  # rank 0 writes
            writer.append(block.swapaxes(1, 2))

        shape, place = (len(quantity.components), len(receivers)), (slice(None), self._own)
        return Output(self._ring, writer, write, shape, place, self._comm)

    def read(self) -> xarray.DataArray:
        """All samples, on rank 0, at the end of the run."""
        assert self._part is not None
        return read_seismograms(self._part, self._quantity)


def _mean_pressure(selection: PointSelection, stresses: int) -> PointSelection:
    """Selects the pressure: the first field, or minus the mean of the three normal stresses.

    Args:
        selection: selection from one field, an array (elements, nodes).

    Returns:
        The selection for an array (elements, fields, nodes).
    """
    assert selection.weights is not None
    share = -1 / stresses if stresses > 1 else 1.0
    element, node = np.moveaxis(selection.cells, -1, 0)
    return replace(
        selection,
        cells=np.stack([element, np.zeros_like(element), node], axis=-1),
        taps=(1, stresses, selection.taps[-1]),
        weights=np.tile(share * selection.weights, stresses),
    )
