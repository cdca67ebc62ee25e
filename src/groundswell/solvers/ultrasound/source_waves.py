"""Waves that the sources emit, and how finely the grid and the time steps resolve them."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np

from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.overlap_error import WAVENUMBER, Wave
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
    materials: AcousticMedium,
    grid: Grid,
    widest: float,
) -> Wave:
    """The waves of the sources; without any source, waves of 4 points per wavelength.

    Args:
        pulses: the sampled signals of sources.
        widest: largest distance of points, m.
    """
    points, found = points_per_wavelength(sources, materials, widest), frequencies(sources)
    single = [] if points is None else [2 * pi / points]
    per_point = max([*single, *(each.wavenumber for each in pulses)], default=WAVENUMBER)
    slowest = float(np.min(materials.speed)) * per_point / (2 * pi * widest)
    impedance = float(np.max(np.multiply(materials.density, materials.speed)))
    return Wave(
        per_point,
        max([*found, slowest]) if pulses else max(found, default=slowest),
        max((s.pressure or (s.velocity or 0) * impedance for s in sources), default=0.0),
        max(n * h for n, h in zip(grid.region, grid.spacing, strict=True)),
    )
