"""Points within a polygon, which stand for the parts of an area source."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats, Mask


def cells_across(corners: Floats, spacing: float) -> tuple[int, int]:
    """Number of cells of at most this size along x and y, over the bounds of a polygon."""
    extent = np.ptp(corners, axis=0)
    counts = np.maximum(np.ceil(extent / spacing - 1e-9), 1)
    return int(counts[0]), int(counts[1])


def points_within(corners: Floats, spacing: float) -> Floats:
    """The centres of cells that lie within a polygon, (n, 2), m.

    Args:
        corners: of the polygon, (corners, 2), m; the last one may repeat the first.
        spacing: largest size of a cell, m.
    """
    low, counts = corners.min(axis=0), cells_across(corners, spacing)
    size = np.ptp(corners, axis=0) / counts
    axes = [low[n] + size[n] * (np.arange(counts[n]) + 0.5) for n in range(2)]
    x, y = (axis.ravel() for axis in np.meshgrid(*axes))
    points = np.stack([x, y], axis=1)
    return np.asarray(points[is_within(points, corners)])


def is_within(points: Floats, corners: Floats) -> Mask:
    """Whether points (n, 2) lie within a polygon: a ray from each crosses its edges an odd number
    of times.
    """
    inside = np.zeros(len(points), bool)
    x, y = points.T
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        spans = (y0 > y) != (y1 > y)
        if spans.any():
            inside[spans] ^= x[spans] < x0 + (x1 - x0) * (y[spans] - y0) / (y1 - y0)
    return inside
