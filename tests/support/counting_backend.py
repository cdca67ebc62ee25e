"""A CPU backend that counts the bytes of its arrays."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from groundswell.backends.cpu import CpuBackend


class Counted(CpuBackend):
    """Counts the bytes of allocated arrays, now and at their maximum."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.now = self.most = 0

    def zeros(self, shape: Any, dtype: Any) -> Any:
        array = super().zeros(shape, dtype)
        self._add(array.nbytes)
        base = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        weakref.finalize(base, self._add, -array.nbytes)
        return array

    def _add(self, count: int) -> None:
        self.now += count
        self.most = max(self.most, self.now)
