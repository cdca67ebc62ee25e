"""Quantities of a prepared case, for `groundswell check`, the summary and the report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from groundswell.case.quantities import Quantity, byte_size
from groundswell.grids.cartesian import describe_grid, format_extent

if TYPE_CHECKING:
    from groundswell.solvers.cavity.setup import Setup

GRID, FLOW = "Grid and steps", "The flow"


def quantities(setup: Setup) -> list[Quantity]:
    """Grids, steps and memory; the fluid and its boundary layers."""
    return [*_grid(setup), *_flow(setup)]


def _grid(setup: Setup) -> Iterator[Quantity]:
    grid, grids = setup.grid, [each.grid.cells for each in setup.grids]
    length = _unit(setup, "m")
    points = describe_grid(grid.cells, grid.spacing, f"points, {{}} {length}".rstrip() + " apart")
    yield Quantity("cells", grid.cells, "grid", text=points, group=GRID)
    yield Quantity("spacing", grid.spacing, unit=length, group=GRID)
    yield Quantity("precision", setup.case.run.precision, "precision", group=GRID)
    time = f"about {setup.dt:.4g} {_unit(setup, 's')}"
    yield Quantity("dt", setup.dt, "time step", _unit(setup, "s"), time, GRID)
    yield Quantity("steps", setup.steps, "steps", text=f"at most {setup.steps:,}", group=GRID)
    text = ", then ".join(map(format_extent, grids)) + " points" if len(grids) > 1 else ""
    yield Quantity("grids", grids, "multigrid" * bool(text), text=text, group=GRID)
    yield Quantity("memory", setup.memory, "memory", "B", byte_size(setup.memory), GRID)


def _flow(setup: Setup) -> Iterator[Quantity]:
    fluid, layer, unit = setup.fluid, setup.layer, _unit(setup, "m^2/s")
    numbers = {
        "rayleigh": setup.rayleigh,
        "prandtl": fluid.viscosity / fluid.diffusivity,
        "reynolds": setup.reynolds,
    }
    for name, value in numbers.items():
        label = f"{name.capitalize()} number" if value else ""
        yield Quantity(name, value, label, text=f"{value:,.6g}", group=FLOW)
    yield Quantity("viscosity", fluid.viscosity, "kinematic viscosity", unit, group=FLOW)
    yield Quantity("diffusivity", fluid.diffusivity, "thermal diffusivity", unit, group=FLOW)
    text = f"about {layer:.3g} points across"
    yield Quantity("layer", layer, "boundary layers" if layer else "", "points", text, FLOW)


def _unit(setup: Setup, unit: str) -> str:
    """The unit; empty where dimensionless numbers define the fluid."""
    return unit if setup.case.fluid.kind == "properties" else ""
