"""Frames of faults: of upright planes along an axis of the grid, and of surfaces of meshes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.case.fault import PlaneSection
from groundswell.seismology.faults.points import FaultPoints, frame_of, right_of

# Normals to the sides of the hanging wall: it is south of a fault along +x, east of one along +y.
_NORMALS = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
FLAT = 1e-9  # horizontal part of unit normals that is rounding
STEEP = 0.05  # smallest cosine between directions that define a side: 87 degrees apart


def plane_points(
    plane: PlaneSection,
    position: Floats,
    area: Floats,
    hypocenter: Sequence[float] | None = None,
) -> FaultPoints:
    """Points of an upright plane; its strike is +x or +y.

    Args:
        position: x, y, depth, (n, 3), m.
        area: that each point stands for, (n,), m^2.
        hypocenter: x, y, depth, m; by default the middle of the plane.
    """
    normal = np.tile(_NORMALS[plane.axis], (len(position), 1))
    along = 1 - plane.axis
    start = np.mean(plane.extent) if hypocenter is None else hypocenter[along]
    return FaultPoints(
        position,
        normal,
        *frame_of(normal),
        position[:, along] - start,
        position[:, 2] - plane.depth[0],
        area,
    )


def surface_points(
    positions: tuple[Floats, Floats, Floats],
    azimuth: float | None = None,
    hypocenter: Sequence[float] | None = None,
) -> FaultPoints:
    """Points of a surface. Distances on it are measured along its mean strike and dip.

    Args:
        positions: x, y, depth, (n, 3), m; unit normals to the hanging wall, see `hanging_side`,
            (n, 3); and the areas that the points stand for, (n,), m^2; of the whole fault.
        azimuth: strike where the surface is horizontal, clockwise from the y axis of the grid.
        hypocenter: x, y, depth, m; by default the middle of the surface.

    Raises:
        InputError: there are no points, or the surface is horizontal somewhere and has no strike.
    """
    position, normal, area = positions
    if not len(position):
        raise InputError("the fault has no points; correct its surface")
    if azimuth is None and (np.hypot(normal[:, 0], normal[:, 1]) < FLAT).any():
        raise InputError("the fault is horizontal in parts; give its strike")
    strike, updip = frame_of(normal, azimuth)
    mean = area @ normal
    mean_strike, mean_updip = frame_of(mean / np.linalg.norm(mean), azimuth)
    along, down = position @ mean_strike, -(position @ mean_updip)
    middle = (along.min() + along.max()) / 2
    start = middle if hypocenter is None else np.asarray(hypocenter) @ mean_strike
    return FaultPoints(position, normal, strike, updip, along - start, down - down.min(), area)


def hanging_side(normal: Floats, azimuth: float | None) -> float:
    """1 if the mean normal of a fault or of a part of it points to the hanging wall, else -1.

    The hanging wall lies to the right of the strike; without a strike it is the side above the
    fault, and of an upright one that to the right of a strike from 0 to 180 degrees.

    Args:
        normal: x, y, z of the mean of unit normals, of any sign, (3,), with z down.
        azimuth: strike, within 90 degrees, clockwise from the y axis of the grid.

    Raises:
        InputError: the side is not defined, or the hanging wall would lie below.
    """
    side = _above(normal) if azimuth is None else _sideways(normal, azimuth)
    if abs(side) < STEEP:
        if azimuth is None:
            why = "the normals of its parts cancel; give its strike"
        else:
            why = (
                f"its strike is about 90 degrees from strike = {azimuth:g}; give its mean strike, "
                "or split the fault"
            )
        raise InputError(f"the fault has no hanging wall: {why}")
    sign = float(np.sign(side))
    if azimuth is not None and sign * normal[2] > STEEP:
        raise InputError(
            f"the fault dips to the left of strike = {azimuth:g}; give the opposite direction, "
            f"strike = {(azimuth + 180) % 360:g}, so that the hanging wall lies above the fault"
        )
    return sign


def _above(normal: Floats) -> float:
    """Of a mean normal, -z; if it is level, -y, or x if it lies along x."""
    upward = (-normal[2], -normal[1], normal[0])
    return float(next((part for part in upward if abs(part) >= STEEP), 0.0))


def _sideways(normal: Floats, azimuth: float) -> float:
    """Cosine between a horizontal normal and the right of a strike; -z of the normal if flat."""
    level = float(np.hypot(normal[0], normal[1]))
    return float(normal[:2] @ right_of(azimuth)) / level if level >= STEEP else -float(normal[2])
