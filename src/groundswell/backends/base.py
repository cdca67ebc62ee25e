"""What every backend offers: memory, compiled kernels, graphs of launches, events, and its limits.

A solver speaks to this interface alone and never asks which machine it is on.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.backends.source import INCLUDE, Source
from groundswell.backends.strided_copy import Ends
from groundswell.errors import BackendError

Array = Any  # a NumPy or CuPy array, whichever the backend allocates

ROW_ALIGNMENT = 128  # bytes: a cache line of a GPU, two of a CPU


@dataclass(frozen=True)
class Cells:
    """A kernel written with FOR_CELLS, over (nx, ny, nz) points."""

    nx: int
    ny: int
    nz: int


@dataclass(frozen=True)
class Items:
    """A kernel written with FOR_ITEMS, over `count` list entries."""

    count: int


@dataclass(frozen=True)
class Blocks:
    """A kernel written with FOR_BLOCKS: `count` blocks of `threads` threads each.

    Args:
        shared: bytes that each shares besides what the kernel declares, see DYNAMIC_SHARED.
    """

    count: int
    threads: int
    shared: int = 0


Extent = Cells | Items | Blocks

Launch = Callable[[], None]


def debugging() -> bool:
    """Whether GROUNDSWELL_DEBUG asks for checks that cost time: of launches, of ghost layers."""
    return os.environ.get("GROUNDSWELL_DEBUG", "") not in ("", "0")


def in_order(launches: Sequence[Launch]) -> Launch:
    """One launch that makes all of them."""

    def run() -> None:
        for launch in launches:
            launch()

    return run


class Module(Protocol):
    """A compiled source."""

    def launch(self, name: str, extent: Extent, *arguments: Any) -> Launch:
        """A call that enqueues kernel `name` over `extent` with these arguments, fixed for good.

        Arrays are passed by their first element, Python integers as 64-bit integers.
        """
        ...


class Graph(Protocol):
    """A recorded sequence of launches."""

    def replay(self, times: int) -> None:
        """Enqueue the sequence `times` times."""
        ...


class Calls:
    """A sequence that is called again, instead of a recording of it."""

    def __init__(self, sequence: Callable[[], None]) -> None:
        self._sequence = sequence

    def replay(self, times: int) -> None:
        """Call the sequence `times` times."""
        for _ in range(times):
            self._sequence()


class Event(Protocol):
    """A mark in the queue of launches."""

    def wait(self) -> None:
        """Block the host until everything enqueued before the mark is done."""
        ...

    def reached(self) -> bool:
        """Whether it is done already."""
        ...

    def seconds_since(self, earlier: Any) -> float:
        """Device time between two finished marks."""
        ...


class Shared(Protocol):
    """Zeroed memory of a device that other processes of this host can use too.

    Attributes:
        address: of its first byte, here.
        handle: what another process needs to `attach` it; can be pickled.
    """

    address: int
    handle: Any

    def close(self) -> None:
        """Let go of it; other processes must have done so, or never touch it again."""
        ...


class Backend(ABC):
    """A machine that kernels run on."""

    name: str
    device: str
    processors: int  # that blocks of a launch can run on at once
    vector: int  # neighbouring values that are worked on at once and are best kept together
    on_host: bool  # whether launches run at once, in the thread that makes them, in its memory
    bulk_copies: bool  # whether kernels have what include/bulk_copy.h is for
    block_memory: int  # bytes that threads of a block may share
    sharing: str  # what lets processes see each other's memory, in words

    @abstractmethod
    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """A zeroed array in the device's memory."""

    @abstractmethod
    def to_device(self, host: NDArray[Any]) -> Array:
        """A copy of a host array in the device's memory."""

    @abstractmethod
    def assign(self, target: Array, host: NDArray[Any]) -> None:
        """Copy a host array into (a view of) a device array, in the order of launches."""

    @abstractmethod
    def to_host(self, array: Array, after: Event | None = None) -> NDArray[Any]:
        """A host copy of a device array as it stands when `after` (default: all work) is done.

        With `after` given, the copy does not wait for launches that were enqueued later.
        """

    @abstractmethod
    def build(self, source: Source) -> Path:
        """Compile a source into the cache, unless it is there. Any thread may do so.

        Raises:
            BackendError: no compiler, or the source does not compile (with the compiler's words).
        """

    def build_all(self, sources: Sequence[Source]) -> None:
        """Compile sources at the same time; raises what `build` does."""
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(self.build, sources))

    @abstractmethod
    def compile(self, source: Source) -> Module:
        """A source, built if need be and loaded; raises what `build` does."""

    @abstractmethod
    def capture(self, sequence: Callable[[], None], *, in_graph: bool = True) -> Graph:
        """Record what `sequence` launches, to be replayed without host work in between.

        Args:
            in_graph: False if some launches need the host; each replay then calls all of them.
        """

    def together(self, *branches: Sequence[Launch]) -> list[Launch]:
        """Launches in which `branches` may run at the same time, each in its own order.

        They must not touch what another one writes. What comes before is done when they begin, and
        they are done when what comes after begins. A branch cannot hold branches.
        """
        return [launch for branch in branches for launch in branch]

    def aside(self, launches: Sequence[Launch]) -> list[Launch]:
        """Launches that begin when all before them is done; what comes after does not wait."""
        return list(launches)

    def further_aside(self, launches: Sequence[Launch]) -> list[Launch]:
        """Launches that go on where `aside` ended; neither side waits for the other."""
        return list(launches)

    def rejoin(self, launches: Sequence[Launch]) -> list[Launch]:
        """Launches that go on where `aside` ended; what comes after waits for them."""
        return list(launches)

    @abstractmethod
    def mark(self) -> Event:
        """Place an event behind everything enqueued so far."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for all enqueued work; raise RunFailed if any of it failed."""

    @abstractmethod
    def while_waiting(self, look: Callable[[], None]) -> Callable[[], None]:
        """Have `look` called now and then while the host waits for the device; it may raise.

        Returns what ends this.
        """

    @abstractmethod
    def memory(self) -> tuple[int, int]:
        """Free and total bytes of the device's memory."""

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Compiler, driver and library versions, for the record of a run."""

    # --- memory as the exchange between ranks sees it ---------------------------------------------

    @abstractmethod
    def address(self, array: Array) -> int:
        """Where an array's first element lies, as kernels see it."""

    @abstractmethod
    def host_bytes(self, size: int) -> NDArray[np.uint8]:
        """Zeroed bytes of host memory that kernels can reach and copies are fast from and to."""

    @abstractmethod
    def transfer(self, target: int, source: int, size: int) -> Launch:
        """A call that enqueues a copy of bytes between two addresses."""

    @abstractmethod
    def copy_box(self, shape: tuple[int, ...], target: Ends, source: Ends) -> Launch:
        """A call that enqueues one strided copy of a box: the library's, not a kernel of ours.

        Args:
            shape: points along each axis, at most 3.
            target, source: address, and bytes between values along each axis; along the last one
                they must be the size of a value.

        Raises:
            BackendError: boxes that are not made of contiguous rows.
        """

    @abstractmethod
    def shared(self, size: int) -> Shared:
        """Zeroed memory that other processes of this host can attach.

        Raises:
            BackendError: this machine has none.
        """

    def export(self, array: Array) -> tuple[Any, int]:
        """A handle for the memory that holds an array, and where in it the array begins, bytes.

        Raises:
            BackendError: other processes cannot reach this memory.
        """
        raise BackendError(f"arrays of backend {self.name!r} cannot be shared between processes")

    @abstractmethod
    def attach(self, handle: Any) -> Shared:
        """Memory that another process of this host has shared.

        Raises:
            BackendError: it cannot be reached from here.
        """

    def measure_bandwidth(self, megabytes: int = 128, repeats: int = 7) -> float:
        """Best of `repeats` STREAM triads over arrays of this size, bytes a second."""
        count = megabytes * 2**20 // 4
        module = self.compile(Source(INCLUDE / "triad.h", {}))
        a, b, c = (self.touched((count,), np.float32) for _ in range(3))
        run = module.launch("triad", Items(count), a, b, c, count)
        run()
        return 3 * 4 * count / min(self.seconds(run) for _ in range(repeats))

    def touched(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Zeros that are in memory, which is to be measured.

        A system gives a page when it is first written; until then reads find one page of zeros,
        which caches hold.
        """
        array = self.zeros(shape, dtype)
        words = array.nbytes // 4
        self.compile(Source(INCLUDE / "triad.h", {})).launch("touch", Items(words), array, words)()
        return array

    def seconds(self, run: Launch) -> float:
        """Device time of what `run` enqueues."""
        begin = self.mark()
        run()
        end = self.mark()
        end.wait()
        return end.seconds_since(begin)
