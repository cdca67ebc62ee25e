"""Samples of some fields at one place, on one rank's device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import Event
from groundswell.exchange.communicator import Communicator
from groundswell.grids.cartesian import Part
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.launches import RecordLaunches, Targets
from groundswell.outputs.ring_buffer import Output, Ring
from groundswell.solvers.ultrasound.kwave.output_file import OutputFile
from groundswell.solvers.ultrasound.kwave.sensors import Sampling


class Series(Output):
    """A ring buffer whose samples are taken after steps, and perhaps once before the first one.

    Args:
        clocks: the clock of the next sample to read, and the clock after the first step of a run.
        others: see `Output`.
    """

    def __init__(self, clocks: tuple[int, int], *others: Any) -> None:
        super().__init__(*others)
        self._next, self._first = clocks

    def collect(self, begin: int, end: int, after: Event | None) -> Callable[[], None]:
        """Gather the samples of all steps before `end` that have not been read."""
        first, self._next = self._next, end + self._first
        return super().collect(first, self._next, after)


class Sampler:
    """A sampling on one rank.

    Args:
        records: creates the launches.
        arrays: this rank's part of the recordable fields, by name.
        begin: step of the first sample, from 1.
        slots: number of samples that the ring buffer holds.

    Attributes:
        launches: launches that sample the fields after a step.
    """

    def __init__(
        self,
        sampling: Sampling,
        part: Part,
        records: RecordLaunches,
        arrays: Mapping[str, DeviceArray],
        begin: int,
        slots: int,
    ) -> None:
        self.sampling, self._begin = sampling, begin
        self._backend = records.backend
        fields = [arrays[name] for name in sampling.fields]
        self._selection = sampling.place.select(part, len(fields))
        shape, dtype = (len(fields), *self._selection.count), str(fields[0].dtype)
        raw = "raw" in sampling.kinds
        self._ring = Ring(self._backend, shape, 1, slots, dtype, begin) if raw else None
        self._statistics = {
            kind: self._backend.zeros(shape, "float64" if kind == "rms" else dtype)
            for kind in sorted(sampling.kinds - {"raw"})
        }
        targets = Targets(begin, 1, self._ring, self._statistics)
        self.launches = records.record(fields, self._selection, targets)

    # --- time series ------------------------------------------------------------------------------

    def series(
        self, file: OutputFile | None, clocks: tuple[int, int], comm: Communicator
    ) -> Output | None:
        """The ring buffer of the time series, and the file for it on rank 0; None without one.

        Args:
            clocks: see `Series`.
        """
        if self._ring is None:
            return None
        shape = (len(self.sampling.fields), *self._selection.shape)
        place = (slice(None), *self._selection.place)

        def write(block: HostArray, numbers: range) -> None:
            assert file is not None
            index = self.sampling.place.series_index(numbers)
            for n, name in enumerate(self.sampling.fields):
                file.append(self.sampling.dataset(name, "raw"), index, block[:, n], numbers)

        return Series(clocks, self._ring, file, write, shape, place, comm)

    # --- statistics -------------------------------------------------------------------------------

    def state(self) -> dict[str, DistributedArray]:
        """Running statistics, by name and field."""
        return {
            f"{kind}/{name}": self._distributed(array[n])
            for kind, array in self._statistics.items()
            for n, name in enumerate(self.sampling.fields)
        }

    def statistics(
        self, samples: int, comm: Communicator
    ) -> Iterator[tuple[str, HostArray | None]]:
        """Names and values of the datasets, on rank 0; all ranks must call it."""
        for kind, array in self._statistics.items():
            for n, name in enumerate(self.sampling.fields):
                values = self._distributed(array[n]).gather(self._backend, comm)
                if values is not None and kind == "rms":
                    values = np.sqrt(values / samples)
                yield self.sampling.dataset(name, kind), values

    def _distributed(self, array: DeviceArray) -> DistributedArray:
        everything = tuple(slice(0, n) for n in array.shape)
        own = ((everything, self._selection.place),)
        return DistributedArray(array, self._selection.shape, own, own)
