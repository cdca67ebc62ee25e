"""Material properties as classes: each cell has the 16-bit number of a record in a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import DeviceArray, Integers, Reals
from groundswell.errors import InputError
from groundswell.grids.cartesian import Field, Layout
from groundswell.solvers.earthquake.materials import Materials, Slab
from groundswell.solvers.earthquake.moduli import PROPERTIES

MOST = 1 << 16  # classes
RECORD = ("compliance", "inverse_qs", "lam", "inverse_qp")  # as in kernels/materials.h

Keys = NDArray[np.uint64]
Classes = NDArray[np.uint16]

# Odd multipliers of the bits of each property.
_MULTIPLIERS = (
    np.random.default_rng(1).integers(1 << 62, 1 << 63, len(PROPERTIES), np.uint64) * 2 + 1
)


class ClassTable:
    """The different materials of the cells so far, in the order in which they were found.

    Attributes:
        records: their properties, (classes, properties).
    """

    def __init__(self, properties: int, dtype: str) -> None:
        self.records: Reals = np.empty((0, properties), dtype)
        self._keys: Keys = np.empty(0, np.uint64)  # sorted
        self._classes: Integers = np.empty(0, np.int64)  # of the keys

    def classify(self, values: list[Reals]) -> Classes:
        """The class of each cell; materials that are new are added.

        Args:
            values: of each property, arrays of one shape.

        Raises:
            TooManyClasses: there are more than MOST materials.
        """
        shape, flat = values[0].shape, [np.ravel(v) for v in values]
        keys = _keys(flat)
        # Neighbours along x are often alike, so we look up runs of cells, not cells.
        begin = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        unique, first, inverse = np.unique(keys[begin], return_index=True, return_inverse=True)
        self._add(unique, flat, begin[first])
        classes = self._classes[np.searchsorted(self._keys, unique)].astype(np.uint16)
        found = np.repeat(classes[inverse], np.diff(begin, append=keys.size))
        self._require_exact(flat, found)
        return found.reshape(shape)

    def _add(self, keys: Keys, flat: list[Reals], cells: Integers) -> None:
        """Add the materials of these cells whose keys are new."""
        is_new = ~np.isin(keys, self._keys)
        new = np.column_stack([v[cells[is_new]] for v in flat])
        classes = len(self.records) + np.arange(len(new))
        self.records = np.concatenate([self.records, new])
        if len(self.records) > MOST:
            raise TooManyClasses(len(self.records))
        keys = np.concatenate([self._keys, keys[is_new]])
        order = np.argsort(keys)
        self._keys = keys[order]
        self._classes = np.concatenate([self._classes, classes])[order]

    def _require_exact(self, flat: list[Reals], classes: Classes) -> None:
        """Check that no two materials have the same key: the odds are below one in a billion."""
        for values, column in zip(flat, self.records.T, strict=True):
            if not np.array_equal(column[classes], values):
                raise RuntimeError("two materials have the same key")


class TooManyClasses(Exception):
    """A table would have `count` classes, or more."""

    def __init__(self, count: int) -> None:
        self.count = count


def _keys(flat: list[Reals]) -> Keys:
    """A hash of the properties of each cell, which alike materials share."""
    key = np.zeros(flat[0].size, np.uint64)
    for values, multiplier in zip(flat, _MULTIPLIERS, strict=False):
        key ^= np.ascontiguousarray(values).view(f"u{values.itemsize}")
        key *= multiplier
        key ^= key >> np.uint64(32)
    return key


class ClassMaterials(Materials):
    """Material properties in a table, with a field of 16-bit classes.

    Kernels compute the same bits as with a field per property. The table is small enough for the
    cache, so that an update reads two bytes per cell instead of all properties. Ranks may number
    classes differently.
    """

    @property
    def record(self) -> int:
        """Values in a record of the table of moduli; see kernels/materials.h."""
        return len(self.names) - 1

    def __getitem__(self, name: str) -> DeviceArray:
        """A property of the cells, (nz, ny, nx), from the table."""
        return self._columns[name][self.fields["classes"].interior]

    def arguments(self, *names: str) -> dict[str, DeviceArray]:
        """The arguments of kernels: columns of the table, and the classes."""
        found = {name: self._columns.get(name, self._placeholder) for name in names}
        return {**found, "classes": self.fields["classes"].interior}

    def load(self) -> None:
        """Find the classes a few planes at a time, so that the model need not fit into memory.

        Raises:
            InputError: there are more than MOST.
        """
        self._table = ClassTable(len(self.names), self._dtype)
        super().load()
        of = dict(zip(self.names, self._table.records.T, strict=True))
        # Density has its own table: velocities read nothing else.
        order = [name for name in RECORD if name in of]
        moduli = self._backend.to_device(np.stack([of[name] for name in order], axis=1))
        self._columns = {name: moduli[:, n] for n, name in enumerate(order)}
        self._columns["rho"] = self._backend.to_device(of["rho"].copy())

    def _allocate(self, layout: Layout) -> dict[str, Field]:
        return {"classes": Field(self._backend, layout, np.uint16)}

    def _assign(self, rows: slice, slab: Slab) -> None:
        try:
            classes = self._table.classify([slab[name] for name in self.names])
        except TooManyClasses as found:
            planes = self.fields["classes"].array.shape[0]
            raise InputError(
                f"the medium has {found.count:,} different materials in {rows.stop} of {planes} "
                f'planes of cells, and run.materials = "classes" allows {MOST:,}; set '
                'run.materials = "cells"'
            ) from None
        self._backend.assign(self.fields["classes"].array[rows], classes)
