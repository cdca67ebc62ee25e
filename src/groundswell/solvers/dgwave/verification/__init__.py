"""Problems with known answers for DG waves."""

from __future__ import annotations

PROBLEMS = [
    "curved:plane_waves",
    "curved:uniform_fields",
    "curved:energy",
    "curved:tilted_surface",
]
