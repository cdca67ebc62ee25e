"""Elements that are not bricks: order, uniform fields, energy, and a surface that is not flat."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import cos, hypot, log, log2, pi, radians, sin, tan
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import groundswell as gs
from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.meshes.octree_refinement import balance, refine
from groundswell.seismology.problems.case_sections import Table
from groundswell.seismology.reference.fullspace import explosion_velocity
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.plane_waves import Harmonic, PlaneWave, PlaneWaves
from groundswell.seismology.reference.pulse import Pulse
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.verification.boxes import Box, Media, cubes, homogeneous
from groundswell.verify import Check

ROCK = HomogeneousMedium(vp=1700.0, vs=1000.0, rho=1200.0)
WATER = HomogeneousMedium(vp=1500.0, vs=0.0, rho=1000.0)
EDGE_OF_BOX = 1000.0  # m
WARP = 0.05  # displacement of nodes, of the edge of the box
FIELDS = {"elastic": ROCK, "acoustic": WATER}


def warp(points: Floats) -> Floats:
    """Positions in a periodic cube whose planes are bent along all axes."""
    angles = 2 * pi / EDGE_OF_BOX * points
    move = np.sin(angles[..., [1, 2, 0]] + angles + [0.3, 1.0, 2.0])
    return np.asarray(points + WARP * EDGE_OF_BOX * move)


def warped_box(
    degree: int, count: int, media: Media, *, halved: bool = False, **options: Any
) -> Box:
    """A periodic cube of count^3 warped elements; see `Box` for options.

    Args:
        halved: whether elements in one half of the cube are halved.
    """
    forest = cubes((count,) * 3, (EDGE_OF_BOX,) * 3, (True,) * 3)
    if halved:
        forest = balance(refine(forest, lambda low, high: (low + high)[:, 2] < EDGE_OF_BOX, 1))
    return Box(forest, degree, media, deform=warp, **options)


# --- plane waves ----------------------------------------------------------------------------------

RAY = (1.0, 1.0, 0.0)
WAVES = {
    "sound": PlaneWave.p(WATER, RAY),
    "P wave": PlaneWave.p(ROCK, RAY),
    "S wave": PlaneWave.s(ROCK, RAY, (1.0, -1.0, 1.0)),
}
# Elements along an edge of the coarse mesh, by degree; the fine mesh has twice as many.
COARSE = {False: {3: 5}, True: {2: 8, 3: 6, 4: 5}}


def plane_waves(backend: Backend, full: bool) -> Iterator[Check]:
    """Order of convergence on warped elements, of oblique waves in the energy norm."""
    for degree, coarse in COARSE[full].items():
        for name, wave in WAVES.items():
            counts = (coarse, 2 * coarse)
            errors = [_wave_error(backend, wave, degree, count) for count in counts]
            rate = log2(errors[0] / errors[1])
            note = f"errors {errors[0]:.2g} and {errors[1]:.2g}"
            label = f"warped elements, {name}: order, degree {degree}"
            yield Check.at_least(label, rate, degree + 0.5, note=note)


# Elements along an edge of the coarse and the fine mesh, before some are halved; by degree.
HALVED = {2: (4, 6), 3: (3, 5), 4: (3, 5)}


def halved_elements(backend: Backend, full: bool) -> Iterator[Check]:
    """Order of convergence of the same waves if elements in one half of the cube are halved.

    As for bricks, the projection from quarters to whole faces lowers the order by up to one half.
    """
    for degree in (2, 3, 4) if full else (3,):
        for name, wave in WAVES.items():
            coarse, fine = HALVED[degree]
            errors = [_wave_error(backend, wave, degree, n, halved=True) for n in (coarse, fine)]
            rate = log(errors[0] / errors[1]) / log(fine / coarse)
            note = f"errors {errors[0]:.2g} and {errors[1]:.2g}"
            label = f"warped and halved elements, {name}: order, degree {degree}"
            yield Check.at_least(label, rate, degree, note=note)


def _wave_error(
    backend: Backend, wave: PlaneWave, degree: int, count: int, *, halved: bool = False
) -> float:
    """Relative error of a plane wave, once along x and y in the cube, after a third of a period."""
    medium, ray = wave.medium, float(np.linalg.norm(wave.slowness))
    omega = 2 * pi / EDGE_OF_BOX * hypot(*RAY) / ray
    box = warped_box(degree, count, homogeneous(medium), acoustic=medium.is_fluid, halved=halved)
    return box.error_at(backend, PlaneWaves([wave], Harmonic(omega)), 2 * pi / omega / 3)


# --- uniform fields and energy --------------------------------------------------------------------


def uniform_fields(backend: Backend, full: bool) -> Iterator[Check]:
    """Uniform fields stay uniform whatever the shape of elements: free-stream preservation."""
    for (kind, medium), halved in product(FIELDS.items(), (False, True)):
        options: dict[str, bool] = {"acoustic": medium.is_fluid, "halved": halved}
        box = warped_box(5 if full else 4, 2 if halved else 3, homogeneous(medium), **options)
        u = np.zeros_like(box.random_fields(0))
        scales = [medium.rho * medium.vp] * (u.shape[1] - 3) + [1.0] * 3
        u += (np.cos(np.arange(u.shape[1])) * scales)[:, None]
        found = box.advanced(backend, u, 20 * box.dt)
        change = box.error(found, u)
        name = f"{_shape(halved)}, {kind}: change of uniform fields"
        yield Check.at_most(name, change, 1e-13)


def _shape(halved: bool) -> str:
    return f"warped{' and halved' * halved} elements"


def energy(backend: Backend, full: bool) -> Iterator[Check]:
    """Energy of noise: the central flux conserves it but for the time steps; Riemann's loses it.

    Densities differ from element to element. The scheme in time loses a share that falls with the
    fifth power of the step over a fixed time.
    """
    steps = 400 if full else 100
    for (kind, medium), halved in product(FIELDS.items(), (False, True)):
        options: dict[str, bool] = {"acoustic": medium.is_fluid, "halved": halved}
        for flux, upwind, limit in (("central", 0.0, 1e-9), ("Riemann", 1.0, None)):
            density = _of_varied_density(medium)
            box = warped_box(3, 3, density, upwind=upwind, courant=1 / 50, **options)
            u = box.random_fields(0)
            found = box.advanced(backend, u, steps * box.dt)
            gain = box.product(found, found).sum() / box.product(u, u).sum() - 1
            name = f"{_shape(halved)}, {kind}: energy with the {flux} flux"
            yield Check.at_most(name, abs(gain) if limit else gain, limit or -1e-3)


def _of_varied_density(medium: HomogeneousMedium) -> Media:
    def media(places: Floats) -> list[Floats]:
        vp, vs, rho = homogeneous(medium)(places)
        return [vp, vs, rho * (1 + 0.3 * np.sin(np.arange(rho.size)))]

    return media


# --- topography -----------------------------------------------------------------------------------

TILT = radians(25.0)
MOMENT, SIGMA, DELAY = 1e12, 0.04, 0.2  # N m, s, s
SIZE, EDGE = (1200.0, 600.0, 720.0), 120.0  # m, of the region and its elements
START = 500.0  # m along x, where the slope has elevation 0
SOURCE = (500.0, 300.0, 250.0)  # x, y, depth below the slope, m
RECEIVERS = ((700.0, 300.0, 150.0), (330.0, 350.0, 200.0), (500.0, 130.0, 0.0))


def tilted_surface(backend: Backend, full: bool) -> Iterator[Check]:
    """An explosion in water below a slope without pressure: the source and its mirror image.

    The surface cuts through the coordinates, and elements are sheared. Errors are those of the
    velocity at all times, over the largest of it.
    """
    degree, width = (5, 8) if full else (4, 4)
    time, motion = _below_slope(backend, degree, width)
    for n, place in enumerate(RECEIVERS):
        exact = _mirrored(place, time)
        error = 100 * np.abs(motion[n] - exact).max() / np.abs(exact).max()
        name = f"water below a slope: velocity {place[2]:g} m below"
        note = f"degree {degree}, matched layers of {width} elements"
        yield Check.at_most(name, error, 1.5 if full else 8.0, "%", note)


def _true(place: tuple[float, float, float]) -> Floats:
    """Coordinates of a position that is given by its depth below the slope."""
    x, y, depth = place
    return np.array([x, y, depth - tan(TILT) * (x - START)])


def _mirrored(place: tuple[float, float, float], time: Floats) -> Floats:
    """The velocity of an explosion and, against it, of its mirror image, (3, n), m/s."""
    normal, source, at = np.array([sin(TILT), 0, cos(TILT)]), _true(SOURCE), _true(place)
    distance = normal @ (source - [START, 0, 0])
    image = source - 2 * distance * normal
    pulse = Pulse.gaussian(SIGMA, DELAY)
    ours, theirs = (explosion_velocity(WATER, MOMENT, at - s, time, pulse) for s in (source, image))
    return ours - theirs


def _below_slope(backend: Backend, degree: int, width: int) -> tuple[Floats, Floats]:
    """Times (n,), and velocity along x, y and down, (receivers, 3, n), m/s."""
    history = {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY}
    x, y, depth = SOURCE
    content: Table = {
        "solver": "dgwave",
        "grid": {"size": SIZE, "spacing": EDGE},
        "time": {"duration": 0.6},  # before waves return from the ends of the slope
        "medium": {"kind": "homogeneous", "vp": WATER.vp, "vs": 0.0, "rho": WATER.rho},
        "method": {"degree": degree},
        "boundary": {"width": width},
        "topography": {"kind": "formula", "elevation": f"{tan(TILT)} * (x - {START})"},
        "source": [
            {"kind": "explosion", "moment": MOMENT, "x": x, "y": y, "depth": depth,
             "time_function": history}
        ],
        "receiver": [
            {"name": f"R{n}", "x": x, "y": y, "depth": depth}
            for n, (x, y, depth) in enumerate(RECEIVERS)
        ],
        "run": {"backend": backend.name, "precision": "single"},
    }  # fmt: skip
    with TemporaryDirectory() as folder:
        found = gs.run(DgWaveCase.from_dict(content, folder), folder=folder).seismograms
        upwards = np.array([1, 1, -1])[:, None]
        return found.time.values, found.values * upwards
