"""Time limits of tables, and failures that do not end a benchmark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from thread_ranks import run_on_threads

from groundswell.backends import open_backend
from groundswell.bench import Benchmark, Session, measure
from groundswell.bench.limits import Limits
from groundswell.bench.tables import Row, Table, field
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator, SerialCommunicator


def slow(session: Session) -> Iterator[Row]:
    """A row in ten milliseconds, without end."""
    while True:
        time.sleep(0.01)
        yield {"size": 1}


def failing(session: Session) -> Iterator[Row]:
    """A row, and an error at the last rank."""
    yield {"size": 1}
    if session.comm.rank == session.comm.size - 1:
        raise InputError("the moon is missing")
    yield {"size": 2}


def short(session: Session) -> Iterator[Row]:
    """Two rows."""
    yield from ({"size": 1}, {"size": 2})


def measured(limits: Limits, comm: Communicator | None = None) -> dict[str, Any]:
    tables = [Table(f.__name__, "", [field("size")], f) for f in (slow, failing, short)]
    session = Session(open_backend("cpu"), comm or SerialCommunicator(), None, limits=limits)
    return measure(Benchmark({}, lambda session: {}, tables), session, subject="tides")


def test_a_table_stops_at_its_limit_and_others_are_measured() -> None:
    begun = time.monotonic()
    found = measured(Limits(seconds=0.1))
    assert time.monotonic() - begun < 5
    assert 1 <= len(found["slow"]) <= 11 and len(found["short"]) == 2
    assert found["notes"] == ["slow: stopped at its time limit"]


def test_when_all_time_is_spent_each_table_has_a_row() -> None:
    found = measured(Limits(total=0.0))
    assert [len(found[name]) for name in ("slow", "failing", "short")] == [1, 1, 1]


def test_failures_on_any_rank_are_known_to_all() -> None:
    for ranks in (1, 3):
        for found in run_on_threads(ranks, lambda comm: measured(Limits(seconds=0.02), comm)):
            assert found["failures"] == {"failing": "the moon is missing"}
            assert found["failing"] == [{"size": 1}] and len(found["short"]) == 2


def test_errors_of_others_have_their_type() -> None:
    def divide() -> Iterator[Row]:
        yield {"size": 1 / 0}

    found: dict[str, Any] = {"notes": []}
    assert not [*Limits().rows("tides", divide, SerialCommunicator(), found)]
    assert found["failures"] == {"tides": "ZeroDivisionError: division by zero"}
