"""The longest stable step of the k-space scheme.

A plane wave with the wavenumber k in a homogeneous medium obeys

    p(n + 1) = (2 - a - b) p(n) - (1 - b) p(n - 1),
    a = c^2 (1 - eta k^(y - 1)) K^2 dt^2,    b = c^2 |tau| k^(y - 2) K^2 dt,
    K = 2 sin(c_ref k dt / 2) / (c_ref dt),

because the absorption uses the rate of density of the last step. If a < 0, waves grow at
any time step: this happens where the dispersion exceeds the stiffness, eta k^(y - 1) > 1. Otherwise
the wave does not grow if a + 2 b <= 4. Without losses, this is the limit of Mast et al. (2001),
IEEE Trans. Ultrason. Ferroelectr. Freq. Control 48, 341-354.

In heterogeneous media, we use the largest coefficients, and multiply a and b by the contrast of
density (see density_contrast.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf, pi

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Mask
from groundswell.backends.host_threads import in_threads
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.absorption import STOKES
from groundswell.solvers.ultrasound.critical_parts import critical_parts
from groundswell.solvers.ultrasound.density_contrast import (
    contrast_bound,
    density_contrast,
    has_uniform_density,
    largest_wavenumber,
    smallest_wavenumber,
)
from groundswell.solvers.ultrasound.medium import AcousticMedium, medium_of
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.window import Window

SAFETY = 0.9  # largest automatic step, relative to the longest stable one
LIMIT = 1 + 1e-9  # of (a + 2 b) / 4
WAVENUMBERS = 16  # at which the limit is evaluated, up to the largest
SHORTEST = 1e-4  # shortest trial step, relative to the longest one
TRIALS = 2000  # number of trial steps
ITERATIONS = 3  # for the contrast of density, which depends weakly on the step
LONGEST, RATIO = 4.0, 1.1  # steps beyond pi / (c_ref k) that are tried, and their ratio


@dataclass(frozen=True)
class Coefficients:
    """Largest coefficients of a medium.

    Args:
        stiffness: c^2, m^2/s^2.
        dispersion: -c^2 eta, without the factor k^(y - 1); 0 where eta is positive.
        absorption: c^2 |tau|, without the factor k^(y - 2).
        power: exponent y.
    """

    stiffness: float
    dispersion: float
    absorption: float
    power: float

    @classmethod
    def of(cls, medium: AcousticMedium) -> Coefficients:
        """The coefficients of a medium."""
        lossy = medium.is_absorbing or medium.is_dispersive
        return cls(
            float(np.max(medium.speed)) ** 2,
            _largest(medium, lambda part: -np.square(part.speed) * part.eta)
            if medium.is_dispersive
            else 0.0,
            _largest(medium, lambda part: -np.square(part.speed) * part.tau)
            if medium.is_absorbing
            else 0.0,
            medium.power if lossy else STOKES,
        )

    def growth(self, k: Floats, reference_speed: float, dt: ArrayLike) -> Floats:
        """(a + 2 b) / 4 at the worst of these wavenumbers (rad/m): above 1, waves grow.

        Args:
            dt: one or several time steps, s; the result has one value for each.
        """
        dt = np.asarray(dt)[..., None]
        squared = (2 * np.sin(reference_speed * k * dt / 2) / reference_speed) ** 2
        dispersed = self.stiffness + self.dispersion * k ** (self.power - 1)
        damped = 2 * self.absorption * k ** (self.power - 2) / dt
        return np.asarray(np.max(squared * (dispersed + damped), axis=-1) / 4)


def _largest(medium: AcousticMedium, value: Callable[[AcousticMedium], Floats]) -> float:
    """The largest value in a medium, at least 0; one plane after another saves memory."""
    properties = map(np.atleast_1d, (medium.speed, medium.absorption))
    planes = zip(*np.broadcast_arrays(*properties), strict=True)
    parts = (replace(medium, speed=speed, absorption=alpha) for speed, alpha in planes)
    return max(0.0, *(float(np.max(value(part))) for part in parts))


@dataclass(frozen=True)
class DispersionShare:
    """Largest fraction eta k^(y - 1) by which dispersion reduces the stiffness.

    Args:
        longest: at the smallest wavenumber of the grid.
        shortest: at the largest wavenumber.
        uniform: whether the share is the same at all points.
    """

    longest: float
    shortest: float
    uniform: bool

    @classmethod
    def of(cls, medium: AcousticMedium, grid: Grid) -> DispersionShare:
        """The share in a medium; 0 where dispersion adds to the stiffness (1 < y < 2)."""
        eta = _largest(medium, lambda part: part.eta) if medium.is_dispersive else 0.0
        ends = smallest_wavenumber(grid), largest_wavenumber(grid)
        low, high = (eta * k ** (medium.power - 1) for k in ends)
        return cls(low, high, not (np.ndim(medium.absorption) or np.ndim(medium.speed)))

    @property
    def largest(self) -> float:
        """The largest share; up to 1, all waves are stable with some time step."""
        return max(self.longest, self.shortest)

    @property
    def waves_grow(self) -> bool:
        """Whether waves are known to grow.

        Long waves (y < 1) do not grow if only a small part of the medium is dispersive.
        """
        return (self.largest if self.uniform else self.shortest) > 1


def stable_step(
    medium: AcousticMedium,
    grid: Grid,
    reference_speed: float,
    wanted: float,
    medium_in: Callable[[Window], AcousticMedium] | None = None,
    comm: Communicator | None = None,
) -> float:
    """A step up to which all steps are stable, s; infinite if steps of any length are.

    It is the longest such step, except that the eigenvalues of a medium of varying density are not
    computed if their bound shows that the wanted step is stable, nor for much longer steps than the
    wanted one. The eigenvalues of a large grid may be a few per cent larger than those found.

    Args:
        medium: the medium, or the points of it that matter.
        grid: the grid.
        reference_speed: sound speed of the k-space correction, m/s.
        wanted: the time step that should be stable, s.
        medium_in: returns the medium in a window, for eigenvalues; by default, that of `medium`.
        comm: the ranks that share the work; all of them must call this. By default this one only.
    """
    found, bound = Coefficients.of(medium), contrast_bound(medium)
    step = longest_step(found, largest_wavenumber(grid), reference_speed, bound)
    if wanted <= step or has_uniform_density(medium):
        return step
    found_in = medium_in or partial(medium_of, medium)
    parts = critical_parts(found_in, grid, comm or SerialCommunicator())
    fastest = float(np.max(medium.speed))
    varying = _VaryingDensity(parts, fastest, grid, reference_speed, found)
    return varying.longest_step(step, wanted)


class _VaryingDensity:
    """The stable steps of a medium of varying density, from the critical parts of its grid."""

    def __init__(
        self,
        parts: list[tuple[Window, AcousticMedium]],
        fastest: float,
        grid: Grid,
        reference_speed: float,
        found: Coefficients,
    ) -> None:
        self._parts, self._grid, self._speed = parts, grid, reference_speed
        self._fastest, self._found = fastest, found
        self._k = largest_wavenumber(grid)

    def longest_step(self, bound: float, wanted: float) -> float:
        """See `stable_step`; `bound` is a stable step."""
        resolved = pi / (self._speed * self._k)  # c_ref k dt / 2 = pi / 2: K decreases beyond
        step = bound
        for _ in range(ITERATIONS):
            last, contrast = step, self._contrast(min(step, resolved))
            step = longest_step(self._found, self._k, self._speed, contrast)
            if step > resolved:
                return self._beyond(resolved, wanted)
            if step == last:  # so would be all further ones
                break
        return step

    def _beyond(self, stable: float, wanted: float) -> float:
        """The longest step above one at which the contrast is less than 1."""
        last = min(wanted, LONGEST * stable)
        while stable < last:
            longer = RATIO * stable
            if self._is_unstable(longer):
                return _boundary(self._is_unstable, (stable, longer), 6)
            stable = longer
        return stable

    def _is_unstable(self, step: float) -> bool:
        k = self._k * np.arange(1, WAVENUMBERS + 1) / WAVENUMBERS
        return bool(self._contrast(step) * self._found.growth(k, self._speed, step) > LIMIT)

    def _contrast(self, step: float) -> float:
        """The contrast at a step, at least 1, because losses may act elsewhere.

        The first call finds the part of the grid that matters.
        """
        operators = SpectralOperators(self._grid, step, self._speed)

        def find(part: tuple[Window, AcousticMedium]) -> float:
            window, medium = part
            return density_contrast(medium, operators, window, self._fastest)

        found = list(in_threads(find, self._parts))
        self._parts = [self._parts[int(np.argmax(found))]]
        return max(1.0, *found)


def longest_step(
    found: Coefficients, largest_k: float, reference_speed: float, contrast: float = 1.0
) -> float:
    """Longest step up to which all steps are stable, s; infinite if there is none.

    Args:
        found: the coefficients of the medium.
        largest_k: largest wavenumber of the grid, rad/m.
        reference_speed: sound speed of the k-space correction, m/s.
        contrast: the contrast of density; 1 if the density is uniform.
    """
    k = largest_k * np.arange(1, WAVENUMBERS + 1) / WAVENUMBERS
    longest = WAVENUMBERS * pi / (reference_speed * largest_k)  # c_ref k dt / 2 = pi / 2 at k[0]
    steps = longest * np.geomspace(SHORTEST, 1, TRIALS)

    def is_unstable(step: ArrayLike) -> Mask:
        return contrast * found.growth(k, reference_speed, step) > LIMIT

    unstable = np.flatnonzero(is_unstable(steps))
    if not len(unstable):
        return inf
    first = unstable[0]
    return _boundary(is_unstable, (float(steps[first - 1]) if first else 0.0, float(steps[first])))


def _boundary(
    is_unstable: Callable[[float], bool | Mask], between: tuple[float, float], halvings: int = 40
) -> float:
    """The step between a stable and an unstable one at which waves begin to grow, s."""
    stable, unstable = between
    for _ in range(halvings):
        middle = (stable + unstable) / 2
        if is_unstable(middle):
            unstable = middle
        else:
            stable = middle
    return stable
