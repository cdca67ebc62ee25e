"""Rows along x of a window, by kind: values from neighbours, for neighbours, or neither."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Mask
from groundswell.solvers.ultrasound.window import Window

RowNumbers = NDArray[np.int32]


@dataclass(frozen=True)
class WindowRows:
    """Numbers z ny + y of the rows of a window (nz, ny, nx), ascending, (rows,) each.

    Args:
        own: rows of the block.
        boundary: rows of the block with values that neighbours need.
        interior: other rows of the block.
        local: rows without values of neighbours: those of the block, or none if x is divided.
        mixed: rows that contain values of neighbours.
    """

    own: RowNumbers
    boundary: RowNumbers
    interior: RowNumbers
    local: RowNumbers
    mixed: RowNumbers

    @classmethod
    def of(cls, window: Window) -> WindowRows:
        """The rows of a window."""
        own, inner = (_without_margin(window, overlaps) for overlaps in (1, 2))
        undivided = window.overlap[0] == 0
        interior, local = inner & undivided, own & undivided
        kinds = (own, own & ~interior, interior, local, ~local)
        return cls(*(np.flatnonzero(kind).astype(np.int32) for kind in kinds))

    @property
    def has_overlaps(self) -> bool:
        """Whether a row contains values of neighbours."""
        return len(self.mixed) > 0

    @property
    def divisor(self) -> int:
        """Greatest common divisor of the numbers of rows of all kinds."""
        return gcd(*map(len, (self.own, self.boundary, self.local, self.mixed)))


def _without_margin(window: Window, overlaps: int) -> Mask:
    """Whether each row is at least `overlaps` overlaps from the faces of a window, (rows,)."""
    _, ny, nz = window.extended
    _, y, z = (overlaps * overlap for overlap in window.overlap)
    found = np.zeros((nz, ny), bool)
    found[z : nz - z, y : ny - y] = True
    return found.reshape(-1)
