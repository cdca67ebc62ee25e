"""Earthquakes: anelastic waves from sources in the ground, and shaking at the surface.

From Python, `Model` and `simulate` take and return arrays (see `api`).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from groundswell.registry import SolverInfo
from groundswell.seismology import METHODS

_EXPORTS = {
    "Model": "api",
    "build_case": "api",
    "simulate": "api",
    "SimulationOptions": "api",
    "EarthquakeCase": "case",
    "Earthquake": "solver",
}

info = SolverInfo(
    name="earthquake",
    title="Earthquakes",
    summary="Anelastic waves from a source in the ground to shaking at the surface.",
    package=__name__,
    case=".case:EarthquakeCase",
    solver=".solver:Earthquake",
    kernel_groups=".kernel_groups:KERNEL_GROUPS",
    pictures=".plots:PICTURES",
    problems=".verification:PROBLEMS",
    benchmarks=".benchmarks:BENCHMARK",
    results={
        name: f".results:{name}"
        for name in (
            *("seismograms", "stream", "shaking_map"),
            *("fault", "fault_points", "rupture", "plastic_strain"),
            *("intensity", "intensity_maps", "strain_green_tensor"),
            *("fields", "records"),
        )
    },
    methods=METHODS,
)

__all__ = ["info", *_EXPORTS]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)
