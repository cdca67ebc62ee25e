"""Strips: at most 1024 consecutive values of a box in memory, which a codec encodes together."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from groundswell.arrays import Integers

STRIP = 1024  # values; as in strips.h


class StridedValues(NamedTuple):
    """Values in memory, numbered row by row and plane by plane.

    Args:
        address: address of the first value.
        strides: bytes between planes, between rows, and between values of a row.
        shape: number of planes, of rows, and of values of a row. Codecs are fastest if rows are
            long, and compress well if neighbours in a row have similar values.
    """

    address: int
    strides: tuple[int, ...]
    shape: tuple[int, ...]


def strip_sizes(shapes: Sequence[Sequence[int]]) -> list[int]:
    """The number of values of each strip of boxes of these shapes; full strips come first."""
    sizes = [prod(shape) for shape in shapes]
    full = sum(size // STRIP for size in sizes)
    return [STRIP] * full + [size % STRIP for size in sizes if size % STRIP]


def strip_table(boxes: Sequence[StridedValues]) -> Integers:
    """The strips of boxes, (strips, 8), in the order of `strip_sizes`; rows as in strips.h."""
    rows = [row for box in boxes for row in _strips(box)]
    table = np.array(rows, np.int64).reshape(len(rows), 8)
    table = table[np.argsort(table[:, -1] < STRIP, kind="stable")]
    blocks = -(-table[:, -1] // 4)  # of four values
    table[:, -1] |= (np.cumsum(blocks) - blocks) << 32  # blocks of all earlier strips
    return table


def _strips(box: StridedValues) -> list[list[int]]:
    total, (_, rows, length) = prod(box.shape), box.shape
    place = [box.address, *box.strides, rows, length]
    return [[*place, first, min(STRIP, total - first)] for first in range(0, total, STRIP)]
