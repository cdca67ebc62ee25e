"""Ensembles: many variants of one case, whose results are in a single Zarr store.

A plan defines the base case and the runs; `run` executes them, or with
`resume=True` those that the store lacks, and `open` reads the results of all runs as one dataset.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundswell.ensembles.commands import export, retry, run, status
    from groundswell.ensembles.plan import Plan, load_plan
    from groundswell.ensembles.stacking import open

_EXPORTS = {
    "Plan": "plan",
    "export": "commands",
    "load_plan": "plan",
    "open": "stacking",
    "retry": "commands",
    "run": "commands",
    "status": "commands",
}

__all__ = ["Plan", "export", "load_plan", "open", "retry", "run", "status"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)
