"""Stretching: maps from evenly spaced to clustered positions along an axis."""

from __future__ import annotations

from collections.abc import Callable
from math import tanh

import numpy as np

from groundswell.arrays import Floats
from groundswell.solvers.cavity.case import AXES, CavityCase
from groundswell.solvers.cavity.walls import Wall

Map = Callable[[Floats], Floats]  # from fractions of the length of an axis, even ones, to fractions


def map_along(case: CavityCase, axis: int, fractions: Floats) -> Map | None:
    """The map of an axis; None if its points are evenly spaced.

    Args:
        fractions: even positions of the finest grid's points, over the length of the box.
    """
    grid, name = case.grid, AXES[axis]
    if (positions := getattr(grid.positions, name)) is not None:
        return through(fractions, np.array(positions) / grid.size[axis])
    if (strength := getattr(grid.stretching, name)) is None:
        return None
    low, high = (isinstance(side, Wall) for side in case.walls.pair(axis))
    return clustered(strength, low=low, high=high)


def clustered(strength: float, *, low: bool, high: bool) -> Map:
    """Hyperbolic tangents, which cluster points at one or both ends (Vinokur 1983, JCP 50:215).

    At an end without clustering, the map continues as an odd function, as on a plane of symmetry.
    The spacing at an end is about 2 a / sinh(2 a) times the mean one, with a the strength.
    """
    scale = tanh(strength)
    if low and high:
        return lambda s: 0.5 * (1 + np.tanh(strength * (2 * s - 1)) / scale)
    if low:
        return lambda s: 1 + np.tanh(strength * (s - 1)) / scale
    return lambda s: np.tanh(strength * s) / scale


def through(fractions: Floats, positions: Floats) -> Map:
    """The monotone cubic (Fritsch & Carlson 1980) through given points and both ends."""
    from scipy.interpolate import PchipInterpolator

    even, there = (np.array([0.0, *f, 1.0]) for f in (fractions, positions))
    spline = PchipInterpolator(even, there)
    return lambda s: np.asarray(spline(s))
