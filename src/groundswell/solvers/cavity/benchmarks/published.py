"""Published figures of another code: Xue & Roy (2020)."""

from __future__ import annotations

CITATION = (
    "W. Xue and C. J. Roy (2020), Multi-GPU performance optimization of a CFD code using OpenACC "
    "on different platforms"
)

# The buoyancy-driven cavity on two P100 of one node, by version and process grid (along i, the fast
# axis, j and k), of Xue & Roy (2020): tens of millions of cell updates per second ("ssspnt") and
# efficiency in %, from tables 3 (256^3 cells in total) and 4 (256^3 cells per GPU).
Cavity = dict[tuple[str, tuple[int, int, int]], tuple[float, float]]
ONE_GPU = 93.8
STRONG: Cavity = {
    ("Baseline", (1, 1, 2)): (145.9, 77.8),
    ("Baseline", (2, 1, 1)): (22.0, 11.7),
    ("V3", (1, 1, 2)): (167.2, 89.2),
    ("V3", (2, 1, 1)): (169.8, 90.5),
    ("Baseline + GPUDirect", (1, 1, 2)): (155.8, 83.1),
    ("Baseline + GPUDirect", (2, 1, 1)): (154.7, 82.5),
    ("V3 + GPUDirect", (1, 1, 2)): (177.9, 94.9),
    ("V3 + GPUDirect", (2, 1, 1)): (179.4, 95.7),
}
WEAK: Cavity = {
    ("Baseline", (1, 1, 2)): (161.6, 86.1),
    ("Baseline", (2, 1, 1)): (21.4, 11.4),
    ("V3", (1, 1, 2)): (175.3, 93.5),
    ("V3", (2, 1, 1)): (176.3, 94.0),
    ("Baseline + GPUDirect", (1, 1, 2)): (167.9, 89.5),
    ("Baseline + GPUDirect", (2, 1, 1)): (154.9, 82.6),
    ("V3 + GPUDirect", (1, 1, 2)): (180.0, 96.0),
    ("V3 + GPUDirect", (2, 1, 1)): (180.9, 96.5),
}
CELLS = 256**3

# Change of speed by overlap, for at most 16 processors (section 4.7, text on figure 13).
OVERLAP_CHANGE = (-0.3, -0.2)

# Order of the difference of a solution on 32 GPUs from that on one, relative (section 4.1).
DIFFERENCE = 1e-8


def lost_seconds(speed: float, ranks: int = 2) -> float:
    """Time of a step in table 3 beyond that of one GPU divided by the number of GPUs.

    We derive it from the table. It contains the exchange and everything else that does not scale.
    """
    return CELLS / 1e7 * (1 / speed - 1 / (ranks * ONE_GPU))
