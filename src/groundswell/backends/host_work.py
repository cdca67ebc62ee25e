"""Array operations of the host that all cores of a rank share; NumPy lets them run together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from groundswell.arrays import Integers
from groundswell.backends.threads import default_threads

NAME = "groundswell-host"
CHUNK = 1 << 20  # values that a thread copies at a time

Part = TypeVar("Part")
Result = TypeVar("Result")
Scalar = TypeVar("Scalar", bound=np.generic)


def map_in_threads(function: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
    """The function's results, in the order of the parts; raises what the first failure raised."""
    every = list(parts)
    is_inner = threading.current_thread().name.startswith(NAME)  # would wait for its own thread
    if len(every) < 2 or is_inner or (threads := default_threads()) == 1:
        return [function(part) for part in every]
    # Each thread multiplies matrices alone: threads of threads would wait for each other.
    with threadpool_limits(1, "blas"):
        return list(_pool(threads).map(function, every))


def take(table: NDArray[Scalar], indices: Integers) -> NDArray[Scalar]:
    """The table's rows at indices, (indices,); negative ones count from its end."""
    parts = [slice(first, first + CHUNK) for first in range(0, len(indices), CHUNK)]
    found = np.empty((len(indices), *table.shape[1:]), table.dtype)

    def copy(part: slice) -> None:
        found[part] = table[indices[part]]

    map_in_threads(copy, parts)
    return found


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, NAME)
