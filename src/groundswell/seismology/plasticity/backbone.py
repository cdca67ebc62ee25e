"""Backbones of soft soil: shear stress against shear strain, and elements in parallel that have it.

Strains are engineering shear strains in units of a reference strain, stresses are in units of the
shear modulus times this strain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError

if TYPE_CHECKING:
    from scipy.interpolate import PchipInterpolator

SAMPLES = 4000  # of a curve
SMALLEST = 1e-7  # strain of the first sample over the largest
ITERATIONS = 20
SMALLEST_ERROR = 1.0001  # corner of a backbone over the curve
DARENDELI_CURVATURE = 0.9190


# Around this strain, and within this many e-folds, a loop of hysteresis is the small difference of
# large numbers. There backbones deviate from their curve less than elsewhere, by up to this part.
LOOPS_AT, LOOPS_WITHIN, SMALLER = 0.2, 1.4, 0.7


class ModulusCurve(ABC):
    """Secant over initial shear modulus, which falls from 1 with strain."""

    @abstractmethod
    def ratio(self, strain: Floats) -> Floats:
        """G / Gmax at strains above 0."""

    def density(self, strain: Floats) -> Floats:
        """Of corners of a backbone, whose chords then deviate about equally; no units.

        It is the square root of the second derivative of the stress over the stress, by default
        that of a hyperbola.
        """
        return np.asarray(1 / (np.sqrt(strain) * (1 + strain)))


@dataclass(frozen=True)
class Hyperbola(ModulusCurve):
    """G / Gmax = 1 / (1 + x^a), 1/2 at the reference strain.

    Source: Hardin & Drnevich (1972), J. Soil Mech. Found. Div. 98(7), 667-692, with a = 1;
    Darendeli (2001), PhD thesis, Univ. of Texas at Austin, with a = 0.919.

    Args:
        curvature: a, above 0 and at most 1.
    """

    curvature: float = 1.0

    def ratio(self, strain: Floats) -> Floats:
        return np.asarray(1 / (1 + strain**self.curvature))

    def density(self, strain: Floats) -> Floats:
        a, ratio = self.curvature, self.ratio(strain)
        return np.asarray(np.sqrt(a * ratio * (a + 1 - 2 * a * (1 - ratio)) * strain ** (a - 2)))


@dataclass(frozen=True, eq=False)
class MeasuredCurve(ModulusCurve):
    """A curve through points, monotone in between; 1 far below the first of them.

    Args:
        strain: ascending, above 0, (n,); no units.
        modulus: G / Gmax there, descending, above 0 and at most 1, (n,).

    Raises:
        InputError: the points do not ascend or descend like this.
    """

    strain: Floats
    modulus: Floats

    def __post_init__(self) -> None:
        """Check the points."""
        strain, ratio = np.asarray(self.strain, float), np.asarray(self.modulus, float)
        if strain.ndim != 1 or strain.shape != ratio.shape or len(strain) < 2:
            raise InputError(
                f"a modulus curve has {strain.size} strains and {ratio.size} moduli; give at least "
                "two of each, and equally many"
            )
        if not (strain[0] > 0 and (np.diff(strain) > 0).all()):
            raise InputError(f"strains of a modulus curve, {strain}, must ascend from above 0")
        if not ((ratio > 0) & (ratio <= 1)).all() or (np.diff(ratio) > 0).any():
            raise InputError(f"G / Gmax of a modulus curve, {ratio}, must fall from at most 1 to 0")

    @cached_property
    def reference(self) -> float:
        """The strain at which G / Gmax is 1/2, or the last one if it stays above."""
        if self.modulus[-1] >= 0.5:
            return float(self.strain[-1])
        strain = np.geomspace(self.strain[0] / 2, self.strain[-1], SAMPLES)
        below = np.argmax(self._interpolate(np.log(strain)) < 0.5)
        return float(strain[below])

    @property
    def largest(self) -> float:
        """The last strain over the reference strain."""
        return float(self.strain[-1] / self.reference)

    def ratio(self, strain: Floats) -> Floats:
        first, last = self.strain[[0, -1]]
        log_strain = np.log(np.clip(strain * self.reference, first / 2, last))
        return np.asarray(self._interpolate(log_strain))

    @cached_property
    def _interpolate(self) -> PchipInterpolator:
        from scipy.interpolate import PchipInterpolator  # takes long to import

        strain = np.array([self.strain[0] / 2, *self.strain])
        return PchipInterpolator(np.log(strain), [1.0, *self.modulus])


@dataclass(frozen=True, eq=False)
class Elements:
    """Elastic, perfectly plastic elements in parallel.

    Args:
        shares: stiffness of each over that of all, (n,); their sum is 1.
        strains: strains at which they yield, ascending, (n,).
        error: largest difference between their stress and the curve, relative to the latter, up to
            the last of these strains.
    """

    shares: Floats
    strains: Floats
    error: float

    @classmethod
    def fit(cls, curve: ModulusCurve, count: int, largest: float) -> Elements:
        """Elements for a curve up to the strain `largest`, beyond which the stress is constant.

        Corners of the backbone lie above the curve by as much as its chords lie below, which is
        less where loops of hysteresis are narrow. The first chord has the initial modulus, so that
        smaller strains are elastic without an error.
        """
        corners, stress = _corners(curve, count, largest)
        strain = np.append(np.geomspace(SMALLEST * largest, largest, SAMPLES), corners)
        found = np.interp(strain, [0, *corners], [0, *stress])
        error = float(np.abs(found / (strain * curve.ratio(strain)) - 1).max())
        slopes = np.diff([0, *stress]) / np.diff([0, *corners])
        return cls(-np.diff([*slopes, 0.0]), corners, error)

    @property
    def strengths(self) -> Floats:
        """Stresses at which they yield, (n,)."""
        return np.asarray(self.shares * self.strains)

    def stress(self, strain: Floats) -> Floats:
        """Stress of monotone shear from 0 to strains."""
        return np.asarray(np.minimum(np.asarray(strain)[..., None], self.strains) @ self.shares)


def darendeli_reference_strain(
    plasticity_index: float, overconsolidation: float, mean_stress: Floats
) -> Floats:
    """Reference strain of sand, silt and clay; no units.

    Source: Darendeli (2001), PhD thesis, Univ. of Texas at Austin, eq. 9.2a and table 10.1.

    Args:
        plasticity_index: per cent.
        overconsolidation: ratio, 1 or more.
        mean_stress: mean effective stress, Pa, compression is positive.
    """
    per_cent = 0.0352 + 0.0010 * plasticity_index * overconsolidation**0.3246
    return np.asarray(per_cent / 100 * (mean_stress / 101325.0) ** 0.3483)


def _corners(curve: ModulusCurve, count: int, largest: float) -> tuple[Floats, Floats]:
    """Strains and stresses of the corners of a backbone; see `Elements.fit`."""
    from scipy.integrate import cumulative_trapezoid  # takes long to import

    samples, above = np.geomspace(SMALLEST * largest, largest, SAMPLES), 1.005
    allowed = _allowed(samples)
    numbers = cumulative_trapezoid(curve.density(samples) / np.sqrt(allowed), samples, initial=0)
    for _ in range(ITERATIONS):
        first = _strain_at(curve, samples, 1 / above)
        low = float(np.interp(first, samples, numbers))
        strain = np.interp(np.linspace(low, numbers[-1], count), numbers, samples)
        strain[0] = first
        chords = np.interp(samples, [0, *strain], [0, *(strain * curve.ratio(strain))])
        below = (1 - chords / (samples * curve.ratio(samples))) / allowed
        most = below[samples > first].max(initial=0.0)
        above = max(2 / (2 - most), SMALLEST_ERROR)
    stress = strain * curve.ratio(strain) * (1 + (above - 1) * _allowed(strain))
    return strain, _concave(strain, np.append(first, stress[1:]))


def _allowed(strain: Floats) -> Floats:
    """By how much a backbone may deviate from its curve, over the most."""
    away = np.log(strain / LOOPS_AT) / LOOPS_WITHIN
    return np.asarray(1 - SMALLER * np.exp(-(away**2)))


def _strain_at(curve: ModulusCurve, strain: Floats, ratio: float) -> float:
    """The strain at which G / Gmax falls to `ratio`, in between samples."""
    return float(np.exp(np.interp(-ratio, -curve.ratio(strain), np.log(strain))))


def _concave(strain: Floats, stress: Floats) -> Floats:
    """The lowest concave function, which never falls, above values at strains."""
    corners: list[tuple[float, float]] = [(0.0, 0.0)]
    for x, y in zip(strain, np.maximum.accumulate(stress), strict=True):
        while len(corners) > 1 and _rises([*corners[-2:], (x, y)]):
            corners.pop()
        corners.append((float(x), float(y)))
    return np.asarray(np.interp(strain, *np.transpose(corners)))


def _rises(points: Sequence[tuple[float, float]]) -> bool:
    """Whether the slope from the second of three points to the third is larger than before."""
    a, b, c = points
    return (c[1] - b[1]) * (b[0] - a[0]) > (b[1] - a[1]) * (c[0] - b[0])
