"""Numbers of iterations: NekBone's problem, and multigrid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.meshes.box import Box, kershaw
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem
from groundswell.solvers.poisson.case import MethodSection, Preconditioner
from groundswell.solvers.poisson.equation import Equation, zero
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.verification.shapes import noise_on, whole_space
from groundswell.spectral_elements.given_fields import GivenField, GivenValues
from groundswell.verify import Check

DEGREE, TOLERANCE, EPS = 7, 1e-8, 0.3
MOST = 28  # iterations, as nekRS takes for 20^3 elements (Nek5000/nekRS, examples/kershaw)
QUICK, FULL = (6,), (6, 12, 18, 20)
LEAST_GAIN = 10.0  # over Jacobi's
SCREENING, ITERATIONS = 0.1, 100  # NekBone's
FEW = {1: range(1, 16), 2: range(1, 8)}  # degrees by elements of an edge
JUMP, JUMP_QUICK, JUMP_FULL = 1e6, (6,), (6, 12)
BOXES, SAME = (2, 4, 8), 1  # iterations that boxes may be apart


def hundred(backend: Backend, full: bool) -> Iterator[Check]:
    """NekBone's rule: the residual is below 1e-8 after 100 iterations without a preconditioner.

    The rule holds for few elements of a cube with u = 0 on its sides, where conjugate gradients
    converge fast enough. Larger meshes need more iterations.
    """
    for edge, every in FEW.items():
        degrees = every if full else every[-1:]
        worst = max(_left(backend, edge, degree) for degree in degrees)
        name = f"{edge}^3 elements, N = 1 to {every[-1]}: residual after 100 iterations"
        yield Check.at_most(name, worst, TOLERANCE)


def _left(backend: Backend, edge: int, degree: int) -> float:
    """Residual relative to the first one, which is noise, after at most a hundred iterations."""
    box = Box((edge,) * 3)
    space = whole_space(box, degree)
    equation = Equation(screening=SCREENING, fixed=dict.fromkeys(range(1, 7), zero))
    method = MethodSection(preconditioner="none", iterations=ITERATIONS)
    system = LinearSystem(backend, space, equation, method)
    _, outcome = system.solve(noise_on(space), tolerance=1e-14)
    system.close()
    return float(outcome.residuals[-1] / (outcome.residuals[0] or 1.0))


def kershaw_cube(backend: Backend, full: bool) -> Iterator[Check]:
    """Thin and slanted elements in the unit cube, with u = 0 on its sides."""
    name = f"Kershaw, eps {EPS}, N = {DEGREE}, {{}}^3 elements: iterations"
    cubes = {n: Box((n,) * 3, deform=kershaw(EPS, EPS), order=1) for n in (FULL if full else QUICK)}
    found = {}
    for n, cube in cubes.items():
        found[n] = _iterations(backend, cube, "multigrid")
        yield Check.at_most(name.format(n), found[n], MOST)
    if full:
        gain = _iterations(backend, cubes[6], "jacobi") / found[6]
        yield Check.at_least("times as many with Jacobi's method", gain, LEAST_GAIN)


def jumps(backend: Backend, full: bool) -> Iterator[Check]:
    """A conductivity that jumps a million times between elements of Kershaw's cube.

    It is that of two layers, of a block inside the cube, of alternating elements, and random
    between 1e-3 and 1e3.
    """
    for edge in JUMP_FULL if full else JUMP_QUICK:
        cube = Box((edge,) * 3, deform=kershaw(EPS, EPS), order=1)
        for name, (k, most) in _jumping(edge, full).items():
            found = _iterations(backend, cube, "multigrid", k)
            title = f"{name}, Kershaw, eps {EPS}, N = {DEGREE}, {edge}^3 elements: iterations"
            yield Check.at_most(title, found, most)


def _jumping(edge: int, full: bool) -> dict[str, tuple[GivenField, int]]:
    """k by element, and how many iterations are allowed; some of them if not `full`."""
    place = np.stack(np.unravel_index(np.arange(edge**3), (edge,) * 3))
    inside = (np.abs(place - (edge - 1) / 2) < edge / 4).all(axis=0)
    random = 10 ** np.random.default_rng(1).uniform(-3, 3, edge**3)
    found = {
        "layers": (np.where(place[0] < edge // 2, 1.0, JUMP), 35),
        "block": (np.where(inside, JUMP, 1.0), 35),
        "alternating": (np.where(place.sum(axis=0) % 2, JUMP, 1.0), 55),
        "random": (random, 60),
    }
    names = found if full else ("layers", "random")
    return {name: (GivenValues(found[name][0]), found[name][1]) for name in names}


def finer_boxes(backend: Backend, full: bool) -> list[Check]:
    """Undeformed boxes with increasing numbers of elements."""
    found = [_iterations(backend, Box((n,) * 3), "multigrid") for n in BOXES]
    name = f"N = {DEGREE}, 2^3 to 8^3 elements: iterations are apart by"
    return [Check.at_most(name, max(found) - min(found), SAME, note=str(found))]


def _iterations(
    backend: Backend, box: Box, preconditioner: Preconditioner, conductivity: GivenField = 1.0
) -> int:
    def source(x: Floats, y: Floats, z: Floats) -> Floats:
        return np.asarray(np.sin(np.pi * x) * np.sin(np.pi * y) * np.sin(np.pi * z))

    space = whole_space(box, DEGREE)
    fixed = dict.fromkeys(range(1, 7), zero)
    equation = Equation(source, fixed=fixed, conductivity=conductivity)
    method = MethodSection(preconditioner=preconditioner)
    problem = BoundaryValueProblem(backend, space, equation, method)
    _, outcome = problem.solve(problem.evaluate(), TOLERANCE)
    problem.close()
    return outcome.iterations
