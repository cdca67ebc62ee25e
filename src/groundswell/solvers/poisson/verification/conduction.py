"""Heat conduction in time, against closed forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import brentq

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.solvers.poisson.case import PoissonCase
from groundswell.solvers.poisson.setup import prepare
from groundswell.solvers.poisson.solver import Poisson
from groundswell.solvers.poisson.unsteady import UnsteadyPoisson
from groundswell.verify import Check

ORDERS, COUNTS = (1, 2, 3), {False: (12, 24), True: (10, 20, 40, 80, 160)}
SHORT_OF = 0.15  # of the order, by which observed orders may fall
BIOT, TERMS = 2.0, 60
SLAB_STEPS, SLAB_ERRORS = 20, {1: 0.02, 2: 1e-3, 3: 5e-5}  # at most twice what is left
WITHIN_STEADY = 1e-10

FIXED = {"kind": "fixed"}
MODE = {
    "equation": {
        "conductivity": 0.5,
        "screening": 0.3,
        "capacity": 2.0,
        "initial": "sin(pi * x)",
        "exact": "exp(-(0.5 * pi**2 + 0.3) * t / 2) * sin(pi * x)",
    },
    "boundaries": {"west": FIXED, "east": FIXED},
}
# u = sin(3 t + x) cos(y), with k = 1 + x and capacity 2 + y.
DRIVEN = {
    "equation": {
        "conductivity": "1 + x",
        "capacity": "2 + y",
        "initial": "sin(x) * cos(y)",
        "source": "((6 + 3 * y) * cos(3 * t + x) + 2 * (1 + x) * sin(3 * t + x) - cos(3 * t + x))"
        " * cos(y)",
        "exact": "sin(3 * t + x) * cos(y)",
    },
    "boundaries": {
        "west": FIXED | {"value": "sin(3 * t) * cos(y)"},
        "east": {"kind": "flux", "value": "2 * cos(3 * t + 1) * cos(y)"},
        "north": {
            "kind": "robin",
            "h": 2.0,
            "ambient": "sin(3 * t + x) * (cos(1) - (1 + x) / 2 * sin(1))",
        },
    },
}


def order(backend: Backend, full: bool) -> Iterator[Check]:
    """Shorter steps: a mode that decays, and a wave that source and sides drive in time."""
    for name, problem in {"decaying mode": MODE, "driven wave": DRIVEN}.items():
        for q in ORDERS:
            errors = [_error(backend, problem, q, n) for n in COUNTS[full]]
            rates = [np.log2(a / b) for a, b in pairwise(errors)]
            note = ", ".join(f"{error:.1e}" for error in errors)
            title = f"{name}, order {q}: observed order"
            yield Check.at_least(title, rates[-1], q - SHORT_OF, note=note)


def slab(backend: Backend, full: bool) -> Iterator[Check]:
    """A slab at 1 that begins to lose heat to air at 0 (Carslaw & Jaeger 1959, section 3.11).

    Its flow of heat jumps at time 0, so that high modes are in it from the first step on.
    """
    problem = {
        "equation": {"initial": 1.0},
        "boundaries": {"east": {"kind": "robin", "h": BIOT}},
    }
    for q in ORDERS:
        solver = _run(backend, problem, q, SLAB_STEPS)
        error = float(np.abs(solver.solution() - _cooled(solver.problem.nodes[..., 0])).max())
        yield Check.at_most(f"slab in air, order {q}: error", error, SLAB_ERRORS[q])


def steady(backend: Backend, full: bool) -> Iterator[Check]:
    """After a long time u is the steady solution."""
    problem = {
        "equation": {"conductivity": "1 + x", "source": "x * y", "capacity": 0.01},
        "boundaries": {"west": FIXED | {"value": "y"}, "top": {"kind": "robin", "h": 3.0}},
    }
    equation = {k: v for k, v in problem["equation"].items() if k != "capacity"}
    direct = Poisson(prepare(_case(problem | {"equation": equation})), backend)
    direct.solve()
    for q in ORDERS:
        found = _run(backend, problem, q, SLAB_STEPS).solution()
        error = float(np.abs(found - direct.values).max())
        yield Check.at_most(f"steady limit, order {q}: difference", error, WITHIN_STEADY)


def _case(problem: Mapping[str, Any], **time: float) -> PoissonCase:
    content = {
        "solver": "poisson",
        "mesh": {"kind": "box", "counts": [2, 1, 1]},
        "method": {"degree": 6, "tolerance": 1e-12},
        **problem,
    }
    return PoissonCase.from_dict(content | ({"time": time} if time else {}))


def _run(backend: Backend, problem: Mapping[str, Any], q: int, steps: int) -> UnsteadyPoisson:
    """Steps of order q through 1 s."""
    solver = UnsteadyPoisson(
        prepare(_case(problem, duration=1.0, step=1 / steps, order=q)), backend
    )
    for _ in range(steps):
        solver.step()
    return solver


def _error(backend: Backend, problem: Mapping[str, Any], q: int, steps: int) -> float:
    solver = _run(backend, problem, q, steps)
    exact = solver.setup.exact
    assert exact is not None
    return solver.problem.measure_errors(solver.solution(), exact)[0]


def _cooled(x: Floats) -> Floats:
    """The series of the slab after 1 s."""
    roots = [
        brentq(lambda b: b * np.sin(b) - BIOT * np.cos(b), n * np.pi, (n + 0.5) * np.pi)
        for n in range(TERMS)
    ]
    found = np.zeros_like(x)
    for b in roots:
        found += 4 * np.sin(b) / (2 * b + np.sin(2 * b)) * np.exp(-(b**2)) * np.cos(b * x)
    return found
