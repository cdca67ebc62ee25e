"""Quantities and warnings of a prepared case, for `groundswell check` and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from groundswell.case.quantities import Quantity
from groundswell.errors import counted
from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.anelasticity import attenuation_quantities, attenuation_warnings
from groundswell.seismology.faults.labels import fault_label
from groundswell.seismology.faults.quantities import (
    fault_quantities,
    fault_warnings,
    rupture_starts,
)
from groundswell.seismology.faults.state_steps import step_warnings
from groundswell.seismology.formats.export import export_quantities
from groundswell.seismology.green.estimates import green_quantities, green_warnings
from groundswell.seismology.intensity.advice import intensity_warnings, map_quantities
from groundswell.seismology.map_lines.run import line_warnings
from groundswell.seismology.plasticity.estimates import (
    plasticity_quantities,
    plasticity_warnings,
)
from groundswell.seismology.plasticity.fault_stress import fault_stress_warnings
from groundswell.seismology.receivers import Station, instruments, skipped_receivers
from groundswell.seismology.sources.event_warnings import source_warnings
from groundswell.seismology.sources.quantities import event_quantities, source_quantities
from groundswell.seismology.survey import Survey
from groundswell.seismology.time_steps import STEP_RATIO, sampling_warnings
from groundswell.simulation.solver import Cost
from groundswell.solvers.dgwave.advice import aligned, finer_refinement, shallow_sources
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.dispersion import describe_errors, plane_wave_errors
from groundswell.solvers.dgwave.faults.model import Faults
from groundswell.solvers.dgwave.faults.state_limit import STATE_LIMIT
from groundswell.solvers.dgwave.geometry import MESH
from groundswell.solvers.dgwave.geometry.bricks import BrickGeometry
from groundswell.solvers.dgwave.materials.anelastic import Materials
from groundswell.solvers.dgwave.materials.elements import ElementMaterials
from groundswell.solvers.dgwave.mesh.case import (
    POINTS_PER_WAVELENGTH,
    RefinementSection,
)
from groundswell.solvers.dgwave.recording.lattice import intensity_points
from groundswell.solvers.dgwave.setup import Setup, sampling_interval
from groundswell.solvers.dgwave.source_reach import reach_warnings
from groundswell.solvers.dgwave.validation import FLUXES

WAVES, SOURCES = "What the elements resolve", "Sources, receivers"
FAULTS, ROCK = "Faults", "Rock that yields"
ROUNDING = 1e-9  # relative, of edges and frequencies


def quantities(setup: Setup, cost: Cost) -> list[Quantity]:
    """Mesh, time step, memory, resolution, sources and receivers."""
    materials, survey = setup.materials, setup.survey
    return [
        *_mesh(setup, cost),
        *_waves(materials, setup.case.method.flux),
        *_sources(materials.elements, survey),
        *_green(setup),
        *_faults(setup.faults),
        *(plasticity_quantities(setup.rock.estimates, setup.dt, ROCK) if setup.rock else ()),
    ]


def _faults(faults: Faults | None) -> Iterator[Quantity]:
    for fault in faults.faults if faults else ():
        yield from fault_quantities(fault.name, fault.estimates, fault.spacing, FAULTS)


def _green(setup: Setup) -> Iterator[Quantity]:
    if setup.green:
        yield from green_quantities(setup.green, setup.strain_stride * setup.dt, SOURCES)


def _mesh(setup: Setup, cost: Cost) -> Iterator[Quantity]:
    yield from setup.geometry.quantities()
    yield from setup.absorption.quantities()
    dt = setup.dt
    kind = "elastic" if setup.equations.elastic else "acoustic"
    flux = FLUXES.get(setup.case.method.flux, f"{setup.case.method.flux:g} of Riemann's")
    text = f"{kind}, degree {setup.degree}, {flux} flux, {setup.unknowns:,} unknowns"
    yield Quantity("unknowns", setup.unknowns, "equations", text=text, group=MESH)
    yield Quantity("degree", setup.degree, group=MESH)
    yield Quantity("precision", setup.case.run.precision, "precision", group=MESH)
    stable, cause = setup.step_limit.seconds, setup.step_limit.cause
    limit = f"{dt:.4g} s; stable up to {stable:.4g} s"
    yield Quantity("dt", dt, "time step", "s", limit, MESH)
    yield Quantity("stability_limit", stable, unit="s", group=MESH)
    yield Quantity("step_limit", cause, "step limited by", text=cause, group=MESH)
    yield from setup.time_axis.quantities(MESH)
    interval = setup.time_step.sampling
    label = "seismograms" * bool(setup.survey.receivers)
    text = f"every {interval:.6g} s"
    yield Quantity("sampling", interval, label, "s", text, MESH)
    if label:
        yield from export_quantities(setup.case.output.seismograms, interval, MESH)
    yield Quantity("film", setup.case.output.film, group=MESH)
    maps, size = setup.case.output.intensity, np.dtype(setup.dtype).itemsize
    yield from map_quantities(maps, intensity_points(setup), size, dt, MESH)
    yield cost.memory_quantity(MESH)


def _waves(materials: Materials, flux: float) -> Iterator[Quantity]:
    geometry, medium = materials.elements.geometry, materials.statistics
    frequency = materials.resolved_frequency
    text = f"{medium.vp_max:,.5g} m/s"
    yield Quantity("vp_max", medium.vp_max, "fastest P wave", "m/s", text, WAVES)
    text = f"{medium.speed_min:,.5g} m/s"
    yield Quantity("speed_min", medium.speed_min, "slowest wave", "m/s", text, WAVES)
    speed, loss = plane_wave_errors(geometry.degree, POINTS_PER_WAVELENGTH, flux)
    text = f"up to {frequency:.3g} Hz, where {describe_errors(speed, loss)}"
    yield Quantity("resolved_frequency", frequency, "frequencies", "Hz", text, WAVES)
    yield Quantity("resolved_speed_error", speed, group=WAVES)
    yield Quantity("resolved_loss", loss, group=WAVES)
    yield from attenuation_quantities(materials.relaxation, medium, WAVES)
    if materials.is_nodal:
        text = "that of each node; quality factors are averages of elements"
        yield Quantity("material", "node", "material", text=text, group=WAVES)
    fluid = medium.fluid
    text = f"{fluid:,} of {geometry.count:,} elements"
    yield Quantity("fluid_cells", fluid, "fluid" * bool(fluid), "elements", text, WAVES)


def _sources(elements: ElementMaterials, survey: Survey) -> Iterator[Quantity]:
    if survey.entries:
        yield from source_quantities(survey.entries, survey.summary, SOURCES)
        frequency = survey.frequency
        text = f"99 % of the energy below {frequency:.3g} Hz"
        yield Quantity("source_frequency", frequency, "source frequencies", "Hz", text, SOURCES)
    centroid, known = survey.summary.centroid_time, bool(survey.entries)
    yield from event_quantities(survey.event, centroid, SOURCES, has_sources=known)
    counts = Counter(receiver.kind for receiver in survey.receivers)
    text = ", ".join(instruments(kind, count) for kind, count in counts.items())
    yield Quantity("receivers", len(survey.receivers), "receivers", text=text, group=SOURCES)
    yield from skipped_receivers(survey.skipped, SOURCES)
    for text in reach_warnings(elements, survey):
        yield Quantity("receiver_in_load", text, "near a source", text=text, group=SOURCES)


def warnings(setup: Setup) -> list[str]:
    """Reasons to expect poor results, each with its remedy."""
    green, interval = setup.green, setup.strain_stride * setup.dt
    return [
        *_warnings(setup),
        *(green_warnings(green, interval) if green else ()),
        *line_warnings(setup.case.output.map_lines, setup.geography),
    ]


def _warnings(setup: Setup) -> Iterator[str]:
    geometry, statistics = setup.geometry, setup.materials.statistics
    resolved, emitted = setup.materials.resolved_frequency, setup.survey.frequency
    yield from geometry.warnings(statistics.speed_min / min(resolved, emitted or resolved))
    if emitted > resolved:
        place, element = _coarsest(setup.materials)
        finer = _finer_elements(setup.materials, element, emitted) + " there" * bool(place)
        section = setup.case.refinement
        if isinstance(geometry, BrickGeometry) and isinstance(section, RefinementSection):
            levels = geometry.forest.levels
            finer = finer_refinement(section, levels, setup.materials, emitted)
        yield (
            f"the sources have energy up to {emitted:.3g} Hz, but the elements{place} resolve "
            f"{resolved:.3g} Hz; low-pass the results at that frequency, lengthen the source, "
            f"{finer}, or raise method.degree"
        )
    if mixed := statistics.mixed:
        first = int(geometry.outside_layers(np.flatnonzero(statistics.is_mixed))[0])
        fluid = int((statistics.is_mixed & (statistics.vs == 0)).sum())
        yield (
            f"{counted(mixed, 'element')} with both fluid and solid: each has its average "
            f"material, which is fluid in {fluid:,} of them; the first is around "
            f"{geometry.describe(first)}. {aligned(setup.materials.elements.medium)}"
        )
    yield from source_warnings(setup.case, setup.survey, setup.dt, statistics.vp_max)
    case = setup.case
    yield from intensity_warnings(case.output.intensity, resolved, setup.dt, case.time.duration)
    yield from _fault_warnings(setup)
    if setup.rock:
        yield from plasticity_warnings(setup.rock.estimates, setup.dt)
    if setup.case.boundary.top == "free-surface":
        yield from shallow_sources(setup.materials.elements, setup.survey)
    remedy = "narrow attenuation.band, or raise method.mechanisms"
    relaxation = setup.materials.relaxation
    yield from attenuation_warnings(relaxation, statistics, resolved, remedy)
    yield from setup.absorption.warnings(setup.survey)
    yield from _step(setup.case, setup.survey.receivers, setup.dt, setup.step_limit.seconds)


def _fault_warnings(setup: Setup) -> Iterator[str]:
    faults = setup.faults.faults if setup.faults else ()
    starts = [rupture_starts(fault.estimates) for fault in faults]
    for n, fault in enumerate(faults):
        label = fault_label(n, fault.name)
        given = label, fault.estimates, fault.spacing
        yield from fault_warnings(*given, is_reached=any(starts))
        yield from step_warnings(label, fault.estimates, setup.dt, STATE_LIMIT)
        if setup.rock:
            on_fault = fault.points, fault.conditions
            yield from fault_stress_warnings(label, *on_fault, setup.rock.initial)


def _step(case: DgWaveCase, receivers: Sequence[Station], dt: float, limit: float) -> Iterator[str]:
    """A time step `dt` that is far shorter than the stable `limit`, s."""
    if case.time.step == "auto":
        yield from sampling_warnings(limit, sampling_interval(case, receivers), dt)
    elif limit > STEP_RATIO * dt:
        yield (
            f"time.step = {dt:.3g} s is far shorter than the stable {limit:.3g} s; "
            'lengthen it, or use "auto"'
        )


def _coarsest(materials: Materials) -> tuple[str, int]:
    """Where the resolution is lowest, and an element there; no position if it is uniform."""
    geometry, frequencies = materials.elements.geometry, materials.resolved_frequencies
    lowest = np.flatnonzero(frequencies <= frequencies.min() * (1 + ROUNDING))
    examples = geometry.outside_layers(lowest)
    element = int(examples[len(examples) // 2])
    place = f" around {geometry.describe(element)}" if len(lowest) < geometry.count else ""
    return place, element


def _finer_elements(materials: Materials, element: int, emitted: float) -> str:
    """Advice on the edges of an element that do not resolve `emitted` (Hz), and their axes."""
    geometry = materials.elements.geometry
    edge = float(geometry.longest[element]) * (materials.resolved_frequency / emitted)
    longer = [] if geometry.is_curved else geometry.edges[element] > edge * (1 + ROUNDING)
    axes = [axis for axis, is_longer in zip("xyz", longer, strict=False) if is_longer]
    along = f" along {' and '.join(axes)}" * (0 < len(axes) < AXES)
    return f"use elements of at most {edge:.3g} m{along}"
