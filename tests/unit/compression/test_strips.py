"""Strips: boxes anywhere in arrays are packed as they are encoded, unpacked as they are decoded."""

from __future__ import annotations

import numpy as np
import pytest
from coded_arrays import Boxes, run, sizes_of, table_of
from mpc_oracle import stream_of

from groundswell.backends import open_backend
from groundswell.compression import coder
from groundswell.compression.strips import STRIP

precisions = pytest.mark.parametrize("dtype", ["float32", "float64"])
BACKEND = open_backend("cpu")


@precisions
def test_boxes_of_an_array(dtype: str) -> None:
    """Two boxes, the first with a full strip and a short one; a strip repeats its last value."""
    field = np.random.default_rng(1).standard_normal((9, 40, 50)).astype(dtype)
    boxes: Boxes = [((1, 2, 3), (2, 13, 40)), ((5, 0, 0), (1, 2, 36))]
    cuts = [tuple(slice(f, f + n) for f, n in zip(*box, strict=True)) for box in boxes]
    first, second = (field[cut].ravel() for cut in cuts)
    code = coder("mpc", BACKEND, dtype, sizes_of(boxes))
    stream = np.zeros(code.capacity, np.uint8)
    run(code.encode(table_of(BACKEND, field, boxes), stream))
    padded = np.concatenate([first, np.full(2 * STRIP - len(first), first[-1]), second])
    assert code.used is not None
    assert stream[: code.used[0]].tobytes() == stream_of(padded).tobytes()
    back, wanted = np.zeros_like(field), np.zeros_like(field)
    run(code.decode(stream, table_of(BACKEND, back, boxes)))
    for cut in cuts:
        wanted[cut] = field[cut]
    assert back.tobytes() == wanted.tobytes()


@precisions
@pytest.mark.parametrize("count", [1, 3, 32, 64, 500, 1023])
def test_short_strips_take_little_more(dtype: str, count: int) -> None:
    """Of ten boxes of random numbers: whole groups of values, a word each, and a bitmap."""
    field = np.random.default_rng(2).standard_normal((10, count)).astype(dtype)
    boxes: Boxes = [((n, 0), (1, count)) for n in range(len(field))]
    code = coder("mpc", BACKEND, dtype, sizes_of(boxes))
    stream = BACKEND.zeros((code.capacity,), np.uint8)
    run(code.encode(table_of(BACKEND, field, boxes), stream))
    assert code.used is not None
    bits = 8 * field.itemsize
    words = -(-count // bits) * bits + 1
    assert code.used[0] <= 8 + len(boxes) * (words * field.itemsize + 128)
