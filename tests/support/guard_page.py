"""Arrays that end before a guard page: one byte read or written too many ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.backends.cpu import READABLE_BYTES, CpuBackend

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def guarded(host: NDArray[Any], readable: int = 0) -> NDArray[Any]:
    """A copy of an array that ends at the end of its memory.

    Args:
        readable: number of bytes between the array and the guard page; as floats, they are NaN.
    """
    size = -(-(host.nbytes + readable) // mmap.PAGESIZE) * mmap.PAGESIZE
    raw = np.frombuffer(mmap.mmap(-1, size + mmap.PAGESIZE), np.uint8)
    end = size - readable
    raw[end:size] = 0xFF
    if _LIBC.mprotect(raw.ctypes.data + size, mmap.PAGESIZE, 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    array = raw[end - host.nbytes : end].view(host.dtype).reshape(host.shape)
    array[...] = host
    return array


class GuardedBackend(CpuBackend):
    """A CPU on which a kernel that reads beyond the READABLE_BYTES of an array ends the process."""

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Zeros with NaN beyond the end."""
        return guarded(np.zeros(shape, dtype), READABLE_BYTES)
