"""Acoustic waves in a periodic box: an example of a solver in a package of its own."""

from __future__ import annotations

from groundswell.registry import SolverInfo

info = SolverInfo(
    name="acoustics",
    title="Acoustic waves",
    summary="Acoustic waves of second order in a periodic box.",
    package=__name__,
    case=".case:AcousticsCase",
    cost="groundswell.simulation.blocks",
    solver=".solver:Acoustics",
    kernel_groups=".solver:KERNEL_GROUPS",
    pictures=".results:PICTURES",
    problems=".verification:PROBLEMS",
    results={"fields": ".results:fields"},
    readers={".wave": ".case:read_wave"},
)
