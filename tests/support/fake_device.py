"""A device whose pace is the test's to choose, and a solver and an output for time loops on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from groundswell.errors import RunFailed
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.ring_buffer import Output, Ring
from groundswell.simulation import checkpoint
from groundswell.simulation.time_loop import TimeLoop


class Mark:
    def __init__(self, device: Device) -> None:
        self._device, self._place = device, device.enqueued

    def wait(self) -> None:
        self._device.reach(self._place)

    def seconds_since(self, earlier: Mark) -> float:
        assert self._device.done >= self._place, "the time of an event that is not reached yet"
        return 1e-4 * (self._place - earlier._place)


class Device:
    """Does what is enqueued as late as it may, at once, or some of it now and then."""

    def __init__(self, pace: str, seed: int = 0) -> None:
        self._pace, self._rng = pace, np.random.default_rng(seed)
        self._work: list[Callable[[], None]] = []
        self.done = 0

    @property
    def enqueued(self) -> int:
        return len(self._work)

    def enqueue(self, work: Callable[[], None]) -> None:
        self._work.append(work)
        self._drift()

    def reach(self, place: int) -> None:
        while self.done < place:
            self._work[self.done]()
            self.done += 1

    def _drift(self) -> None:
        left = self.enqueued - self.done
        steps = {"late": 0, "early": left, "random": self._rng.integers(0, left + 1)}[self._pace]
        self.reach(self.done + int(steps))

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        return np.zeros(shape, dtype)

    def to_host(self, array: np.ndarray, after: Mark | None = None) -> np.ndarray:
        self._drift()
        if after is None:
            self.synchronize()
        else:
            after.wait()
        return np.array(array)

    def assign(self, target: np.ndarray, host: np.ndarray) -> None:
        target[...] = host

    def record_event(self) -> Mark:
        return Mark(self)

    def synchronize(self) -> None:
        self.reach(self.enqueued)

    def capture(self, sequence: Callable[[], None], *, in_graph: bool) -> Any:
        assert in_graph
        return SimpleNamespace(replay=lambda times: [sequence() for _ in range(times)])


class Solver:
    """A number that is multiplied by another in every step, and recorded before."""

    in_graph = True
    updates_per_step = 3
    steps_at_once = 1
    comm: Communicator = SerialCommunicator()

    def __init__(
        self, device: Device, every: int, capacity: int, wish: Any = None, breaks_at: int = -1
    ) -> None:
        self.device, self._breaks_at = device, breaks_at
        self.value, self.clock = np.ones(1), np.zeros(1, np.int64)
        self.found = np.full(1, -1)
        self.ring = Ring(device, (2,), every, capacity, "float64")  # type: ignore[arg-type]
        self.setup = SimpleNamespace(case=SimpleNamespace(run=SimpleNamespace(checkpoint=wish)))

    def step(self) -> None:
        self.device.enqueue(self._step)

    def _step(self) -> None:
        n = int(self.clock[0])
        if n % self.ring.every == 0:
            self.ring.buffer[n // self.ring.every % self.ring.slots] = n, self.value[0]
        self.value *= 1.01 if n % 7 else 0.93
        if n == self._breaks_at:
            self.value[0] = np.nan
        self.clock += 1

    distributed_fields = describe_ranks = close = status = outputs = unit = warnings = None

    def enqueue_finite_check(self) -> None:
        self.device.enqueue(self._find)

    def _find(self) -> None:
        if not np.isfinite(self.value[0]):
            self.found[0] = 0

    def check_health(self, steps: int, after: Mark | None = None) -> None:
        if self.device.to_host(self.found, after)[0] >= 0:
            raise RunFailed(f"not finite by step {steps}")

    def state(self) -> dict[str, DistributedArray]:
        arrays = {"value": self.value, "clock": self.clock}
        return {
            name: DistributedArray.replicated(array, self.comm) for name, array in arrays.items()
        }


class SteadySolver(Solver):
    """One that has converged at the step `arrives`, in stages that a test may add."""

    check_every = 30
    arrives = 90

    def initialize(self) -> None:
        self.initialized = getattr(self, "initialized", 0) + 1

    def check_convergence(self, step: int) -> bool:
        self.checked = [*getattr(self, "checked", []), step]
        return step >= self.arrives

    def next_stage(self) -> bool:
        return False


class Samples:
    """A growing file that outlives the runs which write to it."""

    def __init__(self) -> None:
        self.kept: list[tuple[float, float]] = []
        self.synced = 0

    @property
    def length(self) -> int:
        return len(self.kept)

    @property
    def digest(self) -> str:
        return str(hash(tuple(self.kept)))

    def append(self, block: np.ndarray) -> None:
        self.kept += [(float(n), float(x)) for n, x in block]

    def truncate(self, length: int) -> None:
        assert length <= self.length, "the checkpoint relies on samples that were not written"
        del self.kept[length:]

    def sync(self) -> None:
        self.synced = self.length


def expected(total: int, every: int) -> list[tuple[float, float]]:
    device = Device("early")
    solver = Solver(device, every, total + 1)
    for _ in range(total):
        solver.step()
    return [tuple(map(float, row)) for row in solver.ring.read(0, total, None)]  # type: ignore[misc]


def make_loop(solver: Solver, samples: Samples, folder: Path, *, resume: bool = False) -> TimeLoop:
    step = 0
    if resume:
        path = folder / checkpoint.NAME
        done = checkpoint.read_progress(path, "digest")
        checkpoint.restore(path, solver.device, solver.state(), done)  # type: ignore[arg-type]
        samples.truncate(done.lengths["samples"])
        step = done.step
    comm = solver.comm
    writer = samples if comm.first else None
    output = Output(solver.ring, writer, lambda block, _: samples.append(block), (2,), (), comm)
    return TimeLoop(solver, solver.device, {"samples": output}, folder, "digest", step, comm)  # type: ignore[arg-type]


def silent(step: int, updates: int) -> None: ...
