"""Warnings about cases that run but may give poor results."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.errors import counted
from groundswell.seismology.anelasticity import attenuation_warnings
from groundswell.seismology.sources.event_warnings import source_warnings
from groundswell.seismology.sources.spectra import energy_below
from groundswell.seismology.time_steps import sampling_warnings
from groundswell.solvers.earthquake.setup import Setup

# Thresholds
INTERVAL_SHIFT = 0.1  # relative change of a sampling interval
LONG_WAVES = 0.1  # fraction of a source's energy below the frequencies that the layers absorb
REFLECTION = 0.03  # reflection coefficient of matched layers in the band that they absorb
STEPS_BESIDE_FLUID = 28_000  # over which layers next to a fluid were stable in tests


def find_warnings(setup: Setup) -> list[str]:
    """Return all warnings, each with its remedy."""
    checks = (
        _resolution,
        _material,
        _attenuation,
        _long_waves,
        _reflection,
        _fluid,
        _step,
        _sampling,
        _sources,
    )
    return [sentence for check in checks for sentence in check(setup)]


def _resolution(setup: Setup) -> Iterator[str]:
    resolved, emitted = setup.ground.resolved_frequency, setup.survey.frequency
    if emitted > resolved:
        cell = max(setup.grid.spacing) * resolved / emitted
        yield (
            f"the sources have energy up to {emitted:.3g} Hz, but the grid resolves {resolved:.3g} "
            f"Hz; low-pass the results there, lengthen the source, or use cells of {cell:.3g} m"
        )


def _material(setup: Setup) -> Iterator[str]:
    cells = np.prod(setup.grid.region, dtype=float)
    for name, count in setup.ground.statistics.floored.items():
        if count:
            yield (
                f"medium.floor raised {name} in {counted(count, 'cell')} "
                f"({100 * count / cells:.3g} %)"
            )


def _attenuation(setup: Setup) -> Iterator[str]:
    ground = setup.ground
    return attenuation_warnings(ground.relaxation, ground.statistics, ground.resolved_frequency)


def _long_waves(setup: Setup) -> Iterator[str]:
    """Sources that radiate waves too long for the matched layers."""
    band = setup.absorption.band
    if band and (energy := energy_below(band.lowest, setup.survey.sources)) > LONG_WAVES:
        yield (
            f"a source radiates {100 * energy:.0f} % of its energy below {band.lowest:.3g} Hz, "
            f"where the absorbing layers reflect more than {100 * band.reflection:g} %; widen them "
            "(boundary.width), enlarge the region, or high-pass the results above this frequency"
        )


def _reflection(setup: Setup) -> Iterator[str]:
    """Matched layers without a wide band in which they reflect less than REFLECTION."""
    band = setup.absorption.band
    reflected = band.reflection if band else 1.0
    if setup.absorption.are_matched and reflected > REFLECTION:
        amount = f"up to {100 * reflected:g} %" if band else "more than 10 %"
        yield (
            f"the absorbing layers reflect {amount} of some waves; widen them (boundary.width), or "
            "enlarge the region"
        )


def _fluid(setup: Setup) -> Iterator[str]:
    """More steps with matched layers next to a fluid and a solid than have been tested."""
    beside = setup.absorption.are_matched and setup.ground.statistics.fluid_cells
    if beside and setup.ground.statistics.vs_max and setup.steps > STEPS_BESIDE_FLUID:
        yield (
            f"matched layers next to a fluid and a solid have been stable in runs of up to "
            f"{STEPS_BESIDE_FLUID:,} steps, and this run has {setup.steps:,}; shorten it, or set "
            'boundary.sides = "sponge" with a width of 20 cells or more'
        )


def _step(setup: Setup) -> Iterator[str]:
    """A sampling interval that shortens the time step considerably."""
    if setup.case.time.step == "auto":
        interval = setup.case.output.seismograms.interval
        yield from sampling_warnings(setup.stable.longest, interval, setup.dt)


def _sampling(setup: Setup) -> Iterator[str]:
    """Sampling intervals that change noticeably when rounded to whole steps."""
    for name, interval in setup.sampling.items():
        requested = getattr(setup.case.output, name).interval
        if requested is not None and abs(interval - requested) > INTERVAL_SHIFT * requested:
            key = f"output.{name}.interval"
            yield f"{key} = {requested:g} s is rounded to {interval:.4g} s, in whole steps"


def _sources(setup: Setup) -> Iterator[str]:
    """Sources that do not fit the event or the run, and receivers out of reach."""
    return source_warnings(setup.case, setup.survey, setup.dt, setup.ground.max_wave_speed)
