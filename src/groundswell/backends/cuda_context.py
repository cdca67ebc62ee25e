"""Creates the context of a GPU in the background, which takes about half a second."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from threading import Thread


def start_context() -> Thread:
    """Create the primary context of the first visible GPU, which CuPy uses, in another thread.

    The caller can import modules meanwhile. Errors are left to whoever uses the GPU.
    """
    thread = Thread(target=_create_context, name="CUDA context", daemon=True)
    thread.start()
    return thread


def _create_context() -> None:
    """Calls of the driver API, in which other Python threads run."""
    with suppress(OSError, AttributeError):  # there is no driver
        driver = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), 0):
            return
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
