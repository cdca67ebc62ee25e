"""Published figures of other codes, with their sources."""

from __future__ import annotations

# Million lattice point updates a second of AWP-ODC, 160 x 160 x 2048 points a device: Callaghan &
# Cui, "MPI-based optimizations for AWP-ODC seismic simulation code", November 2024.
AWP_ODC = {
    "K20X": 552,
    "KNL 7250": 1092,
    "V100 (NVLink)": 1598,
    "A100 (NVLink)": 1937,
    "A100 (PCIe, optimised)": 2009,
    "MI250X (Slingshot)": 1711,
    "H100 (PCIe)": 3713,
    "H100 (PCIe, optimised)": 5145,
    "GH200": 8480,
    # Measured by us with the public awp-odc-os (commit 7c10ecf).
    "H200, awp-odc-os, measured by us": 8784,
}
