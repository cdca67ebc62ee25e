"""Reflection and transmission of plane waves at a plane between two half-spaces.

Each half-space is a solid or a fluid. The second may be a vacuum, which makes the interface a free
surface. The amplitudes solve the conditions at the interface: Aki and Richards (2002), Quantitative
Seismology, chapter 5. Between two solids, velocity and traction are continuous. Next to a fluid,
only the normal velocity is continuous, and the traction has no tangential part. Next to a vacuum,
the traction is zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, HostArray, Mask
from groundswell.errors import InputError
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.plane_waves import (
    Complex,
    PlaneWave,
    PlaneWaves,
    TimeShape,
    are_parallel,
    unit,
    unit_normal_to,
)

# Waves in the first and in the second half-space, by type: "P", "SV" and "SH".
Sides = tuple[dict[str, PlaneWave], dict[str, PlaneWave]]


@dataclass(frozen=True)
class Interface:
    """A plane between two half-spaces.

    Attributes:
        first: medium of the first half-space.
        second: medium of the second half-space, or None for a vacuum.
        normal: vector normal to the plane from the first into the second half-space, (3,).
        point: a point of the plane, (3,), m.
    """

    first: HomogeneousMedium
    second: HomogeneousMedium | None
    normal: ArrayLike = (0.0, 0.0, 1.0)
    point: ArrayLike = (0.0, 0.0, 0.0)

    @property
    def media(self) -> tuple[HomogeneousMedium, ...]:
        """The media of the half-spaces that are not a vacuum."""
        return (self.first,) if self.second is None else (self.first, self.second)

    def distance(self, points: Floats) -> Floats:
        """Distance of `points` (3, ...) from the plane, m, (...); negative in the first."""
        normal = unit(self.normal)
        return np.tensordot(normal, points, 1) - normal @ np.asarray(self.point)

    def frame(self, direction: ArrayLike) -> Floats:
        """Unit vectors along and across the part of `direction` in the plane, and normal, (3, 3).

        If the direction is normal to the plane, any vector in the plane is used instead.
        """
        normal = unit(self.normal)
        if are_parallel(normal, direction):
            direction = np.eye(3)[np.argmin(np.abs(normal))]
        along = unit_normal_to(normal, direction)
        return np.stack([along, np.cross(normal, along), normal])

    def outgoing(self, slowness: float, frame: Floats) -> Sides:
        """Waves of unit amplitude that leave the plane, or decay away from it.

        Args:
            slowness: slowness of all waves along the plane, s/m.
            frame: unit vectors along the slowness, across it, and normal to the plane, (3, 3).
        """
        second = {} if self.second is None else _waves(self.second, slowness, frame, 1.0)
        return _waves(self.first, slowness, frame, -1.0), second

    def continuous(self, wave: PlaneWave, axes: Floats) -> HostArray:
        """Components of velocity (m/s) and scaled traction (m/s) that must be continuous.

        Args:
            wave: the wave.
            axes: directions of the components, the normal last: (3, 3), or (2, 3) for waves that
                have no SH motion.
        """
        motion = axes @ wave.motion
        traction = axes @ wave.stress @ axes[-1] / (self.first.rho * self.first.vp)
        if self.second is None:
            motion = motion[:0]
        elif any(medium.is_fluid for medium in self.media):
            motion = motion[-1:]
        if all(medium.is_fluid for medium in self.media):
            traction = traction[-1:]
        return np.concatenate([motion, traction])

    def jumps(self, waves: Sides, axes: Floats) -> Complex:
        """Jumps, from first to second, of quantities that must be continuous; a column per wave."""
        columns = [
            sign * self.continuous(wave, axes)
            for sign, side in zip((-1.0, 1.0), waves, strict=True)
            for wave in side.values()
        ]
        return np.stack(columns, axis=1)


@dataclass(frozen=True)
class WavesAtInterface:
    """Plane waves with one time function in the two half-spaces of an interface.

    Attributes:
        interface: the interface; the time function applies at its point.
        first, second: the waves in each half-space, to evaluate one of them at the interface.
    """

    interface: Interface
    first: PlaneWaves
    second: PlaneWaves

    def velocity(
        self, points: ArrayLike, time: ArrayLike, in_second: ArrayLike | None = None
    ) -> Floats:
        """Velocity, (3, ...), m/s, at `points` (3, ...), m, and `time`, s.

        Args:
            points: positions; points on the interface, or beyond a free surface by rounding errors,
                are in the first half-space.
            time: times.
            in_second: whether each point is in the second half-space, (...), to choose the side of
                points on the interface.
        """
        first, second, inside = self._split(points, in_second)
        return np.where(
            inside, self.second.velocity(second, time), self.first.velocity(first, time)
        )

    def stress(
        self, points: ArrayLike, time: ArrayLike, in_second: ArrayLike | None = None
    ) -> Floats:
        """Stress xx, yy, zz, yz, xz, xy, (6, ...), Pa; arguments as for `velocity`."""
        first, second, inside = self._split(points, in_second)
        return np.where(inside, self.second.stress(second, time), self.first.stress(first, time))

    def _split(self, points: ArrayLike, in_second: ArrayLike | None) -> tuple[Floats, Floats, Mask]:
        """Points for the waves of each half-space, and which points are in the second.

        Points of the other half-space are moved to the plane, because evanescent waves grow without
        limit beyond it.
        """
        x = np.asarray(points, dtype=float)
        distance = self.interface.distance(x)
        beyond = (distance > 0) & (self.interface.second is not None)
        inside = np.asarray(beyond if in_second is None else in_second)
        on_plane = x - np.multiply.outer(unit(self.interface.normal), distance)
        return np.where(inside, on_plane, x), np.where(inside, x, on_plane), inside


def reflect(interface: Interface, incident: PlaneWave) -> Sides:
    """The reflected and the transmitted waves, by type, of an incident P or S wave.

    Amplitudes are of velocity. P waves of positive amplitude move along the direction of
    propagation, SV waves forward along the interface, and SH waves along the vector product of the
    normal and the direction of propagation.

    Args:
        interface: the interface.
        incident: a wave in the first half-space that propagates towards the interface at any
            angle. An S wave is SV if its polarisation is minus the normal, and SH if it is the
            vector product of the normal and the direction of propagation.

    Raises:
        InputError: the wave is in another medium, is evanescent or does not propagate towards the
            interface.
    """
    _check_incident(interface, incident)
    slowness = incident.slowness.real
    frame = interface.frame(slowness)
    waves = interface.outgoing(float(frame[0] @ slowness), frame)
    amplitudes = np.linalg.solve(
        interface.jumps(waves, frame), interface.continuous(incident, frame)
    )
    return scale(waves, amplitudes)


def total_field(interface: Interface, incident: PlaneWave, profile: TimeShape) -> WavesAtInterface:
    """An incident wave and the waves that it causes.

    Args:
        interface, incident: as for `reflect`.
        profile: time function of the incident wave at the point of the interface: a `Harmonic`, or
            any other if no wave is evanescent.

    Raises:
        InputError: as for `reflect`, or a wave is evanescent and the profile is not a `Harmonic`.
    """
    reflected, transmitted = reflect(interface, incident)
    return at_interface(interface, ([incident, *reflected.values()], transmitted.values()), profile)


def at_interface(
    interface: Interface, sides: tuple[Iterable[PlaneWave], Iterable[PlaneWave]], profile: TimeShape
) -> WavesAtInterface:
    """The waves `sides` of the first and the second half-space with the time function `profile`."""
    first, second = (PlaneWaves(tuple(waves), profile, interface.point) for waves in sides)
    return WavesAtInterface(interface, first, second)


def scale(waves: Sides, amplitudes: Complex) -> Sides:
    """Waves with the given amplitudes, in the order of the columns of `Interface.jumps`."""
    values = iter(amplitudes)
    first, second = (
        {kind: replace(wave, amplitude=complex(next(values))) for kind, wave in side.items()}
        for side in waves
    )
    return first, second


def _waves(
    medium: HomogeneousMedium, slowness: float, frame: Floats, sign: float
) -> dict[str, PlaneWave]:
    """Waves of unit amplitude; their slowness or decay along the normal has the given sign."""
    along, across, normal = frame

    def vector(speed: float) -> Complex:
        squared = (1.0 / speed - slowness) * (1.0 / speed + slowness)
        return slowness * along + sign * np.sqrt(complex(squared)) * normal

    p = vector(medium.vp)
    waves = {"P": PlaneWave(medium, "P", p, medium.vp * p)}
    if not medium.is_fluid:
        s = vector(medium.vs)
        waves["SV"] = PlaneWave(medium, "S", s, sign * medium.vs * np.cross(across, s))
        waves["SH"] = PlaneWave(medium, "S", s, across)
    return waves


def _check_incident(interface: Interface, incident: PlaneWave) -> None:
    if incident.medium != interface.first or np.any(np.imag(incident.slowness)):
        raise InputError(
            f"reflection: the incident wave is evanescent or its medium {incident.medium} is not "
            f"that of the first half-space, {interface.first}; make a plane wave in that medium"
        )
    if not incident.slowness.real @ unit(interface.normal) > 0:
        raise InputError(
            f"reflection: the incident wave of slowness {incident.slowness} s/m must propagate "
            f"along the normal {interface.normal!r}; reverse one of them"
        )
