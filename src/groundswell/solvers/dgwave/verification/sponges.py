"""Sponges of a grid and of a mesh from a file: the amplitude of waves that they reflect.

A packet of oblique waves travels down a strip. It consists of plane waves of the same wavelength
along x, all of which propagate downward, so the motion that remains at the end is the reflection.
The strip of a grid is periodic. Meshes have no periodic sides, so a strip of water has rigid walls,
and each plane wave has a mirror image.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, cos, radians, sin
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.meshes.box import Box
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.plane_waves import Harmonic, PlaneWaves
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.setup import prepare
from groundswell.solvers.dgwave.solver import DgWave
from groundswell.solvers.dgwave.verification.layers import DEGREE, H, Packet, norm
from groundswell.solvers.dgwave.verification.mesh_files import write_mesh
from groundswell.solvers.dgwave.verification.sponge_theory import reflection_coefficient
from groundswell.verify import Check

WATER = HomogeneousMedium(vp=1500.0, vs=0.0, rho=1000.0)
LENGTH = 2.5  # wavelength, elements
# By angle of incidence, degrees, and width of the sponge, elements: largest amplitude, %.
LIMITS = {(45, 10): 0.075, (30, 10): 0.085, (60, 10): 0.105, (45, 5): 0.13}
ROCK_LIMIT = 0.035  # of P and S waves, %
THEORY_TOLERANCE = 0.02
WARPED_RATIO = {30: 1.02, 45: 1.02, 60: 1.1}  # by angle, degrees
PACKETS = {False: [*LIMITS][:1], True: [*LIMITS]}
SPAN = 4.0  # half width of a packet along the vertical, vertical wavelengths
DEVIATIONS = np.linspace(-4, 4, 41)  # of vertical wavenumbers, standard deviations
WEIGHTS = np.exp(-(DEVIATIONS**2) / 2)
WALLS = dict.fromkeys(("west", "east", "south", "north"), "rigid") | {"top": "absorbing"}
WARP = 0.15  # displacement of inner corners over the edge of an element


@dataclass(frozen=True)
class DownwardPacket(Packet):
    """A packet of plane waves that propagate downward to a sponge; see `Packet`."""

    signs: ClassVar[tuple[int, ...]] = (1,)  # of propagation along x

    @property
    def half_width(self) -> float:
        """Half width of the envelope along the vertical, m."""
        return SPAN * self.length * H / cos(radians(self.angle))

    @property
    def depth(self) -> int:
        """Number of elements above the layer."""
        return ceil(4 * self.half_width / H)

    @property
    def wavenumbers(self) -> tuple[float, Floats]:
        """Wavenumber along x, and those along z, of the plane waves, 1/m."""
        angle, wavenumber = radians(self.angle), 2 * np.pi / (self.length * H)
        spread = np.sqrt(8) / self.half_width  # of the Gaussian envelope
        return wavenumber * sin(angle), wavenumber * cos(angle) + spread * DEVIATIONS

    def fields(self, points: Floats) -> Floats:
        """The initial fields, (9, ...), at points (3, ...)."""
        along, down = self.wavenumbers
        waves = [self._waves(along, d) for d in down]
        motion = ([wave.stress(points, 0.0), wave.velocity(points, 0.0)] for wave in waves)
        return sum(w * np.concatenate(m) for w, m in zip(WEIGHTS, motion, strict=True))

    def _waves(self, along: float, down: float) -> PlaneWaves:
        """Plane waves with these wavenumbers, which are in phase in the middle of the strip."""
        waves = [self.plane_wave(sign * along, down) for sign in self.signs]
        omega = np.hypot(along, down) / float(np.linalg.norm(waves[0].slowness))
        return PlaneWaves(waves, Harmonic(omega), (0.0, 0.0, self.depth * H / 2))

    @property
    def expected(self) -> float:
        """Amplitude of the reflection of sound in theory, relative to the packet."""
        along, down = self.wavenumbers
        thickness = np.hypot(along, down) * self.width * H / (2 * np.pi)
        found = reflection_coefficient(np.degrees(np.arctan2(along, down)), thickness)
        return float(np.linalg.norm(WEIGHTS * found) / np.linalg.norm(WEIGHTS))

    def returned(self, backend: Backend) -> float:
        """Amplitude of the reflection relative to the packet."""
        return self.reflected(backend, self._case(self.depth, "sponge", "auto"))

    def reflected(self, backend: Backend, case: DgWaveCase) -> float:
        """Amplitude of the final motion above the layer of a case, relative to the packet."""
        start, end = self.motion(DgWave(prepare(case), backend))
        return norm(end) / norm(start)


@dataclass(frozen=True)
class Sound(DownwardPacket):
    """A packet of sound between rigid walls; see `DownwardPacket`."""

    medium = WATER
    signs = (1, -1)
    measured = slice(0, 1)  # pressure; the interpolated velocity has some curl, which stays

    def fields(self, points: Floats) -> Floats:
        """The initial pressure and velocity, (4, ...), at points (3, ...)."""
        elastic = super().fields(points)
        return np.concatenate([-elastic[:1], elastic[-3:]])

    def of_mesh(self, backend: Backend, warp: float) -> float:
        """Amplitude of the reflection from a sponge at the bottom of a mesh."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "strip.med")
            write_mesh(path, self._mesh(warp))
            surfaces = {**WALLS, "bottom": {"kind": "sponge", "width": self.width * H}}
            grid, boundary = {"file": path, "vertical": "down"}, {"surfaces": surfaces}
            return self.reflected(backend, self.make_case("auto", grid=grid, boundary=boundary))

    def _mesh(self, warp: float) -> Box:
        """Elements whose inner corners are moved by a fraction of an edge along x and z."""
        counts = self.across, 1, self.depth + self.width
        size = self.across * self.spacing[0], H, counts[2] * H

        def move(points: Floats) -> Floats:
            x, _, z = np.moveaxis(points, -1, 0)
            inside = np.sin(np.pi * x / size[0]) * (z > 0) * (z < size[2])
            shift = warp * H * inside * np.sin(2.4 * z / H)
            return points + np.stack([shift, 0 * shift, -shift], axis=-1)

        return Box(counts, high=size, deform=move, order=1)


def reflection(backend: Backend, full: bool) -> Iterator[Check]:
    """Oblique sound at sponges: grids reflect as much as in theory, and meshes hardly more."""
    note = f"{LENGTH:g} elements per wavelength, degree {DEGREE}"
    for angle, width in PACKETS[full]:
        sound = Sound("P", angle, LENGTH, width)
        of_grid, of_mesh = sound.returned(backend), sound.of_mesh(backend, WARP)
        name = f"sound at {angle} degrees: amplitude returned by {width} elements"
        yield Check.at_most(f"{name}, grid", 100 * of_grid, LIMITS[angle, width], "%", note)
        ratio = of_grid / sound.expected
        yield Check.near(f"{name}, grid over theory", ratio, 1.0, THEORY_TOLERANCE)
        warped = f"{name}, warped elements over grid"
        yield Check.at_most(warped, of_mesh / of_grid, WARPED_RATIO[angle])
    for kind in "PS" * full:
        found = 100 * DownwardPacket(kind, 45, LENGTH, 10).returned(backend)
        name = f"{kind} waves at 45 degrees: amplitude returned by 10 elements, grid"
        yield Check.at_most(name, found, ROCK_LIMIT, "%", note)
