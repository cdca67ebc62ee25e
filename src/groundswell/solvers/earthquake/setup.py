"""Host-side preparation: reads the input and chooses the time step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from groundswell.exchange.communicator import Communicator
from groundswell.grids.cartesian import Grid, Layout, Part
from groundswell.grids.geography import Geography
from groundswell.outputs.recording import Recording
from groundswell.seismology.anelasticity import fit_case
from groundswell.seismology.case.boundaries import cells_across
from groundswell.seismology.case.outputs import GREEN
from groundswell.seismology.faults.hypocentre import event_position
from groundswell.seismology.faults.stations import require_recordable
from groundswell.seismology.formats.export import require_exportable
from groundswell.seismology.green.points import GreenSurvey, build_green, require_in_box
from groundswell.seismology.map_lines.run import require_lines
from groundswell.seismology.media.build import build_medium
from groundswell.seismology.media.material import lame
from groundswell.seismology.media.statistics import medium_statistics
from groundswell.seismology.receivers import place_receivers
from groundswell.seismology.sea_floor import with_water_depths
from groundswell.seismology.sources.build import build_sources
from groundswell.seismology.sources.event import date_attributes
from groundswell.seismology.sources.event_files import complete_event
from groundswell.seismology.sources.placement import require_sources_inside
from groundswell.seismology.sources.point_sources import SourceContext
from groundswell.seismology.survey import Survey
from groundswell.seismology.time_steps import StableSteps, TimeAxis, TimeStep, whole_steps
from groundswell.simulation.kept_parts import kept
from groundswell.solvers.earthquake import moduli, validation
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.faults.build import build_faults
from groundswell.solvers.earthquake.faults.model import Fault
from groundswell.solvers.earthquake.field_bytes import field_bytes
from groundswell.solvers.earthquake.ground import Ground
from groundswell.solvers.earthquake.matched_layers import Absorption
from groundswell.solvers.earthquake.memory_unit import memory_unit
from groundswell.solvers.earthquake.plasticity.model import Plasticity, build_plasticity
from groundswell.solvers.earthquake.plasticity.soil_build import build_soil
from groundswell.solvers.earthquake.plasticity.soil_layer import SoilLayer
from groundswell.solvers.earthquake.plasticity.soil_model import SoilModel
from groundswell.solvers.earthquake.recordable import RECORDABLE, recordable_domain
from groundswell.time_integration.step_limits import staggered_leapfrog

# Sections that do not change the medium on the grid.
ABOVE_GROUND = ("title", "time", "event", "source", "fault", "receiver", "receivers", "output")

SAFETY = 0.97  # automatic time step over the stability limit


@dataclass(frozen=True, eq=False)
class Setup:
    """A validated case.

    Args:
        geography: where the grid lies on the Earth, if the case says so.
        ground: the medium on the grid.
        stable: which time steps are stable.
        time_step: the chosen one.
        survey: the sources and receivers.
        time_axis: the times of all steps.
        absorption: the absorbing layers.
        faults: the faults that break by themselves.
        plasticity: the rock, if it yields.
        soil: soft soil, if it yields.
        green: the force and the points at which strain is recorded, if it is.
    """

    has_fixed_steps: ClassVar[bool] = True

    case: EarthquakeCase
    geography: Geography | None
    ground: Ground
    stable: StableSteps
    time_step: TimeStep
    survey: Survey
    time_axis: TimeAxis
    absorption: Absorption
    faults: tuple[Fault, ...] = ()
    plasticity: Plasticity | None = None
    soil: SoilModel | None = None
    green: GreenSurvey | None = None

    @property
    def grid(self) -> Grid:
        """The cells of the region and of the absorbing layers."""
        return self.ground.grid

    @property
    def dtype(self) -> str:
        """NumPy name of the floating-point type."""
        return "float64" if self.case.run.precision == "double" else "float32"

    @property
    def has_half_memory(self) -> bool:
        """Whether there are memory variables and they are stored in 16 bits."""
        return self.case.run.memory == "half" and self.ground.relaxation is not None

    @cached_property
    def memory_unit(self) -> float:
        """The unit of memory variables in 16 bits, Pa/s; see memory_unit.py."""
        return memory_unit(self.ground, self.survey.sources, self.dt)

    @property
    def layout(self) -> Layout:
        """Memory layout of a field."""
        return Layout(self.grid.cells, np.dtype(self.dtype).itemsize)

    @property
    def dt(self) -> float:
        """Time step, s."""
        return self.time_step.dt

    @property
    def steps(self) -> int:
        """Number of time steps of the run."""
        return self.time_axis.steps

    def sampling_stride(self, section: str) -> int:
        """Number of steps between samples of an output section; 1 without an interval.

        The interval of seismograms is exact, for comparison with recordings. The intervals of
        surface and volumes are rounded to whole steps, so that they do not shorten the time step.
        """
        return whole_steps(getattr(self.case.output, section).interval, self.dt)

    @cached_property
    def sampling(self) -> dict[str, float]:
        """Actual sampling interval of each output section that has samples, s."""
        output = self.case.output
        is_recorded = {
            "seismograms": bool(self.survey.receivers),
            "surface": output.surface is not None,
            "volumes": output.volumes is not None,
            GREEN: self.green is not None,
        }
        intervals = {
            name: self.sampling_stride(name) * self.dt
            for name, recorded in is_recorded.items()
            if recorded
        }
        return {name: float(f"{interval:.12g}") for name, interval in intervals.items()}

    def recording(self, part: Part) -> Recording:
        """The recordable fields of a part of the grid."""
        attrs, axis = date_attributes(self.case, self.survey), self.time_axis
        domain, times = recordable_domain(part, self.ground.periodic), (axis.steps, axis.start)
        return Recording(domain, RECORDABLE, self.dtype, axis.dt, 1, attrs, *times)


def prepare(case: EarthquakeCase, comm: Communicator | None = None) -> Setup:
    """Read and check the data of a case; ranks divide the reading of the medium.

    Raises:
        InputError: the data do not fit the case, or the case cannot run.
    """
    geography = case.grid.frame
    ground = kept("ground", partial(ground_digest, case), partial(read_ground, case, comm))
    stable = stable_steps(ground)
    step = TimeStep.choose(case.time, stable, case.output.seismograms.interval)
    context = source_context(case, ground, step.dt)
    faults = build_faults(case.fault, ground)
    survey = read_survey(case, context, faults)
    if ground.statistics.fluid_cells:
        survey = with_water_depths(survey, lambda at: np.asarray(context.rigidity(*at.T)) == 0)
    axis = TimeAxis.of(survey.sources, step.dt, step.stride, case.time.duration)
    matched = case.boundary.sides != "sponge"
    absorption = Absorption(ground, matched, case.time.duration, step.dt)
    rock = build_plasticity(case.plasticity, ground, survey.sources, comm)
    yielding = rock, build_soil(case.plasticity, ground, survey.sources, faults)
    is_linear = not (case.fault or case.plasticity)
    inside = partial(require_in_box, extent=case.grid.size)
    section = case.output.strain_green_tensor
    green = build_green(section, survey.entries, context, inside, is_linear=is_linear)
    more = absorption, faults, *yielding, green
    setup = Setup(case, geography, ground, stable, step, survey, axis, *more)
    _validate(setup)
    return setup


def ground_digest(case: EarthquakeCase) -> str:
    """Digest of all sections that can change the medium on the grid."""
    return case.digest_with_files(without=ABOVE_GROUND)


def read_ground(case: EarthquakeCase, comm: Communicator | None = None) -> Ground:
    """The medium of a case on its grid; ranks divide the reading.

    Raises:
        InputError: the grid is too large, or the medium cannot be read or is unphysical.
    """
    grid = build_grid(case)
    layout = Layout(grid.cells, 8 if case.run.precision == "double" else 4)
    validation.require_feasible_size(layout, field_bytes(case))
    medium = build_medium(case.medium, grid.region, grid.spacing, case.grid.frame, comm)
    statistics = medium_statistics(medium, comm)
    return Ground(
        grid,
        case.boundary.sides == "periodic",
        case.boundary.top == "free-surface",
        medium,
        statistics,
        fit_case(case.attenuation, statistics),
        float(getattr(case.attenuation, "reference", 1.0)),
        SoilLayer.of(case.plasticity, grid, medium),
    )


def stable_steps(ground: Ground) -> StableSteps:
    """The time steps that are stable in the ground."""
    spacing, speed = ground.grid.spacing, ground.limiting_speed
    limit = staggered_leapfrog(spacing, speed, free_surface=ground.free_surface)
    waves = f"for cells of {min(spacing):g} m and waves of {speed:g} m/s"
    return StableSteps(limit, f'{waves}; shorten it, or use "auto"', SAFETY)


def source_context(case: EarthquakeCase, ground: Ground, dt: float) -> SourceContext:
    """What sources depend on; `dt` is the time step, s."""
    return SourceContext(
        case.grid.frame,
        dt,
        case.time.duration,
        ground.grid.spacing,
        rigidity=moduli.rigidity(ground.medium),
        lame=moduli.at_positions(ground.medium, lambda material: lame(material)[0]),
        density=moduli.at_positions(ground.medium, lambda material: material.rho),
    )


def read_survey(
    case: EarthquakeCase, context: SourceContext, faults: Sequence[Fault] = ()
) -> Survey:
    """The sources and receivers of a case, and where its faults start to break.

    Raises:
        InputError: a source or receiver cannot be used.
    """
    event = complete_event(case.event, case.source)
    sources = build_sources(case.source, context, event)
    start = event_position(case.fault, [fault.estimates for fault in faults])
    receivers = place_receivers(case)
    return Survey(sources, receivers.stations, start, receivers.skipped, event)


def _validate(setup: Setup) -> None:
    """Check what may raise `InputError`, so that a run does not fail later."""
    case, entries, grid = setup.case, setup.survey.entries, setup.grid
    if setup.survey.receivers:
        require_exportable(case.output.seismograms, setup.time_step, setup.steps)
    x, y, z = (n * h for n, h in zip(grid.region, grid.spacing, strict=True))
    require_sources_inside(entries, (x, y, z))
    validation.require_shear_in_solids(entries, setup.ground)
    named = {fault.name: fault.points for fault in setup.faults}
    require_recordable(case.output.fault_points, case.output.rupture, named)
    if setup.has_half_memory:
        validation.require_no_faults(setup.faults)
        _ = setup.memory_unit
    setup.recording(Part.whole(grid)).require_samples(case.output.record, setup.steps)
    require_lines(case.output.map_lines)


def build_grid(case: EarthquakeCase) -> Grid:
    """The grid of a case: its region and the absorbing layers around it."""
    boundary = case.boundary
    x, y, z = (cells_across(boundary.width, edge) for edge in case.grid.spacing)
    if boundary.sides == "periodic":
        x = y = 0
    top = 0 if boundary.top == "free-surface" else z
    return Grid(case.grid.cells, case.grid.spacing, before=(x, y, top), after=(x, y, z))
