"""Problems with known answers for the DG wave solver."""

from __future__ import annotations

PROBLEMS = [
    "waves:plane_waves",
    "waves:standing_waves",
    "waves:interface_waves",
    "interfaces:normal_incidence",
    "interfaces:oblique_incidence",
    "interfaces:halved_elements",
    "gradients:standing_waves",
    "energy:conservation",
    "energy:time_steps",
    "energy:spectrum",
    "layers:reflection",
    "sponges:reflection",
    "fullspace:double_couple",
    "places:double_couple",
    "lamb:vertical_force",
    "layered:loh1",
    "layered:loh3",
    "layered:gaussian",
    "layered:interfaces_on_faces",
    "layered:airgun",
    "methods:finite_differences",
    "attenuation:quality",
    "curved:plane_waves",
    "curved:halved_elements",
    "curved:uniform_fields",
    "curved:energy",
    "curved:tilted_surface",
]
