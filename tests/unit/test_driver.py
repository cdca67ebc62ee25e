"""The time loop on a device whose pace is the test's to choose, and its signals."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from crew import together
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundswell.errors import Interrupted, RunFailed
from groundswell.exchange.distributed_array import DistributedArray
from groundswell.exchange.world import Alone, World
from groundswell.outputs.ring_buffer import Output, Ring
from groundswell.simulation import checkpoint
from groundswell.simulation.signals import StopRequest, stop_request
from groundswell.simulation.time_loop import BATCH_SECONDS, LONGEST_BATCH, TimeLoop, _next_size

# --- a device, a solver and a file --------------------------------------------------------------


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

    def mark(self) -> Mark:
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
    world: World = Alone()

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
            name: DistributedArray.replicated(array, self.world) for name, array in arrays.items()
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
    world = solver.world
    writer = samples if world.first else None
    output = Output(solver.ring, writer, lambda block, _: samples.append(block), (2,), (), world)
    return TimeLoop(solver, solver.device, {"samples": output}, folder, "digest", step, world)  # type: ignore[arg-type]


def silent(step: int, updates: int) -> None: ...


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No power cut is expected within these tests."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


PACES = st.sampled_from(["late", "early", "random"])
LOOPS = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

# --- the loop -----------------------------------------------------------------------------------


@LOOPS
@given(PACES, st.integers(1, 12), st.integers(2, 9), st.integers(1, 400), st.integers(0, 99))
def test_every_sample_is_written_once_in_order(
    tmp_path: Path, pace: str, every: int, capacity: int, total: int, seed: int
) -> None:
    samples = Samples()
    loop = make_loop(Solver(Device(pace, seed), every, capacity), samples, tmp_path)
    loop.run(total, silent, StopRequest())
    assert samples.kept == expected(total, every)
    assert loop.step == total


@LOOPS
@given(PACES, st.integers(1, 12), st.integers(2, 9), st.data())
def test_interrupted_runs_continue_to_the_same_samples(
    tmp_path: Path, pace: str, every: int, capacity: int, data: st.DataObject
) -> None:
    total, samples = 300, Samples()
    stops = data.draw(st.lists(st.integers(1, 150), max_size=3, unique=True).map(sorted))
    for n, at in enumerate(stops):
        stop = StopRequest()
        loop = make_loop(Solver(Device(pace, n), every, capacity), samples, tmp_path, resume=n > 0)

        def ask(step: int, updates: int, at: int = at, stop: StopRequest = stop) -> None:
            if step >= at:
                stop.set(signal.SIGTERM)

        with pytest.raises(Interrupted, match="SIGTERM"):
            loop.run(total, ask, stop)
        assert samples.synced == samples.length, "samples must be on disk before the checkpoint"
    last = Solver(Device(pace, 9), every, capacity)
    make_loop(last, samples, tmp_path, resume=bool(stops)).run(total, silent, StopRequest())
    assert samples.kept == expected(total, every)


@LOOPS
@given(PACES, st.integers(1, 12), st.integers(20, 90), st.integers(100, 290))
def test_killed_runs_continue_from_the_last_checkpoint(
    tmp_path: Path, pace: str, every: int, steps: int, killed_at: int
) -> None:
    """Whatever was written after the checkpoint is cut off again."""
    wish = SimpleNamespace(steps=steps, minutes=None)
    samples = Samples()

    def die(step: int, updates: int) -> None:
        if step >= killed_at:
            raise KeyboardInterrupt

    loop = make_loop(Solver(Device(pace, 1), every, 6, wish), samples, tmp_path)
    with pytest.raises(KeyboardInterrupt):
        loop.run(300, die, StopRequest())
    assert checkpoint.read_progress(tmp_path / checkpoint.NAME, "digest").step % steps == 0
    make_loop(Solver(Device(pace, 2), every, 6), samples, tmp_path, resume=True).run(
        300, silent, StopRequest()
    )
    assert samples.kept == expected(300, every)


def test_checkpoints_come_when_they_are_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[int] = []
    monkeypatch.setattr(checkpoint, "save", lambda *given: saved.append(given[3].step))
    wish = SimpleNamespace(steps=70, minutes=None)
    loop = make_loop(Solver(Device("late"), 3, 8, wish), Samples(), tmp_path)
    loop.run(350, silent, StopRequest())
    assert saved == [70, 140, 210, 280]  # none at the end, when the results are written anyway


def test_checkpoints_by_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("groundswell.simulation.time_loop.time.monotonic", lambda: clock.now)
    saved: list[int] = []
    monkeypatch.setattr(checkpoint, "save", lambda *given: saved.append(given[3].step))

    def tick(step: int, updates: int) -> None:
        clock.now += 20.0

    wish = SimpleNamespace(steps=None, minutes=1.0)
    loop = make_loop(Solver(Device("late"), 1, 2, wish), Samples(), tmp_path)
    loop.run(10, tick, StopRequest())  # a ring of two slots: every batch is one step
    assert saved == [3, 6, 9]


@pytest.mark.parametrize("pace", ["late", "early", "random"])
@pytest.mark.parametrize("breaks_at", [0, 100, 299])
def test_a_value_that_is_not_finite_ends_the_run(tmp_path: Path, pace: str, breaks_at: int) -> None:
    wish = SimpleNamespace(steps=50, minutes=None)
    loop = make_loop(Solver(Device(pace, 4), 3, 8, wish, breaks_at=breaks_at), Samples(), tmp_path)
    with pytest.raises(RunFailed, match="not finite"):
        loop.run(300, silent, StopRequest())
    path = tmp_path / checkpoint.NAME
    if path.exists():  # what it holds is from before
        assert checkpoint.read_progress(path, "digest").step <= breaks_at


@pytest.mark.parametrize("pace", ["late", "random"])
def test_a_run_that_nobody_reads_from_does_not_run_ahead(tmp_path: Path, pace: str) -> None:
    """Without outputs and guards the loop itself waits for a batch before it asks for its time."""
    device = Device(pace)
    solver = Solver(device, 1, 2)
    solver.check_health = lambda steps, after=None: None  # type: ignore[method-assign]
    TimeLoop(solver, device, {}, tmp_path, "digest").run(300, silent, StopRequest())  # type: ignore[arg-type]
    assert solver.clock[0] == 300


def test_a_stop_during_the_last_steps_is_too_late(tmp_path: Path) -> None:
    stop, samples = StopRequest(), Samples()
    loop = make_loop(Solver(Device("early"), 1, 200), samples, tmp_path)
    loop._size = 100
    loop.run(50, lambda step, updates: stop.set(signal.SIGTERM), stop)
    assert loop.step == 50 and samples.length == 50
    assert not (tmp_path / checkpoint.NAME).exists()


@pytest.mark.parametrize("at_once", [1, 2])
@pytest.mark.parametrize("pace", ["late", "early", "random"])
def test_a_solver_that_has_arrived_ends_the_run(tmp_path: Path, pace: str, at_once: int) -> None:
    """It is asked at multiples of its interval, whatever the batches; all samples are written."""
    samples, device = Samples(), Device(pace, 3)
    solver = SteadySolver(device, 4, 600)
    solver.steps_at_once = at_once
    one = solver.step
    solver.step = lambda: [one() for _ in range(at_once)]  # type: ignore[assignment]
    loop = make_loop(solver, samples, tmp_path)
    loop.run(1000, silent, StopRequest())
    assert solver.checked == [30, 60, 90] and loop.step == 90
    assert samples.kept == expected(90, 4) and int(solver.clock[0]) == 90


def test_a_solver_with_several_stages_goes_on(tmp_path: Path) -> None:
    """Arriving on one grid it begins on the next, with steps of another kind."""
    device = Device("late", 3)
    solver = SteadySolver(device, 4, 600)
    solver.check_every, solver.arrives = 10, 0
    stages = [lambda: None, solver.step]

    def next_stage() -> bool:
        if stages:
            solver.step, solver.updates_per_step = stages.pop(), 5  # type: ignore[method-assign]
            return True
        return False

    solver.next_stage = next_stage  # type: ignore[method-assign]
    loop = make_loop(solver, Samples(), tmp_path)
    loop.run(1000, silent, StopRequest())
    assert loop.step == 30 and loop.updates == 10 * 3 + 20 * 5 and solver.initialized
    assert int(solver.clock[0]) == 20  # of the last stage's steps nothing is left to do


@pytest.mark.parametrize("pace", ["late", "early", "random"])
def test_a_loop_without_a_folder_goes_on_from_call_to_call(tmp_path: Path, pace: str) -> None:
    """Steps of any number of calls are those of one; it prepares once and writes no checkpoint."""
    wish, device = SimpleNamespace(steps=7, minutes=None), Device(pace, 5)
    solver, alone = SteadySolver(device, 4, 600, wish), Solver(Device("early"), 4, 600)
    solver.check_every, solver.arrives = 50, 150
    loop = TimeLoop(solver, device, {}, None, "digest")  # type: ignore[arg-type]
    for total in (1, 2, 40, 45, 160, 200):
        loop.run(total, silent, StopRequest())
        assert loop.step == min(total, 150) and int(solver.clock[0]) == loop.step
    for _ in range(150):
        alone.step()
    assert solver.value == alone.value
    assert loop.converged and solver.checked == [50, 100, 150] and solver.initialized == 1
    assert not list(tmp_path.iterdir())


def test_a_loop_without_a_folder_can_be_stopped_in_its_last_steps(tmp_path: Path) -> None:
    """Its caller may call it again at once, so that there is no better moment."""
    device = Device("late")
    loop = TimeLoop(Solver(device, 4, 600), device, {}, None, "digest")  # type: ignore[arg-type]
    stop = StopRequest()
    stop.set(signal.SIGTERM)
    with pytest.raises(Interrupted, match=r"SIGTERM after step 1$"):
        loop.run(1, silent, stop)
    loop.run(3, silent, StopRequest())
    assert loop.step == 3


def test_a_finished_checkpoint_is_continued_to_no_steps(tmp_path: Path) -> None:
    samples = Samples()
    loop = make_loop(Solver(Device("late"), 4, 8), samples, tmp_path)
    loop.run(40, silent, StopRequest())
    loop.save(tmp_path / checkpoint.NAME)
    again = make_loop(Solver(Device("late"), 4, 8), samples, tmp_path, resume=True)
    again.run(40, silent, StopRequest())
    assert samples.kept == expected(40, 4)


@given(st.integers(1, LONGEST_BATCH), st.floats(0, 1e4))
def test_batches_grow_slowly_and_stay_in_bounds(size: int, pace: float) -> None:
    following = _next_size(size, pace)
    assert 1 <= following <= min(2 * size, LONGEST_BATCH)
    assert following == 1 or following * pace <= BATCH_SECONDS


# --- several ranks --------------------------------------------------------------------------------


def on_ranks(
    ranks: int, samples: Samples, folder: Path, ask: Callable[[int, int, StopRequest], None]
) -> list[Any]:
    """Steps done, or the error, of each rank's loop; their devices work at different paces.

    All ranks record alike. `ask(rank, step, stop)` is called at the end of each batch.
    """

    def run(world: World) -> int:
        solver = Solver(Device("random", world.rank), 3, 8, SimpleNamespace(steps=70, minutes=None))
        solver.world, stop = world, StopRequest()
        resume = (folder / checkpoint.NAME).exists()
        world.share(None)  # all have looked before anybody writes
        loop = make_loop(solver, samples, folder, resume=resume)
        loop.run(300, lambda step, updates: ask(world.rank, step, stop), stop)
        return loop.step

    return together(ranks, run)


@pytest.mark.parametrize("asked", [0, 2])
def test_all_ranks_stop_together_whoever_is_asked(tmp_path: Path, asked: int) -> None:
    samples = Samples()

    def ask(rank: int, step: int, stop: StopRequest) -> None:
        if rank == asked and step >= 100:
            stop.set(signal.SIGTERM)

    stopped = on_ranks(3, samples, tmp_path, ask)
    assert {type(error) for error in stopped} == {Interrupted}
    assert len({str(error) for error in stopped}) == 1 and "SIGTERM" in str(stopped[0])
    assert on_ranks(4, samples, tmp_path, lambda *_: None) == [300] * 4
    assert samples.kept == expected(300, 3)


def test_checkpoints_of_ranks_are_due_when_rank_0_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their clocks differ."""
    saved: list[tuple[int, int]] = []

    def save(path: Path, backend: Any, state: Any, progress: Any, world: World) -> None:
        saved.append((world.rank, progress.step))

    monkeypatch.setattr(checkpoint, "save", save)
    monkeypatch.setattr(
        TimeLoop, "_checkpoint_due", lambda loop: loop.step % (20 + loop.world.rank) == 0
    )
    monkeypatch.setattr(TimeLoop, "_most_steps", 1)
    assert on_ranks(3, Samples(), tmp_path, lambda *_: None) == [300] * 3
    assert sorted(saved) == [(rank, step) for rank in range(3) for step in range(20, 300, 20)]


@pytest.mark.parametrize("broken", [0, 1])
def test_a_failure_on_one_rank_ends_them_all(tmp_path: Path, broken: int) -> None:
    samples = Samples()

    def run(world: World) -> None:
        at = 120 if world.rank == broken else -1
        solver = Solver(Device("random", world.rank), 3, 8, breaks_at=at)
        solver.world = world
        make_loop(solver, samples, tmp_path).run(300, silent, StopRequest())

    failed = together(3, run)
    assert {type(error) for error in failed} == {RunFailed}
    assert {str(error) for error in failed} == {str(failed[broken])}


# --- signals ------------------------------------------------------------------------------------


@pytest.fixture
def handlers() -> Iterator[None]:
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job's ignores it
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_noted_and_the_handlers_are_put_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with stop_request() as stop:
        assert not stop
        signal.raise_signal(number)
        assert stop and str(stop) == number.name
    assert signal.getsignal(number) == before


@pytest.mark.usefixtures("handlers")
def test_a_second_ctrl_c_does_not_wait() -> None:
    with stop_request() as stop:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert stop


@pytest.mark.usefixtures("handlers")
def test_an_ignored_signal_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with stop_request() as stop:
        signal.raise_signal(signal.SIGINT)
        assert not stop


def test_threads_run_without_signals() -> None:
    seen: list[bool] = []

    def body() -> None:
        with stop_request() as stop:
            seen.append(bool(stop))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert seen == [False]
