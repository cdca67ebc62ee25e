"""Arrays that end at a guard page: one byte read or written too many ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def guarded(host: NDArray[Any]) -> NDArray[Any]:
    """A copy of an array that ends at the end of its memory."""
    size = -(-host.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    raw = np.frombuffer(mmap.mmap(-1, size + mmap.PAGESIZE), np.uint8)
    if _LIBC.mprotect(raw.ctypes.data + size, mmap.PAGESIZE, 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    array = raw[size - host.nbytes : size].view(host.dtype).reshape(host.shape)
    array[...] = host
    return array
