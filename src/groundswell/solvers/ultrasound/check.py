"""Quantities that `groundswell check` shows for an ultrasound case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isinf

from groundswell.case.quantities import DEFAULT_GROUP, Quantity
from groundswell.grids.cartesian import describe_grid, format_extent
from groundswell.simulation.material_classes import material_quantities
from groundswell.simulation.solver import Cost
from groundswell.solvers.ultrasound.cost import savings
from groundswell.solvers.ultrasound.density_contrast import has_uniform_density
from groundswell.solvers.ultrasound.film_check import film_quantities, film_warnings
from groundswell.solvers.ultrasound.run_facts import FACTS, run_facts
from groundswell.solvers.ultrasound.setup import Setup
from groundswell.solvers.ultrasound.stability_messages import density_range
from groundswell.solvers.ultrasound.units import MHZ, MM, NS, percent
from groundswell.solvers.ultrasound.warnings import find_warnings
from groundswell.solvers.ultrasound.wave_setup import WaveSetup


def quantities(setup: WaveSetup, cost: Cost) -> list[Quantity]:
    """Quantities of the grid, the waves, the time step, the losses and the memory."""
    waves = [*_grid_quantities(setup), *_wave_quantities(setup)]
    return [
        *waves,
        *_step_quantities(setup),
        *_loss_quantities(setup),
        *material_quantities(setup.case.run, savings(setup), DEFAULT_GROUP),
        *(film_quantities(setup) if isinstance(setup, Setup) else ()),
        cost.memory_quantity(),
        Quantity(FACTS, run_facts(setup)),
    ]


def warnings(setup: WaveSetup) -> list[str]:
    """Warnings about waves, losses, sources in layers, slow transforms and films."""
    films = film_warnings(setup) if isinstance(setup, Setup) else ()
    return [*find_warnings(setup), *films]


def _grid_quantities(setup: WaveSetup) -> Iterator[Quantity]:
    n, grid = setup.axes, setup.grid
    cells, spacing, layers = grid.cells[:n], grid.spacing[:n], setup.layers.before[:n]
    text = describe_grid(cells, [h / MM for h in spacing], "points, {} mm apart")
    yield Quantity("points", cells, "grid", text=text)
    region = grid.region[:n]
    yield Quantity("region", region, "region", text=f"{format_extent(region)} points")
    yield Quantity("layers", layers, "absorbing layers", text=f"{format_extent(layers)} points")
    if notes := list(setup.medium_notes):
        yield Quantity("medium_file", notes, "file of the medium", text="; ".join(notes))


def _wave_quantities(setup: WaveSetup) -> Iterator[Quantity]:
    highest, per_wavelength = setup.highest_frequency, setup.points_per_wavelength
    text = f"{highest / MHZ:.4g} MHz"
    yield Quantity("speed_min", setup.smallest_speed, "slowest sound", "m/s")
    yield Quantity("speed_max", setup.largest_speed, "fastest sound", "m/s")
    yield Quantity("frequency_max", highest, "highest frequency of the grid", "Hz", text=text)
    if per_wavelength is not None:
        yield Quantity("points_per_wavelength", per_wavelength, "points per wavelength")


def _step_quantities(setup: WaveSetup) -> Iterator[Quantity]:
    limit, label = setup.stability_limit, "limit of the time step"
    yield Quantity("dt", setup.dt, "time step", "s", text=f"{setup.dt / NS:.6g} ns")
    yield Quantity("steps", setup.steps, "steps")
    courant = setup.dt * setup.largest_speed / setup.smallest_spacing
    yield Quantity("courant", courant, "Courant number")
    if isinf(limit):
        text = "none: the k-space correction holds for the fastest sound"
        yield Quantity("dt_limit", None, label, text=text)
    else:
        varies = not has_uniform_density(setup.materials)
        cause = f", for {density_range(setup.materials)}" if varies else ""
        yield Quantity("dt_limit", limit, label, "s", text=f"{limit / NS:.4g} ns{cause}")


def _loss_quantities(setup: WaveSetup) -> Iterator[Quantity]:
    """Errors of absorption and dispersion, of the equations and of the time step."""
    losses = setup.losses
    if not losses.present:
        return
    wave, label = losses.wave(), "error of the absorption"
    frequency = f"at {losses.highest / MHZ:g} MHz"
    if wave is None:
        text = f"unknown {frequency}; see the warning"
        yield Quantity("absorption_error", None, label, text=text)
        return
    errors = wave.absorption_errors()
    text = f"{percent(sum(errors.values()))} {frequency}: {_parts(errors, percent)}"
    yield Quantity("absorption_error", errors, label, text=text)
    longest = setup.absorbing_distance
    phases = wave.phase_errors(longest)
    over = f"{_degrees(sum(phases.values()))} {frequency} over {longest / MM:.4g} mm"
    text = f"{over}: {_parts(phases, _degrees)}"
    yield Quantity("phase_error", phases, "error of the phase", "degrees", text=text)


def _parts(errors: Mapping[str, float], shown: Callable[[float], str]) -> str:
    """The parts of an error as text."""
    return f"equations {shown(errors['equations'])}, time step {shown(errors['time_step'])}"


def _degrees(angle: float) -> str:
    return f"{angle:+.3g} degrees"
