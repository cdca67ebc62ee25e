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
    from groundswell.solvers.dgwave.geometry import ElementGeometry

Floats = NDArray[np.float64]

# Damping rises with this power of the depth in a layer, and lets a wave at normal incidence return
# with this amplitude.
EXPONENT, RETURNED = 2, 1e-5

ENDS = (0, 1)  # of an axis
ROUNDING = 1e-9  # of a layer's thickness


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


def damping_tables(
    setup: ElementGeometry, elements: RankElements
) -> tuple[NDArray[np.int32] | None, Floats]:
    """The rows of a rank's elements, (elements, 3), and the profiles, (rows, N + 1)."""
    grid, corners = setup.grid, setup.forest.boxes(elements.numbers)
    widths = (grid.before, grid.after)
    layers = [(a, end, widths[end][a]) for a in range(AXES) for end in ENDS if widths[end][a]]
    if not layers:
        return None, np.empty((0, setup.degree + 1))
    rows = np.full((elements.count, AXES), -1, np.int32)
    profiles: list[Floats] = []
    for axis, end, width in layers:
        thickness = width * grid.spacing[axis]
        outward, face = (1, setup.extent[axis]) if end else (-1, 0.0)
        near, far = (outward * (c[:, axis] - face) for c in (corners[1 - end], corners[end]))
        inside = far > ROUNDING * thickness
        spans = np.round(np.stack([near, far], axis=1)[inside] / thickness, 12)
        unique, number = np.unique(spans, axis=0, return_inverse=True)
        rows[inside, axis] = len(profiles) + number.ravel()
        strongest = strongest_decay(thickness, setup.statistics.vp_max)
        profiles += [strongest * profile(setup.degree, span, end) for span in unique]
    return rows, np.array(profiles)


def profile(degree: int, span: Floats, end: int) -> Floats:
    """Rates of decay at the nodes of an element in a layer, over the strongest one, (N + 1,).

    Args:
        span: where it begins and ends, 0 at the inner face of the layer and 1 at the outer one.
        end: 1 if the layer is at the high end of its axis, 0 at the low end.
    """
    inside = (gll(degree).points * (1 if end else -1) + 1) / 2
    depth = span[0] + (span[1] - span[0]) * inside
    return np.asarray(depth**EXPONENT)
