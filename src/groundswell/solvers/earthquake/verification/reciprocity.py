"""Reciprocity: a force and a receiver are interchangeable in any medium."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from groundswell.backends import Backend
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.solvers.earthquake.verification.simulation import Floats
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
MOVED = {"pml": (0.0, 0.0, 0.0), "sponge": (0.0, 0.0, 0.0), "periodic": (0.89, 0.11, 0.0)}


def exchange(backend: Backend, full: bool) -> Iterator[Check]:
    """Every pair of positions in an anelastic random medium, for each kind of boundary."""
    for sides in ("pml", "sponge", "periodic"):
        yield _check(backend, sides, 60 if full else 20)


def _check(backend: Backend, sides: str, count: int) -> Check:
    medium = _random_medium(count)
    places = list(PLACES)
    directions = np.array([direction for _, direction in PLACES.values()])
    # [source, receiver, time]: along the receiver's direction
    motion = np.stack(
        [
            np.einsum("rc,rcn->rn", directions, _motion(backend, medium, sides, place))
            for place in places
        ]
    )
    errors = {
        (a, b): float(np.linalg.norm(motion[a, b] - motion[b, a]) / np.linalg.norm(motion[a, b]))
        for a, b in combinations(range(len(places)), 2)
    }
    a, b = max(errors, key=lambda pair: errors[pair])
    note = f"worst of {len(errors)} pairs: {places[a]} and {places[b]}; random medium with Q"
    return Check.at_most(f"reciprocity with {sides} sides", errors[a, b], LIMIT, note=note)


def _random_medium(count: int) -> dict[str, Floats | str]:
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


def _motion(backend: Backend, medium: dict[str, Floats | str], sides: str, place: str) -> Floats:
    """Velocity (positions, 3, n) at all positions after a force at one of them."""
    size = np.multiply(np.shape(medium["vp"])[::-1], SPACING)
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
            sim.point(
                positions[place],
                {"kind": "gaussian", "sigma": 0.1},
                kind="force",
                force=[1e10 * f for f in PLACES[place][1]],
            )
        ],
        receiver=sim.receivers(positions.values()),
    )
    return sim.motion(case, backend)[1]
