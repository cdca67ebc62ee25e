"""The groups of kernels by which runs report the time of an iteration.

The levels of multigrid have the same kernels, so sections of an iteration distinguish them.
"""

from __future__ import annotations

OPERATOR, GATHER = "operator", "gather-scatter"
VECTORS, FUSED = "vectors and dot products", "gather, vectors and dot products"
STEPS = "steps in time"
MULTIGRID = "multigrid"
COARSEST, LINES = f"{MULTIGRID}, coarsest level", f"{MULTIGRID}, flat elements"

KERNEL_GROUPS = {
    "apply_elements": OPERATOR,
    "apply_sides": OPERATOR,
    "multiply_values": OPERATOR,
    "assemble": GATHER,
    "assemble_tiles": GATHER,
    **dict.fromkeys(("advance_rows", "measure_rows"), FUSED),
    **dict.fromkeys(("add_up_sums", "add_up_parts", "sum_products"), VECTORS),
    **dict.fromkeys(("find_step", "advance_iterate"), VECTORS),
    **dict.fromkeys(("send_partial_sums", "find_global_step"), VECTORS),
    **dict.fromkeys(("combine_kept", "combine_vectors", "put_values", "prescribe_values"), STEPS),
    **dict.fromkeys(("find_residual", "convert_residual", "convert_image"), STEPS),
    **dict.fromkeys(("correct_values", "store_values"), STEPS),
    **dict.fromkeys(("solve_elements", "advance_smoothing", "subtract_values"), MULTIGRID),
    **dict.fromkeys(("restrict_elements", "prolong_elements", "convert_values"), MULTIGRID),
    **dict.fromkeys(("multiply_sparse", "multiply_long_rows"), MULTIGRID),
}


def level_section(degree: int) -> str:
    """The group of a level of multigrid: its smoother, and transfers to the next lower one."""
    return f"{MULTIGRID}, degree {degree}"
