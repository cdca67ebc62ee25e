"""Figures of AWP-ODC: Callaghan & Cui, "MPI-based optimizations for AWP-ODC seismic simulation
code", November 2024; and our measurements."""

from __future__ import annotations

from dataclasses import dataclass

CITATION = (
    "S. Callaghan and Y. Cui (2024), MPI-based optimizations for AWP-ODC seismic simulation code, "
    "slides of 19 November 2024"
)
CELLS = (160, 160, 2048)  # points of a device

# Million lattice point updates a second (MLUPS) of AWP-ODC for each device of a run on several,
# which exchange ghost layers.
AWP_ODC = {
    "K20X": 552,
    "KNL 7250": 1092,
    "V100 (NVLink)": 1598,
    "A100 (NVLink)": 1937,
    "A100 (PCIe)": 896,
    "A100 (PCIe, optimised)": 2009,
    "MI250X (Slingshot)": 1711,
    "H100 (PCIe)": 3713,
    "H100 (PCIe, optimised)": 5145,
    "GH200": 8480,
}
# Measured by us on one device with the public awp-odc-os (commit 7c10ecf).
AWP_ODC_OS = {"H200": 8784}

FLOPS = 307  # operations of a point and step, as awp-odc-os counts them


@dataclass(frozen=True)
class Scaling:
    """Weak scaling with an MPI library on nodes of Lonestar6, which have A100s.

    Args:
        library: of MPI, and what it offers.
        steps: by number of nodes, Tflop/s, seconds of a step and efficiency, as published.
    """

    library: str
    steps: dict[int, tuple[float, float, float]]

    def gain_over(self, other: Scaling, nodes: int) -> float:
        """Tflop/s over those with another library."""
        return self.steps[nodes][0] / other.steps[nodes][0]


# As published: 14.4 Tflop/s on 16 nodes fit 0.054 s a step rather than 0.154 s.
HOST, GPU_AWARE, COMPRESSED = "through the host", "GPU-aware", "GPU-aware, compressed"
LONESTAR = {
    HOST: Scaling(
        "MVAPICH2 2.3.7",
        {
            2: (2.0250, 0.0488, 1.000),
            4: (4.0270, 0.0494, 0.994),
            8: (7.8250, 0.0510, 0.966),
            16: (14.4130, 0.1543, 0.890),
        },
    ),
    GPU_AWARE: Scaling(
        "MVAPICH2-GDR 2.3.7",
        {
            2: (2.2960, 0.0399, 1.000),
            4: (4.5260, 0.0436, 0.986),
            8: (9.3250, 0.0425, 1.015),
            16: (17.1360, 0.0460, 0.933),
        },
    ),
    COMPRESSED: Scaling(
        "MVAPICH2-GDR 2.3.7 with MPC",
        {
            2: (3.7710, 0.0261, 1.000),
            4: (6.8510, 0.0288, 0.908),
            8: (13.7560, 0.0288, 0.912),
            16: (27.5580, 0.0288, 0.913),
        },
    ),
}

# The lower half of the table: other libraries; the slides do not say whether the last compresses.
OTHER_LIBRARIES = (
    Scaling(
        "Intel MPI 19.0.9",
        {
            2: (1.6800, 0.0585, 1.000),
            4: (3.4800, 0.0572, 1.036),
            8: (5.8170, 0.0686, 0.866),
            16: (10.8380, 0.0737, 0.806),
        },
    ),
    Scaling(
        "MVAPICH2-plus 3.0a2",
        {
            2: (2.391, 0.0411, 1.000),
            4: (4.579, 0.0431, 0.958),
            8: (7.796, 0.0509, 0.815),
            16: (15.214, 0.0523, 0.795),
        },
    ),
    Scaling(
        "MVAPICH2-plus, latest",
        {
            2: (3.151, 0.0311, 1.000),
            4: (5.399, 0.0366, 0.857),
            8: (10.136, 0.0391, 0.804),
            16: (20.097, 0.0395, 0.797),
        },
    ),
)

# Gains in flop/s by on-the-fly compression in MPI: slide "MPI compression performance results".
COMPRESSION = {"mpc": 0.18, "zfp": 0.35}
SHORTER = {"mpc": 0.15, "zfp": 0.26}  # reductions of the run time, same slide
