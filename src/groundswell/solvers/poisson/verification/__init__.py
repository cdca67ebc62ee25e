"""Problems with known answers for the Poisson solver."""

from __future__ import annotations

PROBLEMS = [
    "accuracy:box",
    "accuracy:curved",
    "accuracy:kershaw_mesh",
    "accuracy:gmsh_mesh",
    "sides:flux",
    "sides:period",
    "operator:properties",
    "coefficients:smooth",
    "coefficients:nodal_values",
    "coefficients:order",
    "coefficients:layered_plate",
    "coefficients:fin",
    "components:vector",
    "conduction:order",
    "conduction:slab",
    "conduction:steady",
    "iterations:hundred",
    "iterations:kershaw_cube",
    "iterations:finer_boxes",
    "iterations:jumps",
]
