"""Figures of hipBone: published ones, and our measurements."""

from __future__ import annotations

CITATION = (
    "N. Chalmers, A. Mishra, D. McDougall and T. Warburton (2023), HipBone: a performance-portable "
    "GPU-accelerated C++ version of the NekBone benchmark, International Journal of High "
    "Performance Computing Applications"
)

# The operator of degree 15 on one device, GFLOP/s: Chalmers et al. 2023, text on figure 3.
OPERATOR_DEGREE = 15
OPERATOR = {"Tesla V100": 2101.4, "MI100": 2135.2, "MI250X (one of two dies)": 2774.9}

# Streaming rates in its rooflines, B/s: captions of figure 3 (the text has 810 and 982 GB/s for the
# first two).
STREAMED = {"Tesla V100": 820e9, "MI100": 952e9, "MI250X (one of two dies)": 1117e9}

# Figure of merit of degree 7 on one V100, GFLOP/s: text on table 2.
MERIT_OF_7 = {"Tesla V100": 657.6}

# Best figure of merit of degree 15, GFLOP/s of all ranks: Chalmers et al. 2023, table 2.
PEAKS = {
    "Tesla V100": {1: 1051.5, 3: 3086.1, 6: 6129.7, 12: 11935.5, 24: 23611.4, 48: 45294.6},
    "MI100": {1: 1124.8, 2: 2172.5, 4: 4333.0, 8: 8609.5, 16: 17065.0, 32: 34011.7},
    "MI250X (one of two dies)": {
        1: 1386.1,
        2: 2669.6,
        4: 5316.9,
        8: 10548.8,
        16: 20968.0,
        32: 41779.4,
        64: 82375.7,
    },
}

# Degrees of freedom a second of nekRS, bake-off problem 5, degree 7, 8000 elements, as published;
# and seconds and iterations of BPS5, Kershaw's cube, eps 0.3, to 1e-8 (examples/kershaw/README.md).
NEKRS_BP5 = {"V100": 2.39e9, "A100": 3.87e9, "GH200": 8.86e9}
NEKRS_BPS5 = {"V100": (0.293, 28), "A100": (0.197, 28)}

# hipBone (commit 5433b6c, CUDA 13.0) on H200: (ranks, degree, elements of an edge of a rank's cube)
# to milliseconds an iteration and figure of merit in GFLOP/s.
HIPBONE_ON_H200 = {
    (1, 3, 110): (3.15, 2215.0),
    (1, 7, 48): (2.72, 2704.0),
    (1, 7, 20): (0.292, 1822.0),
    (1, 7, 8): (0.116, 293.0),
    (1, 15, 22): (2.91, 3387.0),
    (1, 15, 9): (0.334, 2020.0),
    (2, 7, 48): (2.79, 5279.0),
    (2, 15, 22): (2.98, 6626.0),
    (2, 7, 8): (0.187, 364.0),
}

Occupied = tuple[int, int, int, int]

# Occupancy of its operator for N = 9 to 15 (table 1): warps (or wavefronts) of a block, registers
# of each, and how many warps and elements a multiprocessor (or compute unit) has at a time.
OCCUPANCY_DEGREES = range(9, 16)
OCCUPANCY: dict[str, tuple[Occupied, ...]] = {
    "Tesla V100": (
        *((4, 80, 24, 6), (4, 80, 24, 6), (5, 104, 15, 3), (6, 90, 18, 3)),
        *((7, 82, 14, 2), (8, 102, 16, 2), (8, 100, 16, 2)),
    ),
    "MI100": (
        *((2, 113, 8, 4), (2, 125, 8, 4), (3, 125, 6, 2), (3, 125, 6, 2)),
        *((4, 125, 8, 2), (4, 125, 8, 2), (4, 125, 8, 2)),
    ),
    "MI250X (one of two dies)": (
        *((2, 126, 16, 8), (2, 124, 16, 8), (3, 124, 12, 4), (3, 124, 12, 4)),
        *((4, 124, 16, 4), (4, 124, 16, 4), (4, 124, 16, 4)),
    ),
}
