"""Boxes of values copied by one call of a library, instead of a kernel of ours."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import BackendError, RunFailed

if TYPE_CHECKING:
    from groundswell.backends.base import Launch

AXES = 3
WORDS = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}  # NumPy's types of so many bytes

Steps = tuple[int, ...]  # bytes between neighbours along each axis
Ends = tuple[int, Steps]  # address and steps of a box


def require_rows(shape: Steps, *ends: Ends) -> None:
    """See that boxes are made of contiguous rows of the same values.

    Raises:
        BackendError: they are not, or have more than three axes.
    """
    sizes = {steps[-1] for _, steps in ends}
    if len(shape) > AXES or len(sizes) > 1 or sizes.isdisjoint(WORDS):
        raise BackendError(
            f"a box of {shape} values, {' and '.join(str(steps) for _, steps in ends)} bytes apart,"
            f" cannot be copied in one call: it needs contiguous rows and at most {AXES} axes"
        )


def view(shape: Steps, address: int, steps: Steps) -> NDArray[Any]:
    """A box of host memory as an array."""
    extent = sum((n - 1) * step for n, step in zip(shape, steps, strict=True)) + steps[-1]
    memory = (ctypes.c_char * extent).from_address(address)
    return np.ndarray(shape, WORDS[steps[-1]], memoryview(memory), 0, steps)


def cuda_copy(shape: Steps, target: Ends, source: Ends, stream: Callable[[], int]) -> Launch:
    """A call that enqueues cuMemcpy3DAsync between addresses of any memory that CUDA knows.

    Raises:
        BackendError: planes that are not a whole number of rows apart.
    """
    from cuda.bindings import driver

    planes, rows, length = (1,) * (AXES - len(shape)) + shape
    box = driver.CUDA_MEMCPY3D()
    box.WidthInBytes, box.Height, box.Depth = length * source[1][-1], rows, planes
    box.srcMemoryType = box.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_UNIFIED
    box.srcDevice, box.dstDevice = source[0], target[0]
    box.srcPitch, box.srcHeight = _pitch(shape, source[1])
    box.dstPitch, box.dstHeight = _pitch(shape, target[1])

    def run() -> None:
        (error,) = driver.cuMemcpy3DAsync(box, stream())
        if error != driver.CUresult.CUDA_SUCCESS:
            raise RunFailed(f"the GPU refused to copy a box of {shape} values ({error.name})")

    return run


def _pitch(shape: Steps, steps: Steps) -> tuple[int, int]:
    """Bytes between rows, and rows between planes, as far as there are any."""
    row = steps[-2] if len(shape) > 1 else shape[-1] * steps[-1]
    plane = steps[-3] if len(shape) == AXES else row * (shape[-2] if len(shape) > 1 else 1)
    if plane % row:
        raise BackendError(f"planes {plane} bytes apart are not a whole number of rows of {row}")
    return row, plane // row
