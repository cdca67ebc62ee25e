"""Products with sparse matrices that every rank has."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend, Blocks, Items, Launch, Source
from groundswell.backends.source import precision
from groundswell.linear.operators import HERE, Composite, by_component

WARP = 32  # rows of a slice on a GPU, whose threads read neighbouring entries
LONG = 40  # entries of a row, beyond which a warp shares it


class SparseProduct(Composite):
    """y = M x.

    Args:
        matrix: of SciPy, (rows, columns).
        x: (columns,), or (components, columns).
        y: (rows,) or longer, of the same type; or (components, rows).
        add: whether to add the product to y.

    Attributes:
        launches: the product; none without rows.
    """

    def __init__(
        self, backend: Backend, matrix: Any, x: DeviceArray, y: DeviceArray, *, add: bool = False
    ) -> None:
        entries = sparse.csr_array(matrix)
        rows = entries.shape[0]
        is_long = entries.nnz > LONG * rows
        height = 1 if backend.on_host or is_long else WARP
        first, columns, values = in_slices(entries, height)
        self._arrays = {
            "first": backend.to_device(first),
            "columns": backend.to_device(columns),
            "values": backend.to_device(values.astype(x.dtype)),
        }
        self._module = backend.compile(sparse_source(str(x.dtype), height))
        self._name = "multiply_long_rows" if is_long else "multiply_sparse"
        self._extent = Blocks(rows, WARP) if is_long else Items(rows)
        self._numbers = {"rows": rows, "add": int(add)}
        self.launches = self.between(x, y)

    def between(self, x: DeviceArray, y: DeviceArray) -> list[Launch]:
        """Launches of the product of other arrays."""
        return [
            self._module.launch(self._name, self._extent, **self._arrays, **of_one, **self._numbers)
            for of_one in (by_component({"x": x, "y": y}) if self._numbers["rows"] else ())
        ]


def in_slices(matrix: Any, height: int) -> tuple[Integers, Integers, Any]:
    """A matrix in slices of so many rows, which entries of 0 pad to the longest row of the slice.

    Returns:
        Offsets of the slices, (slices + 1,), columns and values of the entries, (entries,).
    """
    rows, sizes = matrix.shape[0], np.diff(matrix.indptr)
    slices = -(-rows // height)
    padded = np.zeros(slices * height, np.int64)
    padded[:rows] = sizes
    widths = padded.reshape(slices, height).max(axis=1, initial=0)
    first = np.append(0, np.cumsum(widths * height))
    row = np.repeat(np.arange(rows), sizes)
    number = np.arange(len(row)) - np.repeat(matrix.indptr[:-1], sizes)
    place = first[row // height] + number * height + row % height
    columns, values = np.zeros(first[-1], np.int32), np.zeros(first[-1])
    columns[place], values[place] = matrix.indices, matrix.data
    return first.astype(np.int64), columns, values


def sparse_source(dtype: str, height: int) -> Source:
    """The kernel for vectors of a type and slices of so many rows."""
    return Source(HERE / "sparse.h", {**precision(dtype), "SLICE": height})
