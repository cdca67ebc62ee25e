"""Several ranks as threads of one process, which communicate through shared memory.

Tests use them where a start of MPI would be slow.
"""

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

    @property
    def same_machine(self) -> list[int]:
        return list(range(self.size))

    def _allgather(self, kind: str, value: Any) -> list[Any]:
        self._table[self.rank] = value
        self._barrier.wait(TIMEOUT)
        received = list(self._table)
        self._barrier.wait(TIMEOUT)
        return received

    def alltoallv(self, parts: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.int64]]:
        every = self.allgather(parts)
        found = {n: parts[self.rank] for n, parts in enumerate(every) if self.rank in parts}
        return {rank: part for rank, part in found.items() if len(part)}

    def abort(self, code: int) -> None:
        self._barrier.abort()


def run_on_threads(size: int, act: Callable[[Communicator], Any]) -> list[Any]:
    """The results of `act` on this number of ranks, or the exceptions that ended it."""
    table, barrier = [None] * size, threading.Barrier(size)

    def one(rank: int) -> Any:
        try:
            return act(ThreadRank(rank, size, table, barrier))
        except GroundswellError as error:
            return error  # known to all ranks
        except Exception as error:
            barrier.abort()  # others do not wait for this rank
            return error

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(one, range(size)))
