"""Plane waves in a homogeneous solid or fluid, and standing waves of a fluid in a closed box.

They satisfy the equations of motion without sources exactly, at any points and times. Points have
the shape (3, ...), in m, and times (s) broadcast against (...). Velocities have the shape (3, ...).
Stresses have the shape (6, ...) and the order xx, yy, zz, yz, xz, xy; the pressure in a fluid is
minus any of the first three.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.arrays import Floats, HostArray
from groundswell.errors import InputError
from groundswell.seismology.reference.medium import HomogeneousMedium

Complex = NDArray[np.complexfloating]
TimeShape = Callable[[Floats], HostArray]
Wall = Literal["rigid", "pressure-release"]

_ROWS, _COLUMNS = [0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]  # axes of each stress component
_RIGID: tuple[Wall, Wall] = ("rigid", "rigid")
_PARALLEL = 1e-12  # sine of the angle below which two vectors define no plane


@dataclass(frozen=True)
class Harmonic:
    """The time function exp(-i omega t), also of complex times; its real part is the motion.

    Attributes:
        omega: angular frequency, rad/s, above 0.
    """

    omega: float

    def __call__(self, time: HostArray) -> Complex:
        """Its value at `time`, s."""
        return np.exp(-1j * self.omega * time)


@dataclass(frozen=True)
class PlaneWave:
    """A plane P or S wave: the velocity amplitude * polarisation * f(t - slowness . x).

    Evanescent waves have a complex slowness and polarisation; f is then a `Harmonic`, and the
    velocity is the real part.

    Attributes:
        medium: solid or fluid in which the wave propagates.
        kind: "P" or "S".
        slowness: (3,), s/m.
        polarisation: (3,), a unit vector unless the wave is evanescent.
        amplitude: m/s; its argument is the phase of a harmonic wave.
    """

    medium: HomogeneousMedium
    kind: Literal["P", "S"]
    slowness: HostArray
    polarisation: HostArray
    amplitude: complex = 1.0

    @classmethod
    def p(
        cls, medium: HomogeneousMedium, direction: ArrayLike, amplitude: complex = 1.0
    ) -> PlaneWave:
        """A P or acoustic wave that propagates along `direction`, a vector (3,)."""
        ray = unit(direction)
        return cls(medium, "P", ray / medium.vp, ray, amplitude)

    @classmethod
    def s(
        cls,
        medium: HomogeneousMedium,
        direction: ArrayLike,
        polarisation: ArrayLike,
        amplitude: complex = 1.0,
    ) -> PlaneWave:
        """An S wave that propagates along `direction` and moves along `polarisation`.

        Both are vectors (3,). Only the part of the polarisation normal to the direction counts.

        Raises:
            InputError: the medium is a fluid, or polarisation and direction are parallel.
        """
        if medium.is_fluid:
            raise InputError("plane S wave: vs = 0, but it must be above 0; use a solid or P waves")
        ray = unit(direction)
        if are_parallel(ray, polarisation):
            raise InputError(
                f"plane S wave: polarisation {polarisation!r} is parallel to the direction of "
                f"propagation {direction!r}; give a vector that has a part normal to it"
            )
        motion = unit_normal_to(ray, polarisation)
        return cls(medium, "S", ray / medium.vs, motion, amplitude)

    @property
    def motion(self) -> HostArray:
        """Amplitude of velocity, (3,), m/s."""
        return self.amplitude * self.polarisation

    @property
    def stress(self) -> HostArray:
        """Amplitude of stress, a matrix (3, 3), Pa: minus Hooke's law of motion and slowness."""
        product = np.outer(self.motion, self.slowness)
        # The trace of the product, which cancels to this in evanescent P waves of high speed.
        trace = self.amplitude / self.medium.vp if self.kind == "P" else 0.0
        return -self.medium.mu * (product + product.T) - self.medium.lam * trace * np.eye(3)

    @property
    def is_real(self) -> bool:
        """Whether a pulse keeps its shape: the wave is not evanescent and has no phase."""
        return not np.any(np.imag([*self.slowness, self.amplitude]))


@dataclass(frozen=True)
class PlaneWaves:
    """A superposition of plane waves with one time function.

    Attributes:
        waves: the waves; if there are none, there is no motion.
        profile: time function of the waves at `origin`, dimensionless: a `Harmonic`, a `Pulse` or
            any function of arrays of real times.
        origin: (3,), m.

    Raises:
        InputError: a wave is evanescent or has a phase, but the time function is not a `Harmonic`.
    """

    waves: Sequence[PlaneWave]
    profile: TimeShape
    origin: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Reject waves that would distort the time function."""
        if not isinstance(self.profile, Harmonic) and not all(w.is_real for w in self.waves):
            raise InputError(
                "plane waves: a wave is evanescent or has a complex amplitude and would distort a "
                "pulse; use a Harmonic time function, or an incident wave below the critical angle"
            )

    def velocity(self, points: ArrayLike, time: ArrayLike) -> Floats:
        """Velocity, (3, ...), m/s, at `points` (3, ...), m, and `time`, s."""
        return self._sum([wave.motion for wave in self.waves], points, time, 3)

    def stress(self, points: ArrayLike, time: ArrayLike) -> Floats:
        """Stress xx, yy, zz, yz, xz, xy, (6, ...), Pa, at `points` (3, ...), m, and `time`, s."""
        amplitudes = [wave.stress[_ROWS, _COLUMNS] for wave in self.waves]
        return self._sum(amplitudes, points, time, 6)

    def _sum(
        self, amplitudes: Sequence[HostArray], points: ArrayLike, time: ArrayLike, rows: int
    ) -> Floats:
        x, t = np.asarray(points, dtype=float), np.asarray(time, dtype=float)
        total = np.zeros((rows, *np.broadcast_shapes(x.shape[1:], t.shape)))
        for wave, amplitude in zip(self.waves, amplitudes, strict=True):
            slowness = wave.slowness.real if wave.is_real else wave.slowness
            delay = np.tensordot(slowness, x, 1) - slowness @ np.asarray(self.origin)
            total += np.multiply.outer(amplitude, self.profile(t - delay)).real
        return total


@dataclass(frozen=True)
class StandingWave:
    """A mode of the fluid in the box between the origin and `size`.

    The pressure is amplitude * cos(omega t) times a sine or cosine along each axis.

    Attributes:
        medium: a fluid.
        size: edges of the box, (3,), m.
        mode: half wavelengths along each axis, (3,). Walls of different kinds add half of one.
        walls: kinds of the lower and the upper wall of each axis: "rigid" walls have no normal
            velocity, "pressure-release" walls no pressure.
        amplitude: Pa.

    Raises:
        InputError: the medium is a solid, or the mode is at rest.
    """

    medium: HomogeneousMedium
    size: Sequence[float]
    mode: Sequence[int]
    walls: Sequence[tuple[Wall, Wall]] = (_RIGID, _RIGID, _RIGID)
    amplitude: float = 1.0

    def __post_init__(self) -> None:
        """Reject solids and modes that do not oscillate."""
        if not self.medium.is_fluid:
            raise InputError(f"standing wave: vs = {self.medium.vs:g} m/s; use a fluid, vs = 0")
        axes = zip(self._wavenumbers, self.walls, strict=True)
        if not self.omega or any(k == 0 and low != "rigid" for k, (low, _) in axes):
            raise InputError(
                f"standing wave: mode {tuple(self.mode)} is at rest; it needs a number above 0 "
                "along one axis at least and along each axis that has pressure-release walls"
            )

    @property
    def omega(self) -> float:
        """Angular frequency, rad/s."""
        return float(self.medium.vp * np.linalg.norm(self._wavenumbers))

    @property
    def _wavenumbers(self) -> Floats:
        halves = [n + 0.5 * (a != b) for n, (a, b) in zip(self.mode, self.walls, strict=True)]
        return np.pi * np.array(halves) / np.asarray(self.size)

    def pressure(self, points: ArrayLike, time: ArrayLike) -> Floats:
        """Pressure, (...), Pa, at `points` (3, ...), m, and `time`, s."""
        shape = np.prod(np.sin(self._angles(points)), axis=0)
        return self.amplitude * shape * np.cos(self.omega * np.asarray(time))

    def velocity(self, points: ArrayLike, time: ArrayLike) -> Floats:
        """Velocity, (3, ...), m/s, at `points` (3, ...), m, and `time`, s."""
        sines, cosines = np.sin(self._angles(points)), np.cos(self._angles(points))
        scale = -self.amplitude / (self.medium.rho * self.omega) * self._wavenumbers
        shapes = [
            scale[d] * cosines[d] * np.prod(np.delete(sines, d, axis=0), axis=0) for d in range(3)
        ]
        oscillation = np.sin(self.omega * np.asarray(time))
        return np.stack([shape * oscillation for shape in shapes])

    def stress(self, points: ArrayLike, time: ArrayLike) -> Floats:
        """Stress xx, yy, zz, yz, xz, xy, (6, ...), Pa, at `points` (3, ...), m, and `time`, s."""
        pressure = self.pressure(points, time)
        return np.stack([-pressure] * 3 + [np.zeros_like(pressure)] * 3)

    def _angles(self, points: ArrayLike) -> Floats:
        """Arguments of the sine of each axis; a rigid lower wall makes it a cosine."""
        phases = [np.pi / 2 if low == "rigid" else 0.0 for low, _ in self.walls]
        axes = zip(self._wavenumbers, np.asarray(points, dtype=float), phases, strict=True)
        return np.stack([k * x + phase for k, x, phase in axes])


# --- vectors --------------------------------------------------------------------------------------


def unit(vector: ArrayLike) -> Floats:
    """The unit vector along `vector`, (3,)."""
    found = np.asarray(vector, dtype=float)
    return found / np.linalg.norm(found)


def are_parallel(axis: ArrayLike, vector: ArrayLike) -> bool:
    """Whether two vectors, (3,), are parallel or opposite, up to rounding errors."""
    return bool(np.linalg.norm(np.cross(unit(axis), unit(vector))) < _PARALLEL)


def unit_normal_to(axis: Floats, vector: ArrayLike) -> Floats:
    """The unit vector along the part of `vector` normal to the unit vector `axis`, (3,)."""
    found = unit(vector)
    for _ in range(2):  # the second time removes rounding errors of almost parallel vectors
        found = unit(found - (found @ axis) * axis)
    return found
