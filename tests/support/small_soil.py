"""Small earthquakes with soft soil."""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.backends import Backend, open_backend
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake

SPACING, REGION, ROWS = 10.0, (41, 23, 14), 6
LAYERS = [
    {"top": 0.0, "vp": 800.0, "vs": 300.0, "rho": 1900.0},
    {"top": 47.0, "vp": 1500.0, "vs": 700.0, "rho": 2100.0},
]
SOIL = {"model": "iwan", "depth": ROWS * SPACING, "reference_strain": 1e-5, "surfaces": 6}
FORCE: dict[str, Any] = {
    "kind": "force",
    "force": [1e9, 2e9, -1e9],
    **{"x": 200.0, "y": 110.0, "depth": 90.0},
    "time_function": {"kind": "gaussian", "sigma": 0.02},
}


def soil_case(soil: dict[str, Any] | None = None, **sections: Any) -> EarthquakeCase:
    """A force below soft soil; `soil` are keys of `[plasticity]` that differ from SOIL."""
    content: dict[str, Any] = {
        "time": {"duration": 0.5},
        "grid": {"size": [n * SPACING for n in REGION], "spacing": SPACING},
        "medium": {"kind": "layered", "layers": LAYERS},
        "boundary": {"width": 5},
        "source": [FORCE],
        "plasticity": {**SOIL, **(soil or {})},
        "output": {"shaking_map": False},
    }
    return EarthquakeCase(**(content | sections))


def advanced(case: EarthquakeCase, steps: int, backend: Backend | None = None) -> Earthquake:
    """The solver of a case after some steps."""
    found = Earthquake(prepare(case), backend or open_backend("cpu"))
    found.backend.capture(found.step).replay(steps)
    found.backend.synchronize()
    return found


def random_solver(precision: str, surfaces: int, top: str, seed: int) -> Earthquake:
    """A solver whose velocities and elements are random, with two curves."""
    rng = np.random.default_rng(seed)
    measured = {"strain": [1e-6, 1e-5, 1e-4], "modulus": [0.99, 0.8, 0.3]}
    soils = [{"top": 2 * SPACING, "curve": measured}]
    given = {"surfaces": surfaces, "soil": soils}
    boundary = {"width": 5, "top": top}
    found = Earthquake(
        prepare(soil_case(given, boundary=boundary, run={"precision": precision})),
        open_backend("cpu"),
    )
    for name in VELOCITIES:
        array = found.fields[name].array
        array[...] = 1e-2 * rng.normal(size=array.shape)
    soil: Any = found.rheology
    soil._elements[...] = 1e2 * rng.normal(size=soil._elements.shape)
    # Some elements have not yielded, and some cells and edges none at all.
    for counts in soil._counts.values():
        counts[...] = rng.integers(0, surfaces, counts.shape) * rng.integers(0, 2, counts.shape)
    lost = soil._elements.reshape(*soil._elements.shape[:2], 1 + surfaces, 5, -1)
    for e in range(surfaces):
        has_lost = soil._counts["edge_counts"] > e
        lost[:, :, 1 + e, :2] *= (soil._counts["cell_counts"] > e)[:, :, None]
        lost[:, :, 1 + e, 2:] *= has_lost[:, :, None]
    return found


def same_fields(a: Earthquake, b: Earthquake) -> bool:
    """Whether the velocities and stresses of two solvers have the same bits."""
    pairs = ((a.snapshot(name), b.snapshot(name)) for name in (*VELOCITIES, *STRESSES))
    return all(one.tobytes() == other.tobytes() for one, other in pairs)
