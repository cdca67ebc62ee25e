"""Device copies of the coefficients of a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend
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

    def property(self, values: Values, *, uniform: bool = True) -> DeviceArray:
        """A copy of a property: one value, or one per point; always the latter if not `uniform`."""
        if not uniform:
            values = np.broadcast_to(np.asarray(values), self._shape)
        return self(np.atleast_1d(values))
