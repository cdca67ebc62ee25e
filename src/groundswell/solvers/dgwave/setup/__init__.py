"""Host-side preparation: reads the input, and chooses the equations and the time step."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.seismology.faults.hypocentre import event_position
from groundswell.seismology.faults.stations import require_recordable
from groundswell.seismology.formats.export import require_exportable
from groundswell.seismology.map_lines.run import require_lines
from groundswell.seismology.receivers import Station, place_receivers
from groundswell.seismology.sea_floor import with_water_depths
from groundswell.seismology.sources.build import build_sources
from groundswell.seismology.sources.event_files import complete_event
from groundswell.seismology.survey import Survey
from groundswell.seismology.time_steps import TimeAxis, TimeStep
from groundswell.simulation.kept_parts import kept
from groundswell.solvers.dgwave import validation
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.equations import ACOUSTIC, ELASTIC, Equations
from groundswell.solvers.dgwave.mesh.case import MeshSection
from groundswell.solvers.dgwave.partition import Partition, element_costs
from groundswell.solvers.dgwave.setup.bricks import on_bricks
from groundswell.solvers.dgwave.setup.faults import build_faults
from groundswell.solvers.dgwave.setup.green import build_strain_points
from groundswell.solvers.dgwave.setup.meshes import on_mesh
from groundswell.solvers.dgwave.setup.plasticity import build_rock
from groundswell.solvers.dgwave.setup.record import Setup as Setup
from groundswell.solvers.dgwave.setup.record import WaveDomain
from groundswell.solvers.dgwave.step_limit import limit_steps
from groundswell.spectral_elements.recording import ElementDomain

# Sections that do not change the mesh, its materials and its absorbing layers.
ABOVE_GROUND = ("title", "event", "receiver", "receivers", "output")
SAMPLES_PER_STEP = 4  # of source time functions, which are linear between samples


def prepare(case: DgWaveCase, comm: Communicator | None = None) -> Setup:
    """Read and check the data of a case; ranks share the reading of the medium.

    Raises:
        InputError: the data do not fit the case, or the case cannot run.
    """
    setup = _assemble(case, _wave_domain(case, comm))
    _validate(setup)
    return setup


def _wave_domain(case: DgWaveCase, comm: Communicator | None) -> WaveDomain:
    """The ground of a case, which runs that differ only in other sections share."""
    is_mesh = isinstance(case.grid, MeshSection)
    others = ABOVE_GROUND if is_mesh else (*ABOVE_GROUND, "source")  # some do not fit a mesh
    on_elements = on_mesh if is_mesh else on_bricks
    key = partial(case.digest_with_files, without=others)
    return kept("wave domain", key, partial(on_elements, case, comm))


def _assemble(case: DgWaveCase, ground: WaveDomain) -> Setup:
    """Choose the time step and the equations, and place the sources and receivers.

    Raises:
        InputError: see `prepare`.
    """
    geometry, materials, absorption = ground.geometry, ground.materials, ground.absorption
    limit = limit_steps(case, materials, absorption.decay)
    receivers = place_receivers(case)
    interval = sampling_interval(case, receivers.stations)
    time_step = TimeStep.choose(case.time, limit.stable, interval)
    equations = _choose_equations(case.method.equations, materials.statistics.vs_max)
    context = ground.context(time_step.dt / SAMPLES_PER_STEP)
    faults = build_faults(case.fault, geometry, materials)
    start = event_position(case.fault, [each.estimates for each in faults.faults] if faults else [])
    event = complete_event(case.event, case.source)
    sources = build_sources(case.source, context, event)
    survey = Survey(sources, receivers.stations, start, receivers.skipped, event)
    if materials.statistics.fluid and materials.statistics.vs_max:
        survey = with_water_depths(survey, materials.elements.is_fluid)
    duration = case.time.duration
    return Setup(
        case,
        context.geography,
        geometry,
        materials,
        absorption,
        equations,
        limit,
        time_step,
        survey,
        TimeAxis.of(survey.sources, time_step.dt, time_step.stride, duration),
        Partition(
            geometry.connectivity,
            element_costs(geometry, absorption.layer_axes),
            absorption.elements,
        ),
        faults,
        build_rock(case, materials, absorption.elements),
        build_strain_points(case, survey, context, ground),
    )


def sampling_interval(case: DgWaveCase, receivers: Sequence[Station]) -> float | None:
    """Interval between samples of seismograms, s; None for every step, or if there are none."""
    return case.output.seismograms.interval if receivers else None


def _choose_equations(chosen: str, vs: float) -> Equations:
    """The equations for the speed of the fastest S wave (m/s), which is 0 without solids."""
    if chosen == "auto":
        return ELASTIC if vs else ACOUSTIC
    if chosen == "acoustic" and vs:
        raise InputError(
            'method.equations = "acoustic", but parts of the medium are solid; set vs = 0 '
            'everywhere, or use "elastic"'
        )
    return ACOUSTIC if chosen == "acoustic" else ELASTIC


def _validate(setup: Setup) -> None:
    """Check what may raise `InputError`, so that a run does not fail later."""
    case, equations = setup.case, setup.equations
    if setup.survey.receivers:
        require_exportable(case.output.seismograms, setup.time_step, setup.steps)
    setup.geometry.require_inside(setup.survey)
    validation.require_shear_in_solids(setup.survey, setup.materials.elements)
    validation.require_fields(case.output, setup.fields, equations)
    named = setup.faults.named_points if setup.faults else {}
    require_recordable(case.output.fault_points, case.output.rupture, named)
    validation.require_exact_traces(case)
    validation.require_dissipation(
        case.method.flux,
        in_layers=equations.elastic and bool(setup.absorption.layer_axes.any()),
        has_levels=setup.partition.elements(1, 0).has_levels,
    )
    whole = setup.recording(ElementDomain.outline(setup.geometry.outline))
    whole.require_samples(case.output.record, setup.steps)
    require_lines(case.output.map_lines)
