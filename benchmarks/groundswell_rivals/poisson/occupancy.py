"""Occupancy of a GPU by the operator's kernels, computed from what the compiler reports.

A multiprocessor of an NVIDIA GPU has four parts with a quarter of the registers each. A warp gets
its registers in units of 256 from one of them (CUDA C++ Programming Guide, compute capabilities 7.0
and 9.0).
"""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.backends import nvrtc
from groundswell.bench import Session
from groundswell.bench.tables import Row
from groundswell.errors import BackendError
from groundswell.solvers.poisson.benchmarks.problems import SCREENING
from groundswell.solvers.poisson.benchmarks.published import OCCUPANCY_DEGREES
from groundswell.solvers.poisson.element_operator import operator_source
from groundswell.solvers.poisson.kernel_variants import choose_variant
from groundswell.solvers.poisson.roofline import stored_factors
from groundswell.spectral_elements.kernel_variants import (
    H200_SHARED_BYTES,
    RESERVED_BYTES,
    WARP,
)

ARCHITECTURE, METRIC, DTYPE, VALUE = "sm_90", "stored", "float64", 8
PARTS, REGISTERS_OF_PART, UNIT = 4, 16_384, 8  # registers of a thread are multiples of the unit
MOST_WARPS, MOST_BLOCKS = 64, 32


def measure_occupancy(session: Session) -> Iterator[Row]:
    """Compile the operator for an H200, which needs no GPU; a note says if there is no compiler.

    Yields:
        Rows: `machine`, `degree`, `threads` and `warps` of a block, `registers` of a thread, and
        the `occupancy` in warps and the number of `elements` of a multiprocessor.
    """
    try:
        yield from map(_occupied, OCCUPANCY_DEGREES)
    except BackendError as error:
        session.measured["notes"].append(f"occupancy: {str(error).splitlines()[0]}")


def _occupied(degree: int) -> Row:
    variant = choose_variant(DTYPE, degree, METRIC, SCREENING)
    text = operator_source(DTYPE, degree, SCREENING, METRIC, variant).text()
    kernel = _resources(text)
    threads, factors = variant.threads(degree), stored_factors(METRIC, SCREENING)
    warps = threads // WARP
    by_memory = H200_SHARED_BYTES // (variant.block_bytes(degree, VALUE, factors) + RESERVED_BYTES)
    blocks = min(resident_blocks(warps, kernel.registers), by_memory)
    return {
        "machine": "Groundswell, H200",
        "degree": degree,
        "threads": threads,
        "warps": warps,
        "registers": kernel.registers,
        "occupancy": blocks * warps,
        "elements": blocks * variant.elements,
    }


def _resources(text: str) -> nvrtc.Resources:
    """Resources of the only kernel of a source."""
    kernels = nvrtc.compile_cubin(text, ARCHITECTURE)[1]
    if not kernels:
        raise BackendError("this version of NVRTC or cuda-core does not report registers")
    return kernels[0]


def resident_blocks(warps: int, registers: int) -> int:
    """Blocks of a number of warps that fit on a multiprocessor.

    Args:
        registers: of a thread.
    """
    of_warp = -(-registers // UNIT) * UNIT * WARP
    fitting = min(PARTS * (REGISTERS_OF_PART // of_warp), MOST_WARPS)
    return min(fitting // warps, MOST_BLOCKS)
