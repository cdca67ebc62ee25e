"""Flow in a box with walls, driven by buoyancy or by a moving lid."""

from __future__ import annotations

from groundswell.registry import SolverInfo

info = SolverInfo(
    name="cavity",
    title="Cavity flow",
    summary="Steady flow in a box, driven by buoyancy or by a moving lid.",
    package=__name__,
    case=".case:CavityCase",
    solver=".solver:Cavity",
    pictures=".plots:PICTURES",
    problems=".verification:PROBLEMS",
    benchmarks=".benchmarks:BENCHMARK",
)
