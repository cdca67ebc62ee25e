"""Compiled CUDA sources and launches of their kernels."""

from __future__ import annotations

from concurrent.futures import Future
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.backends.base import debugging
from groundswell.backends.compilation import CompilationQueue, LazyFunction
from groundswell.backends.launch import Blocks, Cells, Extent, KernelArgument, KernelLaunch, Launch
from groundswell.backends.named_arguments import ParameterNames
from groundswell.backends.source import Source
from groundswell.backends.streams import Streams
from groundswell.errors import BackendError, RunFailed

if TYPE_CHECKING:
    import cupy

CELL_BLOCK = (32, 2, 2)  # threads of a block along x, y and z
PLANE_BLOCK = (64, 4, 1)  # the same for a single plane
ITEM_BLOCK = 128  # threads of a block for FOR_ITEMS
DEFAULT_SHARED_BYTES = 48 * 1024  # a kernel that uses more has to request it
GRID_LIMIT = (2**31 - 1, 65535, 65535)


class CudaLaunch(KernelLaunch):
    """A kernel that a call enqueues in the current stream of its module."""

    __slots__ = ("_block", "_function", "_grid", "_module", "_shared", "_streams")

    def __init__(self, module: CudaModule, shared: int, *described: Any) -> None:
        super().__init__(*described)
        self._module, self._streams, self._shared = module, module.streams, shared
        self._grid, self._block = geometry(self.extent)
        self._function = module.function(self.name, shared)

    @staticmethod
    def _convert(argument: KernelArgument) -> KernelArgument:
        return np.int64(argument) if isinstance(argument, int) else argument

    def __call__(self) -> None:
        self._streams.launch_count += 1
        with self._streams.current as stream:
            kernel = self._function.loaded
            kernel(self._grid, self._block, self._converted, shared_mem=self._shared)
            if self._module.checked:
                self._module.check(self.name, stream)


class CudaModule:
    """A cubin, loaded when the first of its kernels is.

    Args:
        source: the source.
        built: path of the cubin.

    Attributes:
        streams: the streams of the backend.
        checked: whether each launch waits for its kernel and checks it.
    """

    def __init__(
        self,
        cupy: ModuleType,
        compiling: CompilationQueue,
        source: Source,
        built: Future[Path],
        streams: Streams,
    ) -> None:
        self._cupy, self._compiling, self._source, self._built = cupy, compiling, source, built
        self._names = ParameterNames(source)
        self.streams, self.checked = streams, debugging()

    @cached_property
    def _module(self) -> cupy.RawModule:
        return self._cupy.RawModule(path=str(self._built.result()))

    def _load(self, name: str, shared_bytes: int) -> cupy.RawKernel:
        function = self._module.get_function(name)
        if shared_bytes + function.shared_size_bytes > DEFAULT_SHARED_BYTES:
            function.max_dynamic_shared_size_bytes = shared_bytes
        return function

    def function(self, name: str, shared_bytes: int) -> LazyFunction:
        """A kernel with this amount of dynamic shared memory."""
        return self._compiling.function(self._built, lambda: self._load(name, shared_bytes))

    def launch(
        self, name: str, extent: Extent, /, *arguments: KernelArgument, **named: KernelArgument
    ) -> Launch:
        shared = extent.shared_bytes if isinstance(extent, Blocks) else 0
        given = self._names.in_order(name, arguments, named)
        return CudaLaunch(self, shared, self._source, name, extent, given)

    def check(self, name: str, stream: cupy.cuda.Stream) -> None:
        """Wait for a kernel in a stream; raises RunFailed if it failed."""
        try:
            stream.synchronize()
        except self._cupy.cuda.runtime.CUDARuntimeError as error:
            raise RunFailed(f"kernel {name} failed: {error}") from error


def geometry(extent: Extent) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Grid and block dimensions of a launch.

    Raises:
        BackendError: the extent needs more blocks than a launch can have.
    """
    match extent:
        case Cells(nx, ny, nz, band):
            block: tuple[int, ...] = CELL_BLOCK if nz > 1 else PLANE_BLOCK
            x, y, z = (-(-n // b) for n, b in zip((nx, ny, nz), block, strict=True))
            high = _blocks_of_a_band(band, block[1], y, z)
            grid: tuple[int, ...] = (x, high, z * -(-y // high))
        case Blocks(count, threads, _):
            grid, block = (max(count, 1),), (threads,)
        case _:
            grid, block = (max(-(-extent.count // ITEM_BLOCK), 1),), (ITEM_BLOCK,)
    if any(n > limit for n, limit in zip(grid, GRID_LIMIT, strict=False)):
        raise BackendError(f"a launch of {grid} blocks exceeds the device's limit {GRID_LIMIT}")
    return grid, block


def _blocks_of_a_band(rows: int, block: int, y: int, z: int) -> int:
    """Blocks of a band along y: all without bands, and enough for the limit of a grid.

    Args:
        rows: wanted number of rows; 0 without bands.
        block: rows of a block.
        y, z: blocks of all bands along y and z.
    """
    least = -(-y // max(GRID_LIMIT[2] // z, 1))
    return min(max(-(-rows // block), least), y) if rows else y
