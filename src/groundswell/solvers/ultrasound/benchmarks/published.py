"""Reference figures: published and measured ones of k-Wave, and errors from a separate program."""

from __future__ import annotations

# kspaceFirstOrder-CUDA on an H200 in heterogeneous media: seconds per step, and device memory, GB,
# by points along an edge and physics; our measurements.
KWAVE_ON_H200: dict[tuple[int, str], tuple[float, float | None]] = {
    (256, "lossless"): (1.85e-3, None),
    (256, "absorbing, nonlinear"): (2.70e-3, None),
    (512, "lossless"): (14.75e-3, 12.1),
    (512, "absorbing, nonlinear"): (21.5e-3, 14.1),
}

# Largest errors after 8 interfaces with the best shape of the bell for each, by points per
# wavelength and overlap; from a separate program, with a shorter pulse.
EIGHT_INTERFACES = {
    4.0: {2: 5.9e-2, 4: 6.7e-3, 8: 1.1e-3, 12: 1.6e-4, 16: 4.0e-5, 24: 3.1e-6, 32: 2.5e-7},
    3.0: {2: 2.2e-1, 4: 2.5e-2, 8: 7.1e-3, 12: 1.9e-3, 16: 1.1e-3, 24: 1.6e-4, 32: 4.0e-5},
    6.0: {2: 1.1e-2, 4: 3.6e-3, 8: 2.6e-4, 12: 2.6e-5, 16: 3.3e-6, 24: 9.5e-8, 32: 3.0e-9},
}
KWAVE_ERROR = (4, 1e-3)  # overlap and error in tissue (Treeby, Vaverka & Jaros 2018, POMA 34)
