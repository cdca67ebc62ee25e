"""Values that a solver's own kernels store twice: in their own block, and where they are ghosts.

Nobody reads again, or copies, what a kernel has just computed: no buffer, no kernel that packs.
It needs memory of the neighbour that this process can write, and arrays that are laid out alike on
both sides, so that a value and its ghost are the same distance apart all over a box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from groundswell.backends import Backend
from groundswell.exchange.boxes import AXES, Copy
from groundswell.exchange.decomposition import Index


@dataclass(frozen=True)
class Put:
    """A box of values that are wanted elsewhere too.

    Args:
        field: what the kernel calls the field by.
        first: local index of the first point.
        shape: points along each axis.
        shift: bytes from a value to its other place.
    """

    field: int
    first: Index
    shape: Index
    shift: int

    def row(self) -> list[int]:
        """The numbers of the box as include/halo_put.h reads them: its fastest axis first."""
        return [self.field, *_reversed(self.first, 0), *_reversed(self.shape, 1), self.shift]


def _reversed(numbers: Sequence[int], missing: int) -> list[int]:
    return [*numbers[::-1], *[missing] * (AXES - len(numbers))]


def alike(copy: Copy) -> bool:
    """Whether all values move by the same distance, in every epoch, and stay what they are."""
    source, target = copy.source, copy.target
    moves = (source.strides, source.flip) == (target.strides, target.flip)
    return moves and copy.dtype == copy.as_dtype


def put_arguments(backend: Backend, puts: Sequence[Put], block: Index) -> list[Any]:
    """What a kernel with PUT_ARGUMENTS is given at the end; nothing if there are none.

    Args:
        block: points of this rank along each axis.
    """
    if not puts:
        return []
    first, shape = _inner(puts, block)
    rows = backend.to_device(np.array([put.row() for put in puts], np.int64))
    return [rows, len(puts), *_reversed(first, 0), *_reversed(shape, 1)]


def _inner(puts: Sequence[Put], block: Index) -> tuple[list[int], list[int]]:
    """First point and extents of a box in the block that no put reaches into."""
    low, high = [0] * len(block), list(block)
    for put in puts:
        cuts = [
            (f + n, axis, 0) for axis, (f, n) in enumerate(zip(put.first, put.shape, strict=True))
        ]
        cuts += [(block[axis] - f, axis, 1) for axis, f in enumerate(put.first)]
        layers, axis, side = min(cuts)
        if side:
            high[axis] = min(high[axis], block[axis] - layers)
        else:
            low[axis] = max(low[axis], layers)
    return low, [max(0, last - first) for last, first in zip(high, low, strict=True)]
