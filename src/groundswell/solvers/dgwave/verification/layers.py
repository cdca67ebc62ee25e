"""Absorbing layers: the amplitude of waves that they reflect.

A packet of plane waves enters the layer below a strip of elements that is periodic along x and y.
The reflection is the difference from the motion in a much deeper strip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import ceil, cos, radians, sin
from typing import Any, ClassVar, Literal

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, positions
from groundswell.seismology.problems.case_sections import SILENCE
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.plane_waves import Harmonic, PlaneWave, PlaneWaves
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.setup import prepare
from groundswell.solvers.dgwave.solver import DgWave
from groundswell.solvers.dgwave.verification.simulation import make_case
from groundswell.verify import Check

ROCK = HomogeneousMedium(vp=6000.0, vs=3464.0, rho=2700.0)
H = 100.0  # m, edge of an element
DEGREE = 4
WIDTH = 4  # elements of the layer
LENGTHS = (1.25, 2.5, 5.0)  # wavelengths in elements: 5, 10 and 20 points per wavelength
# Largest reflected amplitude, %, by angle of incidence, degrees. Normal incidence is not tested:
# the boundary behind the layer would absorb these waves even without the layer.
LIMITS = {False: {45: 0.1}, True: {30: 0.1, 45: 0.1, 60: 1.0}}
# The same where it differs, by kind, angle and wavelength: S waves of 5 points per wavelength.
EXCEPTIONS = {("S", 30, LENGTHS[0]): 0.25}


@dataclass(frozen=True)
class Packet:
    """A packet of plane waves in the strip.

    Args:
        kind: "P" or "S".
        angle: angle of propagation from the vertical, degrees.
        length: wavelength in elements.
        width: of the layer in elements.
    """

    kind: str
    angle: float
    length: float
    width: int = WIDTH

    medium: ClassVar[HomogeneousMedium] = ROCK
    measured: ClassVar[slice] = slice(-AXES, None)  # of the fields: velocity

    @property
    def wave(self) -> PlaneWave:
        """The plane wave, which propagates downward."""
        return self.plane_wave(sin(radians(self.angle)), cos(radians(self.angle)))

    def plane_wave(self, along: float, down: float) -> PlaneWave:
        """The plane wave that propagates along a direction (x, 0, z)."""
        if self.kind == "P":
            return PlaneWave.p(self.medium, (along, 0.0, down))
        return PlaneWave.s(self.medium, (along, 0.0, down), (down, 0.0, -along))

    @property
    def half_width(self) -> float:
        """Half width of the envelope along the vertical, m."""
        return 1.5 * self.length * H / cos(radians(self.angle))

    @property
    def depth(self) -> int:
        """Number of elements above the layer."""
        return ceil(5 * self.half_width / H)

    @property
    def speed(self) -> float:
        """Vertical speed of the packet, m/s."""
        return cos(radians(self.angle)) / float(np.linalg.norm(self.wave.slowness))

    @property
    def duration(self) -> float:
        """Time until the whole reflection is in the strip, s."""
        return (self.depth + 2 * self.width) * H / self.speed

    @property
    def spacing(self) -> tuple[float, float, float]:
        """Edges of the elements, m; the period along x is a whole number of elements."""
        along = sin(radians(self.angle))
        width = self.length * H / along if along else H
        return width / max(1, round(width / H)), H, H

    def fields(self, points: Floats) -> Floats:
        """The initial fields, (9, ...), at points (3, ...)."""
        omega = 2 * np.pi / (self.length * H * float(np.linalg.norm(self.wave.slowness)))
        waves = PlaneWaves([self.wave], Harmonic(omega))
        envelope = np.exp(-(((points[2] - self.depth * H / 2) / self.half_width) ** 2) * 4)
        return envelope * np.concatenate([waves.stress(points, 0.0), waves.velocity(points, 0.0)])

    def returned(self, backend: Backend) -> float:
        """Amplitude of the reflection relative to the packet."""
        deep = self.depth + ceil(self.duration * ROCK.vp / H / 2) + self.width
        layered = prepare(self._case(self.depth, "pml", "auto"))
        reference = prepare(self._case(deep, "absorbing", layered.dt))
        start, with_layer = self.motion(DgWave(layered, backend))
        _, without = self.motion(DgWave(reference, backend))
        return norm(with_layer - without) / norm(start)

    def motion(self, found: DgWave) -> tuple[Floats, Floats]:
        """Initial and final motion above the layer, each (elements, measured fields, nodes)."""
        setup, backend, numbers = found.setup, found.backend, found.elements.numbers
        points = positions(setup.geometry.hexahedra, DEGREE, numbers)
        fields = self.fields(np.moveaxis(points, -1, 0)).swapaxes(0, 1)
        backend.assign(found.propagation.u, fields)
        found.prepare()
        backend.capture(in_order(found.propagation.step)).replay(round(self.duration / setup.dt))
        backend.synchronize()
        u = np.asarray(backend.to_host(found.propagation.u))
        x, _, z = np.round(points.mean(axis=1), 6).T
        kept = np.lexsort((x, z))
        kept = kept[z[kept] < self.depth * H]
        return fields[kept, self.measured], u[kept, self.measured]

    def _case(self, depth: int, bottom: str, step: float | Literal["auto"]) -> DgWaveCase:
        ends = {"top": "absorbing", "sides": "periodic", "bottom": bottom}
        grid = {"size": (self.across * self.spacing[0], H, depth * H), "spacing": self.spacing}
        return self.make_case(step, grid=grid, boundary={**ends, "width": self.width})

    @property
    def across(self) -> int:
        """Number of elements along x, in one period."""
        along = sin(radians(self.angle))
        return round(self.length * H / along / self.spacing[0]) if along else 1

    def make_case(self, step: float | Literal["auto"], **sections: Any) -> DgWaveCase:
        """A case with the medium, without sources."""
        medium = {name: getattr(self.medium, name) for name in ("vp", "vs", "rho")}
        return make_case(
            time={"duration": self.duration, "step": step},
            medium={"kind": "homogeneous", **medium},
            method={"degree": DEGREE},
            source=[SILENCE],
            **sections,
        )


def reflection(backend: Backend, full: bool) -> Iterator[Check]:
    """Oblique P and S waves of three wavelengths at a layer of four elements."""
    for angle, limit in LIMITS[full].items():
        for kind, length in product("PS", LENGTHS):
            found = 100 * Packet(kind, angle, length).returned(backend)
            name = f"{kind} wave of {length:g} elements at {angle} degrees: returned amplitude"
            most = EXCEPTIONS.get((kind, angle, length), limit)
            yield Check.at_most(name, found, most, "%", f"{WIDTH} elements of degree {DEGREE}")


def norm(motion: Floats) -> float:
    """Norm of fields (elements, fields, nodes) of elements of the same volume."""
    return float(np.linalg.norm(motion * np.sqrt(gll(DEGREE).cube_weights)))
