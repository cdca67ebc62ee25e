"""Figures of k-Wave: published ones, and our measurements."""

from __future__ import annotations

CITATION = (
    "F. Vaverka, M. Spetko, B. E. Treeby and J. Jaros, on CUDA-aware MPI and peer-to-peer "
    "transfers in the multi-GPU k-Wave, on a server with eight GPUs (two pages)"
)
EIGHT_P40 = "eight Tesla P40 of one server, 1024 x 1024 x 1024 points"

# The order of errors that medical applications accept (text on figure 1), and overlap and error in
# tissue (Treeby, Vaverka & Jaros 2018, POMA 34).
ACCEPTABLE = 1e-3
KWAVE_ERROR = (4, 1e-3)

# kspaceFirstOrder-CUDA on an H200 in heterogeneous media: seconds per step, and device memory, GB,
# by points along an edge and physics; our measurements.
KWAVE_ON_H200: dict[tuple[int, str], tuple[float, float | None]] = {
    (256, "lossless"): (1.85e-3, None),
    (256, "absorbing, nonlinear"): (2.70e-3, None),
    (512, "lossless"): (14.75e-3, 12.1),
    (512, "absorbing, nonlinear"): (21.5e-3, 14.1),
}

# Speed-ups of whole simulations with GPU-aware MPI and peer memory over MPI through the host, by
# overlap, reported by the authors of the multi-GPU k-Wave (eight Tesla P40, 1024^3 points): the
# smallest, or None if it is not reported, and the largest.
KWAVE: dict[int, tuple[float | None, float]] = {
    2: (None, 1.8),
    4: (None, 1.8),
    8: (2.0, 3.6),
    16: (2.0, 3.6),
    32: (2.0, 3.6),
}

# Speed-up of peer memory over CUDA-aware MPI, at most (text on figure 3).
PEER_OVER_MPI = 1.06

# Fraction of a step that communication takes with MPI through the host, the smallest and the
# largest of these simulations, by overlap (text on figure 2).
KWAVE_COMMUNICATION = {16: (0.66, 0.80), 32: (0.66, 0.80)}


def published_communication(overlap: int) -> str:
    """The range of these fractions for an overlap; empty if none is reported."""
    found = KWAVE_COMMUNICATION.get(overlap)
    return f"{100 * found[0]:.0f} to {100 * found[1]:.0f} %" if found else ""


def published_speedup(overlap: int) -> str:
    """The range of these speed-ups for an overlap; empty if none is reported."""
    if overlap not in KWAVE:
        return ""
    least, most = KWAVE[overlap]
    return f"up to {most}x" if least is None else f"{least:g} to {most:g}x"
