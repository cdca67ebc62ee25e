"""What `groundswell check` prints of a grid of elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from groundswell.case.quantities import Quantity
from groundswell.grids.cartesian import describe_grid, format_extent
from groundswell.solvers.dgwave.terrain import terrain_quantities

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

MESH = "Elements and time steps"  # group of the quantities


def grid_quantities(setup: Setup) -> Iterator[Quantity]:
    """Elements and size of the region."""
    grid = setup.grid
    text = describe_grid(grid.cells, grid.spacing, "elements of {} m") + ", layers included"
    yield Quantity("grid", grid.cells, "grid", text=text, group=MESH)
    total = setup.count
    text = f"{total:,}, the smallest of {setup.smallest:g} m" if total > grid.count else ""
    yield Quantity("elements", total, "halved elements" * bool(text), text=text, group=MESH)
    size = [length / 1e3 for length in grid.size]
    region = f"{format_extent(grid.region)} elements, {format_extent(size)} km"
    yield Quantity("region", grid.region, "region", "elements", region, MESH)
    yield Quantity("spacing", grid.spacing, unit="m", group=MESH)
    if setup.surface is not None:
        yield from terrain_quantities(setup.surface, MESH)
