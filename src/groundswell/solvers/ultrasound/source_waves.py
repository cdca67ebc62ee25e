"""Waves that the sources emit, and how finely the grid and the time steps resolve them."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np

from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.overlap_error import WAVENUMBER, Wave
from groundswell.solvers.ultrasound.point_source import PointSource
from groundswell.solvers.ultrasound.pulses import Pulses
from groundswell.solvers.ultrasound.source_case import SampledSignal, SourceSection


def frequencies(sources: Sequence[SourceSection]) -> list[float]:
    """Frequencies of the sources, Hz; sampled signals have none."""
    signals = (source.signal for source in sources)
    return [signal.frequency for signal in signals if not isinstance(signal, SampledSignal)]


def points_per_wavelength(
    sources: Sequence[SourceSection], materials: AcousticMedium, widest: float
) -> float | None:
    """Points per wavelength of the highest source frequency in the slowest medium.

    None if no source has a frequency.

    Args:
        widest: largest distance of points, m.
    """
    found = frequencies(sources)
    return float(np.min(materials.speed)) / max(found) / widest if found else None


def emitted_wave(
    sources: Sequence[SourceSection],
    pulses: Sequence[Pulses],
    pressure: float,
    materials: AcousticMedium,
    grid: Grid,
    widest: float,
) -> Wave:
    """The waves of the sources; without any source, waves of 4 points per wavelength.

    Args:
        pulses: the sampled signals of sources.
        pressure: largest pressure that the sources emit, Pa.
        widest: largest distance of points, m.
    """
    points, found = points_per_wavelength(sources, materials, widest), frequencies(sources)
    single = [] if points is None else [2 * pi / points]
    per_point = max([*single, *(each.wavenumber for each in pulses)], default=WAVENUMBER)
    slowest = float(np.min(materials.speed)) * per_point / (2 * pi * widest)
    return Wave(
        per_point,
        max([*found, slowest]) if pulses else max(found, default=slowest),
        pressure,
        max(n * h for n, h in zip(grid.region, grid.spacing, strict=True)),
    )


def emitted_pressure(sources: Sequence[SourceSection], materials: AcousticMedium) -> float:
    """Largest pressure that the sources of a case emit, Pa."""
    impedance = float(np.max(np.multiply(materials.density, materials.speed)))
    return max((s.pressure or (s.velocity or 0) * impedance for s in sources), default=0.0)


def pressure_of_signals(
    sources: Sequence[PointSource], materials: AcousticMedium, axes: int, widest: float, dt: float
) -> float:
    """Largest pressure of plane waves that a plane of points with these signals emits, Pa.

    A step adds a pressure signal to each split density, and a velocity signal to a velocity, in a
    plane as thick as a cell. Half of the wave travels in either direction.

    Args:
        axes: number of axes of the grid.
        widest: largest distance of points, m.
        dt: the time step, s.
    """
    speed, impedance = materials.speed, np.multiply(materials.density, materials.speed)
    fields = {"p": axes * np.max(np.square(speed)), "u": np.max(impedance)}
    crossing = 0.5 * widest / (dt * np.min(speed))  # steps in which half of a cell is crossed

    def of(source: PointSource) -> float:
        steps = 1.0 if source.mode == "dirichlet" else crossing
        return float(np.abs(source.signals).max(initial=0.0) * fields[source.field[0]] * steps)

    return max(map(of, sources), default=0.0)
