"""Threads for work on host arrays; NumPy and HDF5 release Python's global lock meanwhile."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from threadpoolctl import ThreadpoolController

from groundswell.arrays import HostArray
from groundswell.backends.threads import default_threads

Item = TypeVar("Item")
Found = TypeVar("Found")
Scalar = TypeVar("Scalar", bound=np.generic)

NAME = "groundswell-host"
CHUNK = 2**18  # values that a thread processes at a time, so that temporaries stay in its cache


def in_threads(work: Callable[[Item], Found], items: Iterable[Item]) -> Iterator[Found]:
    """Call a function for each item in threads; yield the results in the order of the items.

    There are as many threads as for kernels. At most three results per thread wait for the caller,
    so that large ones do not fill the memory. A single item and calls by `work` itself run in the
    calling thread.

    Args:
        work: the function, which several threads call at the same time.
        items: its arguments.
    """
    is_inner = threading.current_thread().name.startswith(NAME)  # it would wait for itself
    is_one = isinstance(items, Sequence) and len(items) < 2
    if is_one or is_inner or (threads := default_threads()) == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[Found]] = deque()
    # BLAS must not start threads of its own: they would compete with these for the cores.
    with one_blas_thread():
        try:
            for item in items:
                waiting.append(_pool(threads).submit(work, item))
                if len(waiting) > 3 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # after a failure, no thread may still write to arrays or files
            wait([each for each in waiting if not each.cancel()])


def one_blas_thread() -> AbstractContextManager[object]:
    """A block in which each call of BLAS keeps to one thread."""
    found: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(limits=1)
    return found


@lru_cache(maxsize=1)  # it takes several milliseconds
def _libraries(modules: int) -> ThreadpoolController:
    """The libraries of BLAS among those loaded; each module that is imported may load others."""
    return ThreadpoolController().select(user_api="blas")


_pools: dict[int, ThreadPoolExecutor] = {}  # by their number of threads
os.register_at_fork(after_in_child=_pools.clear)  # a child has none of its parent's threads


def _pool(threads: int) -> ThreadPoolExecutor:
    return _pools.get(threads) or _pools.setdefault(threads, ThreadPoolExecutor(threads, NAME))


def end_threads() -> None:
    """End the threads, as before a fork; later work starts others."""
    while _pools:
        _pools.popitem()[1].shutdown()


def for_each(work: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Call a function for each item in threads; see `in_threads`."""
    for _ in in_threads(work, items):
        pass


def chunks(count: int, size: int, most: int | None = None) -> list[slice]:
    """Divide the rows of an array into slices of at most so many values, or of one row.

    Args:
        count: number of rows.
        size: number of values in a row.
        most: values in a slice, by default CHUNK.
    """
    rows = max(1, (CHUNK if most is None else most) // max(size, 1))
    return [slice(first, min(first + rows, count)) for first in range(0, count, rows)]


def mapped(function: Callable[..., HostArray], *arrays: HostArray, dtype: DTypeLike) -> HostArray:
    """Apply a function to all values of arrays of one shape, in threads.

    Args:
        function: takes parts of the arrays and returns one; each result depends only on the values
            at its own place.
        arrays: at least one. Contiguous ones are processed as if they had one axis, others in
            slices along the first axis.
        dtype: type of the results.
    """
    found = np.empty(arrays[0].shape, dtype)
    target: HostArray = found
    sources = list(arrays)
    if all(array.flags.c_contiguous for array in arrays):
        target, sources = found.reshape(-1), [array.reshape(-1) for array in arrays]

    def apply(part: slice) -> None:
        target[part] = function(*(source[part] for source in sources))

    for_each(apply, chunks(len(target), target.size // max(len(target), 1)))
    return found


def converted(values: HostArray, dtype: DTypeLike) -> HostArray:
    """Values in another type, in threads; the same array if it has this type."""
    return values if values.dtype == dtype else mapped(lambda part: part, values, dtype=dtype)


def filled(count: int, value: float, dtype: DTypeLike) -> HostArray:
    """An array of equal values, (count,), filled in threads."""
    found = np.empty(count, dtype)

    def fill(part: slice) -> None:
        found[part] = value

    for_each(fill, chunks(count, 1))
    return found


def take(table: NDArray[Scalar], indices: NDArray[np.integer]) -> NDArray[Scalar]:
    """Copy `table[indices]`, (indices, ...), in threads; negative indices count from the end."""
    found = np.empty((len(indices), *table.shape[1:]), table.dtype)

    def copy(part: slice) -> None:
        found[part] = table[indices[part]]

    for_each(copy, chunks(len(indices), 1))
    return found
