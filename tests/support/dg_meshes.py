"""Small meshes, media and waves that the tests of dg_scheme.py share."""

from __future__ import annotations

from typing import Any

import numpy as np
from dg_bricks import Bricks, lattice, refined
from dg_scheme import Scheme

PERIODIC = (None,) * 6
CLOSED = (1.0, -1.0, -1.0, 1.0, 1.0, -1.0)


def interface(axis: int, reflections: Any = PERIODIC) -> Bricks:
    """A coarse element and, next to it along an axis, four finer ones; uneven sizes."""
    counts = [3 if d == axis else 2 for d in range(3)]
    return refined(lattice(counts, uneven=axis), [[0, 0, 0]], reflections=reflections)


def layered(counts: int, across: int, degree: int, medium: Any, theta: float) -> Scheme:
    """One medium on a lattice of unit length, coarse below x = 1/2 and fine above.

    Args:
        counts: cells along x and y, divisible by 4 and 2.
        across: cells along z, divisible by 2.
    """
    edges = lattice((counts, counts, across), (1, 1, across / counts))
    coarse = [
        [i, j, k]
        for i in range(0, counts // 2, 2)
        for j in range(0, counts, 2)
        for k in range(0, across, 2)
    ]
    return homogeneous(refined(edges, coarse), degree, medium, theta)


def homogeneous(bricks: Bricks, degree: int, medium: Any, theta: float = 1.0) -> Scheme:
    """One medium: rho, lam and mu."""
    return halves(bricks, degree, medium, medium, theta)


def halves(bricks: Bricks, degree: int, below: Any, above: Any, theta: float = 1.0) -> Scheme:
    """Media in the lower and the upper half along z: rho, lam and mu."""
    middle = bricks.edges[2][[0, -1]].mean()
    high = bricks.corners[0, :, 2] > middle - 1e-9
    rho, lam, mu = (
        np.where(high, b, a)[:, None, None, None] for a, b in zip(below, above, strict=True)
    )
    return Scheme(bricks, degree, rho, lam, mu, theta)


def random_medium(bricks: Bricks, degree: int, kind: str, *, nodal: bool = False) -> Any:
    """Discontinuous rho, lam and mu of elements or nodes: "solid", "fluid" or "mixed"."""
    rng = np.random.default_rng(7)
    nodes = (degree + 1,) * 3 if nodal else (1,) * 3
    rho, lam, mu = np.exp(rng.uniform(-1, 1, (3, bricks.count, *nodes)))
    solid = {"solid": 1, "fluid": 0, "mixed": np.arange(bricks.count) % 2}[kind]
    return rho, lam, mu * np.broadcast_to(solid, bricks.count)[:, None, None, None]
