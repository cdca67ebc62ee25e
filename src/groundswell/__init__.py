"""Groundswell: wave and flow solvers that scale from a laptop core to many GPUs.

Run a case file with `groundswell.run("case.toml")`. Each solver has its own functions that take
arrays, such as `groundswell.earthquake.simulate` and `groundswell.poisson.solve`. Names are loaded
on first use, so importing the package costs little.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "run": "groundswell.simulation.run",
    "check": "groundswell.simulation.preparation",
    "Result": "groundswell.simulation.result",
    "load_case": "groundswell.case",
    "open_backend": "groundswell.backends",
}

__all__ = ["__version__", *_EXPORTS]


def __getattr__(name: str) -> Any:
    """A public function or class, or the package of a solver that is installed."""
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    registry = import_module("groundswell.registry")
    if name in registry.names():
        return import_module(registry.find(name).package)
    raise AttributeError(f"module 'groundswell' has no attribute {name!r}")
