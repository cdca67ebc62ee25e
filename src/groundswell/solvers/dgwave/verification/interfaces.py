"""Plane waves at interfaces: reflection, transmission, and interfaces that must have no effect.

The initial fields are the exact motion with all reflected and transmitted waves. The boundaries of
the box cause errors. Only elements that these errors cannot have reached by the end are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import cos, log, radians, sin

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.backends import Backend
from groundswell.meshes.octree_refinement import balance, refine
from groundswell.seismology.reference.half_spaces import Interface, total_field
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.plane_waves import Harmonic, PlaneWave, PlaneWaves
from groundswell.solvers.dgwave.verification.boxes import (
    AtInterface,
    Box,
    cubes,
    homogeneous,
    two_halves,
)
from groundswell.verify import Check

WATER = HomogeneousMedium(vp=1500.0, vs=0.0, rho=1000.0)
SANDSTONE = HomogeneousMedium(vp=3000.0, vs=1500.0, rho=2200.0)
SEDIMENT = HomogeneousMedium(vp=2600.0, vs=1400.0, rho=2050.0)
ROCK = HomogeneousMedium(vp=6000.0, vs=3460.0, rho=2700.0)

WAVELENGTH = 1000.0  # m, of the incident wave
DEPTH = 4  # wavelengths, of the interface, and below it
MARGIN = 2  # wavelengths; numerical errors from the boundaries precede the fastest wave
PERIODS = 0.25
COUNTS = {False: (3, 5), True: (6, 9)}  # elements per wavelength, quick and full
DEGREES = {False: (4,), True: (3, 4, 5)}

CASES = (
    ("P wave, water over sandstone", "P", WATER, SANDSTONE),
    ("P wave, sandstone over water", "P", SANDSTONE, WATER),
    ("P wave, sediment over rock", "P", SEDIMENT, ROCK),
    ("SV wave, sediment over rock", "SV", SEDIMENT, ROCK),
    ("SH wave, sediment over rock", "SH", SEDIMENT, ROCK),
    ("SV wave, sandstone over water", "SV", SANDSTONE, WATER),
)


def normal_incidence(backend: Backend, full: bool) -> Iterator[Check]:
    """Waves at normal incidence: reflection and transmission coefficients of fluids and solids."""
    chosen = CASES if full else CASES[:4]
    return _checks(backend, chosen, 0.0, full)


def oblique_incidence(backend: Backend, full: bool) -> Iterator[Check]:
    """Waves at 20 degrees: converted waves, and slip along water."""
    chosen = CASES if full else (CASES[0], CASES[3], CASES[5])
    return _checks(backend, chosen, 20.0, full)


def _checks(
    backend: Backend,
    cases: tuple[tuple[str, str, HomogeneousMedium, HomogeneousMedium], ...],
    angle: float,
    full: bool,
) -> Iterator[Check]:
    coarse, fine = COUNTS[full]
    for name, kind, above, below in cases:
        for degree in DEGREES[full]:
            error = partial(_error, backend, _incident(kind, above, angle), below, degree)
            first, second = error(coarse), error(fine)
            order = log(first / second) / log(fine / coarse)
            note = f"errors {first:.2e}, {second:.2e} with {coarse}, {fine} elements per wavelength"
            title = f"{name}, {angle:g} degrees, degree {degree}: order"
            yield Check.at_least(title, order, degree + 0.5, note=note)


def _incident(kind: str, medium: HomogeneousMedium, angle: float) -> PlaneWave:
    """A wave that propagates downward at an angle from the vertical, degrees."""
    along, down = sin(radians(angle)), cos(radians(angle))
    if kind == "P":
        return PlaneWave.p(medium, (along, 0.0, down))
    motion = (down, 0.0, -along) if kind == "SV" else (0.0, 1.0, 0.0)
    return PlaneWave.s(medium, (along, 0.0, down), motion)


def _error(
    backend: Backend, incident: PlaneWave, below: HomogeneousMedium, degree: int, count: int
) -> float:
    """Relative error with `count` elements per wavelength of the incident wave."""
    omega = 2 * np.pi / (WAVELENGTH * float(np.linalg.norm(incident.slowness)))
    depth, end = DEPTH * WAVELENGTH, PERIODS * 2 * np.pi / omega
    along = float(incident.slowness[0])
    width = 2 * np.pi / (omega * along) if along else WAVELENGTH / count
    across = max(1, round(width / WAVELENGTH * count))
    size = (width, WAVELENGTH / count, 2 * depth)
    forest = cubes((across, 1, 2 * DEPTH * count), size, (True, True, False))
    box = Box(forest, degree, two_halves(incident.medium, below, depth))
    # The interface's second half-space lies above it: waves go up, from below.
    plane = Interface(incident.medium, below, (0.0, 0.0, 1.0), (0.0, 0.0, depth))
    motion = AtInterface(total_field(plane, incident, Harmonic(omega)), ~box.is_above(depth))
    return box.error_at(backend, motion, end, _untouched(box, end))


def _untouched(box: Box, end: float) -> Mask:
    """Which elements nothing from the boundaries of the box can have reached at time `end`, s."""
    z, height = box.points[2], box.points[2].max()
    reach = float(box.material.vp.max()) * end + MARGIN * WAVELENGTH
    return np.asarray((z.min(axis=1) > reach) & (z.max(axis=1) < height - reach))


# --- elements of different sizes ------------------------------------------------------------------

HALVED_COUNTS = {False: (4, 6), True: (6, 8)}  # elements along an edge, which is 1.7 wavelengths
HALVED_DEGREES = {False: (3,), True: DEGREES[True]}


def halved_elements(backend: Backend, full: bool) -> Iterator[Check]:
    """Plane waves along a diagonal of a homogeneous cube; elements in one half of it are halved.

    The order equals the degree. The quadrature of the projection from quarters to whole faces costs
    up to half an order.
    """
    coarse, fine = HALVED_COUNTS[full]
    for name, wave in (
        ("P wave", PlaneWave.p(ROCK, (1.0, 1.0, 1.0))),
        ("S wave", PlaneWave.s(ROCK, (1.0, 1.0, 1.0), (1.0, -1.0, 0.0))),
        ("acoustic wave", PlaneWave.p(WATER, (1.0, 1.0, 1.0))),
    ):
        for degree in HALVED_DEGREES[full]:
            first, second = (_halved_error(backend, wave, degree, n) for n in (coarse, fine))
            order = log(first / second) / log(fine / coarse)
            note = f"errors {first:.2e}, {second:.2e} with {coarse}, {fine} elements per edge"
            title = f"{name} through halved elements, degree {degree}: order"
            yield Check.at_least(title, order, degree, note=note)


def _halved_error(backend: Backend, wave: PlaneWave, degree: int, count: int) -> float:
    """Relative error after a period in a periodic cube."""
    size = WAVELENGTH * np.sqrt(3.0)

    def wanted(lower: Floats, upper: Floats) -> Mask:
        return np.asarray((lower + upper)[:, 2] < size)

    bricks = cubes((count,) * 3, (size,) * 3, (True,) * 3)
    forest = balance(refine(bricks, wanted, 1))
    period = WAVELENGTH * float(np.linalg.norm(wave.slowness))
    box = Box(forest, degree, homogeneous(wave.medium), wave.medium.is_fluid)
    return box.error_at(backend, PlaneWaves([wave], Harmonic(2 * np.pi / period)), period)
