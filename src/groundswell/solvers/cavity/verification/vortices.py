"""Vortices of Taylor & Green (1937) in a uniform flow: an exact solution in time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import log2

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.unsteady import UnsteadyCavity
from groundswell.solvers.cavity.walls import SIDES
from groundswell.verify import Check

ACROSS, UP, VISCOSITY = 1.0, 0.5, 0.02  # velocity of the uniform flow
SIZE = 2 * np.pi
TOLERANCE = 1e-7  # far below the changes from step to step that the order follows from


def vortices(points: int, step: float, duration: float) -> CavityCase:
    """A periodic square with one wave length along both axes."""
    fluid = {"kind": "properties", "viscosity": VISCOSITY, "diffusivity": SIZE, "expansion": 1e-9}
    return CavityCase(
        fluid=fluid,
        grid={"size": [SIZE] * 3, "points": [points, 1, points]},
        walls={side: {"kind": "periodic"} for pair in SIDES for side in pair},
        time={"duration": duration, "step": step, "tolerance": TOLERANCE},
    )


def exact(grid: LevelGrid, time: float) -> dict[str, Floats]:
    """All fields, (nz, ny, nx); the temperature is uniform."""
    x = grid.interior_positions(0)[None, None, :] - ACROSS * time
    z = grid.interior_positions(2)[:, None, None] - UP * time
    decay = np.exp(-2 * VISCOSITY * time)
    flow = {
        "p": -0.25 * (np.cos(2 * x) + np.cos(2 * z)) * decay**2,
        "u": ACROSS + np.cos(x) * np.sin(z) * decay,
        "w": UP - np.sin(x) * np.cos(z) * decay,
    }
    still = np.zeros(grid.grid.shape)
    return {"v": still, "T": still, **{name: values + still for name, values in flow.items()}}


def carried(backend: Backend, points: int, step: float, duration: float) -> tuple[Floats, float]:
    """The velocity along x that vortices come to, and its largest error."""
    solver = UnsteadyCavity(prepare(vortices(points, step, duration)), backend)
    solver.fill(exact(solver.setup.finest, 0.0))
    for _ in range(solver.setup.steps):
        solver.step()
    found = solver.snapshot("u")
    return found, float(np.abs(found - exact(solver.setup.finest, duration)["u"]).max())


def vortices_in_time(backend: Backend, full: bool) -> Iterator[Check]:
    """Orders of convergence: in time, from three steps on a grid; in space and time together."""
    points, duration = (64, 0.8) if full else (16, 0.4)
    flows = [carried(backend, points, step, duration)[0] for step in (0.1, 0.05, 0.025)]
    coarse, fine = (np.abs(a - b).max() for a, b in pairwise(flows))
    yield Check.near("vortices: order in time", log2(coarse / fine), 2, 0.15)
    errors = [carried(backend, n, 1.6 / n, 0.8)[1] for n in (points, 2 * points)]
    yield Check.near("vortices: order in space and time", log2(errors[0] / errors[1]), 2, 0.25)
