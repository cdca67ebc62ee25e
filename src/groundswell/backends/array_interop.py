"""Arrays and streams of other libraries: NumPy, CuPy, PyTorch, JAX, and all that speak as they do.

Arrays are viewed where they lie and never copied behind the caller's back: what cannot be viewed is
refused. Streams are put in order by events on the device; the host waits for nothing.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.backends.base import Array, Backend
from groundswell.errors import InputError

SIZES = (1, 2, 4, 8, 16)  # bytes of the values that kernels move
DLPACK_HOST = (1, 3)  # device types of DLPack: host memory, and host memory that a GPU can reach
KNOWN = "NumPy, CuPy, PyTorch, JAX, or anything with DLPack or an array interface"

# What libraries raise when asked for a view that they cannot give.
REFUSALS = (AttributeError, BufferError, KeyError, RuntimeError, TypeError, ValueError)

Streams = tuple[int, ...]  # CUDA's handles


def as_array(backend: Backend, array: Any) -> Array:
    """A NumPy or CuPy view of another library's array, as the backend's kernels want it.

    Args:
        array: NumPy, CuPy, PyTorch, or anything with DLPack, `__array_interface__` or
            `__cuda_array_interface__`; any strides. Both share the memory, which the view keeps.

    Raises:
        InputError: it is read-only, on another device, needs gradients, or no array.
    """
    return visitors(backend).view(array)


def is_immutable(array: Any) -> bool:
    """Whether its library lets nobody write it: JAX."""
    return _root(type(array)) in ("jax", "jaxlib")


class Visitors(ABC):
    """What a backend does with arrays and streams that are not its own."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def view(self, array: Any, *, writable: bool = True) -> Array:
        """See `as_array`; `writable` False allows for read-only ones."""
        _require_values(array)
        found, frozen = self._found(array)
        if frozen and writable:
            raise InputError(f"{_name(array)} is read-only; give an array that can be written")
        _require_movable(_name(array), found)
        return found

    @abstractmethod
    def _found(self, array: Any) -> tuple[Array, bool]:
        """The view, and whether it must not be written."""

    @abstractmethod
    def zeros(self, shape: Sequence[int], dtype: DTypeLike) -> Array:
        """A zeroed array for the user, ready in the user's current stream."""

    @abstractmethod
    def place(self, host: NDArray[Any]) -> Array:
        """A copy of a host array for the user, ready in the user's current stream."""

    @abstractmethod
    def load(self, target: Array, view: Array) -> None:
        """Copy a view of what JAX holds into an array of ours."""

    @abstractmethod
    def jax(self, array: Array) -> Any:
        """A JAX array with the values of one of ours."""

    @abstractmethod
    def streams(self, stream: Any, arrays: Iterable[Any]) -> Streams:
        """The user's streams: the one given, else the current ones of the arrays' libraries.

        Raises:
            InputError: no stream of CUDA, or of no use here.
        """

    @abstractmethod
    def follow(self, streams: Streams) -> None:
        """Let coming launches wait for all that the user's streams hold now."""

    @abstractmethod
    def lead(self, streams: Streams) -> None:
        """Let what comes in the user's streams wait for all launches made so far."""

    @abstractmethod
    def settle(self) -> None:
        """Wait for all work on the device, whoever gave it."""


class HostVisitors(Visitors):
    """On the CPU every call has done its work when it returns: there are no streams."""

    def _found(self, array: Any) -> tuple[Array, bool]:
        found = array if isinstance(array, np.ndarray) else _numpy_view(array)
        return found, not found.flags.writeable

    def zeros(self, shape: Sequence[int], dtype: DTypeLike) -> Array:
        return self._backend.zeros(tuple(shape), dtype)

    def place(self, host: NDArray[Any]) -> Array:
        return host

    def load(self, target: Array, view: Array) -> None:
        np.copyto(target, view)

    def jax(self, array: Array) -> Any:
        return import_module("jax.numpy").array(array, copy=True)

    def streams(self, stream: Any, arrays: Iterable[Any]) -> Streams:
        if stream is not None:
            raise InputError(f"stream = {stream!r}: the CPU has no streams; leave it out")
        return ()

    def follow(self, streams: Streams) -> None:
        pass

    def lead(self, streams: Streams) -> None:
        pass

    def settle(self) -> None:
        pass


class CudaVisitors(Visitors):
    """On a GPU launches go to a stream of the backend's; events order it among the user's."""

    def __init__(self, backend: Any) -> None:
        import cupy

        super().__init__(backend)
        self._cupy: Any = cupy
        self._runtime = cupy.cuda.runtime
        self._device = int(backend.zeros((1,), np.uint8).device.id)
        self._lent: deque[tuple[Any, Array]] = deque()  # what copies may be reading still

    @property
    def _stream(self) -> Any:
        return self._backend.stream  # type: ignore[attr-defined]

    def _found(self, array: Any) -> tuple[Array, bool]:
        ours = isinstance(array, self._cupy.ndarray)
        if not ours and not _on_gpu(array):
            raise InputError(
                f'{_name(array)} lies in host memory, and device="cuda" was asked for; move it to '
                'the GPU, or ask for device="cpu"'
            )
        self._require_here(array)
        return (array, False) if ours else self._cupy_view(array)

    def _require_here(self, array: Any) -> None:
        where = getattr(array, "__dlpack_device__", lambda: (2, self._device))()[1]
        if where != self._device:
            raise InputError(
                f"{_name(array)} lies on GPU {where}, and this rank's work on GPU {self._device}; "
                f'make it there, or ask for device="cuda:{where}"'
            )

    def _cupy_view(self, array: Any) -> tuple[Array, bool]:
        try:
            interface = getattr(array, "__cuda_array_interface__", None)
            if interface is not None and not is_immutable(array):
                return self._described(array, interface), bool(interface["data"][1])
            with self._stream:  # DLPack lets it wait for what makes the array
                return self._cupy.from_dlpack(array), is_immutable(array)
        except REFUSALS as error:
            raise _refused(array, error) from error

    def _described(self, array: Any, interface: dict[str, Any]) -> Array:
        """The view that an interface describes; unlike CuPy's own import it waits for no stream."""
        shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
        strides = interface.get("strides")
        steps = strides or [dtype.itemsize * prod(shape[n + 1 :]) for n in range(len(shape))]
        size = sum((n - 1) * abs(s) for n, s in zip(shape, steps, strict=True)) + dtype.itemsize
        cuda = self._cupy.cuda
        memory = cuda.UnownedMemory(interface["data"][0], size, owner=array)
        return self._cupy.ndarray(shape, dtype, cuda.MemoryPointer(memory, 0), strides)

    def zeros(self, shape: Sequence[int], dtype: DTypeLike) -> Array:
        with self._here():
            return self._cupy.zeros(tuple(shape), dtype)

    def place(self, host: NDArray[Any]) -> Array:
        with self._here():
            return self._cupy.asarray(host)

    def load(self, target: Array, view: Array) -> None:
        with self._stream:
            target[...] = view
        self._lent.append((self._event(self._stream.ptr), view))
        while self._lent[0][0].done and len(self._lent) > 1:
            self._lent.popleft()

    def jax(self, array: Array) -> Any:
        with self._stream:
            return import_module("jax.dlpack").from_dlpack(array.copy())

    def _here(self) -> AbstractContextManager[Any]:
        return self._cupy.cuda.Device(self._device)  # type: ignore[no-any-return]

    def streams(self, stream: Any, arrays: Iterable[Any]) -> Streams:
        if stream is not None:
            return (stream_handle(stream),)
        return tuple({self._current(array) for array in arrays})

    def _current(self, array: Any) -> int:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(array, torch.Tensor):
            return int(torch.cuda.current_stream(array.device).cuda_stream)
        return int(self._cupy.cuda.get_current_stream().ptr)

    def follow(self, streams: Streams) -> None:
        for handle in streams:
            event = self._event(handle)
            self._runtime.streamWaitEvent(self._stream.ptr, event.ptr)

    def lead(self, streams: Streams) -> None:
        event = self._event(self._stream.ptr)
        for handle in streams:
            self._runtime.streamWaitEvent(handle, event.ptr)

    def settle(self) -> None:
        self._cupy.cuda.Device(self._device).synchronize()

    def _event(self, handle: int) -> Any:
        """A new event each time: one that served twice would race with itself."""
        event = self._cupy.cuda.Event(disable_timing=True)
        self._runtime.eventRecord(event.ptr, handle)
        return event


def visitors(backend: Backend) -> Visitors:
    """What a backend does with foreign arrays and streams."""
    return (CudaVisitors if backend.name == "cuda" else HostVisitors)(backend)


def stream_handle(stream: Any) -> int:
    """CUDA's handle of a stream: a number, or of CuPy, PyTorch, cuda.core and others an object.

    Raises:
        InputError: it is no stream.
    """
    found = stream
    if protocol := getattr(stream, "__cuda_stream__", None):
        found = (protocol() if callable(protocol) else protocol)[1]
    for name in ("cuda_stream", "ptr"):
        found = getattr(stream, name, found)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise InputError(
            f"stream = {stream!r} is no CUDA stream; give one of CuPy, PyTorch or cuda.core, or "
            "its handle as a number"
        )
    return found


# --- what can be viewed ---------------------------------------------------------------------------


def _require_values(array: Any) -> None:
    """Refuse what holds no values of its own, or values whose history matters."""
    if is_immutable(array) and any(kind.__name__ == "Tracer" for kind in type(array).__mro__):
        raise InputError(
            f"{_name(array)} is traced: ghost layers cannot be exchanged inside jax.jit or "
            "jax.grad; jit the work between two exchanges instead"
        )
    if getattr(array, "requires_grad", False):
        raise InputError(
            f"{_name(array)} requires gradients, and an exchange has none; give its detach()"
        )


def is_movable(dtype: np.dtype[Any]) -> bool:
    """Whether values of a type are plain numbers, of as many bytes as kernels move."""
    plain = not (dtype.hasobject or dtype.names or dtype.subdtype)
    return plain and dtype.itemsize in SIZES


def _require_movable(name: str, array: Array) -> None:
    dtype = array.dtype
    if not is_movable(dtype):
        raise InputError(
            f"{name} holds values of type {dtype}, {dtype.itemsize} bytes each; allowed are plain "
            f"numbers of {', '.join(map(str, SIZES))} bytes"
        )
    axes = zip(array.shape, array.strides, strict=True)
    if array.size and any(n > 1 and step == 0 for n, step in axes):
        raise InputError(
            f"{name} of shape {tuple(array.shape)} repeats values instead of holding them; copy it"
        )


def _numpy_view(array: Any) -> NDArray[Any]:
    if _on_gpu(array):
        raise InputError(
            f'{_name(array)} lies on a GPU, and device="cpu" was asked for; ask for device="cuda", '
            "or copy it to the host"
        )
    if hasattr(array, "__array_interface__") or is_immutable(array):
        return np.asarray(array)
    if not hasattr(array, "__dlpack__"):
        raise InputError(f"{_name(array)} is no array that can be viewed; allowed: {KNOWN}")
    try:
        found = np.from_dlpack(array)
        # NumPy before 2.1 calls everything that comes this way read-only.
        other = found if found.flags.writeable else np.asarray(array)
    except REFUSALS as error:
        raise _refused(array, error) from error
    return other if other.ctypes.data == found.ctypes.data else found


def _on_gpu(array: Any) -> bool:
    where = getattr(array, "__dlpack_device__", None)
    if where is None:
        return hasattr(array, "__cuda_array_interface__")
    try:
        return where()[0] not in DLPACK_HOST
    except REFUSALS as error:
        raise _refused(array, error) from error


def _refused(array: Any, error: Exception) -> InputError:
    reason = str(error).strip().partition("\n")[0].rstrip(".")
    return InputError(
        f"{_name(array)} cannot be viewed ({reason}); allowed: {KNOWN}. Of a type that the others "
        "do not know, such as bfloat16, give a view as integers of the same size"
    )


def _name(array: Any) -> str:
    kind = type(array)
    return f"{_root(kind)}.{kind.__name__}"


def _root(kind: type) -> str:
    return kind.__module__.partition(".")[0]
