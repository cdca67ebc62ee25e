"""Points of a fault: positions, unit vectors and coordinates on the fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from groundswell.arrays import Floats, Indices, Mask


@dataclass(frozen=True, eq=False)
class FaultPoints:
    """Points at which friction acts, with z down.

    The normal points from the footwall (-) to the hanging wall (+), which lies to the right of the
    strike. Slip is the motion of the hanging wall relative to the footwall, as in Aki & Richards.

    Args:
        position: x, y, depth, (n, 3), m.
        normal, strike, updip: orthogonal unit vectors, (n, 3).
        along_strike: distance along strike from the hypocenter, or from the middle, (n,), m.
        down_dip: distance from the top edge, (n,), m.
        area: that each point stands for, (n,), m^2.
    """

    position: Floats
    normal: Floats
    strike: Floats
    updip: Floats
    along_strike: Floats
    down_dip: Floats
    area: Floats

    def __len__(self) -> int:
        return len(self.position)

    def take(self, chosen: Indices | Mask) -> FaultPoints:
        """Some of the points."""
        return FaultPoints(*(getattr(self, field.name)[chosen] for field in fields(self)))

    @classmethod
    def concatenate(cls, parts: Sequence[FaultPoints]) -> FaultPoints:
        """The points of several faults, in their order."""
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def describe(self, n: int) -> str:
        """The position of a point, for messages."""
        place = ", ".join(f"{at:.8g}" for at in np.round(self.position[n], 6) + 0.0)
        return f"x, y, depth = {place} m"


def frame_of(normal: Floats, azimuth: float | None = None) -> tuple[Floats, Floats]:
    """The unit vectors along strike and updip, (..., 3), of a fault with these unit normals.

    The strike is horizontal with the normal to its right. `updip` points towards smaller z.

    Args:
        normal: from the footwall to the hanging wall, (..., 3), with z down.
        azimuth: strike where the fault is horizontal, degrees clockwise from the y axis.
    """
    level = np.hypot(normal[..., 0], normal[..., 1])
    x, y = (_quotient(normal[..., axis], level) for axis in (0, 1))
    if azimuth is not None:
        x, y = (
            np.where(level > 0, given, at)
            for given, at in zip((x, y), right_of(azimuth), strict=True)
        )
    zero = np.zeros_like(level)
    strike = np.stack([-y, x, zero], axis=-1)
    updip = np.stack([normal[..., 2] * x, normal[..., 2] * y, -level], axis=-1)
    return strike + 0.0, updip + 0.0  # without negative zeros


def right_of(azimuth: float) -> tuple[float, float]:
    """x and y of the horizontal unit vector to the right of a direction (degrees from y)."""
    angle = np.radians(azimuth)
    return float(np.cos(angle)), float(-np.sin(angle))


def _quotient(value: Floats, by: Floats) -> Floats:
    """The quotient; 0 where the divisor is."""
    return np.divide(value, by, out=np.zeros_like(by), where=by > 0)
