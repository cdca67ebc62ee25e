"""What decides how an earthquake goes on, as portions of arrays of the whole grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array
from groundswell.grids.cartesian import GHOSTS, Field, Part
from groundswell.run.checkpoint import Portion
from groundswell.solvers.earthquake.layers import Layers

Run = tuple[slice, slice]  # along one axis: where here, and where in the whole
AXES = (2, 1, 0)  # of cells (x, y, z), in an array's order


def field_portion(field: Field, part: Part) -> Portion:
    """A field; the outermost ghosts of the whole belong to the blocks beside them."""
    whole = tuple(n + 2 * GHOSTS for n in part.grid.shape)
    window, own = [], []
    for axis in AXES:
        start, n, end = part.start[axis], part.cells[axis], part.grid.cells[axis]
        first = 0 if start == 0 else GHOSTS
        last = n + 2 * GHOSTS if start + n == end else n + GHOSTS
        window.append([_run(0, start, n + 2 * GHOSTS)])
        own.append([_run(first, start + first, last - first)])
    return Portion(field.array, whole, _boxes(window), _boxes(own))


def layer_portions(layers: Layers, part: Part) -> Iterator[tuple[str, Portion]]:
    """The memory of absorbing layers, of each update and axis."""
    for update, arrays in layers.memory.items():
        for axis, (name, array) in enumerate(zip("xyz", arrays, strict=True)):
            if array.ndim > 1:
                yield f"layers/{update}/{name}", _layer_portion(layers, part, axis, array)


def _layer_portion(layers: Layers, part: Part, axis: int, array: Array) -> Portion:
    grid = part.grid
    before, after = grid.before[axis], grid.after[axis]
    cells = layers.kept(axis)
    beyond = grid.cells[axis] - after
    place = np.where(cells < before, cells, np.where(cells >= beyond, cells - beyond + before, -1))
    runs = [
        list(_runs(place)) if a == axis else [_run(0, part.start[a], part.cells[a])] for a in AXES
    ]
    shape = tuple(before + after if a == axis else grid.cells[a] for a in AXES)
    return _own_portion(array, (3, *shape), [[_run(0, 0, 3)], *runs])


def plane_portion(array: Array, shape: tuple[int, ...], first: Sequence[int]) -> Portion:
    """Values on the surface, (n, ny, nx), that begin at (y, x) = `first` of the whole."""
    counts = array.shape
    starts = (0, *first)
    return _own_portion(
        array, shape, [[_run(0, s, n)] for s, n in zip(starts, counts, strict=True)]
    )


def _own_portion(array: Array, shape: tuple[int, ...], runs: Sequence[Sequence[Run]]) -> Portion:
    boxes = _boxes(runs)
    return Portion(array, shape, boxes, boxes)


def _run(here: int, there: int, count: int) -> Run:
    return slice(here, here + count), slice(there, there + count)


def _runs(place: NDArray[Any]) -> Iterator[Run]:
    """Consecutive places as slices; negative ones are left out."""
    here = np.flatnonzero(place >= 0)
    breaks = np.flatnonzero((np.diff(here) != 1) | (np.diff(place[here]) != 1)) + 1
    for run in np.split(here, breaks):
        if len(run):
            yield _run(int(run[0]), int(place[run[0]]), len(run))


def _boxes(runs: Sequence[Sequence[Run]]) -> tuple[tuple[Any, Any], ...]:
    return tuple(
        (tuple(here for here, _ in box), tuple(there for _, there in box)) for box in product(*runs)
    )
