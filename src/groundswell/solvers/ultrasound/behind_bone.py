"""The points behind the bone through which transducers aim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.solvers.ultrasound.transducers import Surface

if TYPE_CHECKING:
    import xarray

MOST = 8  # different axes
SAME, DIRECTIONS = 1e-6, 4  # m, distance of centres that count as one; 1 / difference of directions
STEPS = 2  # steps along an axis in the smallest spacing
SAMPLES = 16  # integration points of a surface in its radius of curvature


class Axis(NamedTuple):
    """The way from transducers to their centre of curvature, (x, y, z) each, m."""

    start: Floats
    end: Floats


def behind_bone(surfaces: Sequence[Surface], soft: Mask, like: xarray.DataArray) -> Mask:
    """The soft points behind the bone through which curved transducers aim; else all of them.

    A transducer aims at its centre of curvature. If the way there crosses bone and ends outside it,
    the points behind are those on the other side of a plane across the way where it leaves the
    bone. Several transducers may aim from different sides.

    Args:
        soft: whether points are outside bone, (z, y, x).
        like: a map with the coordinates of the points.
    """
    found = soft.copy()
    for axis in _axes(surfaces):
        if distance := _exit(axis, soft, like):
            _leave_out_before(axis, distance, found, like)
    return found if found.any() else soft


def _axes(surfaces: Sequence[Surface]) -> Iterator[Axis]:
    """Yield an axis for each centre of curvature and each direction; none for more than MOST."""
    groups: dict[tuple[int, ...], list[Axis]] = {}
    for axis in filter(None, map(_axis, surfaces)):
        groups.setdefault(_group(axis), []).append(axis)
    if len(groups) <= MOST:
        for each in groups.values():
            yield Axis(np.mean([axis.start for axis in each], axis=0), each[0].end)


def _group(axis: Axis) -> tuple[int, ...]:
    """The same for axes that end at the same point and have about the same direction."""
    direction = (axis.end - axis.start) / np.linalg.norm(axis.end - axis.start)
    found = np.rint(np.concatenate([axis.end / SAME, direction * DIRECTIONS]))
    return tuple(found.astype(int).tolist())


def _axis(surface: Surface) -> Axis | None:
    """From the middle of a surface to its centre of curvature; None if it is flat."""
    if (centre := surface.centre_of_curvature) is None:
        return None
    step = float(np.linalg.norm(centre - surface.reference_point)) / SAMPLES
    return Axis(surface.sample(step).points.mean(axis=0), centre)


def _exit(axis: Axis, soft: Mask, like: xarray.DataArray) -> float | None:
    """Distance from the start at which an axis leaves the last bone, m; None if it does not."""
    first = np.array([float(like[each][0]) for each in "xyz"])
    spacing = np.array([_spacing(like[each]) for each in "xyz"])
    length = float(np.linalg.norm(axis.end - axis.start))
    step = spacing[np.isfinite(spacing)].min() / STEPS
    along = np.linspace(0.0, length, 2 + int(length / step))
    points = axis.start + along[:, None] / length * (axis.end - axis.start)
    indices = np.rint((points - first) / spacing).astype(int)
    inside = ((indices >= 0) & (indices < soft.shape[::-1])).all(axis=1)
    x, y, z = indices[inside].T
    bone = np.flatnonzero(~soft[z, y, x])
    if not bone.size or bone[-1] == len(x) - 1:
        return None
    return float(along[inside][bone[-1] + 1])


def _spacing(coordinate: xarray.DataArray) -> float:
    """Distance of points along an axis, m; infinite with one point."""
    return float(np.diff(coordinate.values[:2])[0]) if coordinate.size > 1 else np.inf


def _leave_out_before(axis: Axis, distance: float, found: Mask, like: xarray.DataArray) -> None:
    """Leave out the points nearer along an axis than a distance from its start, m, in place."""
    way = (axis.end - axis.start) / np.linalg.norm(axis.end - axis.start)
    x, y, z = (
        part * (like[name].values - start)
        for part, name, start in zip(way, "xyz", axis.start, strict=True)
    )
    across = x + y[:, None]
    for k, plane in enumerate(found):
        plane &= across >= distance - z[k]
