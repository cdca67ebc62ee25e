"""Host work in threads: the same results, in the same order, as without."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from groundswell.backends import host_work
from groundswell.backends.host_work import map_in_threads, take


@pytest.fixture(params=["1", "3"])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("OMP_NUM_THREADS", request.param)
    return int(request.param)


def test_results_are_in_order(threads: int) -> None:
    """Also of work that itself asks for threads, which would wait for its own."""

    def squares(n: int) -> list[int]:
        return map_in_threads(lambda m: n * m * m, range(4))

    assert map_in_threads(squares, range(50)) == [[n * m * m for m in range(4)] for n in range(50)]
    assert map_in_threads(squares, []) == []


def test_as_many_threads_work_as_the_user_asks_for(threads: int) -> None:
    all_here = threading.Barrier(threads)
    names = map_in_threads(
        lambda _: (all_here.wait(30), threading.current_thread().name)[1], range(threads)
    )
    assert len({*names}) == threads


def test_the_first_failure_is_raised(threads: int) -> None:
    def fail(n: int) -> int:
        if n > 2:
            raise ValueError(f"at {n}")
        return n

    with pytest.raises(ValueError, match="at 3"):
        map_in_threads(fail, range(20))


def test_rows_are_taken(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_work, "CHUNK", 100)
    rng = np.random.default_rng(4)
    for table in (rng.standard_normal(57), rng.integers(0, 9, (57, 3)).astype("i4")):
        indices = rng.integers(-57, 57, 1234)
        found = take(table, indices)
        assert found.dtype == table.dtype and (found == table[indices]).all()
    assert take(table, np.empty(0, int)).shape == (0, 3)
