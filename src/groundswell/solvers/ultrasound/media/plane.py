"""Properties at the points of one plane of a grid, as uniform values, files and shapes set them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Reals
from groundswell.solvers.ultrasound.media.parts import Change
from groundswell.solvers.ultrasound.media.rectangle import Rectangle
from groundswell.solvers.ultrasound.medium import Values


class Plane:
    """A plane under construction.

    Points that uniform values have changed are stored as classes, so that their properties need not
    be stored at each point.

    Args:
        values: number or array (ny, nx) of each property; NaN where a file must provide it.
        shape: (ny, nx).
        dtype: floating-point type of arrays.

    Attributes:
        classes: properties of each class that differ from `values`; the first class has none.
        numbers: class of each point of a rectangle that contains all changed points; None if there
            are none.
        varying: properties that some change has set to another value.
    """

    def __init__(self, values: Mapping[str, Values], shape: tuple[int, int], dtype: str) -> None:
        self.values, self._shape, self._dtype = dict(values), shape, dtype
        self.classes: list[dict[str, float]] = [{}]
        self.numbers: NDArray[np.uint16] | None = None
        self._changed_points = Rectangle(slice(0, 0), slice(0, 0))
        self.varying = {name for name, value in values.items() if np.ndim(value) > 0}

    def apply(self, change: Change) -> bool:
        """Apply a change; returns whether it changes any point."""
        if not change.mask.any():
            return False
        if any(np.ndim(value) > 0 for value in change.values.values()):
            self._assign(change)
        else:
            self._classify(change)
        return True

    def _assign(self, change: Change) -> None:
        """Set values of each point; files do so, which precede shapes."""
        assert self.numbers is None
        for name, value in change.values.items():
            if np.ndim(self.values[name]) == 0:
                self.values[name] = np.full(self._shape, self.values[name], self._dtype)
            np.asarray(self.values[name])[change.rows, change.columns][change.mask] = value
        self.varying |= set(change.values)

    def _classify(self, change: Change) -> None:
        """Set uniform values: points move to other classes."""
        self.varying |= {n for n, value in change.values.items() if self._differs(n, value)}
        part = self._numbers_in(Rectangle.of(change.rows, change.columns, self._shape))
        chosen = part[change.mask]
        if (number := chosen.min()) == chosen.max():  # then nothing needs counting
            np.copyto(part, self._changed(number, change), where=change.mask)
            return
        after = np.zeros(len(self.classes), np.uint16)
        for number in np.flatnonzero(np.bincount(chosen)):
            after[number] = self._changed(number, change)
        part[change.mask] = after[chosen]

    def _numbers_in(self, part: Rectangle) -> NDArray[np.uint16]:
        """A view of the classes of points, which the rectangle of changed points then contains."""
        before, inner = self.numbers, self._changed_points
        outer = part if before is None else inner.around(part)
        if before is None or outer != inner:
            self.numbers = np.zeros(outer.shape, np.uint16)
            if before is not None:
                self.numbers[inner.within(outer)] = before
        self._changed_points = outer
        assert self.numbers is not None
        return self.numbers[part.within(outer)]

    def _changed(self, number: np.integer, change: Change) -> int:
        """The number of the class of points of another class after a change."""
        return self._number_of({**self.classes[number], **change.values})

    def _differs(self, name: str, value: float) -> bool:
        return bool(np.ndim(self.values[name]) > 0 or self.values[name] != value)

    def _number_of(self, properties: dict[str, float]) -> int:
        """The number of a class, which is added if it is new."""
        if properties not in self.classes:
            self.classes.append(properties)
        return self.classes.index(properties)

    @property
    def nbytes(self) -> int:
        """Size of the arrays, bytes."""
        arrays = [self.numbers, *self.values.values()]
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    @property
    def is_uniform(self) -> bool:
        """Whether all points of a class have the same properties."""
        return all(np.ndim(value) == 0 for value in self.values.values())

    def present(self) -> list[dict[str, Any]]:
        """Properties of the classes that have points, if the plane `is_uniform`."""
        if self.numbers is None:
            return [self.values]
        has_points = [bool(np.any(self.numbers == number)) for number in range(len(self.classes))]
        has_points[0] |= self.numbers.shape != self._shape
        return [
            {**self.values, **own} for own, has in zip(self.classes, has_points, strict=True) if has
        ]

    def property(self, name: str) -> Values:
        """A property: a number, or the values of all points, (ny, nx)."""
        if not any(name in properties for properties in self.classes):
            return self.values[name]
        found = np.empty(self._shape, self._dtype)
        self.copy(name, Rectangle.of(slice(None), slice(None), self._shape), found)
        return found

    def copy(self, name: str, part: Rectangle, target: Reals) -> None:
        """Copy the values of a property in a part of the plane."""
        base = self.values[name]
        target[...] = base if np.ndim(base) == 0 else np.asarray(base)[part]
        if self.numbers is not None:
            common = part.common(self._changed_points)
            numbers = self.numbers[common.within(self._changed_points)]
            self._copy_changed(name, numbers, target[common.within(part)])

    def _copy_changed(self, name: str, numbers: NDArray[np.uint16], target: Reals) -> None:
        """Copy the values of points of these classes, unless they are those of `values`."""
        base = self.values[name]
        default = np.nan if np.ndim(base) > 0 else base
        of_class = np.array([found.get(name, default) for found in self.classes], self._dtype)
        is_set = np.array([name in found for found in self.classes])
        values = of_class.take(numbers)  # faster than indexing
        np.copyto(target, values, where=is_set.take(numbers) if np.ndim(base) > 0 else True)
