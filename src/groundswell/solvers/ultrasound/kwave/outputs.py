"""The output file of a simulation, in k-Wave's layout: samples, statistics and final fields."""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import Launch
from groundswell.exchange.communicator import Communicator
from groundswell.grids.cartesian import Part
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.launches import RecordLaunches
from groundswell.outputs.ring_buffer import Output, ring_slots
from groundswell.solvers.ultrasound.kwave.case import OUTPUT_FILE
from groundswell.solvers.ultrasound.kwave.datasets import FLOAT, LONG, Layout
from groundswell.solvers.ultrasound.kwave.output_file import OutputFile, run_attributes
from groundswell.solvers.ultrasound.kwave.sampler import Sampler
from groundswell.solvers.ultrasound.kwave.sensors import Sampling
from groundswell.solvers.ultrasound.kwave.setup import KWaveSetup
from groundswell.solvers.ultrasound.propagation import Propagation


class KWaveOutputs:
    """The output file, which rank 0 writes.

    Args:
        part: this rank's part of the grid.
        fields: this rank's recordable fields, (nz, ny, nx) each, by name.

    Attributes:
        launches: launches that sample the fields after a step.
        fill_overlaps: launches that must precede them.
    """

    def __init__(
        self,
        setup: KWaveSetup,
        part: Part,
        fields: Mapping[str, DeviceArray],
        propagation: Propagation,
        comm: Communicator,
    ) -> None:
        self._setup, self._part, self._comm = setup, part, comm
        self._fields, self._backend = fields, propagation.backend
        self._clock = propagation.clock
        records = RecordLaunches(self._backend, setup.dtype, self._clock)
        start = setup.case.output.start
        slots = _slots(setup.samplings, setup.samples, setup.first_step)
        self._samplers = [
            Sampler(each, part, records, fields, start, slots) for each in setup.samplings
        ]
        self.launches = [launch for each in self._samplers for launch in each.launches]
        self.fill_overlaps: Sequence[Launch] = ()
        self._file: OutputFile | None = None
        self._begun = time.monotonic()

    def restart(self) -> None:
        """Do nothing: the first samples overwrite the statistics."""

    def state(self) -> dict[str, DistributedArray]:
        """Running statistics, by name."""
        return {
            f"statistics/{number}/{name}": array
            for number, sampler in enumerate(self._samplers)
            for name, array in sampler.state().items()
        }

    # --- the file ---------------------------------------------------------------------------------

    @property
    def layout(self) -> Layout:
        """Datasets of the results."""
        setup, mask = self._setup, self._setup.data.mask
        found: dict[str, Any] = dict.fromkeys(self._final, (setup.grid.shape, FLOAT))
        for sampling in setup.samplings:
            found |= sampling.layout(setup.samples)
        if setup.case.output.copy_mask:
            found[mask.name] = mask.dataset.shape, LONG
        return found

    def open_file(self, path: Path, continued: Path | None = None) -> OutputFile | None:
        """Create the output file, or continue that of an earlier part, on rank 0."""
        self._file = None
        if self._comm.first:
            scalars, mask = self._setup.data.scalars, self._setup.data.mask
            self._file = OutputFile(path, self.layout, scalars, continued)
            if self._setup.case.output.copy_mask:
                self._file.write(mask.name, (), mask.dataset)
        return self._file

    def series(self, *, continued: bool) -> dict[str, Output]:
        """The ring buffers of the time series, which write to the open file."""
        clock = int(self._backend.to_host(self._clock)[0])
        clocks = clock + 1 if continued else 1, self._setup.first_step + 1
        found = [each.series(self._file, clocks, self._comm) for each in self._samplers]
        series = [each for each in found if each is not None]
        for other in series[1:]:
            other.writer = None  # they share one file, which the first one stands for
        names = [OUTPUT_FILE, *(f"{OUTPUT_FILE}/{n}" for n in range(1, len(series)))]
        return dict(zip(names, series, strict=False))

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """Open the file if it has time series; `lengths` are the samples to keep on resume."""
        if not self._series_names:
            return {}
        path = folder / OUTPUT_FILE
        part = path.with_name(f"{path.name}.part")
        path.parent.mkdir(parents=True, exist_ok=True)
        file = self.open_file(path, None if lengths is None else part)
        if file is not None and lengths is not None:
            file.truncate(lengths[OUTPUT_FILE], self._series_names)
        return self.series(continued=lengths is not None)

    @property
    def _series_names(self) -> list[str]:
        """Datasets of time series."""
        sampled = [each for each in self._setup.samplings if "raw" in each.kinds]
        return [each.dataset(name, "raw") for each in sampled for name in each.fields]

    def write(self, folder: Path) -> list[Path]:
        """Write statistics and final fields; all ranks call it, rank 0 writes and returns paths.

        A file without time series is written to the folder as a whole.
        """
        if self._series_names:
            self.write_results()
            self._end()
            return []
        path = folder / OUTPUT_FILE
        self._comm.collective_try(lambda: self._create(path))
        with self._file or nullcontext():
            self.write_results()
            self._end()
            return [path] if self._comm.first else []

    def _create(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.open_file(path)

    def _end(self) -> None:
        """End the file; without time series, it gets its final name."""
        if self._file is not None:
            self._file.end(self._setup.data.steps, self.attributes({}))
            if not self._series_names:
                self._file.finish()

    def write_results(self) -> None:
        """Write statistics and final fields to the open file; all ranks must call it."""
        for name, values in self._results():
            self._comm.collective_try(partial(self._put, name, values))

    def _put(self, name: str, values: HostArray | None) -> None:
        if self._file is not None and values is not None:
            self._file.write(name, (), values.reshape(self.layout[name][0]))

    def _results(self) -> Iterator[tuple[str, HostArray | None]]:
        """Statistics and final fields on rank 0, by dataset."""
        for sampler in self._samplers:
            yield from sampler.statistics(self._setup.samples, self._comm)
        for name, array in self._final.items():
            part = DistributedArray.of_region(array, self._part)
            yield name, part.gather(self._backend, self._comm)

    @property
    def _final(self) -> dict[str, DeviceArray]:
        """The fields whose last values are requested, by dataset."""
        families = {"p_final": ("p",), "u_final": ("ux", "uy", "uz")}
        wanted = self._setup.case.output.datasets
        names = [name for family, names in families.items() if family in wanted for name in names]
        return {f"{name}_final": self._fields[name] for name in names if name in self._fields}

    def attributes(self, seconds: Mapping[str, float]) -> dict[str, str]:
        """Attributes about the run; `seconds` is the time of each phase, by default of one."""
        spent = seconds or {"simulation_phase": time.monotonic() - self._begun}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return run_attributes(spent, socket.gethostname(), peak)


def _slots(samplings: Sequence[Sampling], samples: int, first_step: int) -> int:
    """Number of samples that each ring buffer holds; the initial pressure adds one."""
    total = sum(sampling.sample_bytes for sampling in samplings)
    return max(2 + first_step, min(ring_slots(total, 1), 2 * samples))
