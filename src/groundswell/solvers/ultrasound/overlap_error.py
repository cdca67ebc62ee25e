"""Estimate of the error of overlapping blocks, and the overlaps that keep it small.

The error is the difference of the pressure from that of transforms of the whole grid, relative to
the largest pressure anywhere. It has several causes:

- The bell function mixes wavenumbers. This error falls exponentially with the overlap, at a rate
  proportional to the distance of a wave from the highest wavenumber, pi per point. The spectra of
  sampled signals extend to wavenumbers much larger than their mean.
- Transforms of the whole grid are not local for that wavenumber, where the symbol of a staggered
  derivative has a kink: around sources and interfaces, waves of two points per wavelength decay as
  the inverse square of the distance. A block lacks those from beyond its overlaps.
- Harmonics of nonlinear waves are shorter than the waves of the sources.
- The operators of power-law absorption are not local for long waves. These come from interfaces,
  at which the rate of density jumps, and to a lesser degree from the onset of sources.

The constants are fits to errors that `groundswell verify ultrasound` measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import pi

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.point_source import PointSource
from groundswell.solvers.ultrasound.pulses import Pulses

BELL = 0.04  # error of the bell function for long waves without overlap
SHORT, STEEPNESS = 4.0, 12  # how much larger it is for the highest wavenumber; power of the rise
BELL_RATE = 0.094  # decades per point of overlap and radian per point
TAIL = 0.13  # of the field around a source, per inverse square of the distance in points
EDGE = 0.05  # the same for an interface at the middle of an overlap, per square of the wavenumber
HARMONIC = 0.1  # error of a harmonic without overlap
HARMONICS = range(2, 6)
LOSS_RATE = 0.075  # decades per point of overlap and radian per point
LOSS = 0.6  # error of losses without overlap, relative to their non-local part
TRANSIENT = 0.25  # the same at any overlap
REFLECTED = 0.7  # the same, added per contrast of the medium
WAVENUMBER = pi / 2  # rad per point, if there is only an initial pressure


@dataclass(frozen=True)
class Wave:
    """The waves of the sources.

    Args:
        wavenumber: largest wavenumber in the slowest medium, rad per point.
        frequency: largest frequency, Hz.
        pressure: largest amplitude, Pa.
        distance: how far they travel, m.
    """

    wavenumber: float
    frequency: float
    pressure: float
    distance: float


@dataclass(frozen=True)
class OverlapError:
    """Estimates the error from what causes it.

    Args:
        wavenumber: largest wavenumber of the sources in the slowest medium, rad per point.
        contrast: of the medium, from 0 to about 1; see `contrast_of`.
        harmonics: amplitudes of the second and higher harmonics, relative to the fundamental.
        losses: non-local part of the losses per wavelength, Np; see `nonlocal_losses`.
        long: wavenumber where these losses are largest, rad per point.
        floor: part of these losses whose error does not depend on the overlap.
        pulses: the sampled signals, which have other wavenumbers as well.
    """

    wavenumber: float = WAVENUMBER
    contrast: float = 0.0
    harmonics: tuple[float, ...] = ()
    losses: float = 0.0
    long: float = WAVENUMBER
    floor: float = TRANSIENT
    pulses: Sequence[Pulses] = ()

    @classmethod
    def of(cls, medium: AcousticMedium, wave: Wave, pulses: Sequence[Pulses] = ()) -> OverlapError:
        """The estimate for a medium; representatives of it suffice.

        Args:
            wave: the waves of the sources.
            pulses: their sampled signals.
        """
        contrast = contrast_of(medium)
        return cls(
            wave.wavenumber,
            contrast,
            harmonic_amplitudes(medium, wave),
            *nonlocal_losses(medium, wave),
            TRANSIENT + REFLECTED * contrast,
            pulses,
        )

    @property
    def shape_wavenumber(self) -> float | None:
        """Smallest wavenumber that the bell function must keep; see `bell_shape`."""
        return self.long if self.losses else None

    def causes(self, overlap: int, tail: float = 0.0) -> Mapping[str, float]:
        """The error by cause.

        Args:
            overlap: points on either side of a block.
            tail: what blocks lack of the fields around sources; see `source_tail`.
        """
        k = self.wavenumber
        shorter = zip(HARMONICS, self.harmonics, strict=False)
        return {
            "overlap": self._crossing(overlap),
            "sources": TAIL * k * tail,
            "interfaces": EDGE * k**2 * self.contrast / overlap**2,
            "harmonics": sum(
                HARMONIC * amplitude * _falling(BELL_RATE * (pi - n * k), overlap)
                for n, amplitude in shorter
            ),
            "absorption": self.losses
            * (LOSS * _falling(LOSS_RATE * self.long, overlap) + self.floor),
        }

    def _crossing(self, overlap: int) -> float:
        """The error of waves that cross from one block into the next."""
        transfer = partial(crossing_error, overlap=overlap)
        single = float(transfer(np.asarray(self.wavenumber)))
        return max([single, *(each.largest(transfer) for each in self.pulses)])


def crossing_error(wavenumber: Floats, overlap: int) -> Floats:
    """Error of a wave that crosses from one block into the next, relative to its amplitude.

    Args:
        wavenumber: rad per point, any shape; 0 is returned above pi, as such waves do not travel.
    """
    rise = 1 + SHORT * (wavenumber / pi) ** STEEPNESS
    falling = 10 ** (-BELL_RATE * (pi - np.minimum(wavenumber, pi)) * overlap)
    return np.where(wavenumber <= pi, BELL * rise * falling, 0.0)


def _falling(rate: float, overlap: int) -> float:
    return float(10 ** (-max(rate, 0.0) * overlap))


# --- causes ---------------------------------------------------------------------------------------


def contrast_of(medium: AcousticMedium) -> float:
    """Contrast of a medium: 0 if it is uniform, about 1 for bone in water."""
    speed, density = (np.min(v) / np.max(v) for v in (medium.speed, medium.density))
    return float(1 - speed**2 + (1 - density) / 2)


def nonlocal_losses(medium: AcousticMedium, wave: Wave) -> tuple[float, float]:
    """Largest non-local absorption per wavelength (Np), and its wavenumber.

    Absorption is local for the power 2; its non-local share grows as the power falls. The
    wavenumber is that of the waves with this absorption, rad per point.
    """
    if not medium.fractional_laplacians:
        return 0.0, wave.wavenumber
    absorption, speed = np.broadcast_arrays(medium.absorption, medium.speed)
    losses = absorption * (2 * pi * wave.frequency) ** medium.power * speed / wave.frequency
    place = int(np.argmax(losses))
    share = 10 ** (1.36 * (2 - medium.power) - 2.5)
    wavenumber = wave.wavenumber * float(np.min(speed) / speed.flat[place])
    return float(losses.flat[place]) * share, wavenumber


def harmonic_amplitudes(medium: AcousticMedium, wave: Wave) -> tuple[float, ...]:
    """Amplitudes of the harmonics of a plane wave, relative to the fundamental.

    Fubini's solution, up to the distance at which a shock forms (Hamilton & Blackstock 1998,
    Nonlinear Acoustics, section 4.2). Focused waves have stronger harmonics.
    """
    beta = 1 + np.asarray(medium.nonlinearity) / 2
    stiffness = medium.density * np.power(medium.speed, 3)
    rate = float(np.max(beta / stiffness)) * 2 * pi * wave.frequency * wave.pressure
    sigma = min(rate * wave.distance, 1.0) if medium.is_nonlinear else 0.0
    if not sigma:
        return ()
    from scipy.special import jv  # takes long to import

    amplitudes = [float(2 / (n * sigma) * jv(n, n * sigma)) for n in (1, *HARMONICS)]
    return tuple(amplitude / amplitudes[0] for amplitude in amplitudes[1:])


@dataclass(frozen=True)
class SourceLines:
    """Source points along one axis, and the lines along it on which they lie.

    Args:
        places: index of each point along the axis, (points,).
        lines: number of the line of each point, (points,).
        weights: weight of each point, relative to the largest, times (-1)^place, (points,).
        cells: number of points of the periodic axis.
    """

    places: Integers
    lines: Integers
    weights: Floats
    cells: int

    @classmethod
    def of(cls, source: PointSource, shape: Sequence[int], axis: int) -> SourceLines:
        """Those of a source along axis 0 (x), 1 (y) or 2 (z) of a grid (nz, ny, nx)."""
        found = list(np.unravel_index(source.points, shape))
        places = found.pop(2 - axis)
        others = [n for dimension, n in enumerate(shape) if dimension != 2 - axis]
        _, lines = np.unique(np.ravel_multi_index(found, others), return_inverse=True)
        weights = np.asarray(source.matrix.sum(axis=1), float).ravel()
        largest = np.abs(weights).max(initial=0.0) or 1.0
        return cls(places, lines, weights / largest * (-1.0) ** places, shape[2 - axis])

    def tail(self, boundary: int, values: Floats) -> float:
        """What the blocks on both sides of a boundary lack; see `source_tail`.

        Args:
            boundary: index of the first point after the boundary.
            values: values of the bell function.
        """
        after = (self.places - boundary) % self.cells + 1
        before = self.cells + 1 - after
        largest = 0.0
        for distance, here in ((after, after <= before), (before, before < after)):
            inside = np.append(values, 0.0)[np.minimum(distance, len(values) + 1) - 1]
            lacking = np.where(here, self.weights * (1 - inside) / distance**2, 0.0)
            largest = max(largest, float(np.abs(np.bincount(self.lines, lacking)).max()))
        return largest


def source_tail(lines: Sequence[SourceLines], boundaries: Sequence[int], values: Floats) -> float:
    """What blocks lack of the fields around sources, largest at any boundary.

    A source contributes the inverse square of its distance from the boundary, in points, to waves
    of two points per wavelength. Neighbouring points of smooth sources cancel each other.

    Args:
        lines: the source points along the axis.
        boundaries: index of the first point of each block along the axis.
        values: values of the bell function; contributions inside it count in part.
    """
    return max((each.tail(b, values) for each in lines for b in boundaries), default=0.0)
