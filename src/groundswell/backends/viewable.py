"""Which arrays and types of values can be viewed as arrays of a device."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray, HostArray
from groundswell.errors import InputError

ITEM_SIZES = (1, 2, 4, 8, 16)  # bytes per value that kernels can copy
DLPACK_HOST = (1, 3)  # DLPack device types of host memory: kDLCPU and kDLCUDAHost (pinned)
SUPPORTED = "NumPy, CuPy, PyTorch, JAX, or anything with DLPack or an array interface"
# Errors that libraries raise if they cannot provide a view.
VIEW_ERRORS = (AttributeError, BufferError, KeyError, RuntimeError, TypeError, ValueError)


def is_immutable(array: object) -> bool:
    """Whether the library's arrays are immutable, as those of JAX are."""
    return library_of(type(array)) in ("jax", "jaxlib")


def require_values(array: object) -> None:
    """Raise InputError for traced arrays, which have no values, arrays with gradients and lists."""
    if isinstance(array, list | tuple):
        raise InputError(
            f"a {type(array).__name__} is not a supported array; give one of {SUPPORTED}, and each "
            "of several arrays as an argument of its own"
        )
    if is_immutable(array) and any(kind.__name__ == "Tracer" for kind in type(array).__mro__):
        raise InputError(
            f"{name_of(array)} is traced: ghost layers cannot be exchanged inside jax.jit or "
            "jax.grad; jit the work between two exchanges instead"
        )
    if getattr(array, "requires_grad", False):
        raise InputError(
            f"{name_of(array)} requires gradients, but an exchange has none; give its detach()"
        )


def as_dtype(given: DTypeLike) -> np.dtype:
    """The type that NumPy knows by this name; `object`, which is not supported, if none."""
    try:
        return np.dtype(given)
    except (TypeError, ValueError):
        return np.dtype(object)


def is_supported_dtype(dtype: np.dtype) -> bool:
    """Whether values of a type are plain numbers of a size that kernels can copy."""
    plain = not (dtype.hasobject or dtype.names or dtype.subdtype)
    return plain and dtype.itemsize in ITEM_SIZES


def value_type(given: DTypeLike) -> np.dtype:
    """The type of values."""
    dtype = as_dtype(given)
    if not is_supported_dtype(dtype):
        raise InputError(
            f"dtype = {given!r}: give a type of plain numbers that NumPy knows, such as "
            f'"float32", of {", ".join(map(str, ITEM_SIZES))} bytes each; for others, such as '
            "bfloat16 of PyTorch, integers of the same size"
        )
    return dtype


def require_supported(name: str, array: DeviceArray) -> None:
    dtype = array.dtype
    if not is_supported_dtype(dtype):
        raise InputError(
            f"{name} has values of type {dtype}, {dtype.itemsize} bytes each; allowed are plain "
            f"numbers of {', '.join(map(str, ITEM_SIZES))} bytes"
        )
    axes = zip(array.shape, array.strides, strict=True)
    if array.size and any(n > 1 and step == 0 for n, step in axes):
        raise InputError(
            f"{name} of shape {tuple(array.shape)} repeats values by strides of 0; copy it"
        )


def numpy_view(array: object) -> HostArray:
    if on_gpu(array):
        raise InputError(
            f'{name_of(array)} lies on a GPU, but device="cpu" was requested; use device="cuda", '
            "or copy the array to the host"
        )
    if hasattr(array, "__array_interface__") or is_immutable(array):
        return np.asarray(array)
    if not hasattr(array, "__dlpack__"):
        raise InputError(f"{name_of(array)} is not a supported array; give one of {SUPPORTED}")
    try:
        imported = np.from_dlpack(array)
        # NumPy before 2.1 marks all arrays imported by DLPack as read-only.
        writable = imported if imported.flags.writeable else np.asarray(array)
    except VIEW_ERRORS as error:
        raise view_error(array, error) from error
    return writable if writable.ctypes.data == imported.ctypes.data else imported


def on_gpu(array: object) -> bool:
    device = getattr(array, "__dlpack_device__", None)
    if device is None:
        return hasattr(array, "__cuda_array_interface__")
    try:
        return device()[0] not in DLPACK_HOST
    except VIEW_ERRORS as error:
        raise view_error(array, error) from error


def view_error(array: object, error: Exception) -> InputError:
    reason = str(error).strip().partition("\n")[0].rstrip(".")
    return InputError(
        f"{name_of(array)} cannot be viewed ({reason}); allowed: {SUPPORTED}. For types that NumPy "
        "and CuPy lack, such as bfloat16, give a view as integers of the same size"
    )


def name_of(array: object) -> str:
    kind = type(array)
    return f"{library_of(kind)}.{kind.__name__}"


def library_of(kind: type) -> str:
    return kind.__module__.partition(".")[0]
