"""Memory that processes of one host share, on a CPU."""

from __future__ import annotations

import ctypes
import mmap
import os
import weakref

# Python's own mmap objects keep another file descriptor open.
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class CpuSharedMemory:
    """Anonymous memory, which the system frees after its last user ends.

    Its owner keeps a file descriptor, by which others attach it.
    """

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor: int | None = descriptor
        self.address = _map_shared(descriptor, size)
        self.handle = (os.getpid(), descriptor, size)
        unmap = weakref.finalize(self, _LIBC.munmap, self.address, size)
        unmap.atexit = False  # exchanges that are under way when the program ends still use it

    @classmethod
    def allocate(cls, size: int) -> CpuSharedMemory:
        """Zeroed memory of at least one byte."""
        descriptor = os.memfd_create("groundswell")
        os.posix_fallocate(descriptor, 0, max(size, 1))
        return cls(descriptor, max(size, 1))

    @classmethod
    def attach(cls, process: int, descriptor: int, size: int) -> CpuSharedMemory:
        """The memory of another process, by its handle."""
        memory = cls(os.open(f"/proc/{process}/fd/{descriptor}", os.O_RDWR), size)
        memory.close()
        return memory

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor = None

    __del__ = close


def _map_shared(descriptor: int, size: int) -> int:
    """Map a file into memory that processes share; returns the address."""
    access = mmap.PROT_READ | mmap.PROT_WRITE
    address = _LIBC.mmap(None, size, access, mmap.MAP_SHARED, descriptor, 0)
    if address == ctypes.c_void_p(-1).value:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(address)
