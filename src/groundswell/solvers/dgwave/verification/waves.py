"""Plane, standing and interface waves: errors, and orders of convergence in space.

For the Riemann flux, the order follows from the errors on two meshes. The orders of the central
flux are irregular, so its errors have limits instead. Errors are those of all fields in the energy
norm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import log

import numpy as np

from groundswell.backends import Backend
from groundswell.seismology.reference.half_spaces import Interface
from groundswell.seismology.reference.interface_waves import interface_wave, interface_wave_speed
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.plane_waves import (
    Harmonic,
    PlaneWave,
    PlaneWaves,
    StandingWave,
    Wall,
)
from groundswell.solvers.dgwave.equations import FREE_SURFACE, RIGID
from groundswell.solvers.dgwave.verification.boxes import (
    AtInterface,
    Box,
    cubes,
    homogeneous,
    two_halves,
)
from groundswell.verify import Check

ROCK = HomogeneousMedium(vp=3000.0, vs=1700.0, rho=2500.0)
WATER = HomogeneousMedium(vp=1500.0, vs=0.0, rho=1000.0)
TORUS = (True, True, True)

SIZE = np.array([1200.0, 1500.0, 1920.0])  # m; elements have three different edges
WAVE_NUMBERS = 2 * np.pi / SIZE * [1, 1, -1]
TRANSVERSE = (2.0, 1.0, 0.5)  # the S wave moves along the part of this normal to the ray

ORDER = 0.5  # required order minus the degree
COUNTS = {False: (4, 6), True: (6, 9)}  # elements along each axis; quick and full
DEGREES = {False: (2, 4), True: (2, 3, 4, 5, 7)}
# Largest error of the central flux on the finer mesh, quick and full, by degree.
CENTRAL = {False: {2: 0.1, 4: 6e-4}, True: {2: 0.03, 3: 2e-3, 4: 8e-5, 5: 1e-5, 7: 1e-7}}
COURANT = {5: 0.4, 7: 0.15}  # for degrees with space errors below those of longer time steps


def plane_waves(backend: Backend, full: bool) -> Iterator[Check]:
    """Oblique P and S waves in a solid, and acoustic waves, in a periodic box for one period."""
    for name, wave in (
        ("P wave", PlaneWave.p(ROCK, WAVE_NUMBERS)),
        ("S wave", PlaneWave.s(ROCK, WAVE_NUMBERS, TRANSVERSE)),
        ("acoustic wave", PlaneWave.p(WATER, WAVE_NUMBERS)),
    ):
        yield from _orders(name, partial(_plane_error, backend, wave), DEGREES[full], full)


def _plane_error(
    backend: Backend, wave: PlaneWave, count: int, degree: int, upwind: float
) -> float:
    medium = wave.medium
    omega = float(np.linalg.norm(WAVE_NUMBERS) / np.linalg.norm(wave.slowness))
    forest = cubes((count,) * 3, SIZE, TORUS)
    courant = COURANT.get(degree, 1.0)
    box = Box(forest, degree, homogeneous(medium), medium.is_fluid, upwind, courant=courant)
    return box.error_at(backend, PlaneWaves([wave], Harmonic(omega)), 2 * np.pi / omega)


def _orders(
    name: str, error: Callable[[int, int, float], float], degrees: Sequence[int], full: bool
) -> Iterator[Check]:
    """Checks of each degree; `error(count, degree, upwind)` returns the error."""
    coarse, fine = COUNTS[full]
    for degree in degrees:
        first, second = (error(count, degree, 1.0) for count in (coarse, fine))
        order = log(first / second) / log(fine / coarse)
        note = f"errors {first:.2e}, {second:.2e} with {coarse}, {fine} elements per wavelength"
        yield Check.at_least(f"{name}, degree {degree}: order", order, degree + ORDER, note=note)
        title = f"{name}, degree {degree}, central flux: error"
        found = error(fine, degree, 0.0)
        yield Check.at_most(title, found, CENTRAL[full][degree], note=f"{fine} elements")


def standing_waves(backend: Backend, full: bool) -> Iterator[Check]:
    """Modes of water in a box with rigid walls and with pressure-release walls."""
    walls: dict[str, tuple[Wall, float]] = {
        "rigid walls": ("rigid", RIGID),
        "free surfaces": ("pressure-release", FREE_SURFACE),
    }
    for name, (wall, end) in walls.items():
        mode = StandingWave(WATER, tuple(SIZE), (1, 2, 2), [(wall, wall)] * 3)
        error = partial(_standing_error, backend, mode, end)
        yield from _orders(f"standing wave, {name}", error, DEGREES[full], full)


def _standing_error(
    backend: Backend, mode: StandingWave, end: float, count: int, degree: int, upwind: float
) -> float:
    forest = cubes((count,) * 3, SIZE, (False,) * 3)
    courant = COURANT.get(degree, 1.0)
    box = Box(forest, degree, homogeneous(WATER), True, upwind, (end,) * 6, courant)
    return box.error_at(backend, mode, 2 * np.pi / mode.omega)


# --- waves along interfaces -----------------------------------------------------------------------

LENGTH = 1000.0  # m, wavelength
SEDIMENT = HomogeneousMedium(vp=1730.0, vs=1000.0, rho=1000.0)
HEAVY = HomogeneousMedium(vp=1730.0, vs=1000.0, rho=10000.0)
FLUID = HomogeneousMedium(vp=1000.0, vs=0.0, rho=1000.0)
# The media above and below, and the thickness of the upper one, wavelengths.
INTERFACES: dict[str, tuple[HomogeneousMedium | None, HomogeneousMedium, int]] = {
    "Rayleigh wave": (None, SEDIMENT, 0),
    "Scholte wave": (FLUID, SEDIMENT, 10),
    "Stoneley wave": (HEAVY, SEDIMENT, 10),
}
LOWER = 10  # wavelengths: thickness of the lower medium; waves decay to nothing within it
INTERFACE_DEGREES = {False: (2,), True: (2, 3, 4, 5)}


def interface_waves(backend: Backend, full: bool) -> Iterator[Check]:
    """Rayleigh, Scholte and Stoneley waves for one period; they decay towards the ends."""
    for name in INTERFACES:
        error = partial(_interface_error, backend, name)
        yield from _orders(name, error, INTERFACE_DEGREES[full], full)


def _interface_error(backend: Backend, name: str, count: int, degree: int, upwind: float) -> float:
    """The error with `count` elements per wavelength along x and z, and one along y."""
    above, below, thickness = INTERFACES[name]
    depth = thickness * LENGTH
    plane = Interface(below, above, (0.0, 0.0, -1.0), (0.0, 0.0, depth))
    omega = 2 * np.pi / LENGTH * interface_wave_speed(plane)
    total = thickness + LOWER
    forest = cubes(
        (count, 1, total * count), (LENGTH, LENGTH / count, total * LENGTH), (True, True, False)
    )
    box = Box(forest, degree, two_halves(above or below, below, depth), False, upwind)
    wave = AtInterface(interface_wave(plane, (1.0, 0.0, 0.0), omega), box.is_above(depth))
    return box.error_at(backend, wave, 2 * np.pi / omega)
