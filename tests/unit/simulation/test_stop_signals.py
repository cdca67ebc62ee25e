"""Signals that ask a run to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from groundswell.errors import Interrupted
from groundswell.simulation.signals import stop_request, stopping_at_once


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


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_during_a_finalizer_stops_the_work_too() -> None:
    # Python prints exceptions of finalizers, and goes on.
    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    with (
        pytest.raises(Interrupted, match=r"stopped by SIGTERM; nothing"),
        stopping_at_once("nothing"),
    ):
        Finalized()
