"""Steady and unsteady flow in a box with walls, driven by buoyancy or by a moving lid.

From Python, `simulate` takes a fluid and walls, and returns arrays (see `api`).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from groundswell.registry import SolverInfo

_EXPORTS = {
    "build_case": "api",
    "simulate": "api",
    "CavityCase": "case",
    "Cavity": "solver",
    "UnsteadyCavity": "unsteady",
}

info = SolverInfo(
    name="cavity",
    title="Cavity flow",
    summary="Flow in a box, steady or in time, driven by buoyancy or by a moving lid.",
    package=__name__,
    case=".case:CavityCase",
    solver=".make_solver:make_solver",
    kernel_groups=".kernel_groups:KERNEL_GROUPS",
    pictures=".plots:PICTURES",
    problems=".verification:PROBLEMS",
    benchmarks=".benchmarks:BENCHMARK",
    results={
        name: f".results:{name}"
        for name in ("fields", "profiles", "nusselt", "heat", "residuals", "history", "records")
    },
)

__all__ = ["info", *_EXPORTS]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)
