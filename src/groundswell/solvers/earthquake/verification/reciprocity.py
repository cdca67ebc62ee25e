"""Reciprocity: a force and a receiver are interchangeable in any medium."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.problems import case_sections
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.verify import Check

SPACING = (100.0, 120.0, 90.0)  # m
LIMIT = 1e-10  # relative; what is left is rounding

# Places in shares of the region, and directions of force and seismometer there. None is on the
# grid; the last two are on the surface and within the uppermost half cell. All keep two cells away
# from absorbing layers, where a force is not what it seems; in a periodic box they are moved so
# that the first one reaches around an edge and a corner.
PLACES = {
    "depth": ((0.12, 0.88, 0.7), (1.0, -2.0, 1.5)),
    "greater depth": ((0.61, 0.27, 0.83), (-0.7, 1.0, 0.4)),
    "the surface": ((0.31, 0.72, 0.0), (0.8, 1.1, -0.5)),
    "just below it": ((0.73, 0.44, 0.015), (-1.0, 0.3, 0.9)),
}
# One interface is within half a cell of the surface; the other lies between the surface and the
# deeper positions.
LAYERS = {
    "kind": "layered",
    "layers": [
        {"top": top, "vp": 1.9 * vs, "vs": vs, "rho": rho, "qp": 100.0, "qs": 50.0}
        for top, vs, rho in ((0.0, 1500.0, 2000.0), (40.0, 1900.0, 2300.0), (830.0, 2500.0, 2600.0))
    ],
}

MOVED = {"pml": (0.0, 0.0, 0.0), "sponge": (0.0, 0.0, 0.0), "periodic": (0.89, 0.11, 0.0)}


def exchange(backend: Backend, full: bool) -> Iterator[Check]:
    """Every pair of positions in anelastic media, for each kind of boundary.

    The quick form has matched layers beside the layered medium only.
    """
    count = 60 if full else 20
    size = np.multiply((count, count - 2, count - 4), SPACING)
    for sides in ("pml", "sponge", "periodic") if full else ("sponge", "periodic"):
        yield _check(backend, sides, size, random_medium(count), "random medium with Q")
    layers = "layers with Q and interfaces inside cells"
    yield _check(backend, "pml", size, LAYERS, layers)


def _check(
    backend: Backend, sides: str, size: Floats, medium: case_sections.Table, described: str
) -> Check:
    places = list(PLACES)
    directions = np.array([direction for _, direction in PLACES.values()])
    # [source, receiver, time]: along the receiver's direction
    motion = np.stack(
        [
            np.einsum("rc,rcn->rn", directions, _motion(backend, medium, sides, size, place))
            for place in places
        ]
    )
    errors = {
        (a, b): float(np.linalg.norm(motion[a, b] - motion[b, a]) / np.linalg.norm(motion[a, b]))
        for a, b in combinations(range(len(places)), 2)
    }
    a, b = max(errors, key=lambda pair: errors[pair])
    note = f"worst of {len(errors)} pairs: {places[a]} and {places[b]}"
    name = f"reciprocity with {sides} sides, {described}"
    return Check.at_most(name, errors[a, b], LIMIT, note=note)


def random_medium(count: int) -> case_sections.Table:
    """A medium with random speeds, densities and quality factors in `count` cells along x."""
    rng = np.random.default_rng(8)
    shape = (count - 4, count - 2, count)
    vs = rng.uniform(1500.0, 2500.0, shape)
    return {
        "kind": "arrays",
        "vp": vs * rng.uniform(1.6, 2.2, shape),
        "vs": vs,
        "rho": rng.uniform(2000.0, 3000.0, shape),
        "qp": rng.uniform(60.0, 200.0, shape),
        "qs": rng.uniform(30.0, 100.0, shape),
    }


def _motion(
    backend: Backend, medium: case_sections.Table, sides: str, size: Floats, place: str
) -> Floats:
    """Velocity (positions, 3, n) at all positions after a force at one of them."""
    positions = {
        name: np.add(share, MOVED[sides]) % 1.0 * size for name, (share, _) in PLACES.items()
    }
    case = sim.make_case(
        grid={"size": size.tolist(), "spacing": SPACING},
        time={"duration": float(size[0] / 800.0)},
        medium=medium,
        attenuation={"model": "constant"},
        boundary={"sides": sides, "width": 6},
        source=[
            case_sections.point(
                positions[place],
                {"kind": "gaussian", "sigma": 0.1},
                kind="force",
                force=[1e10 * f for f in PLACES[place][1]],
            )
        ],
        receiver=case_sections.receivers(positions.values()),
    )
    return sim.motion(case, backend)[1]
