"""Strided copies of boxes by one call of NumPy or CUDA instead of a kernel."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from groundswell.arrays import HostArray
from groundswell.backends import Backend, Launch
from groundswell.backends.launch import HostCall
from groundswell.errors import BackendError, RunFailed

MAX_AXES = 3
DTYPES = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}  # NumPy types by item size

Shape = tuple[int, ...]
Strides = tuple[int, ...]  # bytes between neighbours along each axis
StridedPointer = tuple[int, Strides]  # address and strides of a box


def copy_box(
    backend: Backend, shape: Shape, target: StridedPointer, source: StridedPointer
) -> Launch:
    """A launch that enqueues one strided copy of a box by a library call, not a kernel.

    Args:
        shape: number of values along each axis, at most 3 axes.
        target, source: address, and stride along each axis in bytes. The last stride must be
            the size of a value.

    Raises:
        BackendError: the rows of a box are not contiguous.
    """
    require_contiguous_rows(shape, target, source)
    if not backend.on_host:
        stream: Any = backend
        return cuda_copy(shape, target, source, lambda: int(stream.stream.ptr))
    to, values = host_view(shape, *target), host_view(shape, *source)
    return HostCall("copy_box", np.copyto, to, values, reads=(values,), writes=(to,))


def require_contiguous_rows(shape: Shape, *boxes: StridedPointer) -> None:
    """Check that boxes have contiguous rows and the same item size.

    Raises:
        BackendError: they do not, or they have more than three axes.
    """
    sizes = {strides[-1] for _, strides in boxes}
    if len(shape) > MAX_AXES or len(sizes) > 1 or sizes.isdisjoint(DTYPES):
        strides = " and ".join(str(strides) for _, strides in boxes)
        raise BackendError(
            f"a box of shape {shape} with strides of {strides} bytes cannot be copied in one call: "
            f"it needs contiguous rows and at most {MAX_AXES} axes"
        )


def host_view(shape: Shape, address: int, strides: Strides) -> HostArray:
    """A box in host memory as an array."""
    extent = sum((n - 1) * step for n, step in zip(shape, strides, strict=True)) + strides[-1]
    memory = (ctypes.c_char * extent).from_address(address)
    return np.ndarray(shape, DTYPES[strides[-1]], memoryview(memory), 0, strides)


def cuda_copy(
    shape: Shape, target: StridedPointer, source: StridedPointer, stream: Callable[[], int]
) -> Launch:
    """A launch that enqueues cuMemcpy3DAsync between two boxes in host or device memory.

    Args:
        stream: returns the handle of the stream to use.

    Raises:
        BackendError: the stride of planes is not a multiple of the stride of rows.
    """
    from cuda.bindings import driver

    planes, rows, length = (1,) * (MAX_AXES - len(shape)) + shape
    box = driver.CUDA_MEMCPY3D()
    box.WidthInBytes, box.Height, box.Depth = length * source[1][-1], rows, planes
    box.srcMemoryType = box.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_UNIFIED
    box.srcDevice, box.dstDevice = source[0], target[0]
    box.srcPitch, box.srcHeight = _pitch(shape, source[1])
    box.dstPitch, box.dstHeight = _pitch(shape, target[1])

    def run() -> None:
        (error,) = driver.cuMemcpy3DAsync(box, stream())
        if error != driver.CUresult.CUDA_SUCCESS:
            raise RunFailed(f"the GPU could not copy a box of shape {shape} ({error.name})")

    size = length * rows * planes * source[1][-1]
    return HostCall("copy_box", run, extent=f"{size:,} bytes")


def _pitch(shape: Shape, strides: Strides) -> tuple[int, int]:
    """Bytes between rows and rows between planes; values for a contiguous box on missing axes."""
    row = strides[-2] if len(shape) > 1 else shape[-1] * strides[-1]
    plane = strides[-3] if len(shape) == MAX_AXES else row * (shape[-2] if len(shape) > 1 else 1)
    if plane % row:
        raise BackendError(
            f"the stride of planes, {plane} bytes, is not a multiple of that of rows, {row} bytes"
        )
    return row, plane // row
