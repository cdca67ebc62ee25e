"""An earthquake solver on a small grid, its fields filled with random values."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groundswell.backends import open_backend
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.solver import VELOCITIES, Earthquake

TOLERANCE = {"float32": 2e-6, "float64": 1e-14}
REGION, SPACING, WIDTH = (13, 9, 7), (100.0, 140.0, 75.0), 3
EXTENT = [n * h for n, h in zip(REGION, SPACING, strict=True)]
# Nearly alike; their interface, inside a cell, needs corrections of depth rows.
LAYERS = [
    {"top": 0.0, "vp": 5000.0, "vs": 2800.0, "rho": 2500.0},
    {"top": 4.4 * SPACING[2], "vp": 5000.0, "vs": 2800.0, "rho": 2510.0},
]
SOURCE = {
    "kind": "explosion",
    "moment": 1e12,
    **{"x": 150.0, "y": 140.0, "depth": 75.0},
    "time_function": {"kind": "gaussian", "sigma": 0.1},
}
RECEIVERS = [
    {"name": f"R{n}", "x": x, "y": y, "depth": z}
    for n, (x, y, z) in enumerate([(700, 700, 300), (0, 0, 0), (*EXTENT[:2], 10), (333, 1111, 525)])
]
precisions = pytest.mark.parametrize("precision", ["single", "double"])


@cache
def make_solver(precision: str, sides: str = "pml", top: str = "free-surface") -> Earthquake:
    case = EarthquakeCase(
        time={"duration": 1.0},
        grid={"size": EXTENT, "spacing": list(SPACING)},
        medium={"kind": "layered", "layers": LAYERS},
        boundary={"sides": sides, "top": top, "width": WIDTH},
        source=[SOURCE],
        receiver=RECEIVERS,
        run={"precision": precision},
    )
    return Earthquake(prepare(case), open_backend("cpu"))


def randomise(solver: Earthquake, seed: int, names: Any = VELOCITIES) -> dict[str, NDArray[Any]]:
    """Random values everywhere, ghosts included; float64 copies of them."""
    rng = np.random.default_rng(seed)
    for name in names:
        array = solver.fields[name].array
        array[...] = rng.normal(size=array.shape)
    return {name: solver.fields[name].array.astype(float) for name in names}


def assert_close(found: NDArray[Any], wanted: NDArray[Any], scale: float | None = None) -> None:
    error = np.abs(found - wanted).max() / (scale or np.abs(wanted).max())
    assert error < TOLERANCE[str(found.dtype)], f"{error:.2e}"


def set_clock(solver: Earthquake, step: int) -> None:
    solver.clock[0] = step
