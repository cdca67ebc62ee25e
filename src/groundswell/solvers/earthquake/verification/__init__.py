"""Problems with known answers for the earthquake solver."""

from __future__ import annotations

PROBLEMS = [
    "waves:plane_waves",
    "waves:time_order",
    "energy:conservation",
    "reciprocity:exchange",
    "green:moments",
    "fullspace:double_couple",
    "lamb:vertical_force",
    "layered:loh1",
    "layered:loh3",
    "layered:gaussian",
    "layered_halfspace:interfaces_on_faces",
    "layered_halfspace:interfaces_off_faces",
    "layered_halfspace:model_file",
    "interfaces:normal_incidence",
    "sea:sources_below_water",
    "sea:ice_on_water",
    "attenuation:quality",
    "half_memory:seismograms",
    "yielding:shear_pulse",
    "yielding:dissipation",
    "soil:shear_pulse",
    "absorption:reflection",
    "absorption:long_waves",
    "absorption:static_offset",
    "absorption:long_run",
    "ruptures:tpv3",
]
