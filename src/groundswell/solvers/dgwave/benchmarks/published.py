"""Values of GAPS: averages from its text, for 32,768 elements of 512 nodes on a Tesla V100.

Hanindhito et al., GAPS: GPU-acceleration of PDE solvers for wave simulation, ICS 2022,
doi:10.1145/3524059.3532373. Its figures show no numbers.
"""

from __future__ import annotations

CITATION = (
    "B. Hanindhito, D. Gourounas, A. Fathi, D. Trenev, A. Gerstlauer and L. K. John (2022), GAPS: "
    "GPU-acceleration of PDE solvers for wave simulation, International Conference on "
    "Supercomputing, doi:10.1145/3524059.3532373"
)

# Speed over 40 cores of two POWER9 (section 8.1), by version.
OVER_CPU = {"base": 45.67, "f1": 69.30, "f1s": 84.15}

# Speed over the base version: f1 in section 8.1, f1s in the abstract. The means above would give
# 1.52 for f1.
OVER_BASE = {"f1": 1.74, "f1s": 1.84}

# Speed of elements of 512 nodes over those of 64 (section 8.3).
OVER_64 = 1.12

# Fractions of the exchange time that are saved on average: by sending only variables and materials
# (section 10; figure 6); of the rest, by asynchronous progress of MVAPICH2-GDR (section 8.5; figure
# 7), and by the MPI library that also has GPUDirect RDMA and P2P (section 10).
SAVED, SAVED_BY_PROGRESS, SAVED_BY_LIBRARY = 0.7027, 0.5674, 0.8203

# The most that is saved by sending only variables and materials (section 8.4; figure 6).
MOST_SAVED = {"on one node": 0.7281, "between nodes": 0.7583}

# Exchange time that IBM Spectrum MPI saves over MVAPICH2-GDR, both with asynchronous progress, on
# four GPUs of a node; on 16 GPUs of four nodes it takes a third longer (section 8.5; figure 7).
SAVED_BY_SPECTRUM = {"4 GPUs of a node": 0.5127, "16 GPUs of four nodes": -0.33}

# Sizes of an element of 512 nodes, bytes: all of its data, and variables and materials (table 4).
ELEMENT_BYTES = {
    ("acoustic", "single"): (32_832, 8_200),
    ("acoustic", "double"): (65_640, 16_400),
    ("elastic", "single"): (63_556, 18_444),
    ("elastic", "double"): (127_088, 36_888),
}
