"""Prescribed fluxes, and periodic sides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.meshes.box import Box
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.verification.shapes import (
    gradient,
    largest_error,
    solution,
    source,
    whole_space,
)
from groundswell.spectral_elements.boundary import Function
from groundswell.verify import Check

DEGREE, TOLERANCE = 11, 1e-14
WITHIN = 1e-11  # without a side that is fixed, errors of all of u remain
LOW, HIGH = (-0.2, 0.1, 0.0), (0.8, 0.9, 1.5)  # of a box whose axes differ


def flux(backend: Backend, full: bool) -> Iterator[Check]:
    """du/dn given on all sides, and on all but one."""
    fluxes = {2 * axis + end + 1: _flux(axis, end) for axis in range(3) for end in (0, 1)}
    mixed = {tag: field for tag, field in fluxes.items() if tag > 1}
    equations = {
        "flux through all sides, screened": Equation(source(1.0), 1.0, fluxes=fluxes),
        "flux through five sides": Equation(source(0.0), fixed={1: solution}, fluxes=mixed),
    }
    box = Box((3, 2, 2), LOW, HIGH)
    for name, equation in equations.items():
        yield Check.at_most(f"{name}: error", _error(backend, box, equation), WITHIN)


def _flux(axis: int, end: int) -> Function:
    sign = 1.0 if end else -1.0
    return lambda x, y, z: sign * gradient(x, y, z)[..., axis]


def period(backend: Backend, full: bool) -> Iterator[Check]:
    """Waves in a box that is periodic along all axes, and along one."""

    def wave(x: Floats, y: Floats, z: Floats) -> Floats:
        return np.asarray(np.sin(2 * np.pi * x) * np.cos(2 * np.pi * z))

    def forcing(screening: float) -> Function:
        return lambda x, y, z: (8 * np.pi**2 + screening) * wave(x, y, z)

    every = Box((4, 1, 4), periodic=(True, True, True))
    one = Box((4, 2, 4), periodic=(True, False, False))
    cases = {
        "periodic along all axes, screened": (every, Equation(forcing(1.0), 1.0)),
        "periodic along all axes, of mean 0": (every, Equation(forcing(0.0), mean=0.0)),
        "periodic along x": (one, Equation(forcing(0.0), fixed=dict.fromkeys((3, 4, 5, 6), wave))),
    }
    for name, (box, equation) in cases.items():
        yield Check.at_most(f"{name}: error", _error(backend, box, equation, wave), WITHIN)


def _error(backend: Backend, box: Box, equation: Equation, exact: Function = solution) -> float:
    return largest_error(backend, whole_space(box, DEGREE), equation, TOLERANCE, exact)
