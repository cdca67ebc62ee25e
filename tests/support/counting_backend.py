"""A CPU backend that counts the bytes of its arrays, and of copies between host and device."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from groundswell.backends.cpu import CpuBackend


class Counted(CpuBackend):
    """Counts the bytes of allocated arrays, now and at their maximum.

    Attributes:
        copies: bytes of each copy from the host to the "device" or back.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.now = self.most = 0
        self.copies: list[int] = []
        self._owners: set[int] = set()

    def zeros(self, shape: Any, dtype: Any) -> Any:
        array = super().zeros(shape, dtype)
        self._add(array.nbytes)
        owner = _owner(array)
        self._owners.add(id(owner))
        weakref.finalize(owner, self._remove, id(owner), array.nbytes)
        return array

    def to_device(self, host: Any) -> Any:
        self.copies.append(host.nbytes)
        return super().to_device(host)

    def assign(self, target: Any, values: Any) -> None:
        if id(_owner(values)) not in self._owners:
            self.copies.append(values.nbytes)
        super().assign(target, values)

    def to_host(self, array: Any, after: Any = None) -> Any:
        self.copies.append(array.nbytes)
        return super().to_host(array, after)

    def _remove(self, owner: int, count: int) -> None:
        self._owners.discard(owner)
        self._add(-count)

    def _add(self, count: int) -> None:
        self.now += count
        self.most = max(self.most, self.now)


def _owner(array: Any) -> Any:
    """The array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
