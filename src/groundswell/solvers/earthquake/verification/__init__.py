"""Problems with known answers for the earthquake solver."""

from __future__ import annotations

PROBLEMS = [
    "waves:plane_waves",
    "waves:time_order",
    "energy:conservation",
    "reciprocity:exchange",
    "fullspace:double_couple",
    "lamb:vertical_force",
    "layered:loh1",
    "layered:loh3",
    "interfaces:normal_incidence",
    "attenuation:quality",
    "absorption:reflection",
    "absorption:long_run",
]
