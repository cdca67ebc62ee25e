"""Device copies of the coefficients of a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import Backend
from groundswell.backends.host_threads import chunks, for_each, in_threads
from groundswell.backends.transforms import spectrum_dtype
from groundswell.solvers.ultrasound.medium import Values


class DeviceCoefficients:
    """Copies arrays to a device in the precision of the fields.

    Args:
        dtype: floating-point type of the fields.
        shape: shape of the fields.
    """

    def __init__(self, backend: Backend, dtype: DTypeLike, shape: Sequence[int]) -> None:
        self._backend, self.dtype, self._shape = backend, np.dtype(dtype), tuple(shape)

    def __call__(self, values: ArrayLike) -> DeviceArray:
        """A copy of real or complex values."""
        values = np.asarray(values)
        wanted = spectrum_dtype(self.dtype) if np.iscomplexobj(values) else self.dtype
        return self._backend.to_device(np.ascontiguousarray(values, wanted))

    def as_it_is(self, values: HostArray) -> DeviceArray:
        """A copy of the same type."""
        return self._backend.to_device(values)

    def property(self, values: Values, *, uniform: bool = True) -> DeviceArray:
        """A copy of a property: one value, or one per point; always the latter if not `uniform`."""
        if np.ndim(values) == 0 and uniform:
            return self(np.atleast_1d(values))
        everywhere = np.broadcast_to(np.asarray(values), self._shape)
        return self.by_planes(lambda planes: [everywhere[planes]])[0]

    def by_planes(self, find: Callable[[slice], Sequence[Values]]) -> list[DeviceArray]:
        """Device copies of numbers and of arrays (nz, ...), computed some planes at a time.

        Intermediate arrays in double precision therefore cover a few planes only.

        Args:
            find: returns the numbers, and the given planes z of the arrays; threads call it.
        """
        first = find(slice(0, 1))
        arrays = [self._for_all_planes(values) for values in first]
        varying = [n for n, values in enumerate(first) if np.ndim(values) > 0]

        def cast(planes: slice) -> list[HostArray]:
            found = find(planes)
            return [np.ascontiguousarray(found[n], self.dtype) for n in varying]

        if varying:
            self._assign_planes([arrays[n] for n in varying], cast)
        return arrays

    def _assign_planes(
        self, arrays: Sequence[DeviceArray], find: Callable[[slice], Sequence[HostArray]]
    ) -> None:
        parts = chunks(self._shape[0], prod(self._shape[1:]))

        def assign(part: slice, found: Sequence[HostArray]) -> None:
            for array, values in zip(arrays, found, strict=True):
                self._backend.assign(array[part], values)

        if self._backend.on_host:  # any thread may write there
            for_each(lambda part: assign(part, find(part)), parts)
        else:
            for part, found in zip(parts, in_threads(find, parts), strict=True):
                assign(part, found)

    def _for_all_planes(self, values: Values) -> DeviceArray:
        """An empty array for all planes, given the values of one; for a number, its copy."""
        if np.ndim(values) == 0:
            return self(np.atleast_1d(values))
        return self._backend.zeros((self._shape[0], *np.shape(values)[1:]), self.dtype)
