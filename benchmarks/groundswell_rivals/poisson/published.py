"""Occupancy of hipBone's operator: Chalmers et al. 2023, table 1."""

from __future__ import annotations

Column = tuple[int, int, int, int]

# For N = 9 to 15: warps (or wavefronts) of a block, registers of each, and how many warps and
# elements a multiprocessor (or compute unit) has at a time.
OCCUPANCY: dict[str, tuple[Column, ...]] = {
    "hipBone, Tesla V100": (
        *((4, 80, 24, 6), (4, 80, 24, 6), (5, 104, 15, 3), (6, 90, 18, 3)),
        *((7, 82, 14, 2), (8, 102, 16, 2), (8, 100, 16, 2)),
    ),
    "hipBone, MI100": (
        *((2, 113, 8, 4), (2, 125, 8, 4), (3, 125, 6, 2), (3, 125, 6, 2)),
        *((4, 125, 8, 2), (4, 125, 8, 2), (4, 125, 8, 2)),
    ),
    "hipBone, MI250X (one of two dies)": (
        *((2, 126, 16, 8), (2, 124, 16, 8), (3, 124, 12, 4), (3, 124, 12, 4)),
        *((4, 124, 16, 4), (4, 124, 16, 4), (4, 124, 16, 4)),
    ),
}
