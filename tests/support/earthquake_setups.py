"""Small earthquake cases, set up in this process."""

from __future__ import annotations

from typing import Any

from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import Setup, prepare

MEDIUM = {"kind": "homogeneous", "vp": 5000.0, "vs": 2900.0, "rho": 2700.0}
SOURCE = {
    "kind": "double-couple",
    "x": 1300.0,
    "y": 1700.0,
    "depth": 1100.0,
    "strike": 239.0,
    "dip": 70.0,
    "rake": 38.0,
    "magnitude": 5.1,
    "time_function": {"kind": "cosine", "rise": 0.6},
}
RECEIVER = {"name": "A", "x": 700.0, "y": 400.0}
GEOGRAPHY = {"center": [-117.9, 33.9], "azimuth": 25.0}


def case(**sections: Any) -> EarthquakeCase:
    """A double couple and a receiver in a box of rock, with other sections."""
    grid = {"size": [3000.0, 4000.0, 2000.0], "spacing": 100.0}
    content: dict[str, Any] = {
        "time": {"duration": 2.0},
        "grid": grid | sections.pop("grid", {}),
        "medium": MEDIUM,
        "source": [SOURCE],
        "receiver": [RECEIVER],
    }
    return EarthquakeCase(**(content | sections))


def setup(**sections: Any) -> Setup:
    """What is decided before a run of such a case."""
    return prepare(case(**sections))
