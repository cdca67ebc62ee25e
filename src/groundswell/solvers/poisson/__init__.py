"""-div(k grad u) + c u = f by spectral elements on hexahedra: screened Poisson's equation.

From Python, `solve` takes a mesh and functions and returns arrays; a `Problem` solves repeatedly
(see `api`).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from groundswell.registry import SolverInfo

_HERE = "groundswell.solvers.poisson"
_EXPORTS = {
    "solve": f"{_HERE}.api",
    "nodes": f"{_HERE}.node_positions",
    "own_elements": f"{_HERE}.node_positions",
    "Problem": f"{_HERE}.api",
    "ProblemOptions": f"{_HERE}.options",
    "Solution": f"{_HERE}.solution",
    "PoissonCase": f"{_HERE}.case",
    "Box": "groundswell.meshes.box",
    "kershaw": "groundswell.meshes.box",
    "Mesh": "groundswell.meshes.mesh",
    "read_gmsh": "groundswell.meshes.reading",
    "read_mesh": "groundswell.meshes.reading",
    "read_mesh_groups": "groundswell.meshes.reading",
}

info = SolverInfo(
    name="poisson",
    title="Poisson's equation",
    summary="Screened Poisson's equation by spectral elements on hexahedra.",
    package=__name__,
    agreement="to rounding",
    case=".case:PoissonCase",
    solver=".make_solver:make_solver",
    kernel_groups=".kernel_groups:KERNEL_GROUPS",
    pictures=".plots:PICTURES",
    problems=".verification:PROBLEMS",
    benchmarks=".benchmarks:BENCHMARK",
    results={
        name: f".results:{name}"
        for name in ("fields", "flows", "history", "records", "residuals", "solution")
    },
)

__all__ = ["info", *_EXPORTS]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_EXPORTS[name]), name)
