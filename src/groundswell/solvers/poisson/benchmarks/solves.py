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
from groundswell.solvers.poisson.case import MethodSection, Preconditioner
from groundswell.solvers.poisson.equation import Equation, zero
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.spectral_elements.partition import ElementPartition
from groundswell.spectral_elements.space import FunctionSpace

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
    mine, begun = ElementPartition.of(box, world.size).elements(world.rank), time.monotonic()
    space = FunctionSpace.on(world, box, DEGREE, mine).autotune(backend, "float64")
    equation = Equation(fixed=dict.fromkeys(range(1, 7), zero))
    system = LinearSystem(backend, space, equation, MethodSection(preconditioner=method))
    ready = time.monotonic()
    noise = _noise(space)
    system.solve(noise, tolerance=TOLERANCE)  # warms up
    _, outcome = system.solve(noise, tolerance=TOLERANCE)
    system.close()
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


def _noise(space: FunctionSpace) -> Floats:
    """At each node, the same for any number of ranks, (elements, (N + 1)^3)."""
    return np.asarray(scattered(space.sharing.ids) / 2.0**64 - 0.5)[space.dofs]
