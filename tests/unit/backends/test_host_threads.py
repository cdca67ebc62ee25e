"""Threads for work on host arrays."""

from __future__ import annotations

import os
import signal
from threading import Barrier, get_ident
from threading import enumerate as enumerate_threads
from time import monotonic, sleep

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundswell.backends import host_threads
from groundswell.backends.host_threads import (
    chunks,
    converted,
    end_threads,
    filled,
    for_each,
    in_threads,
    mapped,
    take,
)


@pytest.fixture(params=[1, 3])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    count: int = request.param
    monkeypatch.setattr(host_threads, "default_threads", lambda: count)
    return count


def test_results_have_the_order_of_the_items(threads: int) -> None:
    used = set()

    def work(n: int) -> int:
        used.add(get_ident())
        return n * n

    assert list(in_threads(work, iter(range(50)))) == [n * n for n in range(50)]
    assert (used == {get_ident()}) == (threads == 1)


def test_work_runs_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The barrier breaks, which raises an error, unless three threads wait at it."""
    monkeypatch.setattr(host_threads, "default_threads", lambda: 3)
    together = Barrier(3, timeout=20)
    for_each(lambda _: together.wait(), range(6))


def test_few_results_are_in_memory(threads: int) -> None:
    begun = []
    found = in_threads(begun.append, range(100))
    next(found)
    assert len(begun) <= 3 * threads + 1


def test_errors_of_threads_are_raised(threads: int) -> None:
    with pytest.raises(ZeroDivisionError):
        for_each(lambda n: 1 // (n - 7), range(100))


def test_work_may_ask_for_threads(threads: int) -> None:
    """An inner call must not wait for the thread that makes it."""

    def squares(n: int) -> list[int]:
        return [*in_threads(lambda m: n * m * m, range(4))]

    assert [*in_threads(squares, range(50))] == [[n * m * m for m in range(4)] for n in range(50)]


def test_nothing_runs_after_an_error(threads: int) -> None:
    running = set()

    def work(n: int) -> None:
        running.add(n)
        sleep(0.01)
        running.discard(n)
        if n == 1:
            raise ValueError

    with pytest.raises(ValueError):
        for_each(work, range(200))
    assert not running


def test_children_have_threads_of_their_own(threads: int) -> None:
    """Without them they would wait for ever for those of their parent."""
    for_each(abs, range(9))
    if (child := os.fork()) == 0:
        os._exit(sum(in_threads(abs, range(9))))
    until = monotonic() + 30
    while (found := os.waitpid(child, os.WNOHANG))[0] == 0 and monotonic() < until:
        sleep(0.01)
    if found[0] == 0:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert found[0] == child and os.waitstatus_to_exitcode(found[1]) == 36


def test_threads_can_be_ended(threads: int) -> None:
    """Later work starts new ones."""
    end_threads()  # those of other tests
    for _ in range(2):
        assert list(in_threads(lambda n: n + 1, range(5))) == [1, 2, 3, 4, 5]
        found = [thread.name.startswith(host_threads.NAME) for thread in enumerate_threads()]
        assert any(found) == (threads > 1)
        end_threads()
        assert not any(thread.name.startswith(host_threads.NAME) for thread in enumerate_threads())


def test_rows_are_taken(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_threads, "CHUNK", 100)
    rng = np.random.default_rng(4)
    for table in (rng.standard_normal(57), rng.integers(0, 9, (57, 3)).astype("i4")):
        indices = rng.integers(-57, 57, 1234)
        found = take(table, indices)
        assert found.dtype == table.dtype and (found == table[indices]).all()
    assert take(table, np.empty(0, int)).shape == (0, 3)


@given(st.integers(0, 60), st.integers(0, 12), st.integers(1, 40))
def test_chunks_cover_all_rows_once(count: int, size: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_threads, "CHUNK", most)
        found = chunks(count, size)
    assert [n for part in found for n in range(count)[part]] == list(range(count))
    assert all((part.stop - part.start) * size <= max(most, size) for part in found)


def test_a_mapped_function_has_its_own_values(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_threads, "CHUNK", 7)
    values = np.random.default_rng(1).uniform(1, 2, (3, 4, 5))
    found = mapped(np.sqrt, values, dtype="float32")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.sqrt(values).astype("float32"))


def test_a_function_of_several_arrays(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contiguous or not."""
    monkeypatch.setattr(host_threads, "CHUNK", 7)
    a, b = np.random.default_rng(2).uniform(1, 2, (2, 3, 4, 5))
    for first, second in ((a, b), (a.T, b.T), (a, np.broadcast_to(b[0], a.shape))):
        found = mapped(lambda x, y: x - 2 * y, first, second, dtype=float)
        np.testing.assert_array_equal(found, first - 2 * second)
    assert mapped(np.sqrt, np.empty((0, 3)), dtype=float).shape == (0, 3)


def test_arrays_of_another_type_or_one_value(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_threads, "CHUNK", 7)
    values = np.random.default_rng(3).uniform(1, 2, (9, 5))
    assert converted(values, "float64") is values
    single = converted(values, "float32")
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, values.astype("float32"))
    np.testing.assert_array_equal(filled(30, -1, np.int32), np.full(30, -1, np.int32))
