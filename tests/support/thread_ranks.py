"""Several ranks as threads of this process, for what they tell each other outside time loops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import GroundswellError
from groundswell.exchange.world import World

PATIENCE = 30  # s


class Member(World):
    """One rank of a crew."""

    def __init__(self, rank: int, size: int, table: list[Any], meeting: threading.Barrier) -> None:
        self.rank, self.size = rank, size
        self._table, self._meeting = table, meeting

    def _spread(self, kind: str, value: Any) -> list[Any]:
        self._table[self.rank] = value
        self._meeting.wait(PATIENCE)
        heard = list(self._table)
        self._meeting.wait(PATIENCE)
        return heard

    def gather(self, value: Any) -> list[Any]:
        heard = self.share(value)
        return heard if self.first else []

    def tell(self, value: Any) -> Any:
        return self.share(value)[0]

    def swap(self, parts: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.int64]]:
        said = self.share(parts)
        found = {rank: theirs[self.rank] for rank, theirs in enumerate(said) if self.rank in theirs}
        return {rank: part for rank, part in found.items() if len(part)}

    def require_alive(self) -> None:
        """Threads of one process live and die together."""

    def begin_exchange(self) -> None:
        """They do the same, or hang."""

    def abort(self, code: int) -> None:
        self._meeting.abort()


def together(size: int, act: Callable[[World], Any]) -> list[Any]:
    """What `act` returns on each of so many ranks, or the exception that ended it there."""
    table, meeting = [None] * size, threading.Barrier(size)

    def one(rank: int) -> Any:
        try:
            return act(Member(rank, size, table, meeting))
        except GroundswellError as error:
            return error  # as all have agreed
        except Exception as error:
            meeting.abort()  # nobody need wait for this one
            return error

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(one, range(size)))
