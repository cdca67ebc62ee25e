"""Recorders carry out `[[output.record]]`: kernels in the step, state for checkpoints, and files.

A series goes through a ring buffer to a growing file. Running statistics stay on the device and are
part of checkpoints. At the end, rank 0 gathers the statistics and the final values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import Backend, Launch
from groundswell.backends.base import in_order
from groundswell.case.recording import HARMONICS, RecordSection
from groundswell.errors import counted
from groundswell.exchange.communicator import Communicator
from groundswell.formats.netcdf import Variable
from groundswell.formats.streams import Rows, Stream
from groundswell.outputs.distributed_array import DistributedArray, ReadRows
from groundswell.outputs.files import FieldsFile, write_together
from groundswell.outputs.harmonics import fit
from groundswell.outputs.launches import WANTED, RecordLaunches, Targets
from groundswell.outputs.recording import EXACT, RecordableField, Recording
from groundswell.outputs.ring_buffer import Output, Ring, ring_slots
from groundswell.outputs.series import append_to, open_series

METHODS = {
    "max": "maximum",
    "min": "minimum",
    "mean": "mean",
    "rms": "root_mean_square",
    "final": "point",
}


class Recorder:
    """One table of `[[output.record]]` on one rank.

    Args:
        arrays: the recordable fields on the device, by name.

    Attributes:
        launches: its kernels, which run at the beginning of a step, before fields change.
    """

    def __init__(
        self,
        section: RecordSection,
        recording: Recording,
        launches: RecordLaunches,
        arrays: Mapping[str, DeviceArray],
        backend: Backend,
        comm: Communicator,
    ) -> None:
        self.section, self._recording = section, recording
        self._backend, self._comm, self._record = backend, comm, launches
        self._fields = recording.fields_of(section)
        self._arrays = [arrays[name] for name in section.fields]
        self._selection = recording.select(section)
        self._schedule = recording.schedule(section)
        shape = (len(self._fields), *self._selection.count)
        self._ring = self._new_ring(shape) if "raw" in section.what else None
        self._statistics: dict[str, DeviceArray] = {
            name: backend.zeros(shape, "float64" if name in EXACT else recording.dtype)
            for name in WANTED
            if name in section.what
        }
        self._sums, basis = self._new_sums(shape)
        targets = Targets(
            self._schedule.begin,
            self._schedule.every,
            self._ring,
            self._statistics,
            self._sums,
            basis,
        )
        self.launches = self._launch(targets) if targets.wanted or section.has_harmonics else []

    def _new_ring(self, shape: tuple[int, ...]) -> Ring:
        every, dtype = self._schedule.every, self._recording.dtype
        slots = ring_slots(self._recording.sample_bytes(self.section, self._selection), every)
        return Ring(self._backend, shape, every, slots, dtype, self._schedule.begin)

    def _new_sums(self, shape: tuple[int, ...]) -> tuple[DeviceArray | None, DeviceArray | None]:
        """Sums of samples times basis functions, and the functions; None without harmonics."""
        if not self.section.has_harmonics:
            return None, None
        basis = self._recording.basis(self.section).astype(self._recording.dtype)
        sums = self._backend.zeros((basis.shape[1], *shape), self._recording.dtype)
        return sums, self._backend.to_device(basis)

    def _launch(self, targets: Targets) -> list[Launch]:
        shifts = [field.shift for field in self._fields]
        return self._record.record(self._arrays, self._selection, targets, shifts)

    def state(self) -> dict[str, DistributedArray]:
        """Running statistics by name and field, for checkpoints."""
        terms = {} if self._sums is None else {f"sum{m}": sums for m, sums in enumerate(self._sums)}
        return {
            f"{name}/{field.name}": self._distributed(array[n])
            for name, array in (self._statistics | terms).items()
            for n, field in enumerate(self._fields)
        }

    def _distributed(self, array: DeviceArray) -> DistributedArray:
        everything = tuple(slice(0, n) for n in array.shape)
        own = ((everything, self._selection.place),)
        return DistributedArray(array, self._selection.shape, own, own)

    # --- series -----------------------------------------------------------------------------------

    def open(self, folder: Path, length: int | None) -> Output | None:
        """Open the file of the series; `length` is the number of samples to keep on resume."""
        if self._ring is None:
            return None
        source = (self.section, self._recording, self._selection)
        path = folder / self.section.file
        writer: Any = open_series(*source, path, length) if self._comm.first else None
        write = append_to(*source, writer)
        shape = (len(self._fields), *self._selection.shape)
        place = (slice(None), *self._selection.place)
        return Output(self._ring, writer, write, shape, place, self._comm)

    def warnings(self, steps: int) -> Iterator[str]:
        """A warning if no sample was due in a number of steps."""
        name, begin = self.section.file, self._schedule.begin
        if {*self.section.what} != {"final"} and not self._schedule.samples(steps):
            yield (
                f"the record {name!r} has no samples: it begins at step {begin}, but the run "
                f"ended after {counted(steps, 'step')}; choose an earlier step"
            )

    # --- statistics and final values --------------------------------------------------------------

    def write(self, folder: Path, steps: int, states: int, disk: Executor) -> list[Future[Path]]:
        """Write statistics and final values; all ranks call it.

        Args:
            steps: number of steps made.
            states: number of states from which samples were taken.
            disk: see `write_together`.
        """
        wanted = self.section.statistics
        if not wanted:
            return []
        plain = [what for what in wanted if what not in HARMONICS]
        streams = [stream for what in plain for stream in self._streams(what, states)]
        streams += self._harmonic_streams(steps)
        variables = {name: of for what in plain for name, of in self._variables(what).items()}
        attrs = {**self._recording.attrs, "steps": steps}
        if self._statistics or self._sums is not None:
            attrs["samples"] = self._schedule.samples(states)
        path = folder / self.section.statistics_file
        file = FieldsFile(path, self._coordinates, {**variables, **self._harmonics()}, attrs)
        return write_together(self._comm, disk, file, streams)

    @property
    def _coordinates(self) -> dict[str, Variable]:
        """Coordinates of statistics: those of a sample, and the frequencies if there are any."""
        values = np.array(self.section.frequencies)
        frequency = Variable(("frequency",), values, attrs={"units": "Hz"})
        harmonics = {"frequency": frequency} if len(values) else {}
        return {**self._selection.frame.coordinates, **harmonics}

    def _variables(self, what: str) -> dict[str, Variable]:
        frame, along = self._selection.frame, self._schedule.axis[0]
        method = {} if what == "final" else {"cell_methods": f"{along}: {METHODS[what]}"}
        return {
            f"{field.name}_{what}": frame.variable(
                replace(field, long_name=f"{what} of {field.long_name}"),
                dtype=self._recording.dtype,
                attrs=method,
            )
            for field in self._fields
        }

    def _harmonics(self) -> dict[str, Variable]:
        """Variables of amplitudes and phases, (frequency, ...), such as p_amplitude."""
        frame, dtype = self._selection.frame, self._recording.dtype
        return {
            f"{field.name}_{what}": frame.variable(
                replace(
                    field,
                    units=field.units if what == "amplitude" else "degrees",
                    long_name=f"{what} of {field.long_name}",
                ),
                "frequency",
                dtype=dtype,
            )
            for field in self._fields
            for what in self._fitted
        }

    @property
    def _fitted(self) -> list[str]:
        """The harmonics that the section wants: amplitudes, phases or both."""
        return [what for what in ("amplitude", "phase") if what in self.section.what]

    def _streams(self, what: str, states: int) -> Iterator[Stream]:
        """The values of a statistic of each field; NaN without samples."""
        array = self._final() if what == "final" else self._statistics[what]
        samples, dtype = self._schedule.samples(states), self._recording.dtype
        for n, field in enumerate(self._fields):
            if found := self._own_rows(array[n]):
                yield Stream(
                    (f"{field.name}_{what}",),
                    *found,
                    lambda values: [_finished(what, values, samples, dtype)],
                )

    def _harmonic_streams(self, steps: int) -> Iterator[Stream]:
        """Amplitudes and phases of each field."""
        terms = () if self._sums is None else tuple(self._sums)
        for n, field in enumerate(self._fields if terms else ()):
            parts = [self._own_rows(term[n]) for term in terms]
            if found := _together(parts):
                names = tuple(f"{field.name}_{what}" for what in self._fitted)
                yield Stream(names, *found, self._fit(field, steps))

    def _fit(
        self, field: RecordableField, steps: int
    ) -> Callable[[Sequence[HostArray]], list[HostArray]]:
        """A function that finds the wanted harmonics of a field, (frequencies, ...), from sums.

        Phases, in degrees of a sine at time 0, are corrected for the time offset of the field.
        """
        basis = self._recording.basis(self.section)[: self._schedule.samples(steps)]
        delay = field.time_offset * (self._recording.seconds or 0.0)
        late, fitted = [360 * delay * each for each in self.section.frequencies], self._fitted

        def find(sums: Sequence[HostArray]) -> list[HostArray]:
            found = dict(zip(("amplitude", "phase"), fit(sums, basis, late), strict=True))
            return [found[what] for what in fitted]

        return find

    def _own_rows(self, array: DeviceArray) -> ReadRows | None:
        """The rows of a field's whole sample that this rank writes."""
        whole = self._distributed(array)
        return whole.written_rows(self._backend, self._comm, self._selection.complete)

    def _final(self) -> DeviceArray:
        """The current values, (fields, *count)."""
        shape = (len(self._fields), *self._selection.count)
        now = Ring(self._backend, shape, 1, 1, self._recording.dtype)
        in_order(self._launch(Targets(0, 1, now)))()
        return now.buffer[0]


def _finished(what: str, values: HostArray, samples: int, dtype: str) -> HostArray:
    """A statistic, in the precision of the run, from its sums over a number of samples."""
    if what != "final" and not samples:
        return np.full_like(values, np.nan, dtype)
    if what == "mean":
        return np.asarray(values / samples, dtype)
    if what == "rms":
        return np.asarray(np.sqrt(values / samples), dtype)
    return values


def _together(parts: Sequence[ReadRows | None]) -> tuple[Rows, Callable[[slice], Any]] | None:
    """Reads the same rows of several arrays; None if this rank writes none."""
    found = [part for part in parts if part is not None]
    return (found[0][0], lambda rows: [read(rows) for _, read in found]) if found else None


class Recorders:
    """All tables of `[[output.record]]` on one rank.

    Args:
        arrays: the recordable fields on the device, by name.
        clock: number of steps made, on the device, if the solver advances one itself.

    Attributes:
        launches: kernels for the beginning of a step, independent of each other.
        tick: the launch after these that advances the clock, if the solver has none.
        include_end: whether statistics include the state at the end, if a sample of it is due.
    """

    include_end = False

    def __init__(
        self,
        sections: Sequence[RecordSection],
        recording: Recording,
        arrays: Mapping[str, DeviceArray],
        backend: Backend,
        comm: Communicator,
        clock: DeviceArray | None = None,
    ) -> None:
        self._backend, self._comm, self._has_clock = backend, comm, clock is not None
        launches = RecordLaunches(
            backend, recording.dtype, backend.zeros((1,), np.int64) if clock is None else clock
        )
        self._clock = launches.clock
        self._all = [
            Recorder(section, recording, launches, arrays, backend, comm) for section in sections
        ]
        self.launches = [launch for each in self._all for launch in each.launches]
        needs_tick = bool(self._all) and clock is None
        self.tick = [launches.advance_clock(recording.at_once)] if needs_tick else []

    def restart(self) -> None:
        """Restart at step 0; the first samples overwrite the statistics."""
        self._backend.assign(self._clock, np.zeros(1, np.int64))

    def state(self) -> dict[str, DistributedArray]:
        """Running statistics, and the clock if the solver has none."""
        found = {
            f"record/{each.section.file}/{name}": array
            for each in self._all
            for name, array in each.state().items()
        }
        own = {} if self._has_clock or not self._all else {"record/clock": self._clock}
        clocks = {n: DistributedArray.replicated(array, self._comm) for n, array in own.items()}
        return found | clocks

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """Open the files of series; `lengths` are the numbers of samples to keep on resume."""
        outputs = {
            each.section.file: each.open(
                folder, None if lengths is None else lengths.get(each.section.file)
            )
            for each in self._all
        }
        return {name: output for name, output in outputs.items() if output is not None}

    @property
    def warnings(self) -> list[str]:
        """Warnings about records that the run ended before."""
        steps = int(self._backend.to_host(self._clock)[0])
        return [warning for each in self._all for warning in each.warnings(steps)]

    def write(self, folder: Path) -> list[Path]:
        """Write statistics and final values; all ranks call it, rank 0 returns the paths."""
        steps = states = int(self._backend.to_host(self._clock)[0])
        if self.include_end:
            in_order(self.launches)()
            states += 1
        with ThreadPoolExecutor(1) as disk:
            files = [each.write(folder, steps, states, disk) for each in self._all]
            return [file.result() for of_one in files for file in of_one]
