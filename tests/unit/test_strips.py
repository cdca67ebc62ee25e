"""Short strips: what filling them up costs a code whose chunks are of full ones."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.backends import open_backend
from groundswell.exchange.boxes import Copy, Place
from groundswell.exchange.codecs.coder import coder
from groundswell.exchange.codecs.strips import strip_sizes, strips


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 3, 32, 64, 500, 1023])
def test_filling_up_takes_little_more(dtype: str, count: int) -> None:
    """Of ten boxes of random numbers: whole groups of values, a word each, and a bitmap."""
    backend, boxes = open_backend("cpu"), 10
    field = np.random.default_rng().standard_normal((boxes, count)).astype(dtype)
    places = [Place.in_array(backend, field, (0, 0), (n, 0)) for n in range(boxes)]
    copies = [Copy((1, count), place, Place(0, (0, 0)), dtype, dtype) for place in places]
    code = coder("mpc", backend, dtype, strip_sizes([(1, count)] * boxes))
    stream = backend.zeros((code.capacity,), np.uint8)
    for launch in code.encode(strips(copies, of_target=False), stream):
        launch()
    assert code.used is not None
    bits = 8 * field.itemsize
    words = -(-count // bits) * bits + 1
    assert code.used[0] <= 8 + boxes * (words * field.itemsize + 128)
