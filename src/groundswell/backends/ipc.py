"""GPU memory that several processes of a host use: CUDA IPC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from groundswell.errors import BackendError


class CudaShared:
    """Memory of this or another process' GPU, mapped here.

    Attributes:
        address: of its first byte, here.
        handle: what other processes map it by.
    """

    def __init__(self, address: int, handle: bytes, close: Callable[[], None]) -> None:
        self.address, self.handle = address, handle
        self._close: Callable[[], None] | None = close

    def close(self) -> None:
        """Let go of it."""
        if self._close is not None:
            self._close()
        self._close = None


class Mapped:
    """What one process shares and has mapped; memory of another one is mapped once at a time."""

    def __init__(self, cupy: Any) -> None:
        self._runtime = cupy.cuda.runtime
        self._users: dict[bytes, int] = {}
        self._addresses: dict[bytes, int] = {}

    def new(self, size: int) -> CudaShared:
        """Zeroed memory of at least one byte, not from CuPy's pool, which hands out parts."""
        runtime, size = self._runtime, max(size, 1)
        address = runtime.malloc(size)
        runtime.memset(address, 0, size)
        runtime.deviceSynchronize()
        return CudaShared(address, self._handle(address), lambda: runtime.free(address))

    def export(self, address: int) -> tuple[bytes, int]:
        """A handle for the allocation around an address, and the address' offset in it.

        Raises:
            BackendError: memory from cudaMallocAsync or managed memory, which has no handle.
        """
        from cuda.bindings import driver

        error, base, _ = driver.cuMemGetAddressRange(address)
        if error != driver.CUresult.CUDA_SUCCESS:
            raise BackendError(f"address {address:#x} is not of a GPU's memory ({error.name})")
        return self._handle(int(base)), address - int(base)

    def attach(self, handle: bytes) -> CudaShared:
        """Memory of another process.

        Raises:
            BackendError: the GPUs cannot reach each other, or the other process has ended.
        """
        if not self._users.get(handle):
            try:
                self._addresses[handle] = self._runtime.ipcOpenMemHandle(handle)
            except self._runtime.CUDARuntimeError as error:
                raise BackendError(
                    f"another process' GPU memory is out of reach: {error}"
                ) from error
        self._users[handle] = self._users.get(handle, 0) + 1
        return CudaShared(self._addresses[handle], handle, lambda: self._release(handle))

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
