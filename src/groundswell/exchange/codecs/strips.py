"""The values of a message as codecs take them: boxes in memory, divided into strips.

Kernels read a table of the strips (strips.h), so codecs pack and unpack the values themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from groundswell.exchange.boxes import Copy, Place, merged

STRIP = 1024  # values; as in strips.h
SHORT_ROW = 32  # values; shorter rows are not read along


def strips(copies: Sequence[Copy], *, of_target: bool) -> NDArray[np.int64]:
    """The table of the strips of boxes, (strips, 8), whose rows are the `Strip` of strips.h.

    Full strips come first. Sender and receiver number the values of a box in the same way: along
    its last axis or, if that is short, along its longest one. So the values of a strip are mostly
    neighbours, which compress well.

    Args:
        copies: the boxes.
        of_target: whether the strips are those of the target of each copy, or of its source.
    """
    rows = [row for copy in copies for row in _strips(copy, of_target)]
    table = np.array(rows, np.int64).reshape(len(rows), 8)
    table = table[np.argsort(table[:, -1] < STRIP, kind="stable")]
    blocks = -(-table[:, -1] // 4)  # of four values
    table[:, -1] |= (np.cumsum(blocks) - blocks) << 32  # those of all earlier strips
    return table


def strip_sizes(shapes: Sequence[Sequence[int]]) -> list[int]:
    """The number of values of each strip of boxes of these shapes."""
    sizes = [prod(shape) for shape in shapes]
    full = sum(size // STRIP for size in sizes)
    return [STRIP] * full + [size % STRIP for size in sizes if size % STRIP]


def _strips(copy: Copy, of_target: bool) -> list[list[int]]:
    order = list(range(len(copy.shape)))
    if copy.shape[-1] < SHORT_ROW:
        order.sort(key=lambda axis: copy.shape[axis])
    place = copy.target if of_target else copy.source
    along = replace(place, strides=tuple(place.strides[axis] for axis in order))
    shape = tuple(copy.shape[axis] for axis in order)
    (_, rows, length), merged_place, _ = merged(shape, along, Place(0, along.strides))
    box = [merged_place.address, *merged_place.strides, rows, length]
    total = prod(shape)
    return [[*box, first, min(STRIP, total - first)] for first in range(0, total, STRIP)]
