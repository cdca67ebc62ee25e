"""Places on a fault: the nearest to a point, distances from it, and patches around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.errors import InputError
from groundswell.seismology.case.fault import Circle, Rectangle
from groundswell.seismology.faults.points import FaultPoints

ROUNDING = 1e-9  # of a size, within which a point is on the edge of a patch
_FAR = 2.0  # greatest distance of a hypocenter from a fault, in largest lengths between points


@dataclass(frozen=True)
class FaultPlace:
    """A place on a fault.

    Args:
        position: x, y, depth, (3,), m.
        along_strike, down_dip: coordinates on the fault, m.
        offset: distance of the given point from it, m.
    """

    position: Floats
    along_strike: float
    down_dip: float
    offset: float

    def distance(self, points: FaultPoints) -> Floats:
        """Distance of points of the fault, (n,), m; along chords where the fault is curved."""
        return np.asarray(np.linalg.norm(points.position - self.position, axis=1))


def nearest_place(points: FaultPoints, point: Sequence[float]) -> FaultPlace:
    """The place on a fault nearest to x, y, depth (m), on the plane through its nearest point."""
    away = np.asarray(point, float) - points.position
    n = int(np.einsum("ij,ij->i", away, away).argmin())
    along, up = float(away[n] @ points.strike[n]), float(away[n] @ points.updip[n])
    place = points.position[n] + along * points.strike[n] + up * points.updip[n]
    return FaultPlace(
        place,
        float(points.along_strike[n]) + along,
        float(points.down_dip[n]) - up,
        float(np.linalg.norm(np.asarray(point) - place)),
    )


def hypocenter_of(points: FaultPoints, point: Sequence[float]) -> FaultPlace:
    """The place of a hypocenter.

    Raises:
        InputError: it is not on the fault.
    """
    place = nearest_place(points, point)
    nearest = float(np.linalg.norm(points.position - np.asarray(point), axis=1).min())
    if nearest > _FAR * float(np.sqrt(points.area.max())):
        x, y, depth = point
        raise InputError(
            f"hypocenter = [{x:g}, {y:g}, {depth:g}] is {nearest:.6g} m from the "
            "nearest point of the fault; give a point on it"
        )
    return place


def points_in(name: str, patch: Rectangle | Circle, points: FaultPoints) -> Mask:
    """Which points a patch contains, with its edge.

    Args:
        name: of the patch, for messages.

    Raises:
        InputError: it contains none.
    """
    place = nearest_place(points, patch.center)
    if isinstance(patch, Circle):
        inside = place.distance(points) <= patch.radius * (1 + ROUNDING)
    else:
        along, down = (size / 2 * (1 + ROUNDING) for size in patch.size)
        inside = np.abs(points.along_strike - place.along_strike) <= along
        inside &= np.abs(points.down_dip - place.down_dip) <= down
    if not inside.any():
        raise InputError(f"{name} contains no point of the fault; move its center, or enlarge it")
    return np.asarray(inside)
