"""Where elements are, for messages."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Integers
from groundswell.solvers.dgwave.geometry import Geometry


def in_region(geometry: Geometry, elements: Integers) -> Integers:
    """The elements that are not in absorbing layers, or all if none lies outside the layers."""
    inside = geometry.in_region(elements)
    return elements[inside] if inside.any() else elements


def position(geometry: Geometry, element: int) -> str:
    """The middle of an element and its depth below the surface, for messages."""
    middle = geometry.hexahedra.geometry_nodes(np.array([element])).mean(axis=1)
    x, y, depth = geometry.below_surface(middle)[0]
    return f"x = {x:.6g} m, y = {y:.6g} m, depth = {depth:.6g} m"
