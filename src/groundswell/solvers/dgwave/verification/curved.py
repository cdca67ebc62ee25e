"""Elements that are not bricks: order, uniform fields, energy, and a surface that is not flat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, cos, log2, pi, radians, sin, tan
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import groundswell as gs
from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.meshes.gll import gll
from groundswell.meshes.leaves import Leaves
from groundswell.meshes.octree import uniform_forest
from groundswell.seismology.media.material import Material, lame
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.curved import CurvedElements
from groundswell.solvers.dgwave.elements import RankElements
from groundswell.solvers.dgwave.equations import ACOUSTIC, ELASTIC, FaceSides
from groundswell.solvers.dgwave.propagation import Discretisation, Propagation
from groundswell.solvers.dgwave.terms import Terms
from groundswell.spectral_elements.curl_form import jacobians
from groundswell.time_integration.step_limits import dg_step
from groundswell.verify import Check

Floats = NDArray[np.float64]

MEDIUM = {"vp": 1.7, "vs": 1.0, "rho": 1.2}
WARP = 0.05  # displacement of nodes, of the size of the box


def warp(points: Floats) -> Floats:
    """Positions in a periodic unit box whose planes are bent along all axes."""
    angles = 2 * pi * points
    move = np.sin(angles[..., [1, 2, 0]] + angles + [0.3, 1.0, 2.0])
    return np.asarray(points + WARP * move)


@dataclass(frozen=True, eq=False)
class WarpedBox:
    """A periodic unit box of warped elements of one medium.

    Args:
        counts: elements along x, y, z.
        upwind: share of the Riemann flux.
        varied: share by which density varies from element to element.
    """

    degree: int
    counts: tuple[int, int, int]
    elastic: bool = True
    upwind: float = 1.0
    varied: float = 0.0

    @cached_property
    def mesh(self) -> Leaves:
        """The elements."""
        edges = [np.linspace(0, 1, n + 1) for n in self.counts]
        return Leaves(uniform_forest(edges, 0, (True, True, True)), warp, self.degree)

    @cached_property
    def curved(self) -> CurvedElements:
        """Their geometry."""
        return CurvedElements(self.mesh, self.degree)

    @property
    def x(self) -> Floats:
        """Positions of the nodes, (3, elements, nodes)."""
        return np.moveaxis(self.mesh.geometry_nodes(np.arange(self.mesh.count)), -1, 0)

    @cached_property
    def material(self) -> Material:
        """Arrays (elements,)."""
        one = np.ones(self.mesh.count)
        factor = 1 + self.varied * np.sin(np.arange(self.mesh.count))
        vs = MEDIUM["vs"] * one * self.elastic
        return Material(MEDIUM["vp"] * one, vs, MEDIUM["rho"] * factor)

    @cached_property
    def dt(self) -> float:
        """The longest stable step, s."""
        step = dg_step(self.curved.edges, self.material.vp, self.degree, self.upwind)
        return float(step.min())

    def problem(self, dt: float) -> Discretisation:
        """What is solved with a time step."""
        elements = RankElements(self.mesh.forest, np.array([0, self.mesh.count]), 0)
        own = elements.numbers
        beyond = Material(**{n: v[elements.neighbours] for n, v in self.material.given().items()})
        nowhere = np.zeros(beyond.vp.shape, bool)
        none = np.empty((0, 4))
        no_mortars = FaceSides(Material(none, none, none), none.astype(bool), none, self.upwind)
        equations = ELASTIC if self.elastic else ACOUSTIC
        return Discretisation(
            equations,
            self.degree,
            "float64",
            dt,
            elements,
            self.material,
            FaceSides(beyond, nowhere, nowhere.astype(float), self.upwind),
            no_mortars,
            Terms(self.degree, len(equations.fields), len(own)),
            metrics=self.curved.metrics(own, "float64"),
        )

    def advanced(self, backend: Backend, u: Floats, dt: float, steps: int) -> Floats:
        """Fields (elements, fields, nodes) after some steps."""
        found = Propagation(backend, SerialCommunicator(), self.problem(dt))
        backend.assign(found.u, u)
        in_order(found.prepare)()
        step = in_order(found.step)
        for _ in range(steps):
            step()
        backend.synchronize()
        result = np.array(backend.to_host(found.u))
        found.traces.close()
        return result

    def energy(self, u: Floats) -> float:
        """Kinetic and strain energy."""
        metrics = self.curved.metrics(np.arange(self.mesh.count), "float64")
        weights = jacobians(np.asarray(metrics, float)) * gll(self.degree).cube_weights
        (lam, mu), rho = lame(self.material), self.material.rho
        kinetic = rho[:, None] * (u[:, -3:] ** 2).sum(axis=1)
        if not self.elastic:
            return float((weights * (kinetic + u[:, 0] ** 2 / lam[:, None])).sum() / 2)
        trace = u[:, :3].sum(axis=1)
        square = (u[:, :3] ** 2).sum(axis=1) + 2 * (u[:, 3:6] ** 2).sum(axis=1)
        volume = (lam / (3 * lam + 2 * mu))[:, None] * trace**2
        strain = (square - volume) / (2 * mu[:, None])
        return float((weights * (kinetic + strain)).sum() / 2)


# --- plane waves ----------------------------------------------------------------------------------

WAVES = {  # elastic, direction of motion
    "sound": (False, (1.0, 1.0, 0.0)),
    "P wave": (True, (1.0, 1.0, 0.0)),
    "S wave": (True, (1.0, -1.0, 1.0)),
}
COARSE = {2: 8, 3: 6, 4: 5}  # elements along an edge, by degree; the fine mesh has twice as many


def plane_waves(backend: Backend, full: bool) -> Iterator[Check]:
    """Order of convergence on warped elements, of oblique waves in the energy norm."""
    for degree in (2, 3, 4) if full else (3,):
        for name, (elastic, motion) in WAVES.items():
            errors = [
                wave_error(backend, WarpedBox(degree, (n, n, n), elastic), motion)
                for n in (COARSE[degree], 2 * COARSE[degree])
            ]
            rate = log2(errors[0] / errors[1])
            note = f"errors {errors[0]:.2g} and {errors[1]:.2g}"
            label = f"warped elements, {name}: order, degree {degree}"
            yield Check.at_least(label, rate, degree + 0.5, note=note)


def wave_error(backend: Backend, box: WarpedBox, motion: ArrayLike) -> float:
    """Relative error of a plane wave along (1, 1, 0) after a third of a period."""
    k, a = 2 * pi * np.array([1.0, 1.0, 0.0]), np.asarray(motion, float)
    lam, mu = np.ravel(lame(box.material))[[0, -1]]
    speed = MEDIUM["vp"] if a @ k else MEDIUM["vs"]
    omega = speed * float(np.linalg.norm(k))
    stress = -(lam * (a @ k) * np.eye(3) + mu * (np.outer(a, k) + np.outer(k, a))) / omega
    rows = stress[(0, 1, 2, 1, 0, 0), (0, 1, 2, 2, 2, 1)] if box.elastic else [-stress[0, 0]]
    amplitudes = np.concatenate([rows, a])

    def exact(t: float) -> Floats:
        phase = np.tensordot(k, box.x, 1) - omega * t
        return np.asarray(amplitudes[:, None] * np.sin(phase)[:, None])

    end = 2 * pi / omega / 3
    steps = ceil(end / box.dt)
    found = box.advanced(backend, exact(0.0), end / steps, steps)
    return float(np.sqrt(box.energy(found - exact(end)) / box.energy(exact(end))))


# --- uniform fields and energy --------------------------------------------------------------------


def uniform_fields(backend: Backend, full: bool) -> Iterator[Check]:
    """Uniform fields stay uniform whatever the shape of elements: free-stream preservation."""
    for elastic in (True, False):
        box = WarpedBox(5 if full else 4, (3, 3, 3), elastic)
        values = np.cos(np.arange(9 if elastic else 4))[:, None]
        u = np.broadcast_to(values, (box.mesh.count, len(values), box.x.shape[-1]))
        found = box.advanced(backend, u, box.dt, 20)
        kind = "elastic" if elastic else "acoustic"
        change = float(np.abs(found - u).max())
        yield Check.at_most(f"warped elements, {kind}: change of uniform fields", change, 1e-12)


def energy(backend: Backend, full: bool) -> Iterator[Check]:
    """Energy of noise: the central flux conserves it but for the time steps; Riemann's loses it.

    Materials differ from element to element. The scheme in time loses a share that falls with the
    fifth power of the step over a fixed time.
    """
    steps = 400 if full else 100
    for elastic in (True, False):
        kind = "elastic" if elastic else "acoustic"
        for upwind, limit in ((0.0, 1e-9), (1.0, None)):
            box = WarpedBox(3, (3, 3, 3), elastic, upwind, 0.3)
            fields = 9 if elastic else 4
            rng = np.random.default_rng(0)
            u = rng.standard_normal((box.mesh.count, fields, box.x.shape[-1]))
            before = box.energy(u)
            gain = box.energy(box.advanced(backend, u, box.dt / 50, steps)) / before - 1
            flux = "central" if limit else "Riemann"
            name = f"warped elements, {kind}: energy with the {flux} flux"
            yield Check.at_most(name, abs(gain) if limit else gain, limit or -1e-3)


# --- topography -----------------------------------------------------------------------------------

SPEED, RHO = 1500.0, 1000.0  # of the water, m/s and kg/m^3
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
    """The velocity of an explosion and, against it, of its mirror image, (3, n), m/s.

    With the rate m(t) of its moment, the radial velocity is (m(s) / r^2 + m'(s) / (c r)) / (4 pi
    rho c^2), s = t - r / c (Pierce, Acoustics, 1981, section 4.3).
    """
    normal, source, at = np.array([sin(TILT), 0, cos(TILT)]), _true(SOURCE), _true(place)
    distance = normal @ (source - [START, 0, 0])
    motion = np.zeros((3, len(time)))
    for sign, origin in ((1, source), (-1, source - 2 * distance * normal)):
        r = float(np.linalg.norm(at - origin))
        late = (time - r / SPEED - DELAY) / SIGMA
        rate = MOMENT * np.exp(-(late**2) / 2) / (SIGMA * np.sqrt(2 * pi))
        radial = rate / r**2 - rate * late / SIGMA / (SPEED * r)
        motion += sign * np.outer((at - origin) / r, radial) / (4 * pi * RHO * SPEED**2)
    return motion


def _below_slope(backend: Backend, degree: int, width: int) -> tuple[Floats, Floats]:
    """Times (n,), and velocity along x, y and down, (receivers, 3, n), m/s."""
    history = {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY}
    x, y, depth = SOURCE
    content: dict[str, Any] = {
        "solver": "dgwave",
        "grid": {"size": SIZE, "spacing": EDGE},
        "time": {"duration": 0.6},  # before waves return from the ends of the slope
        "medium": {"kind": "homogeneous", "vp": SPEED, "vs": 0.0, "rho": RHO},
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
