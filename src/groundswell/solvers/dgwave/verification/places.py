"""Point sources at several places of their elements, in a full space.

Exact solutions are those of Aki and Richards and of a pressure source. Distances are in edges of an
element; differences are root mean squares over eight directions and all times, relative to all
motion at the distance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.problems.case_sections import Table, point, receivers
from groundswell.seismology.problems.fullspace import DIP, MOMENT, RAKE, STRIKE
from groundswell.seismology.reference.fullspace import (
    double_couple_tensor,
    explosion_velocity,
    force_velocity,
    moment_velocity,
)
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.pulse import Pulse
from groundswell.solvers.dgwave.verification.simulation import make_case, motion
from groundswell.verify import Check

DEGREE, ELEMENTS = 5, 5  # elements along an edge of the region
SIGMA, DELAY = 0.16, 0.8  # s
# Travel time of the slowest waves along an element, s: seven points per wavelength where the
# spectrum is 5 % of its peak.
CROSSING = 0.4
ROCK = HomogeneousMedium(vp=3500.0, vs=2000.0, rho=2500.0)
WATER = HomogeneousMedium(vp=1500.0, vs=0.0, rho=1000.0)
PULSE = Pulse.gaussian(SIGMA, DELAY)
FORCE_VECTOR = np.array([4e11, -3e11, 1e12])  # N
PULSE_AREA = SIGMA * np.sqrt(2 * np.pi)  # s; the amplitude of a force has the peak 1

# Distance of the source from the middle of an element along x, y, z, in edges.
PLACES = {
    "at an arbitrary place": (-0.18, 0.14, -0.03),
    "on an edge": (0.5, 0.5, -0.14),
    "in the middle": (0.0, 0.0, 0.0),
    "on a face": (0.5, 0.0, 0.0),
    "on a corner": (0.5, 0.5, 0.5),
}


@dataclass(frozen=True, eq=False)
class _Source:
    """A kind of source.

    Args:
        table: its entries of a `[[source]]` table.
        medium: around it.
        velocity: the exact one, (3, n), m/s, at an offset from the source, (3,), m, and times,
            (n,), s.
        limits: of the difference, %, by distance.
        quick: places in the quick form.
    """

    table: Table
    medium: HomogeneousMedium
    velocity: Callable[[Floats, Floats], Floats]
    limits: dict[float, float]
    quick: tuple[str, ...]

    @property
    def edge(self) -> float:
        """Edge of an element, m."""
        return CROSSING * (self.medium.vs or self.medium.vp)

    @property
    def offsets(self) -> Floats:
        """Receivers relative to the source, (distances, directions, 3), m."""
        return np.multiply.outer(self.edge * np.array([*self.limits]), _directions())

    def places(self, full: bool) -> dict[str, Floats]:
        """Positions, (3,), m, by name of the place."""
        names = PLACES if full else self.quick
        return {name: self.edge * (ELEMENTS / 2 + np.array(PLACES[name])) for name in names}


def _directions() -> Floats:
    """Unit vectors to the corners of a turned cube, (directions, 3)."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / np.sqrt(3)
    return np.asarray(corners @ np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0])


# Limits are a tenth to a third above the worst of the five places. Nearer than a load reaches, 1.25
# edges for moments in rock and 1 edge otherwise, motion is that of the load, and differences grow.
# They are 10 to 20 % if the source is a tenth of an edge away, and up to 80 % if the load has one
# element; at two edges, an amplitude that is wrong by 2 % exceeds all limits.
FORCE = _Source(
    {"kind": "force", "force": list(FORCE_VECTOR)},
    ROCK,
    partial(force_velocity, ROCK, FORCE_VECTOR * PULSE_AREA, amplitude=PULSE),
    {1.0: 1.6, 1.25: 1.4, 1.5: 1.3, 2.0: 1.1},
    ("on a corner",),
)
COUPLE = _Source(
    {"kind": "double-couple", "strike": STRIKE, "dip": DIP, "rake": RAKE, "moment": MOMENT},
    ROCK,
    partial(moment_velocity, ROCK, double_couple_tensor(STRIKE, DIP, RAKE, MOMENT), rate=PULSE),
    {1.0: 7.0, 1.25: 4.0, 1.5: 3.0, 2.0: 1.8},
    ("at an arbitrary place", "on an edge"),
)
EXPLOSION = _Source(
    {"kind": "explosion", "moment": MOMENT},
    ROCK,
    partial(explosion_velocity, ROCK, MOMENT, rate=PULSE),
    {1.0: 10.0, 1.25: 5.0, 1.5: 2.7, 2.0: 0.4},
    ("on a face",),
)
PRESSURE = _Source(
    EXPLOSION.table,
    WATER,
    partial(explosion_velocity, WATER, MOMENT, rate=PULSE),
    {1.0: 3.0, 1.25: 1.6, 1.5: 1.3, 2.0: 1.1},
    ("in the middle", "on an edge"),
)
TRANSVERSE = {1.0: 9.0, 1.25: 3.4, 1.5: 2.6, 2.0: 0.2}  # limits, %


def force(backend: Backend, full: bool) -> Iterator[Check]:
    """An oblique force in rock."""
    yield from _differences("force", FORCE, backend, full)


def double_couple(backend: Backend, full: bool) -> Iterator[Check]:
    """A double couple in rock."""
    yield from _differences("double couple", COUPLE, backend, full)


def pressure(backend: Backend, full: bool) -> Iterator[Check]:
    """A pressure source in water."""
    yield from _differences("pressure source", PRESSURE, backend, full)


def explosion(backend: Backend, full: bool) -> Iterator[Check]:
    """An explosion in rock, which radiates no S waves, so no motion across the rays."""
    motions = _motions(EXPLOSION, backend, full)
    found = {place: _difference(*pair) for place, pair in motions.items()}
    across = {place: _transverse(velocity) for place, (velocity, _) in motions.items()}
    yield from _checks("explosion: difference", EXPLOSION.limits, found)
    yield from _checks("explosion: transverse motion", TRANSVERSE, across)


def _differences(name: str, source: _Source, backend: Backend, full: bool) -> Iterator[Check]:
    motions = _motions(source, backend, full)
    found = {place: _difference(*pair) for place, pair in motions.items()}
    yield from _checks(f"{name}: difference", source.limits, found)


def _motions(source: _Source, backend: Backend, full: bool) -> dict[str, tuple[Floats, Floats]]:
    """Computed and exact velocity by place, (distances, directions, 3, n), m/s."""
    places = source.places(full)
    return {name: _motion(source, place, backend) for name, place in places.items()}


def _motion(source: _Source, place: Floats, backend: Backend) -> tuple[Floats, Floats]:
    """Computed and exact velocity, (distances, directions, 3, n), m/s."""
    offsets, medium = source.offsets, source.medium
    history = {"kind": "gaussian", "sigma": SIGMA, "delay": DELAY}
    case = make_case(
        grid={"size": (source.edge * ELEMENTS,) * 3, "spacing": source.edge},
        method={"degree": DEGREE},
        boundary={"top": "pml", "width": 2},
        time={"duration": DELAY + max(source.limits) * CROSSING + 4 * SIGMA},
        medium={"kind": "homogeneous", "vp": medium.vp, "vs": medium.vs, "rho": medium.rho},
        source=[point(place, history, **source.table)],
        receiver=receivers(place + offsets.reshape(-1, 3)),
    )
    time, velocity = motion(case, backend)
    exact = np.array([[source.velocity(r, time) for r in shell] for shell in offsets])
    return velocity.reshape(exact.shape), exact


def _difference(found: Floats, exact: Floats) -> Floats:
    """Relative difference by distance, %, (distances,)."""
    return 100 * _size(found - exact) / _size(exact)


def _transverse(velocity: Floats) -> Floats:
    """Motion across the rays over that along them, by distance, %, (distances,)."""
    rays = _directions()[:, :, None]
    along = (velocity * rays).sum(axis=2, keepdims=True) * rays
    return 100 * _size(velocity - along) / _size(along)


def _size(velocity: Floats) -> Floats:
    """Root of the sum of squares by distance, (distances,)."""
    return np.asarray(np.linalg.norm(velocity.reshape(len(velocity), -1), axis=1))


def _checks(name: str, limits: dict[float, float], found: dict[str, Floats]) -> Iterator[Check]:
    """The worst place at each distance."""
    for n, (distance, limit) in enumerate(limits.items()):
        here = {place: float(values[n]) for place, values in found.items()}
        worst, best = max(here, key=here.__getitem__), min(here.values())
        note = worst if len(here) == 1 else f"{worst}; {best:.2g} % at the best of {len(here)}"
        yield Check.at_most(f"{name} at {distance:g} edges", here[worst], limit, "%", note)
