"""One NVIDIA GPU: kernels compiled by NVRTC, arrays by CuPy, time steps replayed as CUDA graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.backends import nccl, nvrtc
from groundswell.backends.base import (
    Array,
    Backend,
    Blocks,
    Calls,
    Cells,
    Event,
    Extent,
    Graph,
    Launch,
    debugging,
)
from groundswell.backends.cache import KernelCache, default_folder
from groundswell.backends.graphs import CudaGraph
from groundswell.backends.ipc import CudaShared, Mapped
from groundswell.backends.source import Source
from groundswell.backends.streams import Lanes
from groundswell.backends.strided_copy import Ends, cuda_copy, require_rows
from groundswell.errors import BackendError, RunFailed

CELL_BLOCK = (32, 4, 2)
PLANE_BLOCK = (64, 4, 1)
ITEM_BLOCK = 128
USUALLY_SHARED = 48 * 1024  # bytes, beyond which a kernel has to ask
GRID_LIMIT = (2**31 - 1, 65535, 65535)
BULK_COPIES_SINCE = 90  # compute capability, see include/bulk_copy.h
LOOK_SECONDS = 0.5  # between looks after others while the host waits
SHORTEST_NAP, LONGEST_NAP = 1e-5, 1e-3

MISSING = (
    "the CUDA backend was asked for, but {reason}; install a driver and "
    "`pip install 'groundswell[cuda13]'` (or cuda12), or choose backend = \"cpu\""
)


class CudaModule:
    """A loaded cubin."""

    def __init__(self, cupy: Any, cubin: Path, lanes: Lanes, checked: bool) -> None:
        self._module = cupy.RawModule(path=str(cubin))
        self._lanes, self._checked = lanes, checked
        self._error = cupy.cuda.runtime.CUDARuntimeError

    def launch(self, name: str, extent: Extent, *arguments: Any) -> Launch:
        function = self._module.get_function(name)
        grid, block = geometry(extent)
        converted = tuple(np.int64(a) if isinstance(a, int) else a for a in arguments)
        shared = extent.shared if isinstance(extent, Blocks) else 0
        if shared + function.shared_size_bytes > USUALLY_SHARED:
            function.max_dynamic_shared_size_bytes = shared

        def run() -> None:
            self._lanes.launched += 1
            with self._lanes.current as stream:
                function(grid, block, converted, shared_mem=shared)
                if self._checked:
                    self._check(name, stream)

        return run

    def _check(self, name: str, stream: Any) -> None:
        try:
            stream.synchronize()
        except self._error as error:
            raise RunFailed(f"kernel {name} failed: {error}") from error


def geometry(extent: Extent) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Grid and block of a launch.

    Raises:
        BackendError: more blocks than a launch can have.
    """
    match extent:
        case Cells(nx, ny, nz):
            block: tuple[int, ...] = CELL_BLOCK if nz > 1 else PLANE_BLOCK
            grid = tuple(-(-n // b) for n, b in zip((nx, ny, nz), block, strict=True))
        case Blocks(count, threads, _):
            grid, block = (max(count, 1),), (threads,)
        case _:
            grid, block = (max(-(-extent.count // ITEM_BLOCK), 1),), (ITEM_BLOCK,)
    if any(n > most for n, most in zip(grid, GRID_LIMIT, strict=False)):
        raise BackendError(f"a launch of {grid} blocks exceeds the device's limit {GRID_LIMIT}")
    return grid, block


class Watch:
    """Waits of the host for the device, during which others are looked after."""

    def __init__(self) -> None:
        self.looks: list[Callable[[], None]] = []

    def wait(self, event: Any) -> None:
        """Wait for a CUDA event; without anybody to look after, in the driver's own way."""
        if not self.looks:
            event.synchronize()
        looked, nap = time.monotonic(), SHORTEST_NAP
        while self.looks and not event.done:
            time.sleep(nap)
            nap = min(2 * nap, LONGEST_NAP)
            if time.monotonic() - looked > LOOK_SECONDS:
                looked = time.monotonic()
                for look in self.looks:
                    look()


class CudaEvent:
    """A CUDA event on the compute stream."""

    def __init__(self, cupy: Any, stream: Any, watch: Watch) -> None:
        self._cupy, self._watch = cupy, watch
        self.raw = cupy.cuda.Event()
        self.raw.record(stream)

    def wait(self) -> None:
        self._watch.wait(self.raw)

    def reached(self) -> bool:
        return bool(self.raw.done)

    def seconds_since(self, earlier: CudaEvent) -> float:
        return float(self._cupy.cuda.get_elapsed_time(earlier.raw, self.raw)) / 1e3


class CudaBackend(Backend):
    """A CUDA device, with one stream for kernels and one for copies to the host.

    Args:
        device: its number; by default the current one. It becomes the current one.

    Attributes:
        bus: the device's PCI bus id.
    """

    name = "cuda"
    vector = 1
    on_host = False
    sharing = "CUDA IPC"

    def __init__(self, kernel_cache: KernelCache | None = None, device: int | None = None) -> None:
        self._cupy = _cupy()
        self._cache = kernel_cache or KernelCache(default_folder())
        if device is not None and device not in range(count := len(device_buses())):
            raise BackendError(f"GPU {device} does not exist; there are {count}, counted from 0")
        chosen = self._cupy.cuda.Device(device)
        chosen.use()
        self._architecture = f"sm_{chosen.compute_capability}"
        self.bulk_copies = int(chosen.compute_capability) >= BULK_COPIES_SINCE
        properties = self._cupy.cuda.runtime.getDeviceProperties(chosen.id)
        self.device = properties["name"].decode()
        self.processors = int(properties["multiProcessorCount"])
        self.block_memory = int(properties["sharedMemPerBlockOptin"])
        self.bus = _bus(self._cupy.cuda.runtime, chosen.id)
        self._stream = self._cupy.cuda.Stream(non_blocking=True)
        self._copies = self._cupy.cuda.Stream(non_blocking=True)
        self._lanes = Lanes(self._cupy, self._stream)
        self._mapped = Mapped(self._cupy)
        self._checked = debugging()
        self._watch = Watch()

    @property
    def stream(self) -> Any:
        """Where launches go now."""
        return self._lanes.current

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        with self._stream:
            return self._cupy.zeros(shape, dtype)

    def to_device(self, host: NDArray[Any]) -> Array:
        with self._stream:
            return self._cupy.asarray(np.ascontiguousarray(host))

    def assign(self, target: Array, host: NDArray[Any]) -> None:
        with self._stream:
            target[...] = self._cupy.asarray(host)

    def to_host(self, array: Array, after: Event | None = None) -> NDArray[Any]:
        with self._lost():
            # The host waits first, so that it looks after others meanwhile.
            (after if isinstance(after, CudaEvent) else self.mark()).wait()
            with self._copies:
                return array.get(stream=self._copies)

    def build(self, source: Source) -> Path:
        return nvrtc.compile_cached(self._cache, source.text(), self._architecture)

    def compile(self, source: Source) -> CudaModule:
        return CudaModule(self._cupy, self.build(source), self._lanes, self._checked)

    def capture(self, sequence: Callable[[], None], *, in_graph: bool = True) -> Graph:
        recorded = in_graph and not self._checked
        return CudaGraph(self._stream, sequence, self._lanes) if recorded else Calls(sequence)

    def together(self, *branches: Sequence[Launch]) -> list[Launch]:
        busy = [branch for branch in branches if branch]
        return [lambda: self._lanes.run(busy)] if len(busy) > 1 else [*chain(*busy)]

    def aside(self, launches: Sequence[Launch]) -> list[Launch]:
        return [lambda: self._lanes.aside(launches)]

    def further_aside(self, launches: Sequence[Launch]) -> list[Launch]:
        return [lambda: self._lanes.further_aside(launches)]

    def rejoin(self, launches: Sequence[Launch]) -> list[Launch]:
        return [lambda: self._lanes.rejoin(launches)]

    def mark(self) -> CudaEvent:
        return CudaEvent(self._cupy, self._lanes.current, self._watch)

    def synchronize(self) -> None:
        with self._lost():
            self.mark().wait()
            self._stream.synchronize()

    def while_waiting(self, look: Callable[[], None]) -> Callable[[], None]:
        self._watch.looks.append(look)
        return lambda: self._watch.looks.remove(look)

    @contextmanager
    def _lost(self) -> Iterator[None]:
        """Launches fail silently; it shows when the host waits for them."""
        try:
            yield
        except self._cupy.cuda.runtime.CUDARuntimeError as error:
            raise RunFailed(f"the GPU reported {error}; the run cannot go on") from error

    def address(self, array: Array) -> int:
        return int(array.data.ptr)

    def host_bytes(self, size: int) -> NDArray[np.uint8]:
        pinned = self._cupy.cuda.alloc_pinned_memory(max(size, 1))
        array = np.frombuffer(pinned, np.uint8, max(size, 1))
        array[...] = 0
        return array[:size]

    def transfer(self, target: int, source: int, size: int) -> Launch:
        runtime = self._cupy.cuda.runtime

        def run() -> None:
            stream = self._lanes.current.ptr
            runtime.memcpyAsync(target, source, size, runtime.memcpyDefault, stream)

        return run

    def copy_box(self, shape: tuple[int, ...], target: Ends, source: Ends) -> Launch:
        require_rows(shape, target, source)
        return cuda_copy(shape, target, source, lambda: int(self._lanes.current.ptr))

    def shared(self, size: int) -> CudaShared:
        return self._mapped.new(size)

    def export(self, array: Array) -> tuple[bytes, int]:
        return self._mapped.export(self.address(array))

    def attach(self, handle: Any) -> CudaShared:
        return self._mapped.attach(handle)

    def nccl_token(self) -> Any:
        """What the ranks of a new NCCL communicator need to find each other."""
        return nccl.load().get_unique_id()

    def nccl(self, size: int, token: Any, rank: int) -> nccl.NcclGroup:
        """An NCCL communicator of `size` ranks, all of which call this with one's token."""
        return nccl.NcclGroup(nccl.load(), size, token, rank, lambda: self._lanes.current)

    def memory(self) -> tuple[int, int]:
        return self._cupy.cuda.Device().mem_info

    def measure_bandwidth(self, megabytes: int = 1024, repeats: int = 7) -> float:
        """Best of `repeats` copies of this size within the device, bytes read and written a second.

        The copy engine's own kernel moves more than a simple triad does, so shares are modest.
        """
        try:
            return self._copy_rate(min(megabytes * 2**20, self.memory()[0] // 8), repeats)
        finally:
            self._cupy.get_default_memory_pool().free_all_blocks()  # the run may need them

    def _copy_rate(self, size: int, repeats: int) -> float:
        source, target = (self.zeros((size,), np.uint8) for _ in range(2))

        def copy() -> None:
            target.data.copy_from_device_async(source.data, size, self._stream)

        copy()
        return 2 * size / min(self.seconds(copy) for _ in range(repeats))

    def versions(self) -> dict[str, str]:
        runtime = self._cupy.cuda.runtime
        return {
            "cupy": self._cupy.__version__,
            "nvrtc": nvrtc.version(),
            "driver": _dotted(runtime.driverGetVersion()),
        }


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def _cupy() -> Any:
    """CuPy with a usable device, or BackendError."""
    try:
        import cupy
    except ImportError as error:
        raise BackendError(MISSING.format(reason="CuPy is not installed")) from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise BackendError(MISSING.format(reason=f"no device answers ({error})")) from error
    if count == 0:
        raise BackendError(MISSING.format(reason="this machine has no CUDA device"))
    return cupy


def device_buses() -> list[str]:
    """PCI bus ids of the devices that this process may use, in the order of their numbers.

    Raises:
        BackendError: none.
    """
    runtime = _cupy().cuda.runtime
    return [_bus(runtime, number) for number in range(runtime.getDeviceCount())]


def _bus(runtime: Any, number: int) -> str:
    return str(runtime.deviceGetPCIBusId(number)).lower()
