"""Time-outs: how they are given, how a pause waits, and what late ranks are told."""

from __future__ import annotations

import time

import pytest

from groundswell.errors import InputError, RunFailed
from groundswell.exchange import waiting
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.waiting import (
    DEFAULT_TIMEOUT,
    TIMEOUT,
    Deadline,
    late,
    timeout_of,
    timeout_seconds,
)


@pytest.fixture
def no_timeout(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv(TIMEOUT, raising=False)
    return monkeypatch


@pytest.mark.parametrize("text, seconds", [("2", 2.0), ("0.25", 0.25), ("1e3", 1000.0), (" 7 ", 7)])
def test_the_timeout_is_read_from_the_environment(
    no_timeout: pytest.MonkeyPatch, text: str, seconds: float
) -> None:
    assert timeout_seconds() == DEFAULT_TIMEOUT
    no_timeout.setenv(TIMEOUT, text)
    assert timeout_seconds() == seconds
    no_timeout.setenv(TIMEOUT, "")
    assert timeout_seconds() == DEFAULT_TIMEOUT


@pytest.mark.parametrize("text", ["0", "-3", "inf", "nan", "five", "2 s", "1e999"])
def test_other_timeouts_are_refused(no_timeout: pytest.MonkeyPatch, text: str) -> None:
    no_timeout.setenv(TIMEOUT, text)
    with pytest.raises(InputError) as caught:
        timeout_seconds()
    assert str(caught.value) == f"{TIMEOUT} = {text!r} must be a number of seconds above zero"


def test_deadlines_name_the_late_ranks() -> None:
    with timeout_of(0.05):
        deadline, begun = Deadline(SerialCommunicator()), time.monotonic()
    with pytest.raises(RunFailed, match="rank 3, 5 has sent no message for 0 s.*" + TIMEOUT):
        while time.monotonic() - begun < 5:
            deadline.pause("message", [3, 5])
    assert 0.04 < time.monotonic() - begun < 1


def test_pauses_sleep_where_yields_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that yields may lose the core for a time slice; one that slept gets it back."""
    clock, done = [0.0], list[str]()
    lasting = {"yield": waiting.LONG_YIELD_SECONDS / 2}

    def act(name: str, seconds: float) -> None:
        done.append(name)
        clock[0] += seconds

    monkeypatch.setattr(waiting, "_core_use", waiting._CoreUse())
    monkeypatch.setattr(waiting.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(waiting.time, "sleep", lambda seconds: act("sleep", seconds))
    monkeypatch.setattr(waiting.os, "sched_yield", lambda: act("yield", lasting["yield"]))
    for _ in range(50):
        waiting._yield_core(clock[0])
    assert set(done) == {"yield"}
    lasting["yield"], done[:] = 3 * waiting.LONG_YIELD_SECONDS, []
    for _ in range(2 * waiting.CROWDED_PAUSES + 2):
        waiting._yield_core(clock[0])
    assert done == 2 * ["yield", *["sleep"] * waiting.CROWDED_PAUSES]


def test_pauses_check_the_other_processes_at_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    checks: list[float] = []

    class Failing(SerialCommunicator):
        def require_alive(self) -> None:
            checks.append(time.monotonic())
            if len(checks) == 3:
                raise RunFailed("rank 1 has ended")

    monkeypatch.setattr(waiting, "CHECK_SECONDS", 0.05)
    deadline = Deadline(Failing(), busy=0.0)
    with pytest.raises(RunFailed, match="rank 1 has ended"):
        while True:
            deadline.pause("message", [1])
    assert checks[2] - checks[0] > 0.09


def test_the_message_of_a_late_rank_has_a_cure() -> None:
    text = str(late("ghost layers", [4], 12.4))
    assert text.startswith("rank 4 has sent no ghost layers for 12 s") and TIMEOUT in text
