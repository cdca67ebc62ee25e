"""Ultrasound in heterogeneous, absorbing, nonlinear media: the k-space pseudospectral method.

From Python, `simulate` takes a medium, sources and an initial pressure, and returns arrays (see
`api`).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from groundswell.registry import SolverInfo

_EXPORTS = {
    "build_case": "api",
    "simulate": "api",
    "mean_intensity": "intensity",
    "instantaneous_intensity": "intensity",
    "at_pressure_points": "staggered",
    "phase_correction": "aberration",
    "Tissue": "heat.tissue",
    "BONE": "heat.tissue",
    "UltrasoundCase": "case",
    "Ultrasound": "solver",
}

info = SolverInfo(
    name="ultrasound",
    title="Ultrasound",
    summary="Ultrasound in tissue and bone by the k-space pseudospectral method.",
    package=__name__,
    agreement="to the accuracy of its overlaps",
    case=".case:UltrasoundCase",
    prepare=".kinds:prepare",
    solver=".kinds:solver_of",
    kernel_groups=".kernel_groups:KERNEL_GROUPS",
    problems=".verification:PROBLEMS",
    benchmarks=".benchmarks:BENCHMARK",
    pictures=".plots:PICTURES",
    results={
        name: f".results:{name}" for name in ("fields", "medium", "focus", "records", "samples")
    },
    methods={
        "beam": ".beam:beam",
        "heat": ".heat.treatment:heat",
        "write_nifti": ".nifti:write_nifti",
    },
    commands={"heat": ".commands.heat:heat", "focus": ".commands.focus:focus"},
    commands_of_all_ranks=("focus",),
    readers={".h5": ".kwave.case:read_case"},
    converters={".h5": ".kwave.convert:convert"},
)

__all__ = ["info", *_EXPORTS]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)
