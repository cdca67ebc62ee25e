"""Whole solutions: how long conjugate gradients take to a tolerance, by preconditioner."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from groundswell.backends import Backend
from groundswell.exchange.assembly.sharing import scattered
from groundswell.exchange.world import World
from groundswell.meshes.box import Box, kershaw
from groundswell.meshes.hexahedra import Floats
from groundswell.solvers.poisson.problem import Poisson
from groundswell.solvers.poisson.problem_data import Preconditioner
from groundswell.spectral_elements.partition import Shares

DEGREE, EPS, TOLERANCE = 7, 0.3, 1e-8
METHODS: tuple[Preconditioner, ...] = ("jacobi", "multigrid")


def measure_solves(
    backend: Backend, world: World, edges: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Bake-off problem BPS5: -div grad u = f in Kershaw's cube, u = 0 on its sides, to 1e-8.

    As nekRS measures it (Nek5000/nekRS, examples/kershaw); f is noise.

    Args:
        edges: elements of an edge of the cube, of all ranks together.
    """
    for edge in edges:
        box = Box((edge,) * 3, deform=kershaw(EPS, EPS), order=1)
        for method in METHODS:
            yield _solved(backend, world, box, method)


def _solved(backend: Backend, world: World, box: Box, method: Preconditioner) -> dict[str, Any]:
    mine, begun = Shares.of(box, world.size).elements(world.rank), time.monotonic()
    problem = Poisson(*(backend, world, box, DEGREE, mine), fixed=range(1, 7), precondition=method)
    ready = time.monotonic()
    noise = _noise(problem)
    problem.solve(lambda *at: noise, tolerance=TOLERANCE)  # warms up
    _, outcome = problem.solve(lambda *at: noise, tolerance=TOLERANCE)
    problem.close()
    return {
        "edge": box.counts[0],
        "elements": box.count,
        "dofs": box.count_nodes(DEGREE),
        "ranks": world.size,
        "preconditioner": method,
        "iterations": outcome.iterations,
        "converged": outcome.converged,
        "seconds": max(world.share(outcome.seconds)),
        "set_up": max(world.share(ready - begun)),
    }


def _noise(problem: Poisson) -> Floats:
    """At each node, the same for any number of ranks, (elements, (N + 1)^3)."""
    space = problem.space
    return np.asarray(scattered(space.sharing.ids) / 2.0**64 - 0.5)[space.places]
