"""Response spectra of many records, computed by a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log2
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats, HostArray, Indices
from groundswell.backends import Backend, Blocks, Source
from groundswell.backends.source import precision
from groundswell.seismology.intensity.motion import acceleration, oversampled
from groundswell.seismology.intensity.oscillator import squared_frequencies, step_changes
from groundswell.seismology.intensity.rotation import ANGLES, directions

COMPONENTS = 3
PER_PERIOD = 128  # samples of an oscillation, at least; a peak between them is higher by 3e-4
MOST_DENSE = 128  # largest factor of oversampling
_BATCH = 2**25  # values of acceleration on the device at a time
_THREADS = 192


@dataclass(frozen=True, eq=False)
class ResponseSpectra:
    """Pseudo-spectral acceleration at stations, m/s^2.

    Args:
        components: of each component, (stations, 3, periods).
        turned: of the horizontal motion in each direction, (stations, periods, angles).
    """

    components: Floats
    turned: Floats


@dataclass(frozen=True, eq=False)
class Oscillators:
    """The oscillators of response spectra.

    Args:
        periods: s, (periods,).
        damping: damping ratio.
        oversampling: samples of a spline for each sample of velocity; by default, as many as are
            needed for `PER_PERIOD` samples per natural period.
    """

    periods: Floats
    damping: float = 0.05
    oversampling: int | None = None

    def spectra(self, velocity: HostArray, interval: float, backend: Backend) -> ResponseSpectra:
        """The response spectra of velocity (stations, 3, samples), m/s.

        Args:
            interval: time between samples, s.
        """
        stations, count = len(velocity), len(self.periods)
        found = ResponseSpectra(
            np.zeros((stations, COMPONENTS, count)), np.zeros((stations, count, ANGLES))
        )
        for factor, chosen in self._groups(interval):
            for part in _batches(stations, velocity.shape[-1] * factor):
                dense = oversampled(np.asarray(velocity[part], np.float64), factor)
                peaks, turned = self._peaks(dense, interval / factor, chosen, backend)
                found.components[part, :, chosen] = peaks
                found.turned[part, chosen] = turned
        return found

    def _groups(self, interval: float) -> Iterator[tuple[int, Indices]]:
        """Yield the factors of oversampling, and the periods that need each."""
        factors = np.array([self._factor(period, interval) for period in self.periods], int)
        for factor in np.unique(factors):
            yield int(factor), np.flatnonzero(factors == factor)

    def _factor(self, period: float, interval: float) -> int:
        if self.oversampling is not None:
            return self.oversampling
        wanted = PER_PERIOD * interval / period
        return min(MOST_DENSE, 2 ** max(0, ceil(log2(wanted))))

    def _peaks(
        self, velocity: Floats, interval: float, chosen: Indices, backend: Backend
    ) -> tuple[Floats, Floats]:
        """Peaks of each component (stations, 3, periods) and direction (stations, periods, n)."""
        periods = np.asarray(self.periods, float)[chosen]
        ground = np.ascontiguousarray(acceleration(velocity, interval))
        stations, _, samples = ground.shape
        peaks = backend.zeros((stations, len(periods), COMPONENTS), np.float64)
        turned = backend.zeros((stations, len(periods), ANGLES), np.float64)
        changes = step_changes(periods, self.damping, interval)
        tables = [backend.to_device(table) for table in (ground, changes, directions(ANGLES))]
        module = backend.compile(spectra_source())
        blocks = Blocks(stations * len(periods), _THREADS)
        sizes = stations, len(periods), samples
        module.launch("respond", blocks, peaks, turned, *tables, *sizes)()
        factors = squared_frequencies(periods)[:, None]
        peaks, turned = (factors * backend.to_host(array) for array in (peaks, turned))
        return peaks.swapaxes(1, 2), turned


def spectra_source() -> Source:
    """The kernel of response spectra."""
    path = Path(__file__).parents[1] / "kernels" / "response_spectra.h"
    return Source(path, {**precision(np.float64), "DIRECTIONS": ANGLES})


def _batches(stations: int, samples: int) -> Iterator[slice]:
    size = max(1, _BATCH // (COMPONENTS * samples))
    for first in range(0, stations, size):
        yield slice(first, min(first + size, stations))
