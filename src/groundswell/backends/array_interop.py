"""Arrays and streams of other libraries: NumPy, CuPy, PyTorch, JAX, DLPack and array interfaces.

We view arrays in place and never copy them silently: an array that cannot be viewed is an error.
Events on the device order our stream and the user's streams, so the host does not wait.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends.base import Backend
from groundswell.backends.viewable import (
    VIEW_ERRORS,
    is_immutable,
    library_of,
    name_of,
    numpy_view,
    on_gpu,
    require_supported,
    require_values,
    view_error,
)
from groundswell.errors import InputError

if TYPE_CHECKING:
    import cupy

StreamHandles = tuple[int, ...]  # of CUDA streams


def as_array(backend: Backend, array: object) -> DeviceArray:
    """A NumPy or CuPy view of another library's array. The view keeps the memory alive.

    Args:
        array: an array of NumPy, CuPy or PyTorch, or an object with DLPack, `__array_interface__`
            or `__cuda_array_interface__`; any shape and strides.

    Raises:
        InputError: the object is not an array, or the array is read-only, on another device or
            requires gradients, or its type is not supported.
    """
    return array_interop(backend).view(array)


def is_foreign(array: object) -> bool:
    """Whether it is an array of another library than NumPy, in the host's or a GPU's memory."""
    if isinstance(array, np.ndarray | np.generic):
        return False
    return any(hasattr(array, name) for name in ("__dlpack__", "__cuda_array_interface__"))


def as_numpy(array: Any) -> HostArray:
    """The values of an array of any library, on the host: a view where they are there."""
    for name in ("detach", "cpu", "get"):  # of PyTorch and CuPy
        array = getattr(array, name)() if hasattr(array, name) else array
    return np.asarray(array)


class ArrayInterop(ABC):
    """Access of a backend to the arrays and streams of its user."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def view(self, array: object, *, writable: bool = True) -> DeviceArray:
        """A view as of `as_array`; read-only arrays are allowed if `writable` is False."""
        require_values(array)
        view, is_read_only = self._view(array)
        if is_read_only and writable:
            raise InputError(f"{name_of(array)} is read-only; give an array that can be written")
        require_supported(name_of(array), view)
        return view

    @abstractmethod
    def _view(self, array: object) -> tuple[DeviceArray, bool]:
        """The view, and whether it is read-only."""

    @abstractmethod
    def zeros(self, shape: Sequence[int], dtype: DTypeLike) -> DeviceArray:
        """A zeroed array, ordered in the user's current stream."""

    @abstractmethod
    def to_device(self, host: HostArray) -> DeviceArray:
        """A copy of a host array on the device, ordered in the user's current stream."""

    @abstractmethod
    def copy_from_view(self, target: DeviceArray, view: DeviceArray) -> None:
        """Copy a view of an immutable array into an array of the backend."""

    @abstractmethod
    def to_jax(self, array: DeviceArray) -> object:
        """A JAX array with the values of an array of the backend."""

    def give(self, array: DeviceArray, like: object) -> object:
        """An array of the backend as one of the library of another: in place, for JAX a copy."""
        if is_immutable(like):
            return self.to_jax(array)
        if library_of(type(like)) == "torch":
            return import_module("torch").from_dlpack(array)
        return array

    def computing(self) -> AbstractContextManager[object]:
        """A context in which operations on arrays are ordered with the backend's launches."""
        return nullcontext()

    @abstractmethod
    def user_streams(self, stream: object, arrays: Iterable[object]) -> StreamHandles:
        """The user's streams: the given one, or the current streams of the arrays' libraries.

        Raises:
            InputError: `stream` is not a CUDA stream, or the backend has no streams.
        """

    def wait_for_user(self, streams: StreamHandles) -> None:  # noqa: B027, a CPU has no streams
        """Let later launches wait for all work in the user's streams."""

    def make_user_wait(self, streams: StreamHandles) -> None:  # noqa: B027, a CPU has no streams
        """Let later work in the user's streams wait for all launches so far."""

    def is_capturing(self, streams: StreamHandles) -> bool:
        """Whether a CUDA graph is being captured in one of the user's streams."""
        return False

    def synchronize_device(self) -> None:  # noqa: B027, as above
        """Wait for all work on the device, also that of other libraries."""


class HostInterop(ArrayInterop):
    """Interoperation on the CPU, which has no streams: all calls are synchronous."""

    def _view(self, array: object) -> tuple[DeviceArray, bool]:
        view = array if isinstance(array, np.ndarray) else numpy_view(array)
        return view, not view.flags.writeable

    def zeros(self, shape: Sequence[int], dtype: DTypeLike) -> DeviceArray:
        return self._backend.zeros(tuple(shape), dtype)

    def to_device(self, host: HostArray) -> DeviceArray:
        return host

    def copy_from_view(self, target: DeviceArray, view: DeviceArray) -> None:
        np.copyto(target, view)

    def to_jax(self, array: DeviceArray) -> object:
        return import_module("jax.numpy").array(array, copy=True)

    def user_streams(self, stream: object, arrays: Iterable[object]) -> StreamHandles:
        if stream is not None:
            raise InputError(f"stream = {stream!r}: the CPU has no streams; leave it out")
        return ()


class CudaInterop(ArrayInterop):
    """Interoperation on a GPU: events order the backend's stream and the user's streams."""

    def __init__(self, backend: Backend) -> None:
        import cupy

        super().__init__(backend)
        self._cupy, self._runtime = cupy, cupy.cuda.runtime
        allocated: cupy.ndarray = backend.zeros((1,), np.uint8)
        self._device = int(allocated.device.id)
        # Views that copies may still be reading, each with an event after the copy.
        self._in_flight: deque[tuple[cupy.cuda.Event, DeviceArray]] = deque()

    @property
    def _stream(self) -> cupy.cuda.Stream:
        return self._backend.stream  # type: ignore[attr-defined]

    def _view(self, array: object) -> tuple[DeviceArray, bool]:
        if not isinstance(array, self._cupy.ndarray) and not on_gpu(array):
            raise InputError(
                f'{name_of(array)} lies in host memory, but device="cuda" was requested; move the '
                'array to the GPU, or use device="cpu"'
            )
        self._require_same_device(array)
        if isinstance(array, self._cupy.ndarray):
            return array, False
        return self._cupy_view(array)

    def _require_same_device(self, array: object) -> None:
        device = getattr(array, "__dlpack_device__", lambda: (2, self._device))()[1]
        if device != self._device:
            raise InputError(
                f"{name_of(array)} lies on GPU {device}, but this rank uses GPU {self._device}; "
                f'allocate it there, or use device="cuda:{device}"'
            )

    def _cupy_view(self, array: object) -> tuple[DeviceArray, bool]:
        try:
            interface = getattr(array, "__cuda_array_interface__", None)
            if interface is not None and not is_immutable(array):
                return self._interface_view(array, interface), bool(interface["data"][1])
            with self._stream:  # DLPack makes this stream wait for the array's pending work
                return self._cupy.from_dlpack(array), is_immutable(array)
        except VIEW_ERRORS as error:
            raise view_error(array, error) from error

    def _interface_view(self, array: object, interface: dict[str, Any]) -> DeviceArray:
        """The view that an array interface describes. CuPy's own import would synchronise."""
        shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
        strides = interface.get("strides")
        steps = strides or [dtype.itemsize * prod(shape[n + 1 :]) for n in range(len(shape))]
        size = sum((n - 1) * abs(s) for n, s in zip(shape, steps, strict=True)) + dtype.itemsize
        cuda = self._cupy.cuda
        memory = cuda.UnownedMemory(interface["data"][0], size, owner=array)
        return self._cupy.ndarray(shape, dtype, cuda.MemoryPointer(memory, 0), strides)

    def zeros(self, shape: Sequence[int], dtype: DTypeLike) -> DeviceArray:
        with self._device_context():
            return self._cupy.zeros(tuple(shape), dtype)

    def to_device(self, host: HostArray) -> DeviceArray:
        with self._device_context():
            return self._cupy.asarray(host)

    def copy_from_view(self, target: DeviceArray, view: DeviceArray) -> None:
        with self._stream:
            target[...] = view
        self._in_flight.append((self._record_event(self._stream.ptr), view))
        while self._in_flight[0][0].done and len(self._in_flight) > 1:
            self._in_flight.popleft()

    def to_jax(self, array: DeviceArray) -> object:
        with self._stream:
            return import_module("jax.dlpack").from_dlpack(array.copy())

    def _device_context(self) -> AbstractContextManager[object]:
        return self._cupy.cuda.Device(self._device)  # type: ignore[no-any-return]

    def user_streams(self, stream: object, arrays: Iterable[object]) -> StreamHandles:
        if stream is not None:
            return (stream_handle(stream),)
        return tuple({self._current_stream(array) for array in arrays})

    def _current_stream(self, array: object) -> int:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(array, torch.Tensor):
            return int(torch.cuda.current_stream(array.device).cuda_stream)
        return int(self._cupy.cuda.get_current_stream().ptr)

    def computing(self) -> AbstractContextManager[object]:
        return self._stream

    def wait_for_user(self, streams: StreamHandles) -> None:
        for handle in streams:
            event = self._record_event(handle)
            self._runtime.streamWaitEvent(self._stream.ptr, event.ptr)

    def make_user_wait(self, streams: StreamHandles) -> None:
        event = self._record_event(self._stream.ptr)
        for handle in streams:
            self._runtime.streamWaitEvent(handle, event.ptr)

    def is_capturing(self, streams: StreamHandles) -> bool:
        return any(self._runtime.streamIsCapturing(handle) for handle in streams)

    def synchronize_device(self) -> None:
        self._cupy.cuda.Device(self._device).synchronize()

    def _record_event(self, handle: int) -> cupy.cuda.Event:
        """Record a new event. Reusing one could change what an earlier wait depends on."""
        event = self._cupy.cuda.Event(disable_timing=True)
        self._runtime.eventRecord(event.ptr, handle)
        return event


def array_interop(backend: Backend) -> ArrayInterop:
    """The access of a backend to the arrays and streams of its user."""
    return (CudaInterop if backend.name == "cuda" else HostInterop)(backend)


def stream_handle(stream: object) -> int:
    """The CUDA handle of a stream.

    Args:
        stream: the handle itself, or a stream of CuPy, PyTorch, cuda.core or another library with
            `__cuda_stream__`.

    Raises:
        InputError: `stream` is not a CUDA stream.
    """
    handle = stream
    if protocol := getattr(stream, "__cuda_stream__", None):
        handle = (protocol() if callable(protocol) else protocol)[1]
    for name in ("cuda_stream", "ptr"):
        handle = getattr(stream, name, handle)
    if isinstance(handle, bool) or not isinstance(handle, int) or handle < 0:
        raise InputError(
            f"stream = {stream!r} is no CUDA stream; give one of CuPy, PyTorch or cuda.core, or "
            "its handle as a number"
        )
    return handle


# --- which arrays can be viewed -------------------------------------------------------------------
