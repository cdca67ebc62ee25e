"""CEED's bake-off problems 1 to 4, which integrate at Gauss points."""

from __future__ import annotations

from functools import partial

from groundswell.backends import Backend
from groundswell.solvers.poisson.benchmarks.bakeoff import BakeoffProblem
from groundswell.solvers.poisson.benchmarks.problems import VALUE, Cubes
from groundswell.solvers.poisson.roofline import MemoryTraffic
from groundswell_rivals.poisson.gauss_operator import (
    FACTORS,
    MASS,
    STIFFNESS,
    GaussOperator,
    points_of,
)

TITLES = {MASS: "mass matrix", STIFFNESS: "Laplacian"}
KINDS = {1: "a scalar", 3: "a 3-vector"}


def make_operator(backend: Backend, cubes: Cubes, metric: str, matrix: str) -> GaussOperator:
    """The operator on cubes; its factors are stored."""
    return GaussOperator(backend, cubes.space, matrix, components=cubes.components)


def traffic_on(cubes: Cubes, metric: str, matrix: str) -> MemoryTraffic:
    """Minimum traffic of all ranks, bytes."""
    sizes = cubes.assembled // cubes.components, cubes.local // cubes.components, VALUE
    points = cubes.box.count * points_of(cubes.degree) ** 3
    return MemoryTraffic(*sizes, FACTORS[matrix], cubes.components, points)


def gauss_problem(number: int, matrix: str, components: int) -> BakeoffProblem:
    """A problem with N + 2 Gauss points; of Laplacians, u = 0 on all sides."""
    is_fixed = matrix == STIFFNESS
    title = f"{TITLES[matrix]} of {KINDS[components]}, N + 2 Gauss points along each axis"
    return BakeoffProblem(
        f"BP{number}",
        title + ", u = 0 on all sides" * is_fixed,
        components,
        is_fixed=is_fixed,
        metrics=lambda backend: ["stored"],
        operator=partial(make_operator, matrix=matrix),
        traffic=partial(traffic_on, matrix=matrix),
    )


PROBLEMS = [
    gauss_problem(1, MASS, 1),
    gauss_problem(2, MASS, 3),
    gauss_problem(3, STIFFNESS, 1),
    gauss_problem(4, STIFFNESS, 3),
]
