"""The CUDA backend: kernels compiled by NVRTC, arrays of CuPy, steps replayed as CUDA graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import nccl, nvrtc
from groundswell.backends.base import Backend, EagerGraph, Event, Graph, debugging
from groundswell.backends.cache import KernelCache, default_folder
from groundswell.backends.cuda_module import CudaModule
from groundswell.backends.graphs import CudaGraph
from groundswell.backends.ipc import CudaSharedMemory, IpcMemory
from groundswell.backends.launch import Concurrent, Forked, HostCall, Launch
from groundswell.backends.source import Source
from groundswell.backends.streams import Streams
from groundswell.backends.transforms import CudaCosineTransform, CudaTransform
from groundswell.errors import BackendError, DeviceMissing, RunFailed

if TYPE_CHECKING:
    import cupy

BULK_COPY_CAPABILITY = 90  # compute capability of the first GPUs with include/bulk_copy.h
SMALL_COPY = 2**16  # bytes from the host that the driver has read when the call returns
POLL_SECONDS = 0.5  # between calls of the callbacks while the host waits
MIN_SLEEP_SECONDS, MAX_SLEEP_SECONDS = 1e-5, 1e-3


class PollingWait:
    """Waits of the host for the device, during which callbacks are called periodically.

    Attributes:
        callbacks: called every POLL_SECONDS.
    """

    def __init__(self) -> None:
        self.callbacks: list[Callable[[], None]] = []

    def wait(self, event: cupy.cuda.Event) -> None:
        """Wait for a CUDA event; without callbacks the driver waits."""
        if not self.callbacks:
            event.synchronize()
        polled, sleep = time.monotonic(), MIN_SLEEP_SECONDS
        while self.callbacks and not event.done:
            time.sleep(sleep)
            sleep = min(2 * sleep, MAX_SLEEP_SECONDS)
            if time.monotonic() - polled > POLL_SECONDS:
                polled = time.monotonic()
                for callback in self.callbacks:
                    callback()


class CudaEvent:
    """A CUDA event recorded in a stream."""

    def __init__(self, cupy: ModuleType, stream: cupy.cuda.Stream, polling: PollingWait) -> None:
        self._cupy, self._polling = cupy, polling
        self.raw = cupy.cuda.Event()
        self.raw.record(stream)

    def wait(self) -> None:
        self._polling.wait(self.raw)

    def is_done(self) -> bool:
        return bool(self.raw.done)

    def seconds_since(self, earlier: CudaEvent) -> float:
        return float(self._cupy.cuda.get_elapsed_time(earlier.raw, self.raw)) / 1e3


class CudaBackend(Backend):
    """A CUDA device, with streams for kernels and one stream for copies to the host.

    Args:
        device: number of the device, which becomes the current one; by default the current one.

    Attributes:
        bus: PCI bus id of the device.

    Raises:
        BackendError: CuPy or the device is missing.
    """

    name = "cuda"
    vector_length = 1
    on_host = False
    sharing_mechanism = "CUDA IPC"

    def __init__(self, kernel_cache: KernelCache | None = None, device: int | None = None) -> None:
        self._cupy = _cupy()
        self._cache = kernel_cache or KernelCache(default_folder())
        if device is not None and device not in range(count := len(pci_bus_ids())):
            raise BackendError(f"GPU {device} does not exist; there are {count}, counted from 0")
        chosen = self._cupy.cuda.Device(device)
        chosen.use()
        self._architecture = f"sm_{chosen.compute_capability}"
        self.has_bulk_copy = int(chosen.compute_capability) >= BULK_COPY_CAPABILITY
        properties = self._cupy.cuda.runtime.getDeviceProperties(chosen.id)
        self.device = properties["name"].decode()
        self.processors = int(properties["multiProcessorCount"])
        self.shared_bytes_per_block = int(properties["sharedMemPerBlockOptin"])
        self.cache_bytes = int(properties["l2CacheSize"])
        self.bus = _bus(self._cupy.cuda.runtime, chosen.id)
        self._stream = self._cupy.cuda.Stream(non_blocking=True)
        self._copies = self._cupy.cuda.Stream(non_blocking=True)
        self._streams = Streams(self._cupy, self._stream)
        self._ipc = IpcMemory(self._cupy)
        self._checked = debugging()
        self._polling = PollingWait()

    @property
    def stream(self) -> cupy.cuda.Stream:
        """The stream that launches go to now."""
        return self._streams.current

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        with self._stream:
            return self._cupy.zeros(shape, dtype)

    def to_device(self, host: HostArray) -> DeviceArray:
        with self._stream:
            return self._cupy.asarray(np.ascontiguousarray(host))

    def assign(self, target: cupy.ndarray, values: DeviceArray) -> None:
        alike = target.shape == values.shape and target.dtype == values.dtype
        whole = target.flags.c_contiguous and values.flags.c_contiguous
        if alike and whole and isinstance(values, np.ndarray) and values.nbytes <= SMALL_COPY:
            target.set(values, stream=self._stream)  # a single call, as tables change often
            return
        with self._stream:
            target[...] = self._cupy.asarray(values)

    def to_host(self, array: cupy.ndarray, after: Event | None = None) -> HostArray:
        with self._convert_errors():
            # The copy itself calls no callbacks, so the host waits for the work first.
            (after if isinstance(after, CudaEvent) else self.record_event()).wait()
            with self._copies:
                return array.get(stream=self._copies)

    def build(self, source: Source) -> Path:
        return nvrtc.compile_cached(self._cache, source.text(), self._architecture)

    def compile(self, source: Source) -> CudaModule:
        return self.modules.get(source, lambda: self._module(source))

    def _module(self, source: Source) -> CudaModule:
        built = self.compiling.submit(lambda: self.build(source))
        return CudaModule(self._cupy, self.compiling, source, built, self._streams)

    def real_transform(
        self, shape: tuple[int, ...], dtype: DTypeLike, *, axes: int | None = None
    ) -> CudaTransform:
        return CudaTransform(self._cupy, self._streams, shape, dtype, axes)

    def cosine_transform(self) -> CudaCosineTransform:
        return CudaCosineTransform()

    @contextmanager
    def arithmetic(self) -> Iterator[None]:
        try:
            with self._convert_errors(), self._streams.current:
                yield
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            raise RunFailed(f"the GPU has too little memory: {error}; use the CPU") from error

    def capture(self, sequence: Callable[[], None], *, in_graph: bool = True) -> Graph:
        if not in_graph or self._checked:
            return EagerGraph(sequence)
        self.finish_compiling()  # a capture must not load modules
        return CudaGraph(self._stream, sequence, self._streams)

    def concurrently(self, *branches: Sequence[Launch]) -> list[Launch]:
        busy = [branch for branch in branches if branch]
        if len(busy) < 2:
            return [*chain(*busy)]
        return [Concurrent(self._streams.run_concurrently, busy)]

    def fork(self, launches: Sequence[Launch]) -> list[Launch]:
        return [Forked(self._streams.fork, launches)]

    def continue_fork(self, launches: Sequence[Launch]) -> list[Launch]:
        return [Forked(self._streams.continue_fork, launches)]

    def join(self, launches: Sequence[Launch]) -> list[Launch]:
        return [Forked(self._streams.join, launches, joins=True)]

    def record_event(self) -> CudaEvent:
        return CudaEvent(self._cupy, self._streams.current, self._polling)

    def synchronize(self) -> None:
        with self._convert_errors():
            self.record_event().wait()
            self._stream.synchronize()

    def add_poll_callback(self, callback: Callable[[], None]) -> Callable[[], None]:
        self._polling.callbacks.append(callback)
        return lambda: self._polling.callbacks.remove(callback)

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        """Raise RunFailed if earlier launches failed, which CUDA reports when the host waits."""
        try:
            yield
        except self._cupy.cuda.runtime.CUDARuntimeError as error:
            raise RunFailed(f"the GPU reported {error}; the run cannot continue") from error

    def address(self, array: cupy.ndarray) -> int:
        return int(array.data.ptr)

    def pinned_bytes(self, size: int) -> NDArray[np.uint8]:
        pinned = self._cupy.cuda.alloc_pinned_memory(max(size, 1))
        array = np.frombuffer(pinned, np.uint8, max(size, 1))
        array[...] = 0
        return array[:size]

    def copy_bytes(self, target: int, source: int, size: int) -> Launch:
        arguments = (target, source, size)
        return HostCall("copy_bytes", self._copy, *arguments, extent=f"{size:,} bytes")

    def _copy(self, target: int, source: int, size: int) -> None:
        runtime, stream = self._cupy.cuda.runtime, self._streams.current.ptr
        runtime.memcpyAsync(target, source, size, runtime.memcpyDefault, stream)

    def allocate_shared(self, size: int) -> CudaSharedMemory:
        return self._ipc.allocate(size)

    def export_handle(self, address: int) -> tuple[bytes, int]:
        return self._ipc.export_handle(address)

    def attach_handle(self, handle: bytes) -> CudaSharedMemory:
        return self._ipc.attach_handle(handle)

    def nccl_unique_id(self) -> object:
        """A unique id, with which the ranks of a new NCCL communicator find each other."""
        return nccl.load().get_unique_id()

    def nccl_communicator(self, size: int, unique_id: object, rank: int) -> nccl.NcclCommunicator:
        """An NCCL communicator of `size` ranks; all ranks must call this with the same unique id.

        Raises:
            BackendError: NCCL is missing or cannot connect the ranks.
        """
        library = nccl.load()
        return nccl.NcclCommunicator(library, size, unique_id, rank, lambda: self._streams.current)

    def memory_info(self) -> tuple[int, int]:
        free, total = self._cupy.cuda.Device().mem_info
        # Memory that CuPy keeps of arrays that are gone is free for other arrays.
        return free + self._cupy.get_default_memory_pool().free_bytes(), total

    def measure_bandwidth(self, megabytes: int = 1024, repeats: int = 7) -> float:
        """Memory bandwidth: the best of `repeats` copies of this size on the device, bytes/s.

        Bytes read and bytes written both count. The driver's copy is faster than a triad kernel,
        which makes shares of this bandwidth conservative.
        """
        try:
            return self._copy_rate(min(megabytes * 2**20, self.memory_info()[0] // 8), repeats)
        finally:
            self._cupy.get_default_memory_pool().free_all_blocks()  # return the memory to the run

    def _copy_rate(self, size: int, repeats: int) -> float:
        arrays: list[cupy.ndarray] = [self.zeros((size,), np.uint8) for _ in range(2)]
        source, target = arrays

        def copy() -> None:
            target.data.copy_from_device_async(source.data, size, self._stream)

        copy()
        return 2 * size / min(self.measure_seconds(copy) for _ in range(repeats))

    def versions(self) -> dict[str, str]:
        runtime = self._cupy.cuda.runtime
        return {
            "cupy": self._cupy.__version__,
            "nvrtc": nvrtc.version(),
            "driver": _dotted(runtime.driverGetVersion()),
        }


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def _cupy() -> ModuleType:
    """CuPy, if it finds a usable device; raises DeviceMissing otherwise."""
    try:
        import cupy
    except ImportError as error:
        raise DeviceMissing("CuPy is not installed") from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceMissing(f"no device responds ({error})") from error
    if count == 0:
        raise DeviceMissing("this machine has no CUDA device")
    return cupy


def pci_bus_ids() -> list[str]:
    """PCI bus ids of the devices that this process may use, by device number.

    Raises:
        BackendError: there is no such device, or CuPy is missing.
    """
    runtime = _cupy().cuda.runtime
    return [_bus(runtime, number) for number in range(runtime.getDeviceCount())]


def _bus(runtime: ModuleType, number: int) -> str:
    return str(runtime.deviceGetPCIBusId(number)).lower()
