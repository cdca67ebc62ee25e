"""Quantities that `groundswell check` shows for an ultrasound case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isinf, pi
from typing import TYPE_CHECKING

import numpy as np

from groundswell.case.quantities import Quantity, byte_size
from groundswell.grids.cartesian import describe_grid, format_extent
from groundswell.solvers.ultrasound.density_contrast import has_uniform_density
from groundswell.solvers.ultrasound.dispersion import (
    LossyWave,
    most_absorbing,
    worst_wave,
)
from groundswell.solvers.ultrasound.overlap_choice import Overlaps, short
from groundswell.solvers.ultrasound.overlap_error import WAVENUMBER, Wave
from groundswell.solvers.ultrasound.source_case import SampledSignal
from groundswell.solvers.ultrasound.stability_messages import density_range

if TYPE_CHECKING:
    from groundswell.solvers.ultrasound.setup import Setup

MM, NS, MHZ = 1e-3, 1e-9, 1e6  # m, s, Hz
FEWEST_STEPS = 4.0  # per period, below which there is no estimate of the error of the absorption


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
    text = f"{percent(sum(errors.values()))} {frequency}: {_parts(errors, percent)}"
    yield Quantity("absorption_error", errors, label, text=text)
    longest = setup.absorbing_distance
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


def percent(share: float) -> str:
    """A fraction as text, in per cent with its sign."""
    return f"{float(f'{100 * share:.2g}'):+g} %"  # +100 %, not +1e+02 %


def _degrees(angle: float) -> str:
    return f"{angle:+.3g} degrees"
