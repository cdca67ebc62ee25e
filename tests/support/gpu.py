"""Whether there are GPUs to test on."""

from __future__ import annotations


def gpu_count() -> int:
    """CUDA devices that this process could use."""
    try:
        import cupy

        return int(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # no CuPy, no driver, no device: there is nothing to test on
        return 0
