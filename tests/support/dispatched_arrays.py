"""Arrays that only NumPy's protocols reach, as those of CuPy, and a backend with such arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from groundswell.backends.base import Backend
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.transforms import CpuCosineTransform


class DispatchedArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that is not converted to one of NumPy, and does not mix with these.

    Functions and ufuncs of NumPy apply to it (NEP 13 and NEP 18).
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    shape = property(lambda self: self.values.shape)
    ndim = property(lambda self: self.values.ndim)

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("implicit conversion to a NumPy array")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        assert method == "__call__" and "where" not in options, (ufunc, method)
        return _wrapped(ufunc(*map(_bare, given), **{k: _bare(v) for k, v in options.items()}))

    def __array_function__(
        self, function: Callable[..., Any], _: Any, given: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        return _wrapped(function(*map(_bare, given), **{k: _bare(v) for k, v in options.items()}))

    def __getitem__(self, at: Any) -> Any:
        return _wrapped(self.values[at])

    def __setitem__(self, at: Any, to: Any) -> None:
        self.values[at] = _bare(to)

    def __len__(self) -> int:
        return len(self.values)

    def __float__(self) -> float:
        return float(self.values)

    def copy(self) -> DispatchedArray:
        return DispatchedArray(self.values.copy())

    def max(self) -> Any:
        return _wrapped(self.values.max())


def _bare(given: Any) -> Any:
    if isinstance(given, tuple):
        return tuple(map(_bare, given))
    if isinstance(given, np.ndarray):
        raise TypeError("an array of NumPy among those of a device")
    return given.values if isinstance(given, DispatchedArray) else given


def _wrapped(found: Any) -> Any:
    is_array = isinstance(found, np.ndarray | np.generic)
    return DispatchedArray(np.asarray(found)) if is_array else found


class DispatchingBackend(CpuBackend):
    """A CPU whose arrays are `DispatchedArray`, for code that uses NumPy's functions on a GPU."""

    for_each_part = Backend.for_each_part

    def to_device(self, host: Any) -> Any:
        return DispatchedArray(np.array(host))

    def to_host(self, array: Any, after: Any = None) -> Any:
        assert isinstance(array, DispatchedArray)
        return array.values

    def cosine_transform(self) -> Any:
        return _Transform(super().cosine_transform())


class _Transform:
    def __init__(self, transform: CpuCosineTransform) -> None:
        self._transform = transform

    def forward(self, values: Any) -> DispatchedArray:
        return DispatchedArray(self._transform.forward(values.values))

    def inverse(self, modes: Any) -> DispatchedArray:
        return DispatchedArray(self._transform.inverse(modes.values))
