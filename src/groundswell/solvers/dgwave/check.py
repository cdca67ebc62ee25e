"""Quantities and warnings of a prepared case, for `groundswell check` and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from groundswell.case.quantities import Quantity, byte_size
from groundswell.errors import counted
from groundswell.meshes.hexahedra import AXES, Numbers
from groundswell.seismology.anelasticity import attenuation_quantities, attenuation_warnings
from groundswell.seismology.media.material import Values
from groundswell.seismology.media.profile import Profile, find_profile
from groundswell.seismology.receivers import instruments
from groundswell.seismology.sources.event_warnings import source_warnings
from groundswell.seismology.sources.quantities import event_quantities, source_quantities
from groundswell.seismology.time_steps import STEP_RATIO, sampling_warnings
from groundswell.solvers.dgwave.cost import estimate
from groundswell.solvers.dgwave.dispersion import describe_errors, plane_wave_errors
from groundswell.solvers.dgwave.mesh.case import (
    MAX_LEVELS,
    POINTS_PER_WAVELENGTH,
    MeshSection,
    RefinementSection,
)
from groundswell.solvers.dgwave.places import in_region, position
from groundswell.solvers.dgwave.setup import Setup
from groundswell.solvers.dgwave.setup.quantities import MESH
from groundswell.solvers.dgwave.source_reach import reach_warnings
from groundswell.solvers.dgwave.terrain import terrain_warnings
from groundswell.solvers.dgwave.validation import FLUXES

WAVES, SOURCES = "What the elements resolve", "Sources, receivers"
ROUNDING = 1e-9  # relative, of edges and frequencies
ROUNDED_UP = 1.005  # so that three digits are no less than the value
USUAL_WIDTH = {"pml": 4, "sponge": 10}  # of layers, elements
SHALLOW = 0.1  # depth of a source in water over the height of its element, see `_shallow_sources`


def quantities(setup: Setup) -> list[Quantity]:
    """Mesh, time step, memory, resolution, sources and receivers."""
    return [*_mesh(setup), *_waves(setup), *_sources(setup)]


def _mesh(setup: Setup) -> Iterator[Quantity]:
    yield from setup.grid_quantities()
    dt = setup.dt
    kind = "elastic" if setup.equations.elastic else "acoustic"
    flux = FLUXES.get(setup.case.method.flux, f"{setup.case.method.flux:g} of Riemann's")
    text = f"{kind}, degree {setup.degree}, {flux} flux, {setup.unknowns:,} unknowns"
    yield Quantity("unknowns", setup.unknowns, "equations", text=text, group=MESH)
    yield Quantity("degree", setup.degree, group=MESH)
    yield Quantity("precision", setup.case.run.precision, "precision", group=MESH)
    limit = f"{dt:.4g} s; stable up to {setup.stability_limit:.4g} s"
    yield Quantity("dt", dt, "time step", "s", limit, MESH)
    yield Quantity("stability_limit", setup.stability_limit, unit="s", group=MESH)
    cause = setup.step_limit.cause
    yield Quantity("step_limit", cause, "step limited by", text=cause, group=MESH)
    yield from setup.time_axis.quantities(MESH)
    interval = setup.sampling_stride * dt
    label = "seismograms" * bool(setup.receivers)
    text = f"every {interval:.6g} s"
    yield Quantity("sampling", interval, label, "s", text, MESH)
    memory = estimate(setup).memory
    yield Quantity("memory", memory, "memory", "B", byte_size(memory), MESH)


def _waves(setup: Setup) -> Iterator[Quantity]:
    medium, frequency = setup.statistics, setup.resolved_frequency
    text = f"{medium.vp_max:,.5g} m/s"
    yield Quantity("vp_max", medium.vp_max, "fastest P wave", "m/s", text, WAVES)
    text = f"{medium.speed_min:,.5g} m/s"
    yield Quantity("speed_min", medium.speed_min, "slowest wave", "m/s", text, WAVES)
    speed, loss = plane_wave_errors(setup.degree, POINTS_PER_WAVELENGTH, setup.case.method.flux)
    text = f"up to {frequency:.3g} Hz, where {describe_errors(speed, loss)}"
    yield Quantity("resolved_frequency", frequency, "frequencies", "Hz", text, WAVES)
    yield Quantity("resolved_speed_error", speed, group=WAVES)
    yield Quantity("resolved_loss", loss, group=WAVES)
    yield from attenuation_quantities(setup.relaxation, medium, WAVES)
    if setup.is_nodal:
        text = "that of each node; quality factors are averages of elements"
        yield Quantity("material", "node", "material", text=text, group=WAVES)
    fluid = medium.fluid
    text = f"{fluid:,} of {setup.count:,} elements"
    yield Quantity("fluid_cells", fluid, "fluid" * bool(fluid), "elements", text, WAVES)


def _sources(setup: Setup) -> Iterator[Quantity]:
    summary = setup.source_summary
    yield from source_quantities(setup.source_entries, summary, SOURCES)
    yield from event_quantities(setup.case.event, summary.centroid_time, SOURCES)
    frequency = setup.source_frequency
    text = f"99 % of the energy below {frequency:.3g} Hz"
    yield Quantity("source_frequency", frequency, "source frequencies", "Hz", text, SOURCES)
    counts = Counter(receiver.kind for receiver in setup.receivers)
    text = ", ".join(instruments(kind, count) for kind, count in counts.items())
    yield Quantity("receivers", len(setup.receivers), "receivers", text=text, group=SOURCES)
    for text in reach_warnings(setup):
        yield Quantity("receiver_in_load", text, "near a source", text=text, group=SOURCES)


def warnings(setup: Setup) -> list[str]:
    """Reasons to expect poor results, each with its remedy."""
    return [*setup.mesh_warnings(), *_warnings(setup), *setup.damped_positions()]


def _warnings(setup: Setup) -> Iterator[str]:
    resolved, emitted = setup.resolved_frequency, setup.source_frequency
    if emitted > resolved:
        place, element = _coarsest(setup)
        finer = _finer_elements(setup, element) + " there" * bool(place)
        if isinstance(setup.case.refinement, RefinementSection):
            finer = _finer_refinement(setup)
        yield (
            f"the sources have energy up to {emitted:.3g} Hz, but the elements{place} resolve "
            f"{resolved:.3g} Hz; low-pass the results at that frequency, lengthen the source, "
            f"{finer}, or raise method.degree"
        )
    if mixed := setup.statistics.mixed:
        first = int(in_region(setup, np.flatnonzero(setup.statistics.is_mixed))[0])
        fluid = int((setup.statistics.is_mixed & (setup.statistics.vs == 0)).sum())
        yield (
            f"{counted(mixed, 'element')} with both fluid and solid: each has its average "
            f"material, which is fluid in {fluid:,} of them; the first is around "
            f"{position(setup, first)}. {_aligned(setup)}"
        )
    yield from source_warnings(setup.case, setup.survey, setup.dt, setup.statistics.vp_max)
    yield from terrain_warnings(setup)
    yield from _shallow_sources(setup)
    remedy = "narrow attenuation.band, or raise method.mechanisms"
    yield from attenuation_warnings(setup.relaxation, setup.statistics, resolved, remedy)
    yield from _wide_layers(setup)
    yield from _step(setup)


def _shallow_sources(setup: Setup) -> Iterator[str]:
    """Sources of pressure in water whose image at the free surface is not resolved.

    The image cancels most of the direct wave, so errors are large relative to the rest.
    """
    if isinstance(setup.case.grid, MeshSection) or setup.case.boundary.top != "free-surface":
        return
    if not (found := [*_sources_in_high_elements(setup)]):
        return
    depth, height, n = min(found)
    if not depth:
        yield (
            f"source[{n}] lies on the free surface of the water, where the pressure is always 0; "
            "move it down"
        )
        return
    others = f"; this concerns {len(found)} sources" * (len(found) > 1)
    yield (
        f"source[{n}] lies in water {depth:.4g} m below the free surface, but its element is "
        f"{height:.4g} m high, so waves near the source are inaccurate; use elements that are at "
        f"most {depth / SHALLOW / ROUNDED_UP:.3g} m high at the surface{others}"
    )


def _sources_in_high_elements(setup: Setup) -> Iterator[tuple[float, float, int]]:
    """Yield the depth, the height of the element, m, and the number of shallow sources in water."""
    for n, entry in enumerate(setup.source_entries):
        points = np.array([p.position for p in entry.points if p.moment is not None])
        if not len(points):
            continue
        lower, upper = setup.forest.boxes(setup.locate(points)[0])
        heights, depths = (upper - lower)[:, 2], points[:, 2]
        is_high = depths < SHALLOW * heights * (1 - ROUNDING)
        near = np.flatnonzero(is_high & (setup.rigidity(*points.T) == 0))
        if near.size:
            k = near[depths[near].argmin()]
            yield float(depths[k]), float(heights[k]), n


def _wide_layers(setup: Setup) -> Iterator[str]:
    """Absorbing layers that are wider than usual, and that hold most of the elements."""
    grid, width = setup.grid, max(setup.grid.before)
    usual = USUAL_WIDTH.get(setup.case.boundary.sides, width)
    inside, cells = prod(grid.region), prod(grid.cells)
    if width > usual and cells > 2 * inside:
        yield (
            f"boundary.width is {width} elements, so absorbing layers hold {cells - inside:,} of "
            f"{cells:,} elements; a width of {usual} is usual"
        )


def _step(setup: Setup) -> Iterator[str]:
    """A time step that is far shorter than necessary."""
    interval, limit = setup.sampling_interval, setup.stability_limit
    if setup.case.time.step == "auto":
        yield from sampling_warnings(limit, interval, setup.dt)
    elif limit > STEP_RATIO * setup.dt:
        yield (
            f"time.step = {setup.dt:.3g} s is far shorter than the stable {limit:.3g} s; "
            'lengthen it, or use "auto"'
        )


def _coarsest(setup: Setup) -> tuple[str, int]:
    """Where the resolution is lowest, and an element there; no position if it is uniform."""
    frequencies = setup.resolved_frequencies
    lowest = np.flatnonzero(frequencies <= frequencies.min() * (1 + ROUNDING))
    examples = in_region(setup, lowest)
    element = int(examples[len(examples) // 2])
    place = f" around {position(setup, element)}" if len(lowest) < setup.count else ""
    return place, element


def _aligned(setup: Setup) -> str:
    """Advice on elements that contain fluid and solid: edges along depth, if the medium is flat."""
    cure = "Let elements end at the sea floor, or use smaller ones there"
    profile, spacing = find_profile(setup.media[0]), setup.grid.spacing[2]
    on_mesh = isinstance(setup.case.grid, MeshSection)
    if on_mesh or profile is None or isinstance(spacing, tuple):
        return cure
    bottom = setup.extent[2]
    depths = profile.interfaces[(profile.interfaces > 0) & (profile.interfaces < bottom)]
    cuts = [0.0, *depths[_changes_phase(profile, depths, bottom)].tolist(), bottom]
    runs = []
    for top, end in pairwise(cuts):
        count = max(1, round((end - top) / spacing))
        runs.append(f"{count} of {(end - top) / count:.12g} m down to {end:.12g} m")
    return f"{cure}: give the edges along depth as a list in grid.spacing, {', '.join(runs)}"


def _changes_phase(profile: Profile, depths: Values, bottom: float) -> NDArray[np.bool_]:
    """At which of ascending `depths` of interfaces the medium changes between fluid and solid."""
    edges = np.concatenate([[0.0], depths, [bottom]])
    fluid = profile.sample((edges[1:] + edges[:-1]) / 2).vs == 0
    return np.asarray(fluid[1:] != fluid[:-1])


def _finer_elements(setup: Setup, element: int) -> str:
    """Advice on the edges of an element that do not resolve the sources, and their axes."""
    ratio = setup.resolved_frequency / setup.source_frequency
    edge = float(setup.longest[element]) * ratio
    longer = [] if setup.is_curved else setup.edges[element] > edge * (1 + ROUNDING)
    axes = [axis for axis, is_longer in zip("xyz", longer, strict=False) if is_longer]
    along = f" along {' and '.join(axes)}" * (0 < len(axes) < AXES)
    return f"use elements of at most {edge:.3g} m{along}"


def _finer_refinement(setup: Setup) -> str:
    """Changes to `[refinement]`, and to `[grid]` if need be, that resolve the sources."""
    section, ratios = setup.case.refinement, setup.source_frequency / setup.resolved_frequencies
    halvings = np.ceil(np.log2(ratios)).clip(min=0)
    levels = int((setup.forest.levels + halvings).max())
    per_point = setup.source_frequency * POINTS_PER_WAVELENGTH
    frequency = per_point / section.points * _speed_ratio(setup, np.flatnonzero(halvings))
    if levels <= section.levels:  # then the frequency is too low
        frequency = max(frequency, section.frequency * float(ratios.max()))
    changes = []
    if frequency > section.frequency:
        changes.append(f"raise refinement.frequency to {frequency * ROUNDED_UP:.3g} Hz")
    if levels > section.levels:
        changes.append(f"raise refinement.levels to {min(levels, MAX_LEVELS)}")
    if levels > MAX_LEVELS:
        changes.append(f"divide grid.spacing by {2 ** (levels - MAX_LEVELS)}")
    return " and ".join(changes)


def _speed_ratio(setup: Setup, elements: Numbers) -> float:
    """Largest speed of the slowest wave in the average material over that at the nodes, at least 1.

    `[refinement]` divides elements by their average material.
    """
    average, at_nodes = setup.material(elements), setup.statistics.slowest[elements]
    slowest = np.where(average.vs > 0, average.vs, average.vp)
    return float((slowest / at_nodes).max(initial=1.0))
