"""Waves in media with speeds that increase with depth, with nodal and with element materials.

If the density is uniform and the speed c is proportional to (z + z0)^(2/3), the impedance is
proportional to the square of the travel time T = 3 (z + z0) / c from z = -z0. Waves along z obey

    d^2 v / dt^2 = d^2 v / dT^2 + (2 / T) dv / dT,

like spherical waves. Between rigid walls, v = sin(w (T - T1)) cos(w t) / T is a standing wave.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import log, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.solvers.dgwave.equations import RIGID
from groundswell.solvers.dgwave.verification.boxes import Box, cubes
from groundswell.verify import Check

HEIGHT = 2000.0  # m, between the walls
ABOVE = 500.0  # m, z0: distance from the upper wall to the depth at which speeds vanish
SPEED, VP_VS, RHO = 1500.0, sqrt(3.0), 2000.0  # at the upper wall; c grows to 2.9 times that
MODE = 3  # half waves between the walls

WAVES = {  # name: component of motion, ratio of vp to its speed, and whether equations are acoustic
    "sound": (2, 1.0, True),
    "P wave": (2, 1.0, False),
    "S wave": (0, VP_VS, False),
}
COUNTS = {False: (8, 12), True: (12, 18)}  # elements between the walls, quick and full
DEGREES = {False: (3,), True: (2, 3, 4, 5)}
ORDER = 0.5  # required order minus the degree, with nodal materials
UNIFORM = 2.5  # highest order expected with element materials; the formal order is 2


def speed(z: Floats) -> Floats:
    """Speed of P waves, m/s, at depths z, m."""
    return np.asarray(SPEED * ((z + ABOVE) / ABOVE) ** (2 / 3))


@dataclass(frozen=True)
class GradientMode:
    """A standing wave along z.

    Args:
        component: of motion.
        ratio: vp over the speed of the wave.
    """

    component: int
    ratio: float

    @property
    def omega(self) -> float:
        """Angular frequency, 1/s."""
        first, last = self._times(np.array([0.0, HEIGHT]))
        return float(MODE * pi / (last - first))

    def velocity(self, points: ArrayLike, time: ArrayLike) -> Floats:
        """Velocity, (3, ...), m/s, at `points` (3, ...), m, and `time`, s."""
        places = np.asarray(points, float)
        times, phase = self._phase(places[2])
        found = np.zeros(places.shape)
        found[self.component] = np.sin(phase) / times * np.cos(self.omega * np.asarray(time))
        return found

    def stress(self, points: ArrayLike, time: ArrayLike) -> Floats:
        """Stress xx, yy, zz, yz, xz, xy, (6, ...), Pa, at `points` (3, ...), m, and `time`, s."""
        places = np.asarray(points, float)
        times, phase = self._phase(places[2])
        slope = (self.omega * np.cos(phase) - np.sin(phase) / times) / times
        impedance = RHO * speed(places[2]) / self.ratio
        traction = impedance * slope * np.sin(self.omega * np.asarray(time)) / self.omega
        found = np.zeros((6, *places.shape[1:]))
        if self.component == 2:
            found[:2], found[2] = (1 - 2 / VP_VS**2) * traction, traction
        else:
            found[4] = traction
        return found

    def _times(self, z: Floats) -> Floats:
        """Travel times from the depth at which speeds vanish, s."""
        return np.asarray(3 * (z + ABOVE) / speed(z) * self.ratio)

    def _phase(self, z: Floats) -> tuple[Floats, Floats]:
        """Travel times, and phases from the upper wall."""
        times = self._times(z)
        return times, self.omega * (times - self._times(np.zeros(1)))


class SoundMode(GradientMode):
    """The same in a fluid; the stress is a pressure."""

    def stress(self, points: ArrayLike, time: ArrayLike) -> Floats:
        """Stress xx, yy, zz, yz, xz, xy, (6, ...), Pa, at `points` (3, ...), m, and `time`, s."""
        found = super().stress(points, time)
        found[:2] = found[2]
        return found


def standing_waves(backend: Backend, full: bool) -> Iterator[Check]:
    """Orders of convergence after one period."""
    for name in WAVES:
        for degree in DEGREES[full]:
            for nodal in (True, False):
                coarse, fine = COUNTS[full]
                first, second = (_error(backend, name, degree, nodal, n) for n in (coarse, fine))
                order = log(first / second) / log(fine / coarse)
                note = f"errors {first:.2e}, {second:.2e} with {coarse}, {fine} elements"
                material = "nodal materials" if nodal else "uniform elements"
                title = f"{name} in a gradient, degree {degree}, {material}: order"
                check = Check.at_least if nodal else Check.at_most
                yield check(title, order, degree + ORDER if nodal else UNIFORM, note=note)


def _error(backend: Backend, name: str, degree: int, nodal: bool, count: int) -> float:
    component, ratio, acoustic = WAVES[name]
    mode = (SoundMode if acoustic else GradientMode)(component, ratio)
    edge = HEIGHT / count
    forest = cubes((1, 1, count), (edge, edge, HEIGHT), (True, True, False))
    media = partial(_media, acoustic)
    box = Box(forest, degree, media, acoustic, ends=(RIGID,) * 6, nodal=nodal)
    return box.error_at(backend, mode, 2 * pi / mode.omega)


def _media(acoustic: bool, places: Floats) -> list[Floats]:
    vp = speed(places[2])
    return [vp, np.zeros_like(vp) if acoustic else vp / VP_VS, np.full_like(vp, RHO)]
