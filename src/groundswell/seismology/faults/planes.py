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
    name: str,
    positions: tuple[Floats, Floats, Floats],
    azimuth: float | None = None,
    hypocenter: Sequence[float] | None = None,
) -> FaultPoints:
    """Points of a surface. Distances on it are measured along its mean strike and dip.

    Args:
        name: of the fault, for messages.
        positions: x, y, depth, (n, 3), m; unit normals of any sign, (n, 3); and the areas that
            the points stand for, (n,), m^2; of the whole fault.
        azimuth: strike, within 90 degrees, clockwise from the y axis of the grid; None for a fault
            that is nowhere vertical.
        hypocenter: x, y, depth, m; by default the middle of the surface.

    Raises:
        InputError: the hanging wall is not defined, or does not lie above the fault.
    """
    position, normal, area = positions
    if not len(position):
        raise InputError(f"fault {name} has no points; correct its surface")
    normal = oriented(name, position, normal, azimuth)
    strike, updip = frame_of(normal, azimuth)
    mean = area @ normal
    mean_strike, mean_updip = frame_of(mean / np.linalg.norm(mean), azimuth)
    along, down = position @ mean_strike, -(position @ mean_updip)
    middle = (along.min() + along.max()) / 2
    start = middle if hypocenter is None else np.asarray(hypocenter) @ mean_strike
    return FaultPoints(position, normal, strike, updip, along - start, down - down.min(), area)


def oriented(name: str, position: Floats, normal: Floats, azimuth: float | None) -> Floats:
    """Unit normals from the footwall to the hanging wall, of normals of any sign, (n, 3).

    The hanging wall lies to the right of the strike; without a strike it is the side above the
    fault.

    Raises:
        InputError: the side is not defined at a point, or the hanging wall is mostly below.
    """
    if azimuth is None:
        side = -normal[:, 2]
        cure = "is vertical there; give its strike"
    else:
        side = _sideways(normal, azimuth)
        cure = f"is about 90 degrees from strike = {azimuth:g} there; give its mean, or split it"
    if (np.abs(side) < STEEP).any():
        n = int(np.abs(side).argmin())
        x, y, depth = position[n]
        raise InputError(f"fault {name}, at x, y, depth = {x:.8g}, {y:.8g}, {depth:.8g} m, {cure}")
    normal = normal * np.sign(side)[:, None]
    if azimuth is not None and normal[:, 2].mean() > STEEP:
        raise InputError(
            f"fault {name} dips to the left of strike = {azimuth:g}; give the opposite direction, "
            f"strike = {(azimuth + 180) % 360:g}, so that the hanging wall lies above the fault"
        )
    return np.asarray(normal)


def _sideways(normal: Floats, azimuth: float) -> Floats:
    """Cosine between horizontal normals and the right of a strike; -z of the normal if flat."""
    level = np.hypot(normal[:, 0], normal[:, 1])
    across = normal[:, :2] @ np.array(right_of(azimuth))
    is_flat = level < STEEP
    return np.where(is_flat, -normal[:, 2], across / np.where(is_flat, 1.0, level))
