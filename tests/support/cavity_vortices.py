"""Vortices of Taylor & Green (1937) in a uniform flow: an exact solution in time."""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.level_grid import LevelGrid

ACROSS, UP, VISCOSITY = 1.0, 0.5, 0.02  # velocity of the uniform flow
SIZE = 2 * np.pi
SIDES = ("west", "east", "south", "north", "bottom", "top")


def vortices(points: int, step: float, duration: float, **more: Any) -> CavityCase:
    """A periodic square with one wave length along both axes."""
    fluid = {"kind": "properties", "viscosity": VISCOSITY, "diffusivity": SIZE, "expansion": 1e-9}
    return CavityCase(
        fluid=fluid,
        grid={"size": [SIZE] * 3, "points": [points, 1, points]},
        walls={side: {"kind": "periodic"} for side in SIDES},
        time={"duration": duration, "step": step, "tolerance": 1e-8},
        **more,
    )


def exact(grid: LevelGrid, time: float) -> dict[str, np.ndarray]:
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
