"""The time loops of several ranks: they stop, fail and write checkpoints together."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_device import Device, Samples, Solver, expected, make_loop, silent
from thread_ranks import run_on_threads

from groundswell.errors import Interrupted, RunFailed
from groundswell.exchange.communicator import Communicator
from groundswell.simulation import checkpoint
from groundswell.simulation.signals import StopRequest
from groundswell.simulation.time_loop import TimeLoop


def on_ranks(
    ranks: int, samples: Samples, folder: Path, ask: Callable[[int, int, StopRequest], None]
) -> list[Any]:
    """Steps done, or the error, of each rank's loop; their devices work at different paces.

    All ranks record alike. `ask(rank, step, stop)` is called at the end of each batch.
    """

    def run(comm: Communicator) -> int:
        solver = Solver(Device("random", comm.rank), 3, 8, SimpleNamespace(steps=70, minutes=None))
        solver.comm, stop = comm, StopRequest()
        resume = (folder / checkpoint.NAME).exists()
        comm.allgather(None)  # all have looked before anybody writes
        loop = make_loop(solver, samples, folder, resume=resume)
        loop.run(300, lambda step, updates: ask(comm.rank, step, stop), stop)
        return loop.step

    return run_on_threads(ranks, run)


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

    def save(path: Path, backend: Any, state: Any, progress: Any, comm: Communicator) -> None:
        saved.append((comm.rank, progress.step))

    monkeypatch.setattr(checkpoint, "save", save)
    monkeypatch.setattr(
        TimeLoop, "_checkpoint_due", lambda loop: loop.step % (20 + loop.comm.rank) == 0
    )
    monkeypatch.setattr(TimeLoop, "_most_steps", 1)
    assert on_ranks(3, Samples(), tmp_path, lambda *_: None) == [300] * 3
    assert sorted(saved) == [(rank, step) for rank in range(3) for step in range(20, 300, 20)]


@pytest.mark.parametrize("broken", [0, 1])
def test_a_failure_on_one_rank_ends_them_all(tmp_path: Path, broken: int) -> None:
    samples = Samples()

    def run(comm: Communicator) -> None:
        at = 120 if comm.rank == broken else -1
        solver = Solver(Device("random", comm.rank), 3, 8, breaks_at=at)
        solver.comm = comm
        make_loop(solver, samples, tmp_path).run(300, silent, StopRequest())

    failed = run_on_threads(3, run)
    assert {type(error) for error in failed} == {RunFailed}
    assert {str(error) for error in failed} == {str(failed[broken])}
