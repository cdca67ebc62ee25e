"""The groups of kernels by which runs report the time of a step.

Absorbing layers and attenuation are part of the two updates.
"""

from __future__ import annotations

from groundswell.simulation.kernel_groups import RECORDING

SURFACE, SEA_FLOOR, SOURCES = "free surface", "sea floor", "sources"
FAULTS = "faults"
PLASTICITY = "plasticity"

KERNEL_GROUPS = {
    "update_velocity": "velocity",
    "update_stress": "stress",
    "mirror_velocity": SURFACE,
    "mirror_stress": SURFACE,
    "correct_velocity": SEA_FLOOR,
    "correct_stress": SEA_FLOOR,
    "inject_forces": SOURCES,
    "inject_moments": SOURCES,
    **dict.fromkeys(("load_fault", "slide", "stretch_fault", "record_fault"), FAULTS),
    **dict.fromkeys(("release", "release_surface"), FAULTS),
    **dict.fromkeys(("find_yielding", "relax_yielding", "clear_peaks"), PLASTICITY),
    **dict.fromkeys(("yield_soil", "yield_edges", "release_soil"), PLASTICITY),
    **dict.fromkeys(("repeat_lost", "repeat_parts"), PLASTICITY),
    "record_peaks": RECORDING,
    "record_surface": RECORDING,
    "accumulate_strain": RECORDING,
    **dict.fromkeys(("record_motion", "advance_oscillators"), RECORDING),
    **dict.fromkeys(("keep_peaks", "sum_motion"), RECORDING),
}
