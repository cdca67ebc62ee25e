"""The kernels of a rank's part of a grid: their constants and parameters, and their table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundswell.arrays import HostArray
from groundswell.backends import Constant, Parameter, Source
from groundswell.backends.source import precision
from groundswell.grids.cartesian import Layout, Part
from groundswell.solvers.cavity.boundary_conditions import boundary_parameters
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.tiles import Tile

KERNELS = Path(__file__).parent / "kernels"


def kernel_source(grid: LevelGrid, part: Part, processors: int, steps: int) -> Source:
    """The kernels for a part of a grid."""
    layout = Layout(part.cells, np.dtype(grid.dtype).itemsize)
    constants: dict[str, Constant] = {
        **precision(grid.dtype),
        "FORCED": grid.is_forced,
        "IMPLICIT": grid.is_implicit,
        "CONSERVES_HEAT": grid.conserves_heat,
        "STRETCHED": grid.is_stretched,
        "HAS_SOLIDS": bool(grid.case.solid),
        "LOCAL_STEPS": grid.case.time.local,
        "PRESSURE_LEADS": grid.pressure_leads,
    }
    parameters = {
        **layout.parameters(),
        **Tile.of(part.cells, processors).parameters(),
        **boundary_parameters(grid, part),
        **_coefficients(grid, part),
    }
    generic = layout.is_short_run(steps)
    return Source(KERNELS / "step.h", constants, parameters, generic=generic)


def _coefficients(grid: LevelGrid, part: Part) -> dict[str, Parameter]:
    coefficients: dict[str, Parameter] = {
        "DAMPED_STEP": grid.damped_step,
        "DAMPING": grid.damping,
        "LEAST_BETA2": grid.least_beta2,
        "VISCOSITY": grid.viscosity,
        "DIFFUSIVITY": grid.fluid.diffusivity,
        "VISCOUS_LIMIT": grid.diffusion_limit(grid.viscosity),
        "THERMAL_LIMIT": grid.diffusion_limit(grid.fluid.diffusivity),
        "UNDAMPED_LIMIT": grid.undamped_limit,
        "INERTIA": grid.inertia,
        "HEAT_SLOPE": grid.conducting_temperature()[1],
    }
    for axis, name in enumerate("XYZ"):
        coefficients |= {
            f"START_{name}": part.start[axis],
            f"SPACING_{name}": grid.grid.spacing[axis],
            f"BUOYANCY_{name}": grid.fluid.buoyancy[axis],
        }
    return {
        name: value if isinstance(value, int) else float(value)
        for name, value in coefficients.items()
    }


def metric_size(grid: LevelGrid, part: Part) -> int:
    """Number of values of `metric_of`."""
    return 4 * sum(part.cells) if grid.is_stretched else 1


def metric_of(grid: LevelGrid, part: Part) -> HostArray:
    """The table of kernels/metric.h for a part of a grid, flat; unused on uniform grids."""
    if not grid.is_stretched:
        return np.zeros(1, grid.dtype)
    rows = (axis.metric[:, part.indices(n)].ravel() for n, axis in enumerate(grid.axes))
    return np.concatenate([*rows]).astype(grid.dtype)
