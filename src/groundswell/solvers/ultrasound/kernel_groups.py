"""The groups of kernels by which runs report the time of a step.

Where a step has kernels of its own instead of a library's transforms, those of the derivatives
transform along y and z, and those of the update along x.
"""

from __future__ import annotations

from groundswell.simulation.kernel_groups import EXCHANGE, OTHER, RECORDING

TRANSFORMS, SPECTRA, UPDATE, SOURCES = "Fourier transforms", "derivatives", "update", "sources"
AXES = ("x", "y", "z")

KERNEL_GROUPS = {
    **dict.fromkeys(("forward_transform", "inverse_transform"), TRANSFORMS),
    **dict.fromkeys(("forward_x", "inverse_x"), TRANSFORMS),
    **dict.fromkeys((f"derivative_{axis}" for axis in AXES), SPECTRA),
    **dict.fromkeys(("find_gradient", "find_divergence", "find_laplacians"), SPECTRA),
    **dict.fromkeys(("clear_counts", "scale"), SPECTRA),
    **dict.fromkeys(("accelerate", *(f"accelerate_{axis}" for axis in AXES)), UPDATE),
    **dict.fromkeys(("compress", "total_density", "equation_of_state"), UPDATE),
    **dict.fromkeys(("forward_density", "find_pressure"), UPDATE),
    **dict.fromkeys(("add_source", "set_source", "correct_source", "add_inverse_x"), SOURCES),
    **dict.fromkeys(("add_terms", "clear", "add", "erase"), SOURCES),
    **dict.fromkeys((f"taper_{axis}" for axis in AXES), EXCHANGE),
    **dict.fromkeys((f"shift_{axis}" for axis in AXES), RECORDING),
    "next_step": OTHER,
}
