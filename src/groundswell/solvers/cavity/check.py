"""What `groundswell check`, the summary and the report say of a flow before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from groundswell.case.quantities import Quantity, byte_size
from groundswell.grids.cartesian import describe_cells, format_extent

if TYPE_CHECKING:
    from groundswell.solvers.cavity.setup import Setup

GRID, FLOW = "Grid and steps", "The flow"


def quantities(setup: Setup) -> list[Quantity]:
    """Grids, steps, memory; the fluid and its boundary layers."""
    return [*_grid(setup), *_flow(setup)]


def _grid(setup: Setup) -> Iterator[Quantity]:
    grid, grids = setup.grid, [each.grid.cells for each in setup.grids]
    points = describe_cells(grid.cells, grid.spacing, unit="")
    yield Quantity("cells", grid.cells, "points", text=points, group=GRID)
    yield Quantity("spacing", grid.spacing, "spacing", "m", group=GRID)
    yield Quantity("precision", setup.case.run.precision, "precision", group=GRID)
    yield Quantity("dt", setup.dt, "time step", "s", f"about {setup.dt:.4g} s", GRID)
    yield Quantity("steps", setup.steps, "steps", text=f"at most {setup.steps}", group=GRID)
    coarser = ", ".join(map(format_extent, grids[1:]))
    text = f"{coarser}; steps are multigrid cycles" if coarser else ""
    yield Quantity("grids", grids, "coarser grids" if text else "", text=text, group=GRID)
    yield Quantity("memory", setup.memory, "memory", "B", byte_size(setup.memory), GRID)


def _flow(setup: Setup) -> Iterator[Quantity]:
    fluid, layer = setup.fluid, setup.layer
    numbers = {
        "rayleigh": setup.rayleigh,
        "prandtl": fluid.viscosity / fluid.diffusivity,
        "reynolds": setup.reynolds,
    }
    for name, value in numbers.items():
        yield Quantity(name, value, name.capitalize() if value else "", group=FLOW)
    yield Quantity("viscosity", fluid.viscosity, "kinematic viscosity", "m^2/s", group=FLOW)
    yield Quantity("diffusivity", fluid.diffusivity, "thermal diffusivity", "m^2/s", group=FLOW)
    text = f"about {layer:.3g} points"
    yield Quantity("layer", layer, "boundary layer" if layer else "", "points", text, FLOW)
