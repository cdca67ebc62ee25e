"""How many iterations multigrid leaves on thin and slanted elements."""

from __future__ import annotations

import numpy as np

from groundswell.backends import Backend
from groundswell.exchange.world import Alone
from groundswell.grids.box import Box, kershaw
from groundswell.grids.gll import Floats
from groundswell.solvers.poisson.task import Given, Method, Preconditioner, Task
from groundswell.verify import Check

DEGREE, TOLERANCE, EPS = 7, 1e-8, 0.3
MOST = {6: 28, 12: 28}
LEAST_GAIN = 10.0  # over Jacobi's


def kershaw_cube(backend: Backend, full: bool) -> list[Check]:
    """The unit cube of 6^3 elements, and of 12^3, with u = 0 on its sides."""
    name = f"Kershaw, eps {EPS}, N = {DEGREE}, {{}}^3 elements: iterations"
    found = {n: _iterations(backend, n, "multigrid") for n in ((6, 12) if full else (6,))}
    checks = [Check.at_most(name.format(n), count, MOST[n]) for n, count in found.items()]
    if full:
        gain = _iterations(backend, 6, "jacobi") / found[6]
        checks.append(Check.at_least("times as many with Jacobi's method", gain, LEAST_GAIN))
    return checks


def _iterations(backend: Backend, count: int, precondition: Preconditioner) -> int:
    def source(x: Floats, y: Floats, z: Floats) -> Floats:
        return np.asarray(np.sin(np.pi * x) * np.sin(np.pi * y) * np.sin(np.pi * z))

    box = Box((count, count, count), deform=kershaw(EPS, EPS), order=1)
    given = Given(source, fixed=dict.fromkeys(range(1, 7), lambda x, y, z: 0 * x))
    method = Method(DEGREE, precondition)
    task = Task(backend, Alone(), box, np.arange(box.count), given, method)
    _, outcome = task.solve(TOLERANCE)
    task.close()
    return outcome.iterations
