"""Materials as classes: each cell of a grid has the number of a record in a table.

Solvers with the option `run.materials = "classes"` store materials this way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.arrays import Indices, Integers, Mask, Reals
from groundswell.case.quantities import Quantity, byte_size
from groundswell.errors import InputError, counted

MOST = 1 << 16  # classes

Keys = NDArray[np.uint64]
Classes = NDArray[np.uint16]

_MOST_PROPERTIES = 8
# Odd multipliers of the bits of each property.
_MULTIPLIERS = (
    np.random.default_rng(1).integers(1 << 62, 1 << 63, _MOST_PROPERTIES, np.uint64) * 2 + 1
)


class ClassTable:
    """The different materials of the cells so far, in the order in which they were found.

    Attributes:
        records: their properties, (classes, properties).
    """

    def __init__(self, properties: int, dtype: DTypeLike) -> None:
        self.records: Reals = np.empty((0, properties), dtype)
        self._keys: Keys = np.empty(0, np.uint64)  # sorted
        self._classes: Integers = np.empty(0, np.int64)  # of the keys
        self._lock = Lock()

    def classify(self, values: Sequence[Reals]) -> Classes:
        """The class of each cell; materials that are new are added. Several threads may call it.

        Args:
            values: of each property, arrays of one shape.

        Raises:
            InputError: there are more than MOST materials.
        """
        flat = [np.ravel(v).astype(self.records.dtype, copy=False) for v in values]
        keys, begin = _runs(flat)
        unique, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        with self._lock:
            self._add(unique, flat, begin[first])
            classes = self._classes[np.searchsorted(self._keys, unique)].astype(np.uint16)
        found = np.repeat(classes[inverse], np.diff(begin, append=flat[0].size))
        self._require_exact(flat, found)
        return found.reshape(values[0].shape)

    def _add(self, keys: Keys, flat: Sequence[Reals], cells: Integers) -> None:
        """Add the materials of these cells whose keys are new."""
        is_new = ~_among(keys, self._keys)
        new = np.column_stack([v[cells[is_new]] for v in flat])
        if len(self.records) + len(new) > MOST:
            raise too_many_classes()
        classes = len(self.records) + np.arange(len(new))
        self.records = np.concatenate([self.records, new])
        keys = np.concatenate([self._keys, keys[is_new]])
        order = np.argsort(keys)
        self._keys = keys[order]
        self._classes = np.concatenate([self._classes, classes])[order]

    def _require_exact(self, flat: Sequence[Reals], classes: Classes) -> None:
        """Check that no two materials have the same key: the odds are below one in a billion."""
        for values, column in zip(flat, self.records.T, strict=True):
            if not np.array_equal(column[classes], values):
                raise RuntimeError("two materials have the same key")


class ClassCount:
    """Counts the different materials of cells, unless there are more than MOST."""

    def __init__(self) -> None:
        self._keys: Keys = np.empty(0, np.uint64)  # sorted
        self._has_too_many = False

    @property
    def value(self) -> int | None:
        """The number of materials so far; None if there are more than MOST."""
        return None if self._has_too_many else len(self._keys)

    def add(self, values: Sequence[Reals]) -> None:
        """Count the materials of cells.

        Args:
            values: of each property, arrays of one shape and of the precision of the run.
        """
        if not self._has_too_many:
            self._add(np.unique(_runs([np.ravel(v) for v in values])[0]))

    def merge(self, other: ClassCount) -> None:
        """Count the materials of other cells."""
        self._has_too_many |= other._has_too_many
        if not self._has_too_many:
            self._add(other._keys)

    def _add(self, keys: Keys) -> None:
        new = keys[~_among(keys, self._keys)]
        if len(new):
            self._keys = np.sort(np.concatenate([self._keys, new]))
        if len(self._keys) > MOST:
            self._keys, self._has_too_many = self._keys[:0], True


def _among(keys: Keys, known: Keys) -> Mask:
    """Whether keys are among some sorted ones; `numpy.isin` takes ten times as long for a few."""
    if not len(known):
        return np.zeros(len(keys), bool)
    return np.asarray(known.take(np.searchsorted(known, keys), mode="clip") == keys)


def too_many_classes() -> InputError:
    """The error if a medium has more than MOST materials."""
    return InputError(
        f'the medium has more than {MOST:,} different materials, and run.materials = "classes" '
        f'allows {MOST:,}; set run.materials = "cells"'
    )


def class_bytes(count: int) -> int:
    """Bytes of the class of a cell, if there are so many classes."""
    return 1 if count <= 1 << 8 else 2


@dataclass(frozen=True)
class ClassSavings:
    """What the classes of a medium save.

    Args:
        count: number of materials.
        class_bytes: bytes of a class.
        memory: device memory of a run, with a field of each property and with classes, bytes.
        traffic: bytes that a step moves per cell, in the same way, if they determine its time.
    """

    count: int
    class_bytes: int
    memory: Sequence[int]
    traffic: Sequence[float] = ()

    @property
    def are_worthwhile(self) -> bool:
        """Whether classes save anything: not in a uniform medium."""
        before, after = self.memory
        return after < before

    @property
    def text(self) -> str:
        """What classes save, as text."""
        memory = "the run needs " + " instead of ".join(map(byte_size, reversed(self.memory)))
        if not self.traffic:
            return memory
        before, after = self.traffic
        return f"a step moves {after:.4g} instead of {before:.4g} bytes per cell; {memory}"


def material_quantities(run: Any, found: ClassSavings | None, group: str) -> Iterator[Quantity]:
    """How a run stores materials, or could store them.

    Args:
        run: the section `[run]`, with the key `materials`.
        found: what classes save; None if there are too many, or if it is unknown.
        group: heading of the quantities.
    """
    text = ""
    if run.materials == "classes":
        text = _table_text(found)
    elif found and found.are_worthwhile and run.backend == "cuda":
        text = f'{found.count:,} different ones; run.materials = "classes" changes no result, and '
        text += found.text
    yield Quantity("materials", run.materials, "materials" * bool(text), "", text, group)
    yield Quantity("material_count", None if found is None else found.count, group=group)


def _table_text(found: ClassSavings | None) -> str:
    if found is None:
        return "a table, with classes of cells; the results remain the same"
    if not found.are_worthwhile:
        return "a single one, for which a table saves nothing"
    bits, table = 8 * found.class_bytes, f"a table of {counted(found.count, 'material')}"
    return (
        f"{table}, with {bits}-bit classes of cells; the results remain the same, and {found.text}"
    )


def _runs(flat: Sequence[Reals]) -> tuple[Keys, Indices]:
    """The keys of runs of alike cells, and their first cells.

    Neighbours along x are often alike, so there are far fewer runs than cells.
    """
    keys = _keys(flat)
    begin = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[begin], begin


def _keys(flat: Sequence[Reals]) -> Keys:
    """A hash of the properties of each cell, which alike materials share."""
    key = np.zeros(flat[0].size, np.uint64)
    for values, multiplier in zip(flat, _MULTIPLIERS, strict=False):
        key ^= np.ascontiguousarray(values).view(f"u{values.itemsize}")
        key *= multiplier
        key ^= key >> np.uint64(32)
    return key
