"""What is ours of nvCOMP's codes: strips as arrays, and what is said where it is not there."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.backends import Blocks, open_backend
from groundswell.errors import BackendError
from groundswell.exchange.boxes import Copy, Place
from groundswell.exchange.codecs.coder import coder
from groundswell.exchange.codecs.nvcomp import packed_source
from groundswell.exchange.codecs.strips import STRIP, strip_sizes, strips


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_strips_become_arrays_and_back(dtype: str) -> None:
    """Two boxes of an array, the first of which makes a full strip and a short one."""
    backend, rng = open_backend("cpu"), np.random.default_rng()
    field, back = rng.standard_normal((9, 40, 50)).astype(dtype), np.zeros((9, 40, 50), dtype)
    boxes = [((1, 2, 3), (2, 13, 40)), ((5, 0, 0), (1, 2, 6))]
    none = Place(0, (0, 0, 0))

    def table(array: np.ndarray) -> np.ndarray:
        places = [Place.in_array(backend, array, (0, 0, 0), first) for first, _ in boxes]
        copies = [
            Copy(shape, place, none, dtype, dtype)
            for place, (_, shape) in zip(places, boxes, strict=True)
        ]
        return strips(copies, of_target=False)

    count, module = 3, backend.compile(packed_source(dtype))
    values = np.full(STRIP * count, np.nan, dtype)
    module.launch("pack_strips", Blocks(count, 256), table(field), count, values)()
    for strip, size in enumerate(strip_sizes([shape for _, shape in boxes])):
        rest = values[strip * STRIP + size : (strip + 1) * STRIP]
        assert (rest == values[strip * STRIP + size - 1]).all()
    module.launch("unpack_strips", Blocks(count, 256), values, count, table(back))()
    wanted = np.zeros_like(field)
    for first, shape in boxes:
        box = tuple(slice(f, f + n) for f, n in zip(first, shape, strict=True))
        wanted[box] = field[box]
    assert back.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("name", ["bitcomp", "ans"])
def test_they_need_a_gpu(name: str) -> None:
    with pytest.raises(BackendError, match=f"codec '{name}' is part of nvCOMP.* mpc"):
        coder(name, open_backend("cpu"), "float32", [10])
