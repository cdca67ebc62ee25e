"""What `groundswell check`, the summary and the report print of a case."""

from __future__ import annotations

from groundswell.case.quantities import Quantity
from groundswell.grids.cartesian import describe_grid
from groundswell.simulation.solver import Cost
from groundswell_acoustics.setup import Setup


def quantities(setup: Setup, cost: Cost) -> list[Quantity]:
    """The grid, the steps and the memory."""
    grid = setup.grid
    return [
        Quantity("cells", grid.cells, "grid", text=describe_grid(grid.cells, grid.spacing)),
        Quantity("dt", setup.dt, "time step", "s"),
        Quantity("steps", setup.steps, "steps"),
        cost.memory_quantity(),
    ]


def warnings(setup: Setup) -> list[str]:
    """Warnings before the run: none."""
    return []
