"""Widths of the absorbing layers at all sides of a region."""

from __future__ import annotations

from groundswell.errors import InputError
from groundswell.grids.cartesian import Triple
from groundswell.solvers.ultrasound.case import BoundarySection, GridSection
from groundswell.solvers.ultrasound.fast_sizes import cheapest_size
from groundswell.solvers.ultrasound.fields import AXES

AUTOMATIC = {2: (20, 40), 3: (10, 20)}  # range of automatic widths, by number of axes


def layer_widths(grid: GridSection, boundary: BoundarySection) -> tuple[Triple, Triple]:
    """Widths of the absorbing layers on the low and the high sides (x, y, z), points.

    Raises:
        InputError: layers inside the region fill it.
    """
    axes = 3 if grid.counts[2] > 1 else 2
    pairs = [_pair(grid.counts[axis], axis, axes, boundary) for axis in range(axes)]
    (x0, x1), (y0, y1), (z0, z1) = [*pairs, (0, 0)][:3]
    return (x0, y0, z0), (x1, y1, z1)


def _pair(n: int, axis: int, axes: int, boundary: BoundarySection) -> tuple[int, int]:
    """Widths at both ends of an axis with n points in the region.

    Automatic widths make transforms fast; they may differ by one point.
    """
    wanted, (least, most) = boundary.width, AUTOMATIC[axes]
    if wanted == "auto" and not boundary.inside:
        margin = cheapest_size(n + 2 * least, n + 2 * most) - n
        return margin // 2, margin - margin // 2
    width = least if wanted == "auto" else wanted
    chosen = width[axis] if isinstance(width, tuple) else int(width)
    if boundary.inside and 2 * chosen >= n:
        raise InputError(
            f"boundary.width = {chosen} leaves no point of {n} along {AXES[axis]}; give at "
            f"most {(n - 1) // 2}, or inside = false"
        )
    return chosen, chosen
