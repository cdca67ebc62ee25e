"""The CPU backend: kernels compiled by the system's C++ compiler with OpenMP."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cache, cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends.base import ROW_ALIGNMENT, Backend, EagerGraph, Event, Graph, MemoryHandle
from groundswell.backends.cache import KernelCache, default_folder
from groundswell.backends.compilation import CompilationQueue, LazyFunction, compilations
from groundswell.backends.host_memory import host_cache, host_memory
from groundswell.backends.host_threads import chunks, for_each
from groundswell.backends.launch import Extent, HostCall, KernelArgument, KernelLaunch, Launch
from groundswell.backends.named_arguments import ParameterNames
from groundswell.backends.shared_memory import CpuSharedMemory
from groundswell.backends.source import Source, digest
from groundswell.backends.threads import default_threads, team_source, thread_team
from groundswell.backends.transforms import CpuCosineTransform, CpuTransform
from groundswell.errors import BackendError, counted

# We disable contraction into fused multiply-adds. Otherwise a vector loop and its remainder would
# round differently, and results would depend on where a block of the grid begins.
FLAGS = (
    "-std=c++17 -O3 -march=native -fopenmp -fPIC -shared "
    "-ffp-contract=off -fno-math-errno -fno-trapping-math"
).split()

# Arrays start at different offsets within a page. With equal offsets, the values of a dozen fields
# at the same point would compete for one set of the first-level cache.
PAGE = 4096
STAGGER = 5 * ROW_ALIGNMENT

# Bytes beyond the end of an array that kernels may read, because they load whole vectors.
READABLE_BYTES = 64

NO_COMPILER = (
    "no C++ compiler was found (looked for $CXX, g++, clang++); install one, for example "
    "`apt install g++`, `dnf install gcc-c++` or `conda install cxx-compiler`"
)


class _Team(threading.local):
    """Size of the team that runs this thread's kernels; None until it has been set."""

    size: int | None = None


TEAM = _Team()


class CpuLaunch(KernelLaunch):
    """A kernel that runs when it is called."""

    __slots__ = ("_function", "_module")

    def __init__(self, function: LazyFunction, module: CpuModule, *described: Any) -> None:
        super().__init__(*described)
        self._function, self._module = function, module

    @staticmethod
    def _convert(argument: KernelArgument) -> ctypes.c_int64 | ctypes.c_void_p:
        return _argument(argument)

    def __call__(self) -> None:
        if TEAM.size != self._module.threads:
            self._module.resize_team()
        self._function.loaded(*self._converted)


class CpuModule:
    """A shared library compiled from one source.

    Args:
        source: the source.
        built: path of the library.
        team: path of the library of the threads, see threads.py.
        threads: their number.
    """

    def __init__(
        self,
        compiling: CompilationQueue,
        source: Source,
        built: Future[Path],
        team: Future[Path],
        threads: int,
    ) -> None:
        self._compiling, self._source, self._built = compiling, source, built
        self._names, self._team = ParameterNames(source), team
        self._parameters = tuple(source.parameters.values()) if source.generic else ()
        self.threads = threads

    @cached_property
    def _library(self) -> ctypes.CDLL:
        path, team = self._built.result(), thread_team(self._team.result())
        library = _load_copy(path) if self._parameters else ctypes.CDLL(str(path))
        if self._parameters:
            library.set_parameters(np.array(self._parameters, np.float64).ctypes)
        if hasattr(library, "set_thread_team"):
            library.set_thread_team(ctypes.byref(team))
        return library

    def _load(self, name: str) -> Callable[..., None]:
        function = getattr(self._library, name)
        function.restype = None
        return function

    def resize_team(self) -> None:
        """Let teams of this number of threads run the kernels that this thread launches."""
        thread_team(self._team.result()).resize(self.threads)
        TEAM.size = self.threads

    def launch(
        self, name: str, extent: Extent, /, *arguments: KernelArgument, **named: KernelArgument
    ) -> Launch:
        given = self._names.in_order(name, arguments, named)
        function = self._compiling.function(self._built, lambda: self._load(name))
        return CpuLaunch(function, self, self._source, name, extent, given)


class CpuEvent:
    """A point in time, since the CPU runs launches synchronously."""

    def __init__(self) -> None:
        self._time = time.perf_counter()

    def wait(self) -> None:
        """Do nothing, as no work is ever pending."""

    def is_done(self) -> bool:
        return True

    def seconds_since(self, earlier: CpuEvent) -> float:
        return self._time - earlier._time


class CpuBackend(Backend):
    """The CPU.

    Args:
        threads: number of threads; by default OMP_NUM_THREADS, or one per available core.
    """

    name = "cpu"
    vector_length = 16
    on_host = True
    has_bulk_copy = False
    shared_bytes_per_block = 1 << 30
    sharing_mechanism = "shared memory"

    def __init__(self, kernel_cache: KernelCache | None = None, threads: int | None = None) -> None:
        self._cache = kernel_cache or KernelCache(default_folder())
        self._allocated = 0
        self.cores = self.processors = threads or default_threads()
        self.cache_bytes = host_cache(os.sched_getaffinity(0))
        self.device = f"{_processor()['name']}, {counted(self.cores, 'thread')}"

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        raw = np.zeros(size + PAGE + READABLE_BYTES, np.uint8)
        self._allocated += 1
        start = (self._allocated * STAGGER - raw.ctypes.data) % PAGE
        return raw[start : start + size].view(dtype).reshape(shape)

    def to_device(self, host: HostArray) -> DeviceArray:
        array = self.zeros(host.shape, host.dtype)
        array[...] = host
        return array

    def assign(self, target: DeviceArray, values: DeviceArray) -> None:
        target[...] = values

    def to_host(self, array: DeviceArray, after: Event | None = None) -> HostArray:
        return np.array(array)

    def build(self, source: Source) -> Path:
        text = source.generic_text() if source.generic else source.text()
        compiler = _compiler()
        key = digest(text, *FLAGS, _version(compiler), _processor()["features"])
        return self._cache.get(f"{key}.so", lambda out: _build(compiler, text, out))

    def compile(self, source: Source) -> CpuModule:
        return self.modules.get(source, lambda: self._module(source))

    def _module(self, source: Source) -> CpuModule:
        built = self.compiling.submit(lambda: self.build(source))
        return CpuModule(self.compiling, source, built, self._team, self.cores)

    @cached_property
    def _team(self) -> Future[Path]:
        """The library of the threads; see threads.py."""
        return self.compiling.submit(lambda: self.build(team_source()))

    def real_transform(
        self, shape: tuple[int, ...], dtype: DTypeLike, *, axes: int | None = None
    ) -> CpuTransform:
        return CpuTransform(shape, self.cores, axes)

    def cosine_transform(self) -> CpuCosineTransform:
        return CpuCosineTransform(self.cores)

    def for_each_part(self, work: Callable[[slice], None], shape: Sequence[int]) -> None:
        for_each(work, chunks(shape[0], prod(shape[1:])))

    def capture(self, sequence: Callable[[], None], *, in_graph: bool = True) -> Graph:
        return EagerGraph(sequence)

    def record_event(self) -> CpuEvent:
        return CpuEvent()

    def add_poll_callback(self, callback: Callable[[], None]) -> Callable[[], None]:
        return lambda: None  # the host never waits

    def synchronize(self) -> None:
        """Do nothing, as launches are synchronous."""

    def address(self, array: DeviceArray) -> int:
        return int(array.ctypes.data)

    def pinned_bytes(self, size: int) -> NDArray[np.uint8]:
        return np.asarray(self.zeros((size,), np.uint8))

    def copy_bytes(self, target: int, source: int, size: int) -> Launch:
        arguments = (target, source, size)
        return HostCall("copy_bytes", ctypes.memmove, *arguments, extent=f"{size:,} bytes")

    def allocate_shared(self, size: int) -> CpuSharedMemory:
        try:
            return CpuSharedMemory.allocate(size)
        except (OSError, AttributeError) as error:
            raise BackendError(f"processes cannot share memory: {error}") from error

    def attach_handle(self, handle: MemoryHandle) -> CpuSharedMemory:
        try:
            return CpuSharedMemory.attach(*handle)
        except OSError as error:
            raise BackendError(f"memory of process {handle[0]} cannot be used: {error}") from error

    def memory_info(self) -> tuple[int, int]:
        return host_memory()

    def versions(self) -> dict[str, str]:
        return {"compiler": _version(_compiler())}


def _load_copy(library: Path) -> ctypes.CDLL:
    """Load a copy of a library: the loader would give two modules of one file the same variables.

    The copy lies beside the library, where shared libraries may be loaded from.
    """
    folder = library.parent if os.access(library.parent, os.W_OK) else None
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".", suffix=library.suffix) as copy:
        shutil.copyfile(library, copy.name)
        return ctypes.CDLL(copy.name)


def _argument(value: KernelArgument) -> ctypes.c_int64 | ctypes.c_void_p:
    if isinstance(value, (int, np.integer)):
        return ctypes.c_int64(int(value))
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    raise TypeError(f"a kernel takes arrays and integers, not {type(value).__name__}")


@cache
def _compiler() -> str:
    for candidate in (os.environ.get("CXX"), "g++", "clang++"):
        if candidate and (found := shutil.which(candidate)):
            return found
    raise BackendError(NO_COMPILER)


@cache
def _version(compiler: str) -> str:
    shown = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return shown.stdout.splitlines()[0] if shown.stdout else compiler


@cache
def _processor() -> dict[str, str]:
    """Name and features of the processor; -march=native depends on the features."""
    found = {"name": platform.processor() or platform.machine(), "features": platform.machine()}
    if (info := Path("/proc/cpuinfo")).exists():
        for line in info.read_text().split("\n\n")[0].splitlines():
            label, _, value = (part.strip() for part in line.partition(":"))
            found |= {"model name": {"name": value}, "flags": {"features": value}}.get(label, {})
    return found


def _build(compiler: str, text: str, out: Path) -> None:
    command = [compiler, *FLAGS, "-x", "c++", "-", "-o", str(out)]
    with compilations.counted():
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BackendError(f"{compiler} could not compile a kernel:\n{done.stderr.strip()}")
