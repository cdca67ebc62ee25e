"""The groups of kernels by which runs report the time of a step.

A stage is one kernel: volume terms, fluxes, attenuation, sources, layers and the update.
"""

from __future__ import annotations

from groundswell.simulation.kernel_groups import OTHER, RECORDING

ELEMENTS, MORTARS = "elements", "mortars of finer neighbours"
FAULTS, YIELDING = "faults", "yielding rock"

KERNEL_GROUPS = {
    "advance": ELEMENTS,
    "store_traces": ELEMENTS,
    "interpolate_traces": MORTARS,
    "project_jumps": MORTARS,
    "slide": FAULTS,
    "yield_rock": YIELDING,
    "record_peaks": RECORDING,
    "record_velocity": RECORDING,
    **dict.fromkeys(("record_motion", "advance_oscillators"), RECORDING),
    **dict.fromkeys(("keep_peaks", "sum_motion"), RECORDING),
    "sum_over_loads": RECORDING,
    "count_step": OTHER,
}
