"""Arrays of one shape in different layouts of memory."""

from __future__ import annotations

from typing import Any

import numpy as np


def elsewhere(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """A float32 array somewhere: aligned or not, in the order of C or of Fortran, in steps."""
    count = int(np.prod(shape))
    where = int(rng.integers(4))
    if where == 0:
        return np.zeros(shape, np.float32)
    if where == 1:
        return np.zeros(count + 7, np.float32)[int(rng.integers(8)) :][:count].reshape(shape)
    if where == 2:
        return np.zeros(shape[::-1], np.float32).T
    return np.zeros((shape[0], 2 * shape[1]), np.float32)[:, ::2]
