"""Morton order of lattice cells: the bits of three indices interleaved into one key.

Cells near each other in the order are near each other in space.

Morton, A computer oriented geodetic data base and a new technique in file sequencing, IBM 1966.
"""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Integers

BITS = 20  # of an index; keys of 60 bits leave room for sums in 64-bit signed integers


def _move_bits(numbers: Integers, taken: range, placed: range) -> Integers:
    """Numbers of some bits of others, (numbers,): those at `taken` go to `placed`."""
    pairs = zip(taken, placed, strict=True)
    return np.asarray(sum(((numbers >> bit) & 1) << place for bit, place in pairs))


# Tables for 10 bits of an index, and for 12 bits of a key, which are 4 of each index.
_SPREAD = _move_bits(np.arange(2**10), range(10), range(0, 30, 3))
_PACKED = [_move_bits(np.arange(2**12), range(axis, 12, 3), range(4)) for axis in range(3)]


def encode(cells: Integers) -> Integers:
    """Keys of cells.

    The key grows if an index grows and none shrinks. The lowest bit is that of x.

    Args:
        cells: indices along x, y and z, each at least 0 and below 2^20, (..., 3).

    Returns:
        (...).
    """
    spread = _SPREAD[cells & 1023] | _SPREAD[cells >> 10] << 30
    return np.asarray(spread[..., 0] | spread[..., 1] << 1 | spread[..., 2] << 2)


def decode(keys: Integers) -> Integers:
    """Indices of cells along x, y and z, (..., 3), from their keys (...)."""
    parts = [keys >> 12 * n & 4095 for n in range(5)]
    columns = [sum(table[part] << 4 * n for n, part in enumerate(parts)) for table in _PACKED]
    return np.stack(columns, axis=-1)
