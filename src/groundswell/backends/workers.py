"""Threads for work on host arrays, during which NumPy and HDF5 release Python's global lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import HostArray
from groundswell.backends.threads import default_threads

Item = TypeVar("Item")
Found = TypeVar("Found")
CHUNK = 2**18  # values that a thread processes at a time: temporaries stay in its cache


def in_threads(work: Callable[[Item], Found], items: Iterable[Item]) -> Iterator[Found]:
    """Results of a function for each item, in the order of the items.

    There are as many threads as kernels have. At most three results a thread wait, so that large
    ones do not fill the memory.

    Args:
        work: the function, which threads call at the same time.
    """
    threads = default_threads()
    if threads == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[Found]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > 3 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def for_each(work: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Call a function for each item; see `in_threads`."""
    for _ in in_threads(work, items):
        pass


def chunks(count: int, size: int) -> list[slice]:
    """Slices of the rows of an array that together have about CHUNK values, or of one row.

    Args:
        count: number of rows.
        size: number of values in a row.
    """
    rows = max(1, CHUNK // max(size, 1))
    return [slice(first, min(first + rows, count)) for first in range(0, count, rows)]


def mapped(
    function: Callable[[HostArray], HostArray], values: HostArray, dtype: DTypeLike
) -> HostArray:
    """The results of a function of single values, in an array of the same shape."""
    found = np.empty(values.shape, dtype)
    source, target = values.reshape(-1), found.reshape(-1)

    def apply(part: slice) -> None:
        target[part] = function(source[part])

    for_each(apply, chunks(source.size, 1))
    return found
