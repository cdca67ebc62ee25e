"""Problems with known answers for the cavity solver."""

from __future__ import annotations

PROBLEMS = [
    "convection:square",
    "convection:cube",
    "convection:conducting",
    "symmetry:centre",
    "lid:reynolds_100",
    "lid:reynolds_1000",
    "stretched:square",
    "stretched:cube",
    "stretched:order",
    "stretched:lid",
    "lid_profiles:cube_1000",
    "lid_profiles:square_5000",
    "solids:layers",
    "solids:balance",
    "solids:block",
    "solids:clustered_block",
    "vortices:vortices_in_time",
    "tall:oscillating",
]
