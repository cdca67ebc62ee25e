"""Quantities that `groundswell check` shows for an ultrasound case, and warnings before a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import floor, isinf, log10, pi
from typing import TYPE_CHECKING

import numpy as np

from groundswell.case.quantities import Quantity, byte_size
from groundswell.grids.cartesian import describe_grid, format_extent
from groundswell.solvers.ultrasound.density_contrast import has_uniform_density
from groundswell.solvers.ultrasound.dispersion import (
    LossyWave,
    absorbing_distance,
    most_absorbing,
    worst_wave,
)
from groundswell.solvers.ultrasound.fast_sizes import is_fast, next_fast, prime_factors
from groundswell.solvers.ultrasound.overlap_choice import Overlaps, short
from groundswell.solvers.ultrasound.overlap_error import WAVENUMBER, Wave
from groundswell.solvers.ultrasound.source_case import SampledSignal
from groundswell.solvers.ultrasound.sources import mask_normal, mask_points
from groundswell.solvers.ultrasound.stability import SAFETY
from groundswell.solvers.ultrasound.stability_messages import (
    LEAVE_OUT,
    close_step,
    density_range,
    growing_waves,
)

if TYPE_CHECKING:
    from groundswell.solvers.ultrasound.setup import Setup

MM, NS, MHZ = 1e-3, 1e-9, 1e6  # m, s, Hz
LEAST_POINTS = 3.0  # per wavelength, for the highest source frequency in the slowest medium
LARGEST_ERROR = 0.05  # of the absorption, relative
LARGEST_PHASE = 45.0  # error of the phase over the longest side of the region, degrees
FEWEST_STEPS = 4.0  # per period, below which there is no estimate of this error
ENOUGH_STEPS = 10.0  # per period; the time step causes an error of about 3 %
SHORTER, TRIALS = 1.1, 50  # factor between shorter time steps that are tried, and their number
LARGEST_FACTOR = 13  # transforms with a larger prime factor are several times slower


def frequencies(setup: Setup) -> list[float]:
    """Frequencies of the sources, Hz; sampled signals have none."""
    signals = (section.signal for section in setup.case.source)
    return [signal.frequency for signal in signals if not isinstance(signal, SampledSignal)]


def points_per_wavelength(setup: Setup) -> float | None:
    """Points per wavelength of the highest source frequency in the slowest medium.

    None if no source has a frequency.
    """
    found = frequencies(setup)
    if not found:
        return None
    widest = max(setup.grid.spacing[: setup.axes])
    return setup.smallest_speed / max(found) / widest


def absorbs_waves(setup: Setup) -> bool:
    """Whether the medium absorbs and a source has a frequency."""
    return setup.materials.is_absorbing and bool(frequencies(setup))


def steps_per_period(setup: Setup) -> float:
    """Time steps per period of the highest source frequency."""
    return 1 / (max(frequencies(setup)) * setup.dt)


def absorbed_wave(setup: Setup, dt: float | None = None) -> LossyWave | None:
    """The wave of the highest source frequency at the points with the largest absorption.

    None if there is no wave that resembles that of the power law, or too few steps per period.

    Args:
        setup: a case in which waves are absorbed.
        dt: time step, s; by default that of the case.
    """
    if dt is None and steps_per_period(setup) < FEWEST_STEPS:
        return None
    points, highest = most_absorbing(setup.materials), max(frequencies(setup))
    return worst_wave(points, highest, setup.reference_speed, setup.dt if dt is None else dt)


def wave(setup: Setup) -> Wave:
    """The waves of the sources; if none has a frequency, waves of 4 points per wavelength."""
    points, found, materials = points_per_wavelength(setup), frequencies(setup), setup.materials
    per_point = WAVENUMBER if points is None else 2 * pi / points
    slowest = setup.smallest_speed * per_point / (2 * pi * max(setup.grid.spacing[: setup.axes]))
    impedance = float(np.max(np.multiply(materials.density, materials.speed)))
    return Wave(
        per_point,
        max(found, default=slowest),
        max((s.pressure or (s.velocity or 0) * impedance for s in setup.case.source), default=0.0),
        max(n * h for n, h in zip(setup.grid.region, setup.grid.spacing, strict=True)),
    )


def passes(setup: Setup) -> int:
    """Minimum number of arrays that a step reads or writes.

    The spectrum of a real array counts as one array. As in the fused step, a pass along x reads and
    writes each of its fields once, and spectra stay in a cache between the passes along the other
    axes. On n axes, the gradient takes 1 + n arrays, the velocities 4 n, the divergence 2 n, and
    density and pressure 3 n + 2. Each fractional Laplacian adds 4. If there are any, the densities
    are read again, which adds n. A property that varies in space is read wherever it is used.
    """
    medium, axes, count = setup.materials, setup.axes, setup.materials.fractional_laplacians
    losses = 4 * count + axes * (count > 0)
    read = [*[medium.density] * 2, medium.speed, medium.nonlinearity, *[medium.absorption] * count]
    return 10 * axes + 3 + losses + sum(np.ndim(values) > 0 for values in read)


def arrays(setup: Setup, *, fused: bool) -> float:
    """Number of arrays with one value per point that a run keeps on its device.

    Args:
        fused: whether the run uses the fused step.
    """
    medium, axes = setup.materials, setup.axes
    absorption = [medium.absorption] * (medium.is_absorbing + medium.is_dispersive)
    densities = [medium.density] * (1 if fused else axes + 1)
    properties = [*densities, medium.speed, medium.nonlinearity, *absorption]
    varying = sum(np.ndim(values) > 0 for values in properties)
    fields = 1 + 2 * axes  # pressure, velocity and density
    terms, others = setup.separated_sources
    fields += len(terms)
    if fused:
        has_source_term = any(source.mode == "additive" for source in others)
        return fields + varying + axes + has_source_term  # with spectra
    # Derivatives, two spectra, the work areas of both transforms, and tables of wavenumbers.
    has_filter = any(source.mode == "additive" for source in setup.sources)
    return fields + varying + axes + 4.5 + 0.5 * (has_filter + medium.fractional_laplacians)


def quantities(setup: Setup) -> list[Quantity]:
    """Quantities of the grid, the waves, the time step, the losses and the memory."""
    memory = Quantity("memory", setup.memory, "memory", "B", byte_size(setup.memory))
    waves = [*_grid_quantities(setup), *_wave_quantities(setup)]
    return [*waves, *_step_quantities(setup), *_loss_quantities(setup), memory]


def _grid_quantities(setup: Setup) -> Iterator[Quantity]:
    n, grid = setup.axes, setup.grid
    cells, spacing, layers = grid.cells[:n], grid.spacing[:n], setup.layers.before[:n]
    text = describe_grid(cells, [h / MM for h in spacing], "points, {} mm apart")
    yield Quantity("points", cells, "grid", text=text)
    yield Quantity("region", grid.region[:n], "region")
    yield Quantity("layers", layers, "absorbing layers", text=f"{format_extent(layers)} points")


def _wave_quantities(setup: Setup) -> Iterator[Quantity]:
    highest, per_wavelength = setup.highest_frequency, points_per_wavelength(setup)
    text = f"{highest / MHZ:.4g} MHz"
    yield Quantity("speed_min", setup.smallest_speed, "slowest sound", "m/s")
    yield Quantity("speed_max", setup.largest_speed, "fastest sound", "m/s")
    yield Quantity("frequency_max", highest, "highest frequency of the grid", "Hz", text=text)
    if per_wavelength is not None:
        yield Quantity("points_per_wavelength", per_wavelength, "points per wavelength")


def _step_quantities(setup: Setup) -> Iterator[Quantity]:
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


def _loss_quantities(setup: Setup) -> Iterator[Quantity]:
    """Errors of absorption and dispersion, of the equations and of the time step."""
    if not absorbs_waves(setup):
        return
    wave, label = absorbed_wave(setup), "error of the absorption"
    frequency = f"at {max(frequencies(setup)) / MHZ:g} MHz"
    if wave is None:
        text = f"unknown {frequency}; see the warning"
        yield Quantity("absorption_error", None, label, text=text)
        return
    errors = wave.absorption_errors()
    text = f"{_percent(sum(errors.values()))} {frequency}: {_parts(errors, _percent)}"
    yield Quantity("absorption_error", errors, label, text=text)
    longest = absorbing_distance(setup.medium, setup.grid)
    phases = wave.phase_errors(longest)
    over = f"{_degrees(sum(phases.values()))} {frequency} over {longest / MM:.4g} mm"
    text = f"{over}: {_parts(phases, _degrees)}"
    yield Quantity("phase_error", phases, "error of the phase", "degrees", text=text)


def overlap_quantities(overlaps: Overlaps, ranks: Sequence[int]) -> list[Quantity]:
    """The overlaps on a number of ranks along x, y and z, and the error expected of them."""
    points, estimate = overlaps.of(ranks), overlaps.estimate(ranks)
    if not estimate:
        return []
    text = f"about {short(estimate)} of the largest pressure, or less"
    return [
        Quantity("overlap", points, "overlap", text=f"{format_extent(points)} points"),
        Quantity("overlap_error", estimate, "difference from one rank", text=text),
    ]


def _parts(errors: Mapping[str, float], shown: Callable[[float], str]) -> str:
    """The parts of an error as text."""
    return f"equations {shown(errors['equations'])}, time step {shown(errors['time_step'])}"


def _percent(share: float) -> str:
    return f"{float(f'{100 * share:.2g}'):+g} %"  # +100 %, not +1e+02 %


def _degrees(angle: float) -> str:
    return f"{angle:+.3g} degrees"


def warnings(setup: Setup) -> list[str]:
    """Warnings about waves, losses, sources in layers, and slow transforms."""
    waves = [*_coarse_grids(setup), *_inexact_absorption(setup), *_growing_waves(setup)]
    sources = [*_silent_sources(setup), *_absorbed_sources(setup), *_masks_without_normal(setup)]
    return [*waves, *sources, *_slow_transforms(setup)]


def _growing_waves(setup: Setup) -> Iterator[str]:
    """Dispersion with which waves may grow, and steps near a limit that is an estimate."""
    if setup.dispersion_share.largest > 1:
        yield growing_waves(setup.materials.power, setup.dispersion_share)
    varies = not has_uniform_density(setup.materials)
    if varies and setup.dt > SAFETY * setup.stability_limit * (1 + 1e-6):
        step = f"time.step = {setup.dt:g} s"
        yield close_step(setup.materials, setup.stability_limit, step)


def _coarse_grids(setup: Setup) -> Iterator[str]:
    per_wavelength = points_per_wavelength(setup)
    if per_wavelength is not None and per_wavelength < LEAST_POINTS:
        widest = max(setup.grid.spacing[: setup.axes])
        yield (
            f"the highest source frequency, {max(frequencies(setup)) / MHZ:g} MHz, has "
            f"{per_wavelength:.2g} points per wavelength in the slowest medium; use "
            f"{LEAST_POINTS:g} or more: a spacing of at most "
            f"{per_wavelength / LEAST_POINTS * widest / MM:.3g} mm"
        )


def _inexact_absorption(setup: Setup) -> Iterator[str]:
    if not absorbs_waves(setup):
        return
    if steps_per_period(setup) < FEWEST_STEPS:
        yield _coarse_steps(setup)
        return
    distance = absorbing_distance(setup.medium, setup.grid)
    if faults := list(_faults_of_losses(setup, absorbed_wave(setup), distance)):
        yield f"{', and '.join(faults)}; {_cure_of_losses(setup, distance)}"


def _faults_of_losses(setup: Setup, wave: LossyWave | None, distance: float) -> Iterator[str]:
    """What is wrong with a wave that travels a distance (m) through strong absorption."""
    frequency = f"{max(frequencies(setup)) / MHZ:g} MHz"
    if wave is None:
        yield (
            f"where the absorption is largest, the equations have no wave of {frequency} that "
            "decays about as fast as by the power law"
        )
        return
    if abs(wave.absorption_error) > LARGEST_ERROR:
        error = _percent(abs(wave.absorption_error)).removeprefix("+")
        more = "more" if wave.absorption_error > 0 else "less"
        yield f"the largest absorption at {frequency} is {error} {more} than that of the power law"
    late = sum(wave.phase_errors(distance).values())
    if abs(late) > LARGEST_PHASE:
        side = "late" if late > 0 else "early"
        yield (
            f"waves of {frequency} are {abs(late):.3g} degrees {side} after {distance / MM:.4g} mm "
            "of strong absorption"
        )


def _coarse_steps(setup: Setup) -> str:
    """Warning about a time step too long for the highest source frequency."""
    steps = steps_per_period(setup)
    return (
        f"the time step of {setup.dt / NS:.6g} ns samples a period of the highest source "
        f"frequency, {max(frequencies(setup)) / MHZ:g} MHz, {steps:.3g} times, too few for the "
        f"absorption; {_use_step(setup.dt * steps / ENOUGH_STEPS)}"
    )


def _cure_of_losses(setup: Setup, distance: float) -> str:
    """Advice on how to reduce the errors of the absorption and of the phase."""
    for dt in setup.dt / SHORTER ** np.arange(1, TRIALS):
        wave = absorbed_wave(setup, float(dt))
        if wave is not None and _is_accurate(wave, distance):
            return _use_step(float(dt))
    if not setup.materials.is_dispersive:
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


def _absorbed_sources(setup: Setup) -> Iterator[str]:
    """Transducers that extend into an absorbing layer."""
    limits = [_free_of_layers(setup, axis) for axis in range(setup.axes)]
    for n, section in enumerate(setup.case.source):
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


def _silent_sources(setup: Setup) -> Iterator[str]:
    for n, section in enumerate(setup.case.source):
        name = "pressure" if section.pressure is not None else "velocity"
        if not getattr(section, name):
            yield f"source[{n}] has {name} = 0 and emits nothing; give its amplitude"


def _masks_without_normal(setup: Setup) -> Iterator[str]:
    """Masks of pressure sources whose amplitude depends on the directions of anisotropic cells."""
    spacing = setup.grid.spacing[: setup.axes]
    if len(set(spacing)) == 1:
        return
    for n, section in enumerate(setup.case.source):
        if section.mask is None or section.pressure is None or section.mode == "dirichlet":
            continue
        if mask_normal(mask_points(section.mask, setup.grid), setup.grid) is None:
            yield (
                f"source[{n}] is a mask that does not lie in one plane of points, on a grid whose "
                f"spacings differ; its pressure refers to the spacing along x, {spacing[0] / MM:g} "
                "mm: use a shape, or equal spacings"
            )


def _free_of_layers(setup: Setup, axis: int) -> tuple[float, float]:
    """Limits of an axis without its layers, half a spacing beyond the outermost points, m."""
    at, half = setup.coordinates(axis), setup.grid.spacing[axis] / 2
    first, last = setup.layers.before[axis], len(at) - 1 - setup.layers.after[axis]
    return float(at[first]) - half, float(at[last]) + half


def _slow_transforms(setup: Setup) -> Iterator[str]:
    for axis, n in enumerate(setup.grid.cells[: setup.axes]):
        if not is_fast(n) and max(prime_factors(n)) > LARGEST_FACTOR:
            yield (
                f"transforms of {n} points along {'xyz'[axis]} are slow, because {n} has the prime "
                f"factor {max(prime_factors(n))}; {next_fast(n)} points are faster: change the "
                'grid or boundary.width, or use boundary.width = "auto"'
            )
