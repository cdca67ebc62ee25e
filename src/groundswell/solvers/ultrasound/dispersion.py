"""Errors of absorption and dispersion: waves of the scheme compared with the power law.

A plane wave exp(i (omega t - k x)) in a homogeneous medium has a complex wavenumber k. Its
imaginary part is minus the absorption. By the power law,

    k = omega / c + alpha_0 tan(pi y / 2) omega^y - i alpha_0 omega^y

(Treeby & Cox 2010, J. Acoust. Soc. Am. 127, 2741-2748). In the scheme, with a, b and K of
stability.py,

    a + b (1 - exp(-i omega dt)) = 4 sin^2(omega dt / 2).

The equations of the solver are the limit dt -> 0. If the absorption or its dispersion is strong,
they differ from the power law.
"""

from __future__ import annotations

from cmath import exp
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import degrees, nan, pi, tan

import numpy as np
from numpy.typing import NDArray

from groundswell.backends.host_threads import in_threads
from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.medium import AcousticMedium, Values

ITERATIONS = 50  # at most; weak losses take 2 or 3
TOLERANCE = 1e-9  # of the wavenumber and of the absorption, relative


@dataclass(frozen=True)
class LossyWave:
    """Complex wavenumbers of a plane wave of one frequency, rad/m.

    Args:
        power_law: by the power law.
        equations: by the equations of the solver, without an error of the time step.
        scheme: in the scheme.
    """

    power_law: complex
    equations: complex
    scheme: complex

    @property
    def absorption_error(self) -> float:
        """Relative error of the absorption."""
        return self.scheme.imag / self.power_law.imag - 1

    def absorption_errors(self) -> dict[str, float]:
        """The part of this error due to the equations, and the part due to the time step."""
        equations = self.equations.imag / self.power_law.imag - 1
        return {"equations": equations, "time_step": self.absorption_error - equations}

    def phase_errors(self, distance: float) -> dict[str, float]:
        """Error of the phase after a distance (m), in the same parts, degrees; positive if late."""
        equations = self.equations.real - self.power_law.real
        time_step = self.scheme.real - self.equations.real
        parts = {"equations": equations, "time_step": time_step}
        return {name: degrees(part * distance) for name, part in parts.items()}


def most_absorbing(medium: AcousticMedium) -> list[AcousticMedium]:
    """The points of an absorbing medium with the largest absorption, as homogeneous media.

    If there are several, these are the ones with the smallest and the largest sound speed.
    """
    largest = float(np.max(medium.absorption))
    shape = np.broadcast_shapes(np.shape(medium.absorption), np.shape(medium.speed))
    there = np.broadcast_to(np.asarray(medium.absorption) == largest, shape)
    speeds = np.broadcast_to(medium.speed, shape)
    slowest = np.min(speeds, where=there, initial=np.inf)
    fastest = np.max(speeds, where=there, initial=0.0)
    ends = {float(slowest), float(fastest)}
    return [replace(medium, speed=speed, absorption=largest) for speed in sorted(ends)]


def absorbing_distance(absorption: Callable[[int], Values], largest: float, grid: Grid) -> float:
    """Length of the path of a wave through strong absorption, m, where absorption varies.

    It is the mean length along the axis on which it is shortest, across a layer for example.
    Absorption is strong at points with at least half of the largest absorption.

    Args:
        absorption: returns the absorption in plane k of the region, a number or (ny, nx).
        largest: the largest absorption.
        grid: the grid.
    """
    x, y, z = grid.region
    along_x, along_y, along_z = [], [], np.zeros((y, x), np.int32)

    def find(k: int) -> tuple[NDArray[np.integer], ...]:
        strong = np.broadcast_to(np.greater_equal(absorption(k), largest / 2), (y, x))
        ones = strong.view(np.uint8)  # sums of bytes are much faster than counts of booleans
        return ones, ones.sum(1, dtype=np.int32), ones.sum(0, dtype=np.int32)

    for strong, in_rows, in_columns in in_threads(find, range(z)):
        along_x.append(in_rows)
        along_y.append(in_columns)
        along_z += strong
    counts = [np.array(along_x), np.array(along_y), along_z]
    return min(_mean_length(counts[axis]) * grid.spacing[axis] for axis in range(2 + (z > 1)))


def _mean_length(counts: NDArray[np.integer]) -> float:
    """The mean number of strong points on the lines that have some."""
    return float(counts[counts > 0].mean())


def worst_wave(
    points: Sequence[AcousticMedium], frequency: float, reference_speed: float, dt: float
) -> LossyWave | None:
    """The wave with the largest error of the absorption in any of these media.

    None if `lossy_wave` finds none in one of them.

    Args:
        points: homogeneous absorbing media.
        frequency: frequency of the wave, Hz.
        reference_speed: sound speed of the k-space correction, m/s.
        dt: time step, s.
    """
    waves = [lossy_wave(point, frequency, reference_speed, dt) for point in points]
    found = [wave for wave in waves if wave is not None]
    if len(found) < len(waves):
        return None
    return max(found, key=lambda wave: abs(wave.absorption_error))


def lossy_wave(
    medium: AcousticMedium, frequency: float, reference_speed: float, dt: float
) -> LossyWave | None:
    """The wave in a homogeneous absorbing medium; see `worst_wave`.

    None if the equations or the scheme have no wave that resembles that of the power law: it must
    travel forward and decay, at most twice as fast as by the power law. The scheme must resolve its
    period and its wavenumber (c_ref k dt < pi).
    """
    omega = 2 * pi * frequency
    if omega * dt >= pi:
        return None
    law = _power_law(medium, omega)
    relations = (_Relation.of(medium, omega, reference_speed, step) for step in (0.0, dt))
    equations, scheme = (_wavenumber(relation) for relation in relations)
    decay = all(k.real > 0 and 0 > k.imag >= 2 * law.imag for k in (equations, scheme))
    resolved = reference_speed * scheme.real * dt < pi
    return LossyWave(law, equations, scheme) if decay and resolved else None


def _power_law(medium: AcousticMedium, omega: float) -> complex:
    absorption = float(medium.absorption) * omega**medium.power
    late = tan(pi * medium.power / 2) if medium.is_dispersive else 0.0
    return complex(omega / float(medium.speed) + absorption * late, -absorption)


@dataclass(frozen=True)
class _Relation:
    """The dispersion relation of the scheme: c K sqrt(1 + losses) = 2 sin(omega dt / 2) / dt.

    Args:
        start: wavenumber of the equations without losses, rad/m.
        power: exponent y.
        eta: coefficient of the dispersion.
        tau_rate: coefficient of the absorption times the rate of density, relative to density.
        lossless: K without losses, rad/m.
        half: half the distance that sound travels in a step at the reference speed, m.
    """

    start: float
    power: float
    eta: float
    tau_rate: complex
    lossless: float
    half: float

    @classmethod
    def of(
        cls, medium: AcousticMedium, omega: float, reference_speed: float, dt: float
    ) -> _Relation:
        """The relation in a medium; that of the equations if the step is 0."""
        speed, eta = float(medium.speed), float(medium.eta) if medium.is_dispersive else 0.0
        sampled = float(omega * np.sinc(omega * dt / (2 * pi)))
        rate = 1j * sampled * exp(-0.5j * omega * dt)  # it lags by half a step
        losses = (medium.power, eta, float(medium.tau) * rate)
        return cls(omega / speed, *losses, sampled / speed, reference_speed * dt / 2)

    def correction(self, logarithm: np.complex128) -> np.complex128:
        """Step of Newton's method for the logarithm of the wavenumber."""
        k, y = np.exp(logarithm), self.power
        dispersion, absorption = -self.eta * k ** (y - 1), -self.tau_rate * k ** (y - 2)
        stiffness = 1 + dispersion + absorption
        sinc = np.sinc(self.half * k / pi)
        misfit = np.log(k * sinc * np.sqrt(stiffness) / np.float64(self.lossless))
        slope = ((y - 1) * dispersion + (y - 2) * absorption) / (2 * stiffness)
        return np.complex128(-misfit / (np.cos(self.half * k) / sinc + slope))


@np.errstate(all="ignore")
def _wavenumber(relation: _Relation) -> complex:
    """The solution, by Newton's method from the wave without losses; NaN if it does not converge.

    The unknown is log k, in which the relation is almost linear if losses are weak or prevail.
    """
    logarithm = np.complex128(np.log(relation.start))
    for _ in range(ITERATIONS):
        step = relation.correction(logarithm)
        logarithm += step
        if abs(step.real) <= TOLERANCE and abs(step.imag) <= TOLERANCE * abs(logarithm.imag):
            return complex(np.exp(logarithm))
    return complex(nan)
