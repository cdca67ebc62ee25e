"""DG waves: acoustic and elastic waves by discontinuous Galerkin on hexahedra.

The Python interface is `Model` and `simulate`; see `api`.
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
    "DgWaveCase": "case",
    "DgWave": "solver",
}

info = SolverInfo(
    name="dgwave",
    title="DG waves",
    summary="Acoustic and elastic waves by discontinuous Galerkin, in water and in the ground.",
    package=__name__,
    case=".case:DgWaveCase",
    solver=".solver:DgWave",
    kernel_groups=".kernel_groups:KERNEL_GROUPS",
    problems=".verification:PROBLEMS",
    benchmarks=".benchmarks:BENCHMARK",
    pictures=".plots:PICTURES",
    results={
        name: f".results:{name}"
        for name in (
            *("seismograms", "pressure", "stream", "shaking_map", "fields", "records"),
            *("fault", "fault_points", "rupture", "plastic_strain"),
            *("intensity", "intensity_maps", "strain_green_tensor"),
        )
    },
    methods=METHODS,
)

__all__ = ["info", *_EXPORTS]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)
