"""Quantities and warnings of a prepared case, for `groundswell check` and the report."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.case.quantities import Quantity
from groundswell.grids.cartesian import describe_grid, format_extent
from groundswell.simulation.solver import Cost
from groundswell.solvers.cavity.case import AXES, CavityCase
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.scales import Scales
from groundswell.solvers.cavity.setup import Setup
from groundswell.solvers.cavity.solid_grid import off_points, thickness

GRID, FLOW, SOLIDS = "Grid and steps", "The flow", "Solids"

MAX_CROSSED = 4.0  # spacings that the flow crosses in a step in time
MAX_CONDUCTIVITY = 100.0  # of a solid over that of the fluid: a heated one takes 264 cycles
MIN_LAYER = 5.0  # points across a boundary layer
MAX_RATIO = 1.3  # of the distances of neighbouring points
# Smallest residuals of cavities at Ra = 1e3 and 1e5: 2e-14 and 2e-15 in double precision, 1e-5 and
# 8e-7 in single precision.
LEAST_TOLERANCES = {"double": 1e-15, "single": 5e-7}

# Cell Reynolds numbers at which steady flows were found: 39 under a lid at Re = 5000; at 78 the
# residual of that lid remains at 0.06.
MAX_STEADY_CELL_REYNOLDS = 40.0
# Where steady flows become unstable. Lids by dimensions: Auteri, Parolini & Quartapelle (2002,
# J. Comput. Phys. 183:1); Feldman & Gelfgat (2010, Phys. Fluids 22:093602).
UNSTEADY_LID = {2: 8000.0, 3: 1900.0}
# Air between a hot and a cold wall, by height over width; the Rayleigh number is of the width.
# Le Quere & Behnia (1998, J. Fluid Mech. 359:81); Christon, Gresho & Sutton (2002, IJNMF 40:953).
UNSTEADY_SIDES = {1.0: 1.8e8, 4.0: 1.6e6, 8.0: 3.1e5}


def quantities(setup: Setup, cost: Cost) -> list[Quantity]:
    """Grids, steps and memory; the fluid and its boundary layers."""
    return [*_grid(setup, cost), *_flow(setup.finest), *_solids(setup.finest)]


def _grid(setup: Setup, cost: Cost) -> Iterator[Quantity]:
    grid, grids = setup.finest.grid, [each.grid.cells for each in setup.grids]
    length = _unit(setup.case, "m")
    spacing = [axis.extremes if axis.is_stretched else axis.spacing for axis in setup.finest.axes]
    points = describe_grid(grid.cells, spacing, f"points, {{}} {length}".rstrip() + " apart")
    yield Quantity("cells", grid.cells, "grid", text=points, group=GRID)
    yield Quantity("spacing", tuple(spacing), unit=length, group=GRID)
    ratio, is_stretched = setup.finest.largest_ratio, setup.finest.is_stretched
    text = f"neighbouring distances differ by up to {_difference(ratio)}"
    yield Quantity("largest_ratio", ratio, "stretching" * is_stretched, text=text, group=GRID)
    yield Quantity("precision", setup.case.run.precision, "precision", group=GRID)
    time = f"{'about ' * (not setup.finest.is_implicit)}{setup.dt:.4g} {_unit(setup.case, 's')}"
    yield Quantity("dt", setup.dt, "time step", _unit(setup.case, "s"), time.strip(), GRID)
    steps = f"{'at most ' * (not setup.is_unsteady)}{setup.steps:,}"
    yield Quantity("steps", setup.steps, "steps", text=steps, group=GRID)
    text = ", then ".join(map(format_extent, grids)) + " points" if len(grids) > 1 else ""
    yield Quantity("grids", grids, "multigrid" * bool(text), text=text, group=GRID)
    yield Quantity("film", setup.case.output.film, group=GRID)
    yield cost.memory_quantity(GRID)


def _flow(grid: LevelGrid) -> Iterator[Quantity]:
    fluid, layer, unit = grid.fluid, grid.layer, _unit(grid.case, "m^2/s")
    numbers = {
        "rayleigh": grid.scales.rayleigh,
        "prandtl": fluid.viscosity / fluid.diffusivity,
        "reynolds": grid.scales.reynolds,
    }
    for name, value in numbers.items():
        label = f"{name.capitalize()} number" if value else ""
        yield Quantity(name, value, label, text=f"{value:,.6g}", group=FLOW)
    yield Quantity("viscosity", fluid.viscosity, "kinematic viscosity", unit, group=FLOW)
    yield Quantity("diffusivity", fluid.diffusivity, "thermal diffusivity", unit, group=FLOW)
    text = f"about {layer:.3g} points across"
    yield Quantity("layer", layer, "boundary layers" if layer else "", "points", text, FLOW)


def _solids(grid: LevelGrid) -> Iterator[Quantity]:
    """The size of each solid in spacings, and its properties relative to those of the fluid."""
    for n, solid in enumerate(grid.case.solid):
        spacings = [thickness(grid, solid, axis) for axis in range(3)]
        ratio = solid.conductivity / grid.case.conductivity
        conductivity = f"conductivity {_grouped(ratio, 4)} times the fluid's"
        text = f"{format_extent(spacings)} spacings, {conductivity}"
        yield Quantity(f"solid_{n}", ratio, f"solid[{n}]", text=text, group=SOLIDS)


def _unit(case: CavityCase, unit: str) -> str:
    """The unit; empty where dimensionless numbers define the fluid."""
    return unit if case.fluid.kind == "properties" else ""


# --- warnings -------------------------------------------------------------------------------------


def warnings(setup: Setup) -> list[str]:
    """Reasons to expect poor results, or none."""
    found = [
        *_rounding(setup.tolerance, setup.case.run.precision),
        *_thin_layers(setup.finest),
        *_uneven_cells(setup.finest),
        *_without_fluid(setup.case),
        *_between_points(setup.finest),
        *_good_conductors(setup),
    ]
    if setup.is_unsteady:
        return [*found, *_long_steps(setup)]
    return [
        *found,
        *_coarse_cells(setup.finest),
        *_stability(setup.scales, setup.finest.dimensions),
    ]


def remedy(grid: LevelGrid) -> str:
    """What helps if a run on this grid is unstable."""
    courant = grid.scheme.courant
    if grid.courant > courant:
        return f"set time.courant to {courant:g}, not {grid.courant:g}"
    if grid.is_implicit:
        return "shorten time.step, or set time.levels to 1"
    if grid.cell_reynolds > MAX_STEADY_CELL_REYNOLDS or 0 < grid.layer < MIN_LAYER:
        return f"use more points: the cell Reynolds number is {grid.cell_reynolds:.2g}"
    return f"set time.compressibility to {10 * grid.case.time.compressibility:g}"


def _rounding(tolerance: float, precision: str) -> Iterator[str]:
    least = LEAST_TOLERANCES[precision]
    if tolerance < least:
        yield (
            f"time.tolerance = {tolerance:g} is below the rounding errors of {precision} "
            f"precision, so that the run takes all of time.steps; give {least:g} or more"
        )


def _long_steps(setup: Setup) -> Iterator[str]:
    grid = setup.finest
    least = min(h for axis, h in enumerate(grid.grid.spacing) if grid.varies(axis))
    crossed = grid.scales.peak_speed * setup.dt / least
    if crossed > MAX_CROSSED:
        yield (
            f"the flow crosses about {crossed:.2g} spacings in a step in time; above "
            f"{MAX_CROSSED:g} the step decides the accuracy; time.step = "
            f"{MAX_CROSSED * setup.dt / crossed:.2g} resolves the motion as well as the grid does"
        )


def _thin_layers(grid: LevelGrid) -> Iterator[str]:
    layer = grid.layer
    if 0 < layer < MIN_LAYER:
        yield (
            f"the thinnest boundary layer spans {layer:.2g} points; {MIN_LAYER:g} or more "
            "give heat fluxes and velocities there to a few per cent; use more points"
        )


def _uneven_cells(grid: LevelGrid) -> Iterator[str]:
    ratio = grid.largest_ratio
    if ratio > MAX_RATIO:
        yield (
            f"neighbouring distances of points differ by up to {_difference(ratio)}; above "
            f"{_difference(MAX_RATIO)}, errors grow and convergence slows down; use more points, a "
            "smaller stretching, or smoother positions"
        )


def _difference(ratio: float) -> str:
    """How much longer the longer distance is, in per cent."""
    return f"{_grouped(100 * (ratio - 1), 3)} %"


def _grouped(value: float, digits: int) -> str:
    """A number with few digits: `59.9`, `15,560`."""
    return f"{float(f'{value:.{digits}g}'):,g}"


def _without_fluid(case: CavityCase) -> Iterator[str]:
    """Solids, which do not overlap, that leave no room for the fluid."""
    sizes = [np.subtract(solid.high, solid.low) for solid in case.solid]
    if np.isclose(np.prod(sizes, axis=1).sum() if sizes else 0.0, np.prod(case.grid.size)):
        name = "solid[0] fills" if len(sizes) == 1 else "the solids fill"
        yield (
            f"{name} the whole box: nothing flows, and the run finds the conduction of heat only; "
            "make solids smaller if fluid should flow around them"
        )


def _between_points(grid: LevelGrid) -> Iterator[str]:
    for n, solid in enumerate(grid.case.solid):
        axes = [AXES[a] for a in range(3) if grid.varies(a) and off_points(grid, solid, a)]
        if axes:
            yield (
                f"solid[{n}] ends between points along {' and '.join(axes)}: conduction takes its "
                "exact surface into account, but the fluid ends at the outermost points in the "
                "solid, less than a spacing inside; choose sizes and points such that surfaces lie "
                "on points"
            )


def _good_conductors(setup: Setup) -> Iterator[str]:
    if setup.is_unsteady:
        return
    for n, solid in enumerate(setup.case.solid):
        ratio = solid.conductivity / setup.case.conductivity
        if ratio > MAX_CONDUCTIVITY:
            yield (
                f"solid[{n}] conducts {_grouped(ratio, 4)} times as well as the fluid: it is "
                "nearly isothermal, but the run converges slowly; a conductivity of "
                f"{MAX_CONDUCTIVITY * setup.case.conductivity:.3g} gives nearly the same flow"
            )


def _coarse_cells(grid: LevelGrid) -> Iterator[str]:
    cell = grid.cell_reynolds
    if cell > MAX_STEADY_CELL_REYNOLDS:
        yield (
            f"the cell Reynolds number is about {cell:.2g}; above {MAX_STEADY_CELL_REYNOLDS:g} the "
            "run may not reach a steady state, because the grid does not resolve the flow; use "
            f"{cell / MAX_STEADY_CELL_REYNOLDS:.2g} times as many points along each axis"
        )


def _stability(scales: Scales, dimensions: int) -> Iterator[str]:
    limit = UNSTEADY_LID.get(dimensions, np.inf)
    if scales.heat is None and scales.reynolds > limit:
        yield (
            f"lid-driven flow is unsteady above a Reynolds number of about {limit:,.0f}, so that "
            "the run may not reach a steady state; lower the Reynolds number, or give time.duration"
        )
    limit = _unsteady_sides(scales)
    if scales.rayleigh > limit:
        yield (
            f"in a box {scales.aspect_ratio:.2g} times as high as the distance between its "
            f"hot and its cold wall, air is unsteady above a Rayleigh number of about {limit:.2g}, "
            "so that the run may not reach a steady state; lower the Rayleigh number, or give "
            "time.duration"
        )


def _unsteady_sides(scales: Scales) -> float:
    """Rayleigh number at which flow between walls heated from the side becomes unsteady."""
    if scales.heat is None or not scales.height or scales.fluid.buoyancy[scales.heat.axis]:
        return np.inf
    heights, limits = (np.log(list(values)) for values in zip(*UNSTEADY_SIDES.items(), strict=True))
    return float(np.exp(np.interp(np.log(scales.aspect_ratio), heights, limits)))
