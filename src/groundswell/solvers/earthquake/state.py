"""What decides how an earthquake goes on, as portions of arrays of the whole grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array
from groundswell.exchange.distributed_array import AXES, DistributedArray, Span, span
from groundswell.grids.cartesian import Part
from groundswell.solvers.earthquake.absorbing_layers import Layers


def layer_portions(layers: Layers, part: Part) -> Iterator[tuple[str, DistributedArray]]:
    """The memory of absorbing layers, of each update and axis."""
    for update, arrays in layers.memory.items():
        for axis, (name, array) in enumerate(zip("xyz", arrays, strict=True)):
            if array.ndim > 1:
                yield f"layers/{update}/{name}", _layer_portion(layers, part, axis, array)


def _layer_portion(layers: Layers, part: Part, axis: int, array: Array) -> DistributedArray:
    grid = part.grid
    before, after = grid.before[axis], grid.after[axis]
    cells = layers.kept(axis)
    beyond = grid.cells[axis] - after
    place = np.where(cells < before, cells, np.where(cells >= beyond, cells - beyond + before, -1))
    runs = [
        list(_runs(place)) if a == axis else [span(0, part.start[a], part.cells[a])] for a in AXES
    ]
    shape = tuple(before + after if a == axis else grid.cells[a] for a in AXES)
    return DistributedArray.of_boxes(array, (3, *shape), [[span(0, 0, 3)], *runs])


def plane_portion(array: Array, shape: tuple[int, ...], first: Sequence[int]) -> DistributedArray:
    """Values on the surface, (n, ny, nx), that begin at (y, x) = `first` of the whole."""
    counts = array.shape
    starts = (0, *first)
    return DistributedArray.of_boxes(
        array, shape, [[span(0, s, n)] for s, n in zip(starts, counts, strict=True)]
    )


def _runs(place: NDArray[Any]) -> Iterator[Span]:
    """Consecutive places as slices; negative ones are left out."""
    here = np.flatnonzero(place >= 0)
    breaks = np.flatnonzero((np.diff(here) != 1) | (np.diff(place[here]) != 1)) + 1
    for run in np.split(here, breaks):
        if len(run):
            yield span(int(run[0]), int(place[run[0]]), len(run))
