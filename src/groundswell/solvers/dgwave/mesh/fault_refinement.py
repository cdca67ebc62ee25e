"""Which elements of a grid are near a fault, and are halved there."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.meshes.octree_refinement import Criterion
from groundswell.seismology.case.fault import PlaneSection

ROUNDING = 1e-6  # of edges
# The nearest boxes inside the region, from boxes of elements; corners are (n, 3), m.
NearestBoxes = Callable[[Floats, Floats], tuple[Floats, Floats]]


def near_planes(
    planes: Iterable[PlaneSection], distance: float, nearest: NearestBoxes
) -> Criterion:
    """A criterion for `refine` that divides elements near rectangles; layers follow the region.

    Args:
        distance: elements nearer than this are divided, m; those that touch a plane always are.
    """
    corners = [_corners(plane) for plane in planes]

    def wanted(lower: Floats, upper: Floats) -> Mask:
        low, high = nearest(lower, upper)
        reach = distance + ROUNDING * (high - low).max(axis=1)
        gaps = [np.fmax(np.fmax(first - high, low - last), 0) for first, last in corners]
        return np.any([np.linalg.norm(gap, axis=1) <= reach for gap in gaps], axis=0)

    return wanted


def _corners(plane: PlaneSection) -> tuple[Floats, Floats]:
    """The lower and the upper corner of a plane, (3,) each, m."""
    ends = [each if isinstance(each, tuple) else (each, each) for each in (plane.x, plane.y)]
    low, high = np.array([*ends, plane.depth]).T
    return low, high
