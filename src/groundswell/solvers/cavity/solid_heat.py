"""Numbers of solids: temperatures, released heat, and how well a wall conducts next to them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.grids.cartesian import GHOSTS, Part
from groundswell.solvers.cavity.boxes import Box
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.solid_grid import SolidGrid, on_points
from groundswell.solvers.cavity.walls import AXES

INSIDE = slice(GHOSTS, -GHOSTS)


def wall_conductivity(grid: LevelGrid, axis: int, high: bool) -> Floats:
    """Conductivity at a wall over that of the fluid, at the points next to it without ghosts.

    The axes are those of a field without `axis`.
    """
    inside = grid.axes[axis].end(high).first * 1e-3
    at = grid.case.grid.size[axis] - inside if high else inside
    across = SolidGrid(grid, Part.whole(grid.grid)).across(at, axis)
    index = tuple(0 if a == axis else INSIDE for a in (2, 1, 0))
    return np.asarray(across[index])


def with_ends(grid: LevelGrid, axis: int, values: Floats) -> Floats:
    """Values next to a wall across an axis with those at the ends of the other axes."""
    widths, modes = [], set()
    for other in (a for a in (2, 1, 0) if a != axis):
        widths.append((0 if grid.periodic[other] else 1, 1))
        modes.add(grid.periodic[other])
    for dim, width in enumerate(widths):
        pad = [(0, 0), (0, 0)]
        pad[dim] = width
        values = np.pad(values, pad, mode="edge" if width[0] else "wrap")
    return values


def released(grid: LevelGrid) -> dict[str, float]:
    """Heat that solids release, over that of conduction through the fluid, k dT A / L, by name."""
    scales = grid.scales
    unit = grid.case.conductivity * scales.temperature_difference * scales.area / scales.length
    return {solid_name(n): s.power / unit for n, s in enumerate(grid.case.solid) if s.power}


def solid_name(number: int) -> str:
    """What results call a solid."""
    return f"solid[{number}]"


def solid_boxes(grid: LevelGrid) -> Iterator[Box]:
    """The points of each solid."""
    for solid in grid.case.solid:
        ends = []
        for axis in range(3):
            reached = np.flatnonzero(on_points(grid, solid, axis)[INSIDE])
            ends.append((int(reached[0]), int(reached[-1]) + 1))
        (x, nx), (y, ny), (z, nz) = ends
        yield Box((x, y, z), (nx, ny, nz), (False,) * 3, (False,) * 3)


def temperatures(grid: LevelGrid, n: int, box: Box, values: HostArray) -> dict[str, float]:
    """Mean, lowest and highest temperature of the points of a solid, K.

    Args:
        n: of the solid.
        values: temperatures on its box, (nz, ny, nx).
    """
    whole, solid = SolidGrid(grid, Part.whole(grid.grid)), grid.case.solid[n]
    lengths = [whole.in_cells(solid, a)[INSIDE] * grid.axes[a].lengths for a in (2, 1, 0)]
    parts = [lengths[2 - a][box.slices[2 - a]] for a in (2, 1, 0)]
    weights = parts[0][:, None, None] * parts[1][:, None] * parts[2]
    inside = [on_points(grid, solid, a)[INSIDE][box.slices[2 - a]] for a in (2, 1, 0)]
    reached = values[np.ix_(*inside)]
    mean = float((weights * values).sum() / weights.sum())
    return {"mean": mean, "lowest": float(reached.min()), "highest": float(reached.max())}


def format_solids(grid: LevelGrid) -> dict[str, str]:
    """The corners of all solids as an attribute of files; nothing without solids."""
    corners = [" ".join(f"{x:.9g}" for x in (*s.low, *s.high)) for s in grid.case.solid]
    return {"solids": "; ".join(corners)} if corners else {}


def read_outlines(text: str, across: str, up: str, at: float) -> Iterator[tuple[float, ...]]:
    """Rectangles (low across, low up, width, height) in which a plane cuts solids.

    Args:
        text: see `format_solids`.
        across, up: names of the axes of the plane.
        at: position of the plane, m.
    """
    a, b = AXES.index(across), AXES.index(up)
    for corners in filter(None, text.split(";")):
        values = [float(x) for x in corners.split()]
        low, high = values[:3], values[3:]
        if low[3 - a - b] <= at <= high[3 - a - b]:
            yield low[a], low[b], high[a] - low[a], high[b] - low[b]
