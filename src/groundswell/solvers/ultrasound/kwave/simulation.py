"""A simulation of an input file on a device: fields, sampling, batches of steps, and state."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from groundswell.backends import Array, Backend, Event, Graph
from groundswell.backends.base import in_order
from groundswell.errors import InputError, RunFailed
from groundswell.outputs.launches import RecordLaunches
from groundswell.outputs.ring_buffer import ring_slots
from groundswell.solvers.ultrasound.fields import AXES
from groundswell.solvers.ultrasound.kwave.datasets import FLOAT, Layout
from groundswell.solvers.ultrasound.kwave.input_file import KWaveInput
from groundswell.solvers.ultrasound.kwave.sensors import (
    Sampler,
    Sampling,
    Write,
    plan_samplings,
)
from groundswell.solvers.ultrasound.kwave.velocities import CentredVelocities
from groundswell.solvers.ultrasound.propagation import Propagation

BATCH_SECONDS = 0.2  # target duration of a batch of steps
LONGEST_BATCH = 1024

Report = Callable[[int], None]  # receives the number of steps made
Stop = Callable[[], bool]  # whether to end before the next batch


class KWaveSimulation:
    """A simulation on a device.

    Args:
        outputs: names of the requested outputs, such as "p_raw"; see arguments.py.
        start: step of the first sample, from 1.

    Attributes:
        waves: the fields and their step.
        done: number of steps made.
        first: the value of `done` at the start or restart.

    Raises:
        InputError: there is no step `start`.
        RunFailed: the device has too little memory.
    """

    def __init__(
        self, backend: Backend, data: KWaveInput, outputs: frozenset[str], start: int = 1
    ) -> None:
        if not 1 <= start <= data.steps:
            raise InputError(
                f"-s {start}: samples must start at one of the steps 1 to {data.steps}"
            )
        self._backend, self._data, self._outputs, self._start = backend, data, outputs, start
        self._plan = list(plan_samplings(outputs, data.mask, data.grid.shape))
        require_memory(backend, data, self._plan)
        operators, medium, sources = data.operators, data.medium, data.sources
        self.waves = Propagation(backend, operators, medium, "float32", sources)
        self._shift, arrays = self._recordable()
        self._slots = self._ring_slots()
        records = RecordLaunches(backend, "float32", self.waves.clock)
        self._samplers = [
            Sampler(sampling, backend, records, arrays, start, self._slots)
            for sampling in self._plan
        ]
        self.first = self.done = 0
        self._written = 0  # number of steps whose samples are in the file
        self._batch = 1

    # --- sampled fields ---------------------------------------------------------------------------

    def _recordable(self) -> tuple[CentredVelocities | None, dict[str, Array]]:
        """Velocities at pressure points if they are requested, and all fields by name."""
        waves = self.waves
        arrays = {"p": waves.p, **{f"u{AXES[axis]}": waves.u[axis] for axis in waves.axes}}
        if "u_non_staggered_raw" not in self._outputs:
            return None, arrays
        shift = CentredVelocities(waves)
        centred = {f"u{AXES[axis]}_non_staggered": shift.arrays[axis] for axis in waves.axes}
        return shift, {**arrays, **centred}

    def _ring_slots(self) -> int:
        """Number of samples that each ring buffer holds."""
        total = sum(sampling.sample_bytes for sampling in self._plan)
        return max(2, min(ring_slots(total, 1), 2 * self.samples))

    @property
    def _sampling(self) -> Callable[[], None]:
        """Launches that sample the fields."""
        shift = self._shift.launches if self._shift else []
        return in_order([*shift, *(launch for each in self._samplers for launch in each.launches)])

    # --- steps ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start with the fluid at rest, or with an initial pressure, which counts as step 1.

        Sources do not act in step 1: their first sample is skipped.
        """
        if self._data.initial_pressure is None:
            return
        self.waves.start(self._data.initial_pressure)
        self._set_step(1)
        self._sampling()

    def advance(self, until: int, write: Write, report: Report, stop: Stop) -> None:
        """Advance to step `until`, or to the end of the batch in which `stop` becomes true.

        While a batch runs on the device, the samples of the previous one are written.
        """
        graph = self._capture()
        previous = self.done, self._backend.record_event()
        longest = min(LONGEST_BATCH, max(1, self._slots // 2))
        while self.done < until:
            begun = time.monotonic()
            count = min(self._batch, longest, until - self.done)
            graph.replay(count)
            self.done += count
            self._write_until(*previous, write)
            previous = self.done, self._backend.record_event()
            faster = time.monotonic() - begun < BATCH_SECONDS
            self._batch = 2 * count if faster else max(1, count // 2)
            report(self._written)
            if stop():
                break
        self._backend.synchronize()
        self._write_until(self.done, None, write)
        report(self.done)

    def _capture(self) -> Graph:
        sampling = self._sampling

        def step() -> None:
            self.waves.step()
            sampling()

        return self._backend.capture(step)

    def _write_until(self, step: int, after: Event | None, write: Write) -> None:
        """Write the samples of all steps up to `step`, complete after the event `after`."""
        if after is not None:
            after.wait()
        for sampler in self._samplers:
            sampler.write_series(range(self._written + 1, step + 1), after, write)
        self._written = step

    # --- results ----------------------------------------------------------------------------------

    @property
    def samples(self) -> int:
        """Number of samples of the whole simulation."""
        return self._data.steps - self._start + 1

    @property
    def _final(self) -> dict[str, Array]:
        """The fields whose last values are requested, by dataset."""
        waves = self.waves
        fields = {
            "p": {"p": waves.p},
            "u": {f"u{AXES[axis]}": waves.u[axis] for axis in waves.axes},
        }
        return {
            f"{name}_final": array
            for family, arrays in fields.items()
            for name, array in arrays.items()
            if f"{family}_final" in self._outputs
        }

    def layout(self) -> Layout:
        """Datasets of the results."""
        found: Layout = dict.fromkeys(self._final, (self._data.grid.shape, FLOAT))
        for sampling in self._plan:
            found = {**found, **sampling.layout(self.samples)}
        return found

    def write_results(self, write: Write) -> None:
        """Write statistics and final fields."""
        for sampler in self._samplers:
            sampler.write_statistics(self.samples, write)
        for name, array in self._final.items():
            write(name, (), self._backend.to_host(array))

    def is_finite(self) -> bool:
        """Whether the pressure is finite everywhere."""
        return bool(np.isfinite(self._backend.to_host(self.waves.p)).all())

    # --- checkpoints ------------------------------------------------------------------------------

    @property
    def request(self) -> str:
        """The options on which the state depends, as text."""
        return f"-s {self._start} {' '.join(f'--{name}' for name in sorted(self._outputs))}"

    def state(self) -> dict[str, Array]:
        """Fields and running statistics, by name."""
        waves = self.waves
        fields = {"p": waves.p}
        for axis in waves.axes:
            name = AXES[axis]
            fields |= {f"rho{name}": waves.rho[axis], f"u{name}_sg{name}": waves.u[axis]}
        statistics = {
            f"statistics/{number}/{kind}": array
            for number, sampler in enumerate(self._samplers)
            for kind, array in sampler.statistics.items()
        }
        return fields | statistics

    def restore(self, steps: int, arrays: Mapping[str, Any]) -> None:
        """Continue from a state after some steps."""
        for name, array in self.state().items():
            self._backend.assign(array, arrays[name])
        self.waves.prepare()
        self._set_step(steps)
        self.first = self._written = steps

    def _set_step(self, steps: int) -> None:
        self._backend.assign(self.waves.clock, np.array([steps], np.int64))
        self.done = steps


# --- memory ---------------------------------------------------------------------------------------


def device_bytes(data: KWaveInput, plan: Sequence[Sampling]) -> int:
    """Estimate of the device memory of a simulation, without time series, bytes."""
    axes, medium = data.axes, data.medium
    per_point = 1 + 3 * axes + 2 + 0.5 + 2  # fields, spectra, kappa, work space of transforms
    tables = {
        "density": 1 + axes,
        "speed": 1,
        "nonlinearity": 1,
        "absorption": 2,
    }
    per_point += sum(n for name, n in tables.items() if np.ndim(getattr(medium, name)))
    per_point += medium.is_absorbing + 0.5 * any(s.mode == "additive" for s in data.sources)
    per_point += sum(_values_per_point(sampling) for sampling in plan)
    return int(per_point * FLOAT.itemsize * data.grid.count)


def _values_per_point(sampling: Sampling) -> int:
    """Values that a sampling keeps at each grid point."""
    fields, everywhere = len(sampling.fields), sampling.place.ending == "_all"
    shifted = sampling.fields[0].endswith("_non_staggered")
    return fields * (len(sampling.kinds) * everywhere + shifted)


def require_memory(backend: Backend, data: KWaveInput, plan: Sequence[Sampling]) -> None:
    """Raise RunFailed if the device has too little memory for a simulation."""
    needed, (free, _) = device_bytes(data, plan), backend.memory_info()
    if needed > free:
        raise RunFailed(
            f"the simulation needs about {needed / 1e9:,.1f} GB, but {backend.device} has "
            f"{free / 1e9:,.1f} GB free; use a smaller grid or another device"
        )
