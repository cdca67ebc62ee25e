"""Interpolation in periodic arrays by NumPy: polynomials through the nearest nodes of each axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def interpolate(values: NDArray[Any], place: Sequence[float], taps: int) -> float:
    """The value of an array (z, y, x) at a fractional index (x, y, z), from `taps` nodes an axis.

    The nodes repeat beyond the ends of all axes.
    """
    for at in place:
        nodes = int(np.floor(at)) - taps // 2 + 1 + np.arange(taps)
        weights = np.linalg.solve(np.vander(nodes - at, increasing=True).T, np.eye(taps)[0])
        values = np.take(values, nodes, axis=-1, mode="wrap") @ weights
    return float(values)
