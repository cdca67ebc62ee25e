"""GPU memory shared between processes of a host by CUDA IPC."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from groundswell.errors import BackendError

MEMORY_ALLOCATION = 2  # cudaErrorMemoryAllocation


class CudaSharedMemory:
    """GPU memory of this or another process, mapped into this process.

    Attributes:
        address: of the first byte, in this process.
        handle: IPC handle, with which other processes map the memory.
    """

    def __init__(self, address: int, handle: bytes, close: Callable[[], None]) -> None:
        self.address, self.handle = address, handle
        self._close: Callable[[], None] | None = close

    def close(self) -> None:
        """Free the memory, or unmap it if it belongs to another process."""
        if self._close is not None:
            self._close()
        self._close = None


class IpcMemory:
    """IPC memory of this process, and memory of other processes that it has mapped.

    CUDA maps a handle only once in a process, so mappings are counted.
    """

    def __init__(self, cupy: ModuleType) -> None:
        self._runtime = cupy.cuda.runtime
        self._users: dict[bytes, int] = {}
        self._addresses: dict[bytes, int] = {}

    def allocate(self, size: int) -> CudaSharedMemory:
        """Zeroed memory of at least one byte. CuPy's pool returns parts of allocations instead.

        Raises:
            MemoryError: the GPU has no room.
        """
        runtime, size = self._runtime, max(size, 1)
        try:
            address = runtime.malloc(size)
        except runtime.CUDARuntimeError as error:
            if error.status != MEMORY_ALLOCATION:
                raise
            raise MemoryError(f"{size} bytes of GPU memory") from error
        runtime.memset(address, 0, size)
        runtime.deviceSynchronize()
        return CudaSharedMemory(address, self._handle(address), lambda: runtime.free(address))

    def export_handle(self, address: int) -> tuple[bytes, int]:
        """A handle for the allocation that contains an address, and the address's offset in bytes.

        Raises:
            BackendError: the memory is managed or from cudaMallocAsync, and so has no handle.
        """
        from cuda.bindings import driver

        error, base, _ = driver.cuMemGetAddressRange(address)
        if error != driver.CUresult.CUDA_SUCCESS:
            raise BackendError(f"address {address:#x} is not in GPU memory ({error.name})")
        return self._handle(int(base)), address - int(base)

    def attach_handle(self, handle: bytes) -> CudaSharedMemory:
        """Map memory of another process.

        Raises:
            BackendError: the GPUs cannot access each other, or the other process has ended.
        """
        if not self._users.get(handle):
            try:
                self._addresses[handle] = self._runtime.ipcOpenMemHandle(handle)
            except self._runtime.CUDARuntimeError as error:
                raise BackendError(
                    f"GPU memory of another process cannot be mapped: {error}"
                ) from error
        self._users[handle] = self._users.get(handle, 0) + 1
        return CudaSharedMemory(self._addresses[handle], handle, lambda: self._release(handle))

    def _release(self, handle: bytes) -> None:
        self._users[handle] -= 1
        if not self._users[handle]:
            self._runtime.ipcCloseMemHandle(self._addresses.pop(handle))

    def _handle(self, address: int) -> bytes:
        try:
            return bytes(self._runtime.ipcGetMemHandle(address))
        except self._runtime.CUDARuntimeError as error:
            raise BackendError(
                f"this GPU memory cannot be shared with other processes ({error}); it must come "
                "from cudaMalloc"
            ) from error
