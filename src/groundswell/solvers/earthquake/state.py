"""Distributed arrays of absorbing layers and of the surface, for checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from groundswell.arrays import DeviceArray, HostArray
from groundswell.grids.cartesian import Part
from groundswell.outputs.distributed_array import AXES, DistributedArray, Span, span
from groundswell.solvers.earthquake.absorbing_layers import AbsorbingLayers


def layer_arrays(layers: AbsorbingLayers, part: Part) -> Iterator[tuple[str, DistributedArray]]:
    """Yield the name and the memory variables of each update and axis of the absorbing layers.

    Globally, an array has one entry along its own axis for each cell in a layer, and one for each
    cell of the grid along the other axes.
    """
    for update, arrays in layers.memory.items():
        for axis, (name, array) in enumerate(zip("xyz", arrays, strict=True)):
            if array.ndim > 1:
                yield f"layers/{update}/{name}", _layer_array(layers, part, axis, array)


def _layer_array(
    layers: AbsorbingLayers, part: Part, axis: int, array: DeviceArray
) -> DistributedArray:
    grid = part.grid
    before, after = grid.before[axis], grid.after[axis]
    cells = layers.memory_cells(axis)
    high = grid.cells[axis] - after  # first cell of the layer on the high side
    index = np.where(cells < before, cells, np.where(cells >= high, cells - high + before, -1))
    spans = [
        list(_spans(index)) if a == axis else [span(0, part.start[a], part.cells[a])] for a in AXES
    ]
    shape = tuple(before + after if a == axis else grid.cells[a] for a in AXES)
    return DistributedArray.of_boxes(array, (3, *shape), [[span(0, 0, 3)], *spans])


def surface_array(
    array: DeviceArray, shape: tuple[int, ...], first: Sequence[int]
) -> DistributedArray:
    """Return surface values (n, ny, nx) as a block of an array of shape `shape`.

    Args:
        array: the values of this rank.
        shape: shape of the whole array.
        first: index (y, x) of the first value in the whole array.
    """
    starts = (0, *first)
    return DistributedArray.of_boxes(
        array, shape, [[span(0, s, n)] for s, n in zip(starts, array.shape, strict=True)]
    )


def _spans(index: HostArray) -> Iterator[Span]:
    """Yield runs of consecutive indices, leaving out negative ones."""
    valid = np.flatnonzero(index >= 0)
    breaks = np.flatnonzero((np.diff(valid) != 1) | (np.diff(index[valid]) != 1)) + 1
    for run in np.split(valid, breaks):
        if len(run):
            yield span(int(run[0]), int(index[run[0]]), len(run))
