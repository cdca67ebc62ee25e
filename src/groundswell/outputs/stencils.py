"""Lagrange interpolation between the nodes of an axis."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats, Integers


def stencil(
    at: Floats, count: int | None, taps: int, positions: Floats | None = None
) -> tuple[Integers, Floats]:
    """Lagrange interpolation with `taps` nodes on an axis of `count` nodes; None if it is periodic.

    `at` is in spacings from the first node, a fraction of the way from one node to the next if
    their `positions`, (count,), are not evenly spaced. Beyond the outermost nodes the stencil
    extrapolates linearly; polynomials of higher degree would have large weights of both signs.

    Returns:
        Indices of the first nodes (positions,) and weights (positions, taps).
    """
    first = np.floor(at + (0.5 if taps == 1 else 0.0)).astype(np.int64) - (taps - 1) // 2
    if count is not None:
        first = np.clip(first, 0, count - taps)
    which = np.arange(taps)[None]
    t, nodes = (at - first)[:, None], which.astype(float)
    if positions is not None:
        t, nodes = _at_nodes(positions, at)[:, None], positions[first[:, None] + which]
    weights = np.ones((len(at), taps))
    for n in range(taps):
        others = np.delete(nodes, n, axis=1)
        weights[:, n] = ((t - others) / (nodes[:, n : n + 1] - others)).prod(axis=1)
    before, after = t < nodes[:, :1], t > nodes[:, -1:]
    if taps > 2 and (before | after).any():
        line = np.zeros_like(weights)
        line[:, :2] = np.where(before, _line(t, nodes[:, :2]), line[:, :2])
        line[:, -2:] = np.where(after, _line(t, nodes[:, -2:]), line[:, -2:])
        weights = np.where(before | after, line, weights)
    return first, weights


def _at_nodes(positions: Floats, at: Floats) -> Floats:
    """Positions of fractional indices, also beyond the ends."""
    cell = np.clip(np.floor(at).astype(np.int64), 0, len(positions) - 2)
    return np.asarray(positions[cell] + (at - cell) * (positions[cell + 1] - positions[cell]))


def _line(t: Floats, nodes: Floats) -> Floats:
    """Weights of two nodes on the straight line through them."""
    low, high = nodes[:, :1], nodes[:, 1:]
    return np.hstack([(high - t) / (high - low), (t - low) / (high - low)])
