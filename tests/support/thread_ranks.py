"""Several ranks as threads of one process, which communicate through shared memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import GroundswellError
from groundswell.exchange.communicator import Communicator

TIMEOUT = 30  # s


class ThreadRank(Communicator):
    """One rank, which runs in a thread."""

    def __init__(self, rank: int, size: int, table: list[Any], barrier: threading.Barrier) -> None:
        self.rank, self.size = rank, size
        self._table, self._barrier = table, barrier

    def _allgather(self, kind: str, value: Any) -> list[Any]:
        self._table[self.rank] = value
        self._barrier.wait(TIMEOUT)
        received = list(self._table)
        self._barrier.wait(TIMEOUT)
        return received

    def gather(self, value: Any) -> list[Any]:
        received = self.allgather(value)
        return received if self.first else []

    def bcast(self, value: Any) -> Any:
        return self.allgather(value)[0]

    def alltoallv(self, parts: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.int64]]:
        said = self.allgather(parts)
        found = {rank: theirs[self.rank] for rank, theirs in enumerate(said) if self.rank in theirs}
        return {rank: part for rank, part in found.items() if len(part)}

    def require_alive(self) -> None:
        """Threads of one process live and die together."""

    def begin_exchange(self) -> None:
        """They do the same, or hang."""

    def abort(self, code: int) -> None:
        self._barrier.abort()


def run_on_threads(size: int, act: Callable[[Communicator], Any]) -> list[Any]:
    """What `act` returns on each of so many ranks, or the exception that ended it there."""
    table, barrier = [None] * size, threading.Barrier(size)

    def one(rank: int) -> Any:
        try:
            return act(ThreadRank(rank, size, table, barrier))
        except GroundswellError as error:
            return error  # as all have agreed
        except Exception as error:
            barrier.abort()  # nobody need wait for this one
            return error

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(one, range(size)))
