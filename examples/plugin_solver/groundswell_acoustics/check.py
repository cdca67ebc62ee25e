"""What `groundswell check`, the summary and the report print of a case."""

from __future__ import annotations

from groundswell.case.quantities import Quantity, byte_size
from groundswell.grids.cartesian import describe_grid
from groundswell.simulation.blocks import estimate
from groundswell_acoustics.setup import Setup


def quantities(setup: Setup) -> list[Quantity]:
    """The grid, the steps and the memory."""
    grid, memory = setup.grid, estimate(setup).memory
    return [
        Quantity("cells", grid.cells, "grid", text=describe_grid(grid.cells, grid.spacing)),
        Quantity("dt", setup.dt, "time step", "s"),
        Quantity("steps", setup.steps, "steps"),
        Quantity("memory", memory, "memory", "B", byte_size(memory)),
    ]


def warnings(setup: Setup) -> list[str]:
    """Warnings before the run: none."""
    return []
