"""Groundswell: wave and flow solvers that scale from a laptop core to many GPUs.

Run a case file with `groundswell.run("case.toml")`, or advance it from Python as a `Simulation`.
Each solver has its own functions that take arrays, such as `simulate` or `solve`, in its package:
`groundswell.NAME`. Names are loaded on first use, so importing the package costs little.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from groundswell.version import __version__

if TYPE_CHECKING:
    from groundswell import ensembles, errors, exchange
    from groundswell.backends import open_backend
    from groundswell.case import Case, load_case
    from groundswell.simulation.callbacks import every
    from groundswell.simulation.live_run import LiveRun
    from groundswell.simulation.preparation import check
    from groundswell.simulation.result import Result
    from groundswell.simulation.run import run
    from groundswell.simulation.simulation import Simulation

__all__ = [
    "Case",
    "LiveRun",
    "Result",
    "Simulation",
    "__version__",
    "check",
    "ensembles",
    "errors",
    "every",
    "exchange",
    "load_case",
    "open_backend",
    "run",
]

_EXPORTS = {
    "Case": "groundswell.case",
    "LiveRun": "groundswell.simulation.live_run",
    "Result": "groundswell.simulation.result",
    "Simulation": "groundswell.simulation.simulation",
    "check": "groundswell.simulation.preparation",
    "every": "groundswell.simulation.callbacks",
    "load_case": "groundswell.case",
    "open_backend": "groundswell.backends",
    "run": "groundswell.simulation.run",
}


def __getattr__(name: str) -> Any:
    """A public name, a module that was not imported yet, or the package of an installed solver."""
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    if find_spec(f"groundswell.{name}"):
        return import_module(f"groundswell.{name}")
    registry = import_module("groundswell.registry")
    if name in registry.names():
        return import_module(registry.find(name).package)
    raise AttributeError(f"module 'groundswell' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Public names, and the solvers that are installed."""
    registry = import_module("groundswell.registry")
    return sorted({*__all__, *registry.names()})
