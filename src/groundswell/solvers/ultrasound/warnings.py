"""Warnings before a run: waves, losses, sources and transforms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np

from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.density_contrast import has_uniform_density
from groundswell.solvers.ultrasound.dispersion import LossyWave
from groundswell.solvers.ultrasound.fast_sizes import is_fast, next_fast, prime_factors
from groundswell.solvers.ultrasound.losses import FEWEST_STEPS, SourceLosses
from groundswell.solvers.ultrasound.source_case import SourceSection
from groundswell.solvers.ultrasound.source_waves import frequencies
from groundswell.solvers.ultrasound.sources import mask_normal, mask_points
from groundswell.solvers.ultrasound.stability import SAFETY
from groundswell.solvers.ultrasound.stability_messages import (
    LEAVE_OUT,
    close_step,
    unstable_dispersion,
    unstable_step,
)
from groundswell.solvers.ultrasound.units import MHZ, MM, NS, percent

if TYPE_CHECKING:
    from groundswell.solvers.ultrasound.wave_setup import WaveSetup

LEAST_POINTS = 3.0  # per wavelength, for the highest source frequency in the slowest medium
LARGEST_ERROR = 0.05  # of the absorption, relative
LARGEST_PHASE = 45.0  # error of the phase of a wave that has passed the absorption, degrees
ENOUGH_STEPS = 10.0  # per period; the time step causes an error of about 3 %
SHORTER, TRIALS = 1.1, 50  # factor between shorter time steps that are tried, and their number
LARGEST_FACTOR = 13  # transforms with a larger prime factor are several times slower


def find_warnings(setup: WaveSetup) -> list[str]:
    """Warnings about waves, losses, sources in layers, and slow transforms."""
    sections, grid, axes = setup.source_sections, setup.grid, setup.axes
    limits = [_free_of_layers(setup, axis) for axis in range(axes)]
    return [
        *_coarse_grids(sections, setup.points_per_wavelength, setup.widest_spacing),
        *_inexact_absorption(setup),
        *_growing_waves(setup),
        *_silent_sources(sections),
        *_absorbed_sources(sections, limits),
        *_masks_without_normal(sections, grid, axes),
        *_slow_transforms(grid.cells[:axes], setup.size_cure),
    ]


def _growing_waves(setup: WaveSetup) -> Iterator[str]:
    """Dispersion with which waves may grow, unstable steps, and steps near an estimated limit."""
    medium, share, limit = setup.materials, setup.dispersion_share, setup.stability_limit
    if share.largest > 1:
        yield unstable_dispersion(medium.power, share, setup.dispersion_cure)
    step = f"{setup.step_name} = {setup.dt:g} s"
    if setup.dt > limit:
        yield unstable_step(medium, setup.reference_speed, limit, step)
    elif not has_uniform_density(medium) and setup.dt > SAFETY * limit * (1 + 1e-6):
        yield close_step(medium, limit, step)


def _coarse_grids(
    sections: Sequence[SourceSection], per_wavelength: float | None, widest: float
) -> Iterator[str]:
    """Too few points per wavelength, at most `widest` apart (m)."""
    if per_wavelength is not None and per_wavelength < LEAST_POINTS:
        highest = max(frequencies(sections)) / MHZ
        yield (
            f"the highest source frequency, {highest:g} MHz, has "
            f"{per_wavelength:.2g} points per wavelength in the slowest medium; use "
            f"{LEAST_POINTS:g} or more: a spacing of at most "
            f"{per_wavelength / LEAST_POINTS * widest / MM:.3g} mm"
        )


def _inexact_absorption(setup: WaveSetup) -> Iterator[str]:
    losses = setup.losses
    if not losses.present:
        return
    if losses.steps_per_period < FEWEST_STEPS:
        yield _coarse_steps(losses)
        return
    distance = setup.absorbing_distance
    if faults := list(_faults_of_losses(losses, distance)):
        yield f"{', and '.join(faults)}; {_cure_of_losses(losses, distance)}"


def _faults_of_losses(losses: SourceLosses, distance: float) -> Iterator[str]:
    """What is wrong with a wave that travels a distance (m) through strong absorption."""
    wave, frequency = losses.wave(), f"{losses.highest / MHZ:g} MHz"
    if wave is None:
        yield (
            f"where the absorption is largest, the equations have no wave of {frequency} that "
            "decays about as fast as by the power law"
        )
        return
    if abs(wave.absorption_error) > LARGEST_ERROR:
        error = percent(abs(wave.absorption_error)).removeprefix("+")
        more = "more" if wave.absorption_error > 0 else "less"
        yield f"the largest absorption at {frequency} is {error} {more} than that of the power law"
    late = sum(wave.phase_errors(distance).values())
    if abs(late) > LARGEST_PHASE:
        side = "late" if late > 0 else "early"
        yield (
            f"waves of {frequency} are {abs(late):.3g} degrees {side} after {distance / MM:.4g} mm "
            "of strong absorption"
        )


def _coarse_steps(losses: SourceLosses) -> str:
    """Warning about a time step too long for the highest source frequency."""
    steps = losses.steps_per_period
    return (
        f"the time step of {losses.dt / NS:.6g} ns samples a period of the highest source "
        f"frequency, {losses.highest / MHZ:g} MHz, {steps:.3g} times, too few for the "
        f"absorption; {_use_step(losses.dt * steps / ENOUGH_STEPS)}"
    )


def _cure_of_losses(losses: SourceLosses, distance: float) -> str:
    """Advice on how to reduce the errors of the absorption and of the phase."""
    for dt in losses.dt / SHORTER ** np.arange(1, TRIALS):
        wave = losses.wave(float(dt))
        if wave is not None and _is_accurate(wave, distance):
            return _use_step(float(dt))
    if not losses.materials.is_dispersive:
        return "the equations hold for weak absorption only; reduce the absorption"
    return (
        f"the equations of absorption and dispersion hold for weak absorption only; {LEAVE_OUT}, "
        "reduce the absorption, or choose medium.power further from 1 and 3"
    )


def _is_accurate(wave: LossyWave, distance: float) -> bool:
    """Whether neither the absorption nor the phase after a distance (m) causes a warning."""
    late = sum(wave.phase_errors(distance).values())
    return abs(wave.absorption_error) <= LARGEST_ERROR and abs(late) <= LARGEST_PHASE


def _use_step(dt: float) -> str:
    """Advice to use a time step (s) of at most this, rounded down."""
    unit = 10.0 ** (floor(log10(dt / NS)) - 2)
    return f'use time.step = "{floor(dt / NS / unit + 1e-6) * unit:.3g} ns" or less'


def _absorbed_sources(
    sections: Sequence[SourceSection], limits: Sequence[tuple[float, float]]
) -> Iterator[str]:
    """Transducers that extend into an absorbing layer, beyond the limits of an axis (m)."""
    for n, section in enumerate(sections):
        surfaces = () if section.mask else (s for shape in section.shapes for s in shape.elements)
        extents = [surface.extent for surface in surfaces]
        for axis, (first, last) in enumerate(limits):
            low = min((low[axis] for low, _ in extents), default=first)
            high = max((high[axis] for _, high in extents), default=last)
            if low < first or high > last:
                yield (
                    f"source[{n}] extends from {low / MM:.6g} to {high / MM:.6g} mm along "
                    f"{'xyz'[axis]}, into an absorbing layer; move it to {first / MM:.6g} to "
                    f"{last / MM:.6g} mm"
                )


def _silent_sources(sections: Sequence[SourceSection]) -> Iterator[str]:
    for n, section in enumerate(sections):
        name = "pressure" if section.pressure is not None else "velocity"
        if not getattr(section, name):
            yield f"source[{n}] has {name} = 0 and emits nothing; give its amplitude"


def _masks_without_normal(
    sections: Sequence[SourceSection], grid: Grid, axes: int
) -> Iterator[str]:
    """Masks of pressure sources whose amplitude depends on the directions of anisotropic cells."""
    spacing = grid.spacing[:axes]
    if len(set(spacing)) == 1:
        return
    for n, section in enumerate(sections):
        if section.mask is None or section.pressure is None or section.mode == "dirichlet":
            continue
        if mask_normal(mask_points(section.mask, grid), grid) is None:
            yield (
                f"source[{n}] is a mask that does not lie in one plane of points, on a grid whose "
                f"spacings differ; its pressure refers to the spacing along x, {spacing[0] / MM:g} "
                "mm: use a shape, or equal spacings"
            )


def _free_of_layers(setup: WaveSetup, axis: int) -> tuple[float, float]:
    """Limits of an axis without its layers, half a spacing beyond the outermost points, m."""
    at, half = setup.coordinates(axis), setup.grid.spacing[axis] / 2
    first, last = setup.layers.before[axis], len(at) - 1 - setup.layers.after[axis]
    return float(at[first]) - half, float(at[last]) + half


def _slow_transforms(cells: Sequence[int], cure: str) -> Iterator[str]:
    for axis, n in enumerate(cells):
        if not is_fast(n) and max(prime_factors(n)) > LARGEST_FACTOR:
            yield (
                f"transforms of {n} points along {'xyz'[axis]} are slow, because {n} has the prime "
                f"factor {max(prime_factors(n))}; {next_fast(n)} points are faster: change "
                f"{cure}"
            )
