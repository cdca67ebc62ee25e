"""Quantities of a set-up that `groundswell check`, the summary and the report list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from groundswell.case.quantities import Quantity
from groundswell.errors import counted
from groundswell.grids.cartesian import Part, describe_grid, format_extent
from groundswell.seismology.anelasticity import attenuation_quantities
from groundswell.seismology.case.events import EventSection
from groundswell.seismology.case.outputs import GREEN
from groundswell.seismology.faults.quantities import fault_quantities
from groundswell.seismology.formats.export import export_quantities
from groundswell.seismology.green.estimates import green_quantities
from groundswell.seismology.intensity.advice import map_quantities
from groundswell.seismology.plasticity.estimates import plasticity_quantities
from groundswell.seismology.plasticity.soil_estimates import soil_quantities
from groundswell.seismology.receivers import skipped_receivers
from groundswell.seismology.sources.quantities import event_quantities, source_quantities
from groundswell.seismology.survey import Survey
from groundswell.simulation.material_classes import material_quantities
from groundswell.simulation.solver import Cost
from groundswell.solvers.earthquake.cost import savings, soil_bytes
from groundswell.solvers.earthquake.faults.model import Fault
from groundswell.solvers.earthquake.ground import Ground
from groundswell.solvers.earthquake.matched_layers import Absorption
from groundswell.solvers.earthquake.memory_unit import HALF_MEMORY_ERROR
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.stability import POINTS_PER_WAVELENGTH, speed_error
from groundswell.solvers.earthquake.warnings import warnings as warnings

GRID, WAVES, SOURCES = "Grid and time steps", "What the grid resolves", "Sources and receivers"
FAULTS, ROCK = "Faults", "Rock that yields"


def quantities(setup: Setup, cost: Cost) -> list[Quantity]:
    """Grid, time step, memory, resolution, sources and receivers."""
    event, ground = setup.survey.event, setup.ground
    return [
        *_grid(setup, cost),
        *_waves(ground),
        *_layers(setup.absorption),
        *_sources(setup.survey, event, ground),
        *_green(setup),
        *_faults(setup.faults),
        *_rock(setup),
    ]


def _grid(setup: Setup, cost: Cost) -> Iterator[Quantity]:
    grid, dt = setup.grid, setup.dt
    cells = f"{describe_grid(grid.cells, grid.spacing)}, absorbing layers included"
    yield Quantity("cells", grid.cells, "grid", text=cells, group=GRID)
    size = [cells * edge / 1e3 for cells, edge in zip(grid.region, grid.spacing, strict=True)]
    region = f"{format_extent(grid.region)} cells, {format_extent(size)} km"
    yield Quantity("region", grid.region, "region", "cells", region, GRID)
    yield Quantity("spacing", grid.spacing, unit="m", group=GRID)
    yield from _storage(setup)
    limit = f"{dt:.4g} s; stable up to {setup.stable.limit:.4g} s"
    yield Quantity("dt", dt, "time step", "s", limit, GRID)
    yield Quantity("stability_limit", setup.stable.limit, unit="s", group=GRID)
    yield from setup.time_axis.quantities(GRID)
    sampling = ", ".join(f"{name} every {s:.6g} s" for name, s in setup.sampling.items())
    label = "output" if sampling else ""
    yield Quantity("sampling", setup.sampling, label, "s", sampling, GRID)
    if setup.survey.receivers:
        interval = setup.time_step.sampling
        yield from export_quantities(setup.case.output.seismograms, interval, GRID)
    yield Quantity("film", setup.case.output.film, group=GRID)
    maps, points = setup.case.output.intensity, grid.region[0] * grid.region[1]
    yield from map_quantities(maps, points, np.dtype(setup.dtype).itemsize, dt, GRID)
    yield cost.memory_quantity(GRID)


def _storage(setup: Setup) -> Iterator[Quantity]:
    """Yield the precision, and how memory variables and materials are stored."""
    run, half = setup.case.run, setup.has_half_memory
    yield Quantity("precision", run.precision, "precision", group=GRID)
    text = f"16 bits; they change the motion by about {HALF_MEMORY_ERROR:g} of its peak"
    label = "memory variables" * half
    yield Quantity("memory_variables", run.memory, label, "", text * half, GRID)
    # Counting them takes time, which is worth it only where classes may save some.
    may_save = run.materials == "classes" or run.backend == "cuda"
    yield from material_quantities(run, savings(setup) if may_save else None, GRID)


def _waves(ground: Ground) -> Iterator[Quantity]:
    medium, frequency = ground.statistics, ground.resolved_frequency
    fastest = f"{medium.vp_max:,.5g} m/s"
    yield Quantity("vp_max", medium.vp_max, "fastest P wave", "m/s", fastest, WAVES)
    yield Quantity("speed_min", medium.speed_min, unit="m/s", group=WAVES)
    slowest = ""
    if medium.vs_min is not None:
        cell = ", ".join(map(str, medium.vs_min_cell or ()))
        slowest = f"{medium.vs_min:,.5g} m/s, {medium.vs_min_depth:,.5g} m deep in cell ({cell})"
    label = "slowest S wave" if slowest else ""
    yield Quantity("vs_min", medium.vs_min, label, "m/s", slowest, WAVES)
    yield Quantity("vs_min_depth", medium.vs_min_depth, unit="m", group=WAVES)
    yield Quantity("vs_min_cell", medium.vs_min_cell, group=WAVES)
    error = speed_error(POINTS_PER_WAVELENGTH)
    text = f"up to {frequency:.3g} Hz, where the slowest waves are {-100 * error:.2g} % too slow"
    yield Quantity("resolved_frequency", frequency, "frequencies", "Hz", text, WAVES)
    yield Quantity("resolved_speed_error", error, group=WAVES)
    yield from attenuation_quantities(ground.relaxation, medium, WAVES)
    fluid = medium.fluid_cells
    yield Quantity(
        "fluid_cells", fluid, "fluid" * bool(fluid), "cells", counted(fluid, "cell"), WAVES
    )
    floored = dict(medium.floored)
    text = ", ".join(f"{name} in {counted(n, 'cell')}" for name, n in floored.items() if n)
    label = "raised to the floor" if text else ""
    yield Quantity("floored_cells", floored, label, "cells", text, WAVES)


def _layers(absorption: Absorption) -> Iterator[Quantity]:
    """Yield the width of the absorbing layers and the frequencies that they absorb."""
    grid = absorption.ground.grid
    cells, metres = grid.after[2], grid.after[2] * grid.spacing[2]
    kind = "matched" if absorption.are_matched else "sponge"
    text = f"{kind}, {counted(cells, 'cell')} ({metres:g} m) at the bottom"
    yield Quantity("layer_width", grid.after, "absorbing layers", "cells", text, WAVES)
    if not absorption.are_matched:
        return
    band = absorption.band
    ends, limit, text = None, None, "none: the layers reflect more than 10 %"
    if band is not None:
        ends, limit = (band.lowest, band.highest), band.reflection
        text = f"from {ends[0]:.3g} to {ends[1]:.3g} Hz; less than {100 * limit:g} % is reflected"
    yield Quantity("absorbed_frequencies", ends, "absorbed waves", "Hz", text, WAVES)
    yield Quantity("absorbed_reflection", limit, group=WAVES)
    returned = absorption.soft_ground_reflection
    text = f"the layers reflect about {100 * returned:.2g} % of long surface waves"
    label = "next to soft ground" * bool(returned)
    yield Quantity("soft_ground_reflection", returned, label, "", text * bool(returned), WAVES)


def _sources(survey: Survey, event: EventSection, ground: Ground) -> Iterator[Quantity]:
    if survey.entries:
        yield from source_quantities(survey.entries, survey.summary, SOURCES)
    centroid, known = survey.summary.centroid_time, bool(survey.entries)
    yield from event_quantities(event, centroid, SOURCES, has_sources=known)
    if known:
        yield from _frequencies(survey.frequency, ground)
    yield Quantity("receivers", len(survey.receivers), "receivers", group=SOURCES)
    yield from skipped_receivers(survey.skipped, SOURCES)


def _frequencies(frequency: float, ground: Ground) -> Iterator[Quantity]:
    """Yield the frequencies of the sources, and how well they are resolved."""
    points = ground.statistics.speed_min / (frequency * max(ground.grid.spacing))
    text = f"99 % of the energy below {frequency:.3g} Hz"
    yield Quantity("source_frequency", frequency, "source frequencies", "Hz", text, SOURCES)
    text = f"{points:.3g} at {frequency:.3g} Hz, in the slowest cells"
    yield Quantity("points_per_wavelength", points, "cells per wavelength", "", text, SOURCES)


def _green(setup: Setup) -> Iterator[Quantity]:
    if setup.green is not None:
        yield from green_quantities(setup.green, setup.sampling[GREEN], SOURCES)


def _rock(setup: Setup) -> Iterator[Quantity]:
    if setup.plasticity is not None:
        yield from plasticity_quantities(setup.plasticity.estimates, setup.dt, ROCK)
    if setup.soil is not None:
        memory = soil_bytes(setup.soil, Part.whole(setup.grid), setup.case)
        yield from soil_quantities(setup.soil.estimates, memory, ROCK)


def _faults(faults: Sequence[Fault]) -> Iterator[Quantity]:
    for fault in faults:
        yield from fault_quantities(fault.name, fault.estimates, fault.spacing, FAULTS)
