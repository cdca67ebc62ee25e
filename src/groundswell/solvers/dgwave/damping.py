"""Damping layers: elements around the region in which waves decay before they reach its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.grids.cartesian import Grid
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES
from groundswell.solvers.dgwave.elements import RankElements

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

Floats = NDArray[np.float64]

# Damping rises with this power of the depth in a layer, and lets a wave at normal incidence return
# with this amplitude.
EXPONENT, RETURNED = 2, 1e-5


def strongest_decay(thickness: float, speed: float) -> float:
    """Rate of decay at the outer end of a layer, 1/s.

    Args:
        thickness: of the layer, m.
        speed: of the fastest wave, m/s.
    """
    return float((EXPONENT + 1) * speed * np.log(1 / RETURNED) / (2 * thickness))


def total_decay(grid: Grid, speed: float) -> float:
    """The largest rate of decay, 1/s: that at a corner, where layers of all axes add up."""
    layers = zip(np.maximum(grid.before, grid.after), grid.spacing, strict=True)
    return sum(strongest_decay(width * edge, speed) for width, edge in layers if width)


def damping_tables(setup: Setup, elements: RankElements) -> tuple[NDArray[np.int32] | None, Floats]:
    """The rows of a rank's elements, (elements, 3), and the profiles, (rows, N + 1)."""
    grid = setup.grid
    layers = [
        (axis, end, width)
        for axis in range(AXES)
        for end, width in enumerate((grid.before[axis], grid.after[axis]))
        if width
    ]
    if not layers:
        return None, np.empty((0, setup.degree + 1))
    cells = setup.cells(elements.numbers)
    rows = np.full(cells.shape, -1, np.int32)
    profiles: list[Floats] = []
    for axis, end, width in layers:
        first = len(profiles)
        depth = cells[:, axis] - (grid.cells[axis] - width) if end else width - 1 - cells[:, axis]
        rows[depth >= 0, axis] = first + depth[depth >= 0]
        profiles += _layer(setup, axis, width, end)
    return rows, np.array(profiles)


def _layer(setup: Setup, axis: int, width: int, end: int) -> list[Floats]:
    """Rates of decay in the elements of a layer, from the innermost one on, at their nodes, 1/s."""
    strongest = strongest_decay(width * setup.grid.spacing[axis], setup.statistics.vp_max)
    inside = (gll(setup.degree).points * (1 if end else -1) + 1) / 2  # from the inner face, 0 to 1
    return [strongest * ((n + inside) / width) ** EXPONENT for n in range(width)]
