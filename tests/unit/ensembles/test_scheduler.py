"""The scheduler, with an executor whose outcomes a test decides."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from groundswell.ensembles import scheduler
from groundswell.ensembles.commands import Share
from groundswell.ensembles.rows import Row
from groundswell.ensembles.scheduler import Schedule
from groundswell.ensembles.worker import Outcome
from groundswell.errors import DiskFull, InputError, Interrupted
from groundswell.simulation.signals import StopRequest

ROWS = [Row(f"run-{n}", {}) for n in range(5)]


class Scripted:
    """An executor of two workers; `decide` says what comes of a run when it is given the nth time.

    Attributes:
        given: names of the runs, in order.
        canceled: whether it was asked to stop.
    """

    def __init__(self, decide: Callable[[str, int], str]) -> None:
        self._decide, self._running = decide, deque[str]()
        self.given: list[str] = []
        self.canceled = False

    @property
    def free(self) -> int:
        return 2 - len(self._running)

    def submit(self, row: Row) -> None:
        assert self.free
        self._running.append(row.name)
        self.given.append(row.name)

    def poll(self, seconds: float) -> Sequence[Outcome]:
        name = self._running.popleft()
        state: Any = self._decide(name, self.given.count(name))
        return [Outcome(name, state, f"{state}!")]

    def cancel(self) -> None:
        self.canceled = True


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "ELSEWHERE_SECONDS", 0.0)


def scheduled(
    decide: Callable[[str, int], str], stop: StopRequest | None = None
) -> tuple[Scripted, dict[str, str], dict[str, str]]:
    """The executor, the states that were reported, and messages of runs that were given up."""
    executor: Any = Scripted(decide)
    reported: dict[str, str] = {}
    given_up: dict[str, str] = {}
    report = lambda outcome: reported.update({outcome.name: outcome.state})  # noqa: E731
    schedule = Schedule(executor, report, lambda name, text: given_up.update({name: text}))
    schedule.run(ROWS, StopRequest() if stop is None else stop)
    return executor, reported, given_up


def test_every_row_is_run_once() -> None:
    executor, reported, _ = scheduled(lambda name, n: "failed" if name == "run-2" else "complete")
    assert sorted(executor.given) == [row.name for row in ROWS]
    assert reported == {row.name: "complete" for row in ROWS} | {"run-2": "failed"}


def test_a_run_whose_worker_dies_once_is_made_again() -> None:
    executor, reported, given_up = scheduled(lambda _, n: "crashed" if n == 1 else "complete")
    assert len(executor.given) == 2 * len(ROWS) and given_up == {}
    assert set(reported.values()) == {"complete"}


def test_a_run_whose_workers_die_fails_alone() -> None:
    executor, reported, given_up = scheduled(
        lambda name, n: "crashed" if name == "run-1" else "complete"
    )
    assert executor.given.count("run-1") == 2 and given_up == {"run-1": "crashed!"}
    assert reported["run-1"] == "crashed" and len(reported) == len(ROWS)


def test_runs_elsewhere_are_looked_at_last() -> None:
    executor, reported, _ = scheduled(
        lambda name, n: "elsewhere" if name == "run-0" and n < 3 else "complete"
    )
    assert executor.given[-1] == "run-0" and executor.given.count("run-0") == 3
    assert reported["run-0"] == "complete"


@pytest.mark.parametrize(
    ("state", "error", "told"),
    [
        ("disk full", DiskFull, "run-1: disk full!; then continue with --resume"),
        ("unusable", InputError, "unusable!"),
    ],
)
def test_what_concerns_all_runs_stops_them(state: str, error: Any, told: str) -> None:
    with pytest.raises(error) as raised:
        scheduled(lambda name, n: state if name == "run-1" else "complete")
    assert str(raised.value) == told


def test_a_signal_stops_all_runs() -> None:
    stop = StopRequest()

    def decide(name: str, n: int) -> str:
        stop.note(signal.SIGTERM.name)
        return "complete" if name == "run-0" else "stopped"

    with pytest.raises(Interrupted, match="stopped by SIGTERM; continue with --resume"):
        scheduled(decide, stop)


def test_workers_of_an_array_begin_at_different_rows() -> None:
    rows = [Row(f"run-{n}", {}) for n in range(10)]
    orders = [Share(n, 4).order(rows) for n in range(4)]
    assert [order[0].name for order in orders] == ["run-0", "run-2", "run-5", "run-7"]
    assert all(sorted(row.name for row in order) == [row.name for row in rows] for order in orders)
    with pytest.raises(InputError, match="worker = 4: give a number from 0 to 3"):
        Share(4, 4)
