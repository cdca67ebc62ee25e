"""The groups of kernels by which runs report the time of a step.

A stage is one kernel: volume terms, fluxes, attenuation, sources, layers and the update.
"""

from __future__ import annotations

from groundswell.simulation.kernel_groups import OTHER, RECORDING

ELEMENTS, MORTARS, FAULTS = "elements", "mortars of finer neighbours", "faults"

KERNEL_GROUPS = {
    "advance": ELEMENTS,
    "store_traces": ELEMENTS,
    "interpolate_traces": MORTARS,
    "project_jumps": MORTARS,
    "slide": FAULTS,
    "record_peaks": RECORDING,
    "record_velocity": RECORDING,
    "count_step": OTHER,
}
