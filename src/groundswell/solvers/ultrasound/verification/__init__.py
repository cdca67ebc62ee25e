"""Problems with known solutions for the ultrasound solver."""

from __future__ import annotations

PROBLEMS = [
    "waves:ball",
    "waves:power_law",
    "waves:phase_error",
    "nonlinear:fubini",
    "nonlinear:mendousse",
    "interfaces:normal_incidence",
    "interfaces:plate",
    "sources:planes",
    "sources:point",
    "sources:elements",
    "stability:density",
    "bowl:arc",
    "bowl:bowl",
    "bowl:piston",
    "layers:plane_waves",
    "layers:ball",
    "overlaps:accuracy",
    "overlaps:absorption",
    "overlaps:torus",
    "requested:accuracies",
    "heat:gaussian",
    "heat:sphere",
]
