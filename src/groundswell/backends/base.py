"""The interface of all backends: memory, kernels, graphs, streams, events and device properties.

Solvers use only this interface, so they run on CPUs and GPUs alike.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends.compilation import CompilationQueue, RecentModules
from groundswell.backends.host_threads import chunks
from groundswell.backends.launch import Extent, Graph, Items, KernelArgument, Launch
from groundswell.backends.listing import in_order as in_order  # solvers import these from here
from groundswell.backends.listing import in_section as in_section
from groundswell.backends.source import INCLUDE, Source
from groundswell.backends.transforms import CosineTransform, RealTransform
from groundswell.errors import BackendError

MemoryHandle = Any  # identifies shared memory; hashable and picklable, of the backend's own type

PART = 2**24  # values of device arrays that NumPy's functions process at a time

ROW_ALIGNMENT = 128  # bytes: one cache line of a GPU, two of a CPU


def debugging() -> bool:
    """Whether GROUNDSWELL_DEBUG enables slow checks, of launches and of ghost layers."""
    return os.environ.get("GROUNDSWELL_DEBUG", "") not in ("", "0")


class Module(Protocol):
    """A compiled and loaded source."""

    def launch(
        self, name: str, extent: Extent, /, *arguments: KernelArgument, **named: KernelArgument
    ) -> Launch:
        """A `KernelLaunch` that enqueues kernel `name` over `extent` with these arguments.

        Arrays are passed as pointers to their first element, Python integers as 64-bit integers.
        Like those of a Python function, arguments are given by position or by name: the names of
        the parameters in the kernel's source.
        """
        ...


class EagerGraph:
    """A graph that is not captured: each replay calls the sequence."""

    def __init__(self, sequence: Callable[[], None]) -> None:
        self._sequence = sequence

    def replay(self, times: int) -> None:
        """Call the sequence `times` times."""
        for _ in range(times):
            self._sequence()


class Event(Protocol):
    """An event in the current stream, as in CUDA."""

    def wait(self) -> None:
        """Block the host until all work enqueued before the event is done."""
        ...

    def is_done(self) -> bool:
        """Whether all work enqueued before the event is done."""
        ...

    def seconds_since(self, earlier: Self) -> float:
        """Device time between two completed events, s."""
        ...


class SharedMemory(Protocol):
    """Device memory that several processes of this host can access.

    Attributes:
        address: of the first byte, in this process.
        handle: with which another process can call `attach_handle`; can be pickled.
    """

    address: int
    handle: MemoryHandle

    def close(self) -> None:
        """Release the memory; no other process may access it afterwards."""
        ...


class Backend(ABC):
    """A device that kernels run on.

    Attributes:
        name: "cpu" or "cuda".
        device: model of the device.
        processors: number of multiprocessors of a GPU, of cores of a CPU.
        vector_length: number of adjacent values that a vector loop should process; 1 on a GPU.
        on_host: whether launches run synchronously in host memory.
        has_bulk_copy: whether kernels can use include/bulk_copy.h.
        shared_bytes_per_block: shared memory that a block can use.
        cache_bytes: size of the last-level caches; 0 if unknown.
        sharing_mechanism: name of the mechanism by which processes share device memory.
    """

    name: str
    device: str
    processors: int
    vector_length: int
    on_host: bool
    has_bulk_copy: bool
    shared_bytes_per_block: int
    cache_bytes: int
    sharing_mechanism: str

    @abstractmethod
    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """A zeroed array in device memory."""

    @abstractmethod
    def to_device(self, host: HostArray) -> DeviceArray:
        """A copy of a host array in device memory."""

    @abstractmethod
    def assign(self, target: DeviceArray, values: DeviceArray) -> None:
        """Copy an array, of the host or this device, into (a view of) a device array.

        The copy is in stream order; values on the host, unless in pinned memory, may be changed at
        once.
        """

    @abstractmethod
    def to_host(self, array: DeviceArray, after: Event | None = None) -> HostArray:
        """A host copy of a device array.

        Args:
            after: event that the copy waits for; by default it waits for all work. The copy does
                not wait for launches that were enqueued after the event.

        Raises:
            RunFailed: a launch failed.
        """

    @abstractmethod
    def build(self, source: Source) -> Path:
        """Compile a source into the cache, unless it is there; returns its path. Thread-safe.

        Raises:
            BackendError: there is no compiler, or the source does not compile (the message
                contains the compiler's output).
        """

    @cached_property
    def modules(self) -> RecentModules:
        """The latest modules, which solvers that follow each other on this backend share."""
        return RecentModules()

    @abstractmethod
    def compile(self, source: Source) -> Module:
        """Start building a source in another thread; kernels wait for it when they first run.

        Errors of `build` appear when a kernel is launched, or in `finish_compiling`.
        """

    @cached_property
    def compiling(self) -> CompilationQueue:
        """Sources that are being compiled."""
        return CompilationQueue()

    def finish_compiling(self) -> None:
        """Wait for all compilations; raises the errors of `build`."""
        self.compiling.finish()

    @abstractmethod
    def real_transform(
        self, shape: tuple[int, ...], dtype: DTypeLike, *, axes: int | None = None
    ) -> RealTransform:
        """Fourier transforms of real arrays of this shape over the last axes; see transforms.py.

        Args:
            axes: number of axes, up to three; by default all.
        """

    @abstractmethod
    def cosine_transform(self) -> CosineTransform:
        """Cosine transforms of arrays of any shape; see transforms.py."""

    def arithmetic(self) -> AbstractContextManager[object]:
        """A context in which NumPy's functions and operators apply to device arrays.

        They are ordered with launches. CuPy's arrays dispatch them (NEP 13 and NEP 18).

        Raises:
            RunFailed: in the context, an operation failed or the device has too little memory.
        """
        return nullcontext()

    def for_each_part(self, work: Callable[[slice], None], shape: Sequence[int]) -> None:
        """Call a function for parts of arrays of a shape, so that temporaries are small.

        Args:
            work: takes a slice of the first axis. On a CPU, threads call it at the same time.
        """
        for part in chunks(shape[0], prod(shape[1:]), PART):
            work(part)

    @abstractmethod
    def capture(self, sequence: Callable[[], None], *, in_graph: bool = True) -> Graph:
        """Capture the launches of `sequence` in a graph, which replays them without host work.

        Args:
            in_graph: False if some launches need the host. Each replay then calls `sequence`.
        """

    def concurrently(self, *branches: Sequence[Launch]) -> list[Launch]:
        """Launches of several branches, which may run concurrently; each branch runs in order.

        The branches start after all earlier launches, and later launches wait for all branches. A
        branch must not access values that another one writes, nor contain branches itself.
        """
        return [launch for branch in branches for launch in branch]

    def fork(self, launches: Sequence[Launch]) -> list[Launch]:
        """Launches that start after all earlier ones; later launches do not wait for them."""
        return list(launches)

    def continue_fork(self, launches: Sequence[Launch]) -> list[Launch]:
        """Launches that run after those of `fork`; later launches do not wait for them either."""
        return list(launches)

    def join(self, launches: Sequence[Launch]) -> list[Launch]:
        """Launches that run after those of `fork`; later launches wait for all of them."""
        return list(launches)

    @abstractmethod
    def record_event(self) -> Event:
        """Record an event after all work enqueued so far."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for all enqueued work; raises RunFailed if any of it failed."""

    @abstractmethod
    def add_poll_callback(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` periodically while the host waits for the device; it may raise.

        Returns:
            A function that removes the callback.
        """

    @abstractmethod
    def memory_info(self) -> tuple[int, int]:
        """Free and total device memory, bytes."""

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Versions of compiler, driver and libraries, for the summary of a run."""

    # --- memory and copies for the exchange between ranks -----------------------------------------

    @abstractmethod
    def address(self, array: DeviceArray) -> int:
        """Address of an array's first element, as kernels see it."""

    @abstractmethod
    def pinned_bytes(self, size: int) -> NDArray[np.uint8]:
        """Zeroed host memory, pinned on a GPU: kernels can access it, and copies are fast."""

    @abstractmethod
    def copy_bytes(self, target: int, source: int, size: int) -> Launch:
        """A function that enqueues a copy of `size` bytes between two addresses."""

    @abstractmethod
    def allocate_shared(self, size: int) -> SharedMemory:
        """Zeroed memory of `size` bytes that other processes of this host can attach.

        Raises:
            BackendError: this machine cannot share memory between processes.
        """

    def export_handle(self, address: int) -> tuple[MemoryHandle, int]:
        """A handle for the allocation that contains an address, and the address's offset in bytes.

        Raises:
            BackendError: other processes cannot access this memory.
        """
        raise BackendError(f"arrays of backend {self.name!r} cannot be shared between processes")

    @abstractmethod
    def attach_handle(self, handle: MemoryHandle) -> SharedMemory:
        """Memory that another process of this host has shared.

        Raises:
            BackendError: this process cannot access it.
        """

    def measure_bandwidth(self, megabytes: int = 128, repeats: int = 7) -> float:
        """Memory bandwidth, bytes/s: the best of `repeats` STREAM triads on arrays of this size."""
        count = megabytes * 2**20 // 4
        module = self.compile(Source(INCLUDE / "triad.h", {}))
        a, b, c = (self.resident_zeros((count,), np.float32) for _ in range(3))
        run = module.launch("triad", Items(count), a, b, c, count)
        run()
        return 3 * 4 * count / min(self.measure_seconds(run) for _ in range(repeats))

    def resident_zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """A zeroed array whose pages are resident in memory, for bandwidth measurements.

        An operating system maps a page when it is first written. Until then all reads return the
        same page of zeros, which stays in the cache.
        """
        array = self.zeros(shape, dtype)
        count = array.nbytes // 4
        self.compile(Source(INCLUDE / "triad.h", {})).launch("touch", Items(count), array, count)()
        return array

    def measure_seconds(self, launch: Launch) -> float:
        """Device time of the work that `launch` enqueues, s."""
        start = self.record_event()
        launch()
        end = self.record_event()
        end.wait()
        return end.seconds_since(start)
