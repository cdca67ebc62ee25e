"""Boxes of values as codecs take them: in strips, which are packed as they are coded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from groundswell.exchange.boxes import Copy, Place, merged

STRIP = 1024  # values; see strips.h
SHORT = 32  # values of a row that are hardly worth reading together


def strips(copies: Sequence[Copy], *, of_target: bool) -> NDArray[np.int64]:
    """Rows of strips.h, (strips, 8), of the places that boxes are copied from, or to.

    Those that are full come first. Both ends of a message number the values of a box alike: along
    its last axis first, or, where that is short, along its longest, so that those coded together
    resemble each other.
    """
    rows = [row for copy in copies for row in _strips(copy, of_target)]
    table = np.array(rows, np.int64).reshape(len(rows), 8)
    table = table[np.argsort(table[:, -1] < STRIP, kind="stable")]
    fours = -(-table[:, -1] // 4)
    table[:, -1] |= (np.cumsum(fours) - fours) << 32
    return table


def strip_sizes(shapes: Sequence[Sequence[int]]) -> list[int]:
    """Values of each strip of boxes of these shapes."""
    sizes = [prod(shape) for shape in shapes]
    full = sum(size // STRIP for size in sizes)
    return [STRIP] * full + [size % STRIP for size in sizes if size % STRIP]


def _strips(copy: Copy, of_target: bool) -> list[list[int]]:
    order = list(range(len(copy.shape)))
    if copy.shape[-1] < SHORT:
        order.sort(key=lambda axis: copy.shape[axis])
    place = copy.target if of_target else copy.source
    along = replace(place, strides=tuple(place.strides[axis] for axis in order))
    shape = tuple(copy.shape[axis] for axis in order)
    (_, rows, length), merged_place, _ = merged(shape, along, Place(0, along.strides))
    box = [merged_place.address, *merged_place.strides, rows, length]
    total = prod(shape)
    return [[*box, first, min(STRIP, total - first)] for first in range(0, total, STRIP)]
