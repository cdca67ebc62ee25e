"""Detection of values that are not finite, or larger than those of a stable run; energies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends import Backend, Blocks, Source
from groundswell.backends.base import Event
from groundswell.backends.source import precision
from groundswell.errors import NotFinite
from groundswell.grids.cartesian import Part, Triple

SOURCE = Path(__file__).with_suffix(".h")
AXES = ("x", "y", "z")
LANES = 256  # as in finite_check.h
MAX_BLOCKS = 1024


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of squares: that of the value's row times that of its column.

    Args:
        rows: (rows,).
        columns: of the first values of a row; they repeat along it.
    """

    rows: Floats
    columns: Floats


def search_source(dtype: str, largest: float = inf, *, weighted: bool = False) -> Source:
    """The source of the search for a floating-point type; see `NonFiniteSearch`."""
    limit = min(largest, float(np.finfo(dtype).max))
    return Source(SOURCE, {**precision(dtype), "LARGEST": limit, "WEIGHTED": weighted})


class NonFiniteSearch:
    """Searches fields of one rank, on the device, for values that are not finite or too large.

    The same pass over the values adds up their squares.

    Args:
        fields: views with three axes, the last one contiguous, by name; equal strides and rows.
        time: the time after a number of steps, s.
        position: the position of the value at an index (i, j, k), last axis first, as text.
        largest: largest magnitude that a stable run can have. Where instability spreads to all
            values in one step, only a search for large values finds where it begins.
        weights: of the squares in their sums; by default 1.

    Attributes:
        launches: the launches of the search.
    """

    def __init__(
        self,
        backend: Backend,
        fields: Mapping[str, DeviceArray],
        time: Callable[[int], float],
        position: Callable[[Triple], str],
        largest: float = inf,
        weights: Weights | None = None,
    ) -> None:
        self._backend, self._fields, self._time, self._position = backend, fields, time, position
        self._largest = largest
        self._found = backend.to_device(np.array([-1], np.int64))
        first = next(iter(fields.values()))
        blocks = max(1, min(MAX_BLOCKS, first.shape[0] * first.shape[1]))
        self._squares = backend.zeros((len(fields), blocks), "f8")
        self._weights = self._place_weights(weights)
        source = search_source(str(first.dtype), largest, weighted=weights is not None)
        module = backend.compile(source)
        self.launches = [
            module.launch("find_nonfinite", Blocks(blocks, LANES), *self._arguments(name))
            for name in fields
        ]

    def _place_weights(self, weights: Weights | None) -> tuple[DeviceArray, DeviceArray]:
        """Weights of all rows, and of the columns of the longest row; without any, not read."""
        if weights is None:
            return self._squares, self._squares
        longest = max(field.shape[2] for field in self._fields.values())
        columns = np.resize(weights.columns, longest)
        return self._backend.to_device(weights.rows), self._backend.to_device(columns)

    def _arguments(self, name: str) -> tuple[DeviceArray | int, ...]:
        """The arguments of the search of a field."""
        field, squares = self._fields[name], self._squares[[*self._fields].index(name)]
        plane, row, _ = (stride // field.itemsize for stride in field.strides)
        sizes = (row, plane, *field.shape[::-1], squares.shape[0])
        return (field, self._found, squares, *self._weights, *sizes)

    def sum_of_squares(self, names: Collection[str], after: Event | None = None) -> float:
        """The sum of the squares of fields by the last search; see `check`."""
        squares = self._backend.to_host(self._squares, after)
        return float(sum(squares[n].sum() for n, name in enumerate(self._fields) if name in names))

    def check(self, steps: int, after: Event | None = None) -> None:
        """Read the result of the last search, or of the last one before the event `after`.

        Args:
            steps: number of steps that have been enqueued.

        Raises:
            NotFinite: a value is not finite or too large; names the field, the position of the
                largest value, and the time.
        """
        if int(self._backend.to_host(self._found, after)[0]) < 0:
            return
        raise NotFinite(
            f"{self._largest_value()}, at or before t = {self._time(steps):.6g} s (step {steps}): "
            "the run is unstable, or its input is invalid"
        )

    def _largest_value(self) -> str:
        """The fields that are not finite or too large where the first of them is largest."""
        for field in self._fields.values():
            sizes = np.abs(self._backend.to_host(field).astype(float))
            sizes[~np.isfinite(sizes)] = inf
            if not (sizes <= self._largest).all() or np.isinf(sizes).any():
                return self._describe(sizes)
        return "a value was not finite"

    def _describe(self, sizes: Floats) -> str:
        if np.isinf(sizes).all():
            return f"{', '.join(self._fields)} is not finite at any point"
        k, j, i = (int(n) for n in np.unravel_index(np.argmax(sizes), sizes.shape))
        names = [name for name, f in self._fields.items() if self._is_bad(f, (i, j, k))]
        size = sizes[k, j, i]
        value = "not finite" if np.isinf(size) else f"{size:.3g}"
        return f"{', '.join(names)} is {value} at {self._position((i, j, k))}"

    def _is_bad(self, field: DeviceArray, cell: Triple) -> bool:
        i, j, k = cell
        value = np.abs(self._backend.to_host(field[k : k + 1, j : j + 1, i : i + 1]))
        return not (np.isfinite(value) & (value <= self._largest)).all()


def positions_in(
    part: Part, axes: Sequence[str] = AXES, origin: Sequence[float] | None = None
) -> Callable[[Triple], str]:
    """The positions of the cells of a part of a grid, as text.

    Args:
        axes: names of the coordinates x, y and z.
        origin: position of the first value of the region, m; by default half a cell from 0.
    """
    first = origin or [h / 2 for h in part.grid.spacing]

    def position(cell: Triple) -> str:
        cells = np.add(cell, part.start) - part.grid.before
        along = zip(axes, cells, part.grid.spacing, first, strict=True)
        return ", ".join(f"{axis} = {low + n * h:.6g} m" for axis, n, h, low in along)

    return position
