"""The time loop on a device whose pace is the test's to choose."""

from __future__ import annotations

import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_device import Device, Samples, Solver, SteadySolver, expected, make_loop, silent
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundswell.errors import Interrupted, RunFailed
from groundswell.simulation import checkpoint
from groundswell.simulation.signals import StopRequest
from groundswell.simulation.time_loop import BATCH_SECONDS, LONGEST_BATCH, TimeLoop, _next_size

PACES = st.sampled_from(["late", "early", "random"])
LOOPS = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


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
