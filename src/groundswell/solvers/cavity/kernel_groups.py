"""The groups of kernels by which runs report the time of a step, or of a multigrid cycle.

All grids have the same kernels, so sections of a cycle distinguish the grids.
"""

from __future__ import annotations

STEPS, TRANSFERS = "steps", "transfers between grids"

KERNEL_GROUPS = {
    "advance": STEPS,
    "advance_first": STEPS,
    "begin_step": STEPS,
    "begin_implicit_step": STEPS,
    "end_first_step": STEPS,
    "weigh_by_capacity": STEPS,
    "set_at_rest": TRANSFERS,
    "find_rates": TRANSFERS,
    "interpolate": TRANSFERS,
}


def steps_on(grid: int) -> str:
    """The section of steps on a grid; 0 is the finest."""
    return f"{STEPS} on grid {grid}"
