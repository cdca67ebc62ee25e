"""Detection of values that are not finite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from groundswell.backends import Array, Backend, Cells, Source
from groundswell.backends.base import Event
from groundswell.backends.source import precision
from groundswell.errors import NotFinite
from groundswell.grids.cartesian import Part, Triple

SOURCE = Path(__file__).with_suffix(".h")
AXES = ("x", "y", "z")


def search_source(dtype: str) -> Source:
    """The source of the search for a floating-point type."""
    return Source(SOURCE, {**precision(dtype), "LARGEST": float(np.finfo(dtype).max)})


class NonFiniteSearch:
    """Searches fields of one rank, on the device, for values that are not finite.

    Args:
        fields: views with three axes and equal strides, the last axis contiguous, by name.
        time: the time after a number of steps, s.
        position: the position of the value at an index (i, j, k), last axis first, as text.

    Attributes:
        launches: the launches of the search.
    """

    def __init__(
        self,
        backend: Backend,
        fields: Mapping[str, Array],
        time: Callable[[int], float],
        position: Callable[[Triple], str],
    ) -> None:
        self._backend, self._fields, self._time, self._position = backend, fields, time, position
        self._found = backend.to_device(np.array([-1], np.int64))
        first = next(iter(fields.values()))
        plane, row, _ = (stride // first.itemsize for stride in first.strides)
        self._plane, self._row = plane, row
        module, sizes = backend.compile(search_source(str(first.dtype))), first.shape[::-1]
        self.launches = [
            module.launch("find_nonfinite", Cells(*sizes), field, self._found, row, plane, *sizes)
            for field in fields.values()
        ]

    def check(self, steps: int, after: Event | None = None) -> None:
        """Read the result of the last search, or of the last one before the event `after`.

        Args:
            steps: number of steps that have been enqueued.

        Raises:
            NotFinite: a value is not finite; names the field, the position and the time.
        """
        offset = int(self._backend.to_host(self._found, after)[0])
        if offset < 0:
            return
        k, rest = divmod(offset, self._plane)
        j, i = divmod(rest, self._row)
        names = [name for name, f in self._fields.items() if not self._is_finite(f, (i, j, k))]
        raise NotFinite(
            f"{', '.join(names) or 'a value'} is not finite at {self._position((i, j, k))}, at or "
            f"before t = {self._time(steps):.6g} s (step {steps}): the run is unstable, or its "
            "input is invalid"
        )

    def _is_finite(self, field: Array, cell: Triple) -> bool:
        i, j, k = cell
        value = self._backend.to_host(field[k : k + 1, j : j + 1, i : i + 1])
        return bool(np.isfinite(value).all())


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
