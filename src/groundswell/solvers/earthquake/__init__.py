"""Earthquakes: anelastic waves from a source in the ground to shaking at the surface."""

from __future__ import annotations

from typing import Any

__all__ = ["Earthquake", "EarthquakeCase"]


def __getattr__(name: str) -> Any:
    if name == "EarthquakeCase":
        from groundswell.solvers.earthquake.case import EarthquakeCase

        return EarthquakeCase
    if name == "Earthquake":
        from groundswell.solvers.earthquake.solver import Earthquake

        return Earthquake
    raise AttributeError(f"module 'groundswell.solvers.earthquake' has no attribute {name!r}")
