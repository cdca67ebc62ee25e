"""Where elements are: in the region or in layers, and their positions for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.hexahedra import Numbers

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup


def in_region(setup: Setup, elements: Numbers) -> Numbers:
    """The elements that are not in absorbing layers, or all if none lies outside the layers."""
    inside = are_in_region(setup, elements)
    return elements[inside] if inside.any() else elements


def are_in_region(setup: Setup, elements: Numbers) -> NDArray[np.bool_]:
    """Which elements are not in absorbing layers, (elements,)."""
    if setup.grid.cells == setup.grid.region:
        return np.ones(len(elements), np.bool_)
    cells = setup.cells(elements) - np.array(setup.grid.before)
    return np.asarray(((cells >= 0) & (cells < setup.grid.region)).all(axis=1))


def position(setup: Setup, element: int) -> str:
    """The middle of an element and its depth below the surface, for messages."""
    middle = setup.hexahedra.geometry_nodes(np.array([element])).mean(axis=1)
    x, y, depth = setup.below_surface(middle)[0]
    return f"x = {x:.6g} m, y = {y:.6g} m, depth = {depth:.6g} m"
