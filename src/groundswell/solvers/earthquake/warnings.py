"""Warnings about cases that run but may give poor results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from groundswell.errors import counted
from groundswell.seismology.anelasticity import attenuation_warnings
from groundswell.seismology.case.outputs import GREEN
from groundswell.seismology.faults.labels import fault_label
from groundswell.seismology.faults.quantities import fault_warnings, rupture_starts
from groundswell.seismology.faults.state_steps import step_warnings
from groundswell.seismology.green.estimates import green_warnings
from groundswell.seismology.intensity.advice import intensity_warnings
from groundswell.seismology.map_lines.run import line_warnings
from groundswell.seismology.plasticity.estimates import plasticity_warnings
from groundswell.seismology.plasticity.fault_stress import fault_stress_warnings
from groundswell.seismology.plasticity.soil_estimates import soil_warnings
from groundswell.seismology.receivers import Station
from groundswell.seismology.sources.entries import Point
from groundswell.seismology.sources.event_warnings import source_warnings
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.seismology.sources.spectra import energy_below
from groundswell.seismology.time_steps import StableSteps, sampling_warnings
from groundswell.solvers.earthquake.absorbing_reflection import AbsorbedBand
from groundswell.solvers.earthquake.case import EarthquakeCase, EarthquakeOutput
from groundswell.solvers.earthquake.faults.model import Fault
from groundswell.solvers.earthquake.faults.plane import REACH
from groundswell.solvers.earthquake.ground import Ground
from groundswell.solvers.earthquake.matched_layers import Absorption
from groundswell.solvers.earthquake.setup import Setup

# Thresholds
INTERVAL_SHIFT = 0.1  # relative change of a sampling interval
LONG_WAVES = 0.1  # fraction of a source's energy below the frequencies that the layers absorb
REFLECTION = 0.03  # reflection coefficient of matched layers in the band that they absorb
FLUID_REACH = 4  # cells around a point that its strain depends on
STEPS_BESIDE_FLUID = 28_000  # over which layers next to a fluid were stable in tests


def warnings(setup: Setup) -> list[str]:
    """Reasons to expect poor results, each with its remedy."""
    case, ground, absorption, survey = setup.case, setup.ground, setup.absorption, setup.survey
    return [
        *_resolution(ground, survey.frequency),
        *_material(ground),
        *attenuation_warnings(ground.relaxation, ground.statistics, ground.resolved_frequency),
        *_long_waves(absorption.band, survey.sources),
        *_reflection(absorption),
        *_fluid(absorption, setup.steps),
        *_step(case, setup.stable, setup.dt),
        *_sampling(case.output, setup.sampling),
        *intensity_warnings(
            case.output.intensity, ground.resolved_frequency, setup.dt, case.time.duration
        ),
        *source_warnings(case, survey, setup.dt, ground.max_wave_speed),
        *_faults(setup),
        *_rock(setup),
        *_strain(setup),
        *line_warnings(case.output.map_lines, setup.geography),
    ]


def _faults(setup: Setup) -> Iterator[str]:
    """Faults that break otherwise than intended, or between receivers and what they record."""
    starts = any(rupture_starts(fault.estimates) for fault in setup.faults)
    for n, fault in enumerate(setup.faults):
        label = fault_label(n, fault.name)
        yield from fault_warnings(label, fault.estimates, fault.spacing, is_reached=starts)
        yield from step_warnings(label, fault.estimates, setup.dt)
        yield from _astride(label, fault, setup.survey.receivers)


def _rock(setup: Setup) -> Iterator[str]:
    """Rock that yields before the waves, or nearly, and soil that is poorly resolved."""
    if setup.plasticity is not None:
        yield from plasticity_warnings(setup.plasticity.estimates, setup.dt)
        for n, fault in enumerate(setup.faults):
            label = fault_label(n, fault.name)
            on_fault = fault.estimates.points, fault.estimates.conditions
            yield from fault_stress_warnings(label, *on_fault, setup.plasticity.initial)
    if setup.soil is not None:
        yield from soil_warnings(setup.soil.estimates, setup.survey.frequency)


def _strain(setup: Setup) -> Iterator[str]:
    """Samples of strain that lose frequencies, and points beside fluids."""
    if setup.green is None:
        return
    yield from green_warnings(setup.green, setup.sampling[GREEN])
    positions = setup.green.points.positions.tolist()
    count = sum(_is_near_fluid(setup.ground, (x, y, z)) for x, y, z in positions)
    if count:
        yield (
            f"{counted(count, 'point')} of output.strain_green_tensor within {FLUID_REACH} cells "
            "of a fluid: strain there is inexact by about 1 %, because it leaves out the "
            "corrections of differences beside fluids; move them away, or run the rupture itself"
        )


def _is_near_fluid(ground: Ground, position: Point) -> bool:
    if ground.phases is None:
        return False
    x, y, z = np.floor(ground.grid.indices(position, (0, 0, 0))).astype(int).tolist()
    first = x - FLUID_REACH, y - FLUID_REACH, z - FLUID_REACH
    return not ground.phases.are_alike(first, 2 * FLUID_REACH + 1)


def _resolution(ground: Ground, emitted: float) -> Iterator[str]:
    """Sources with energy above the frequencies that the grid resolves."""
    resolved = ground.resolved_frequency
    if emitted > resolved:
        cell = max(ground.grid.spacing) * resolved / emitted
        yield (
            f"the sources have energy up to {emitted:.3g} Hz, but the grid resolves {resolved:.3g} "
            f"Hz; low-pass the results there, lengthen the source, or use cells of {cell:.3g} m"
        )


def _material(ground: Ground) -> Iterator[str]:
    """Cells that have the lower bounds of the medium."""
    cells = np.prod(ground.grid.region, dtype=float)
    for name, count in ground.statistics.floored.items():
        if count:
            yield (
                f"medium.floor raised {name} in {counted(count, 'cell')} "
                f"({100 * count / cells:.3g} %)"
            )


def _long_waves(band: AbsorbedBand | None, sources: Sequence[PointSource]) -> Iterator[str]:
    """Sources that radiate waves too long for the matched layers, which absorb `band`."""
    if not band or not sources:
        return
    if (energy := energy_below(band.lowest, sources)) > LONG_WAVES:
        yield (
            f"a source radiates {100 * energy:.0f} % of its energy below {band.lowest:.3g} Hz, "
            f"where the absorbing layers reflect more than {100 * band.reflection:g} %; widen them "
            "(boundary.width), enlarge the region, or high-pass the results above this frequency"
        )


def _reflection(absorption: Absorption) -> Iterator[str]:
    """Matched layers without a wide band in which they reflect less than REFLECTION."""
    band = absorption.band
    reflected = band.reflection if band else 1.0
    if absorption.are_matched and reflected > REFLECTION:
        amount = f"up to {100 * reflected:g} %" if band else "more than 10 %"
        yield (
            f"the absorbing layers reflect {amount} of some waves; widen them (boundary.width), or "
            "enlarge the region"
        )


def _fluid(absorption: Absorption, steps: int) -> Iterator[str]:
    """More steps with matched layers next to a fluid and a solid than have been tested."""
    statistics = absorption.ground.statistics
    beside = absorption.are_matched and statistics.fluid_cells
    if beside and statistics.vs_max and steps > STEPS_BESIDE_FLUID:
        yield (
            f"matched layers next to a fluid and a solid have been stable in runs of up to "
            f"{STEPS_BESIDE_FLUID:,} steps, and this run has {steps:,}; shorten it, or set "
            'boundary.sides = "sponge" with a width of 20 cells or more'
        )


def _step(case: EarthquakeCase, stable: StableSteps, dt: float) -> Iterator[str]:
    """A sampling interval that shortens the time step considerably."""
    if case.time.step == "auto":
        yield from sampling_warnings(stable.longest, case.output.seismograms.interval, dt)


def _sampling(output: EarthquakeOutput, sampling: Mapping[str, float]) -> Iterator[str]:
    """Sampling intervals that change noticeably when rounded to whole steps."""
    for name, interval in sampling.items():
        requested = getattr(output, name).interval
        if requested is not None and abs(interval - requested) > INTERVAL_SHIFT * requested:
            key = f"output.{name}.interval"
            yield f"{key} = {requested:g} s is rounded to {interval:.4g} s, in whole steps"


def _astride(label: str, fault: Fault, receivers: Sequence[Station]) -> Iterator[str]:
    """Receivers that interpolate between the two sides of a fault."""
    names = [each.name for each in receivers if fault.plane.is_near(each.position)]
    if names:
        yield (
            f"receivers less than {REACH} cells from {label} record the mean motion of its "
            f"two sides: {', '.join(names)}; move them away from it"
        )
