"""Recorders: what `[[output.record]]` asks for, as kernels in the step, state, and files.

A series goes through a ring to a file that grows. Running statistics stay on the device, and belong
to the state that a checkpoint holds; ranks gather them at the end. Final values are read then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Backend, Launch
from groundswell.backends.base import in_order
from groundswell.case.recording import AllWhere, BoxWhere, RecordSection
from groundswell.exchange.distributed_array import DistributedArray
from groundswell.exchange.world import World
from groundswell.formats.netcdf import Variable
from groundswell.formats.vtkhdf import VolumeWriter
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.files import SeriesWriter, write_fields
from groundswell.outputs.launches import WANTED, RecordLaunches, Targets
from groundswell.outputs.recording import EXACT, BoxSelection, Recording
from groundswell.outputs.ring_buffer import Output, Ring, ring_slots

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
        arrays: of the recording's fields on the device, by name.

    Attributes:
        launches: what it adds to the step, before fields change.
    """

    def __init__(
        self,
        section: RecordSection,
        recording: Recording,
        launches: RecordLaunches,
        arrays: Mapping[str, Array],
        backend: Backend,
        world: World,
    ) -> None:
        self.section, self._recording = section, recording
        self._backend, self._world, self._record = backend, world, launches
        self._fields = recording.fields_of(section)
        self._arrays = [arrays[name] for name in section.fields]
        self._selection = recording.select(section)
        self._schedule = recording.schedule(section)
        shape = (len(self._fields), *self._selection.count)
        self._ring = self._new_ring(shape) if "raw" in section.what else None
        self._statistics: dict[str, Array] = {
            name: backend.zeros(shape, "float64" if name in EXACT else recording.dtype)
            for name in WANTED
            if name in section.what
        }
        running = self._ring is not None or self._statistics
        self.launches = self._into(self._ring, self._statistics) if running else []

    def _new_ring(self, shape: tuple[int, ...]) -> Ring:
        every, dtype = self._schedule.every, self._recording.dtype
        slots = ring_slots(self._recording.sample_bytes(self.section, self._selection), every)
        return Ring(self._backend, shape, every, slots, dtype, self._schedule.begin)

    def _into(self, ring: Ring | None, statistics: Mapping[str, Array]) -> list[Launch]:
        targets = Targets(self._schedule.begin, self._schedule.every, ring, statistics)
        return self._launch(targets)

    def _launch(self, targets: Targets) -> list[Launch]:
        shifts = [field.shift for field in self._fields]
        return self._record.record(self._arrays, self._selection, targets, shifts)

    def state(self) -> dict[str, DistributedArray]:
        """Running statistics so far, by name and field."""
        return {
            f"{name}/{field.name}": self._distributed(array[n])
            for name, array in self._statistics.items()
            for n, field in enumerate(self._fields)
        }

    def _distributed(self, array: Array) -> DistributedArray:
        everything = tuple(slice(0, n) for n in array.shape)
        own = ((everything, self._selection.place),)
        return DistributedArray(array, self._selection.shape, own, own)

    # --- series -----------------------------------------------------------------------------------

    def open(self, folder: Path, length: int | None) -> Output | None:
        """The file behind the ring; `length` is the samples to keep of an earlier run's."""
        if self._ring is None:
            return None
        writer: Any = self._world.first and self._open_file(folder / self.section.file, length)
        shape = (len(self._fields), *self._selection.shape)
        place = (slice(None), *self._selection.place)
        return Output(
            [self._ring], writer or None, self._appender(writer), shape, place, self._world
        )

    def _open_file(self, path: Path, length: int | None) -> SeriesWriter | VolumeWriter:
        if path.suffix == ".vtkhdf":
            return self._open_images(path, length)
        frame, dtype = self._selection.frame, self._recording.dtype
        axis, variable = self._schedule.axis
        fields = {f.name: frame.variable(f, axis, dtype=dtype) for f in self._fields}
        axis_of = (axis, variable)
        return SeriesWriter(path, axis_of, frame.coordinates, fields, self._recording.attrs, length)

    def _open_images(self, path: Path, length: int | None) -> VolumeWriter:
        domain, box = self._recording.domain, self._selection
        where = self.section.where
        assert isinstance(domain, CartesianDomain) and isinstance(box, BoxSelection)
        assert isinstance(where, AllWhere | BoxWhere)  # or the case would have been refused
        runs = domain.runs(where)
        hx, hy, hz = (r.step * h for r, h in zip(runs, domain.part.grid.spacing, strict=True))
        # A value is its block's first cell's, so that cell's middle becomes the block's.
        x, y, z = (
            float(domain.coordinate(axis, run.start)) - h / 2
            for axis, (run, h) in enumerate(zip(runs, (hx, hy, hz), strict=True))
        )
        nz, ny, nx = box.shape
        return VolumeWriter(
            path,
            (nx, ny, nz),
            (hx, hy, hz),
            self.section.fields,
            origin=(x, y, z),
            attrs=self._recording.attrs,
            resume=length,
            downward=domain.downward,
        )

    def _appender(self, writer: Any) -> Any:
        names, selection, frame = self.section.fields, self._selection, self._selection.frame

        def append(blocks: list[NDArray[Any]], numbers: range) -> None:
            times, samples = self._schedule.times(numbers), selection.complete(blocks[0])
            if isinstance(writer, VolumeWriter):
                for time, sample in zip(times, samples, strict=True):
                    writer.append(time, dict(zip(names, sample, strict=True)))
                return
            shapes = ((len(numbers), *frame.shape(name)) for name in names)
            fields = zip(names, shapes, strict=True)
            found = {name: samples[:, n].reshape(to) for n, (name, to) in enumerate(fields)}
            writer.append(times, found)

        return append

    # --- what is known at the end -----------------------------------------------------------------

    def write(self, folder: Path, steps: int) -> list[Path]:
        """Write statistics and final values; all ranks call it, rank 0 writes.

        Args:
            steps: made.
        """
        wanted = self.section.statistics
        if not wanted:
            return []
        found = [self._gather(what, steps) for what in wanted]
        if not self._world.first:
            return []
        variables = {
            name: variable
            for what, values in zip(wanted, found, strict=True)
            for name, variable in self._variables(what, values).items()
        }
        attrs = {**self._recording.attrs, "steps": steps}
        if self._statistics:
            attrs["samples"] = self._schedule.samples(steps)
        frame = self._selection.frame
        return [write_fields(self._statistics_file(folder), frame.coordinates, variables, attrs)]

    def _statistics_file(self, folder: Path) -> Path:
        path = folder / self.section.file
        return path if self._ring is None else path.with_name(f"{path.stem}_statistics.nc")

    def _variables(self, what: str, values: Sequence[NDArray[Any]]) -> dict[str, Variable]:
        frame, along = self._selection.frame, self._schedule.axis[0]
        method = {} if what == "final" else {"cell_methods": f"{along}: {METHODS[what]}"}
        return {
            f"{field.name}_{what}": frame.variable(
                replace(field, long_name=f"{what} of {field.long_name}"),
                values=of.reshape(frame.shape(field.name)),
                attrs=method,
            )
            for field, of in zip(self._fields, values, strict=True)
        }

    def _gather(self, what: str, steps: int) -> list[Any]:
        """A statistic of each field at rank 0, None elsewhere; not a number without samples."""
        array = self._final() if what == "final" else self._statistics[what]
        parts = [self._distributed(array[n]) for n in range(len(self._fields))]
        found = [part.gather(self._backend, self._world) for part in parts]
        samples, complete = self._schedule.samples(steps), self._selection.complete
        return [
            None if whole is None else complete(_finished(what, whole, samples)) for whole in found
        ]

    def _final(self) -> Array:
        """Values as they are now, (fields, *count)."""
        shape = (len(self._fields), *self._selection.count)
        now = Ring(self._backend, shape, 1, 1, self._recording.dtype)
        in_order(self._launch(Targets(0, 1, now)))()
        return now.buffer[0]


def _finished(what: str, values: NDArray[Any], samples: int) -> NDArray[Any]:
    """A statistic from what was summed over so many samples."""
    if what != "final" and not samples:
        return np.full_like(values, np.nan)
    if what == "mean":
        return values / samples
    return np.sqrt(values / samples) if what == "rms" else values


class Recorders:
    """All that `[[output.record]]` asks for on one rank.

    Args:
        arrays: of the recording's fields on the device, by name.
        clock: steps made, on the device, if the solver moves it itself.

    Attributes:
        launches: their kernels, at the beginning of a step and independent of each other.
        tick: what comes after these where the solver has no clock.
    """

    def __init__(
        self,
        sections: Sequence[RecordSection],
        recording: Recording,
        arrays: Mapping[str, Array],
        backend: Backend,
        world: World,
        clock: Array | None = None,
    ) -> None:
        self._backend, self._world, self._has_clock = backend, world, clock is not None
        launches = RecordLaunches(
            backend, recording.dtype, backend.zeros((1,), np.int64) if clock is None else clock
        )
        self._clock = launches.clock
        self._all = [
            Recorder(section, recording, launches, arrays, backend, world) for section in sections
        ]
        self.launches = [launch for each in self._all for launch in each.launches]
        needs_tick = bool(self._all) and clock is None
        self.tick = [launches.advance_clock(recording.at_once)] if needs_tick else []

    def state(self) -> dict[str, DistributedArray]:
        """Running statistics, and the clock where the solver has none."""
        found = {
            f"record/{each.section.file}/{name}": array
            for each in self._all
            for name, array in each.state().items()
        }
        own = {} if self._has_clock or not self._all else {"record/clock": self._clock}
        clocks = {n: DistributedArray.replicated(array, self._world) for n, array in own.items()}
        return found | clocks

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """The files behind the rings; `lengths` are the samples to keep of an earlier run's."""
        outputs = {
            each.section.file: each.open(
                folder, None if lengths is None else lengths.get(each.section.file)
            )
            for each in self._all
        }
        return {name: output for name, output in outputs.items() if output is not None}

    def write(self, folder: Path) -> list[Path]:
        """Write what is known at the end; all ranks call it, rank 0 writes and returns paths."""
        steps = int(self._backend.to_host(self._clock)[0])
        return [path for each in self._all for path in each.write(folder, steps)]
