"""Variants of the operator's kernel: data measured by benchmarks/poisson_variants.py."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from groundswell.solvers.poisson.roofline import stored_factors
from groundswell.spectral_elements.kernel_variants import (
    PENCILS,
    SLICES,
    TENSOR_CORES,
    KernelVariant,
    padded_nodes,
)
from groundswell.spectral_elements.metric_layout import plane_bytes

HOST_NODES = 1024  # of the elements that a core processes together, if these are several


@dataclass(frozen=True)
class OperatorVariant(KernelVariant):
    """A variant of apply_elements.h.

    Args:
        ring: planes of each element's stored metric that are in shared memory or being copied
            there; 0 if each node's metric is read when it is needed. See kernels/metric_ring.h.
    """

    ring: int = 0

    def shared_bytes(self, degree: int, size: int, factors: int) -> int:
        """Dynamic shared memory of a block.

        Args:
            size: bytes of a value.
            factors: stored for each node, which pass through the ring; 0 if none are stored.
        """
        n = degree + 1
        cubes = 2 * n**2 * (n | 1) * size if self.layout == PENCILS else 0
        return self.elements * (cubes + self._planes(degree) * plane_bytes(degree, size, factors))

    def fits(self, degree: int, size: int, factors: int) -> bool:
        """Whether an H200's multiprocessor has shared memory for all of its blocks."""
        return self.fits_h200(self.block_bytes(degree, size, factors))

    def within(self, block_bytes: int, degree: int, size: int, factors: int) -> OperatorVariant:
        """The same variant with as many planes in the ring as a block may have shared memory."""
        smaller = [replace(self, ring=ring) for ring in range(self.ring, -1, -1)]
        fitting = (v for v in smaller if v.block_bytes(degree, size, factors) <= block_bytes)
        return next(fitting, smaller[-1])

    def constants(self, degree: int) -> dict[str, int]:
        """The constants that the kernel is compiled with."""
        return {**super().constants(degree), "RING": self._planes(degree)}

    def block_bytes(self, degree: int, size: int, factors: int) -> int:
        """All shared memory of a block, with what kernels declare."""
        side = padded_nodes(degree)
        is_tiled = self.layout == TENSOR_CORES
        declared = 3 * side * (side + 4) * size * self.elements if is_tiled else 0
        return declared + self.shared_bytes(degree, size, factors)

    def _planes(self, degree: int) -> int:
        """Planes of the ring, at most all of an element's."""
        return 0 if self.layout == SLICES else min(self.ring, degree + 1)


S, T, P = (partial(OperatorVariant, layout) for layout in (SLICES, TENSOR_CORES, PENCILS))

# By type and metric (see `ElementOperator`), for degrees 1 to 15: the fastest on an H200 for four
# to ten million values.
VARIANTS = {
    ("float64", "stored"): (
        *(S(16, 16), P(14, 8, 3), P(4, 16), P(4, 6, 5), P(2, 7, 3)),
        *(T(2, 0, 3), T(2, 6, 3), P(1, 0, 2), P(1, 0, 3), P(1, 4, 4)),
        *(P(1, 0, 3), P(1, 3, 4), P(1, 0, 4), T(1, 2, 5), T(1, 0, 5)),
    ),
    ("float64", "straight"): (
        *(S(16), S(16), P(4), P(6, 4), P(4, 4)),
        *(P(3, 4), T(2), P(1), P(1, 3), P(1)),
        *(P(1, 4), P(1), P(1, 2), P(1, 2), P(1, 2)),
    ),
    ("float64", "affine"): (
        *(S(32), S(32, 3), P(4), P(6), P(6, 4)),
        *(P(3, 6), T(2), P(1, 8), P(1, 5), P(1, 5)),
        *(P(1, 4), P(1, 4), P(1, 2), P(1, 2), P(1, 2)),
    ),
    ("float32", "stored"): (
        *(S(16), S(32), P(8, 0, 4), P(5, 8, 5), P(4, 0, 6)),
        *(P(3, 6, 7), P(1, 6, 3), P(1, 4, 3), P(1, 3, 3), P(1, 3, 5)),
        *(P(1, 4, 3), P(1, 0, 3), P(1, 5, 3), P(1, 3, 3), P(1, 0, 3)),
    ),
    ("float32", "affine"): (
        *(S(32), P(32), P(8), P(6), P(4)),
        *(P(3), P(1), P(1, 12), P(1), P(1, 8)),
        *(P(1, 7), P(1, 4), P(1, 3), P(1, 3), P(1)),
    ),
}
VARIANTS["float32", "straight"] = VARIANTS["float32", "affine"]

# The same for three components, used where they fit. Most keep an element's whole metric in shared
# memory for all components.
SEVERAL_COMPONENTS = {
    ("float64", "stored"): (
        *(S(16), S(14, 5), P(5, 0, 4), P(5, 5, 5), P(3, 0, 6)),
        *(P(2, 0, 7), T(1, 7, 8), P(1, 0, 9), P(1, 0, 10), P(1, 0, 11)),
        *(P(1, 0, 12), P(1, 0, 6), P(1, 0, 14), P(1, 0, 15), T(1, 0, 4)),
    )
}


def choose_variant(
    dtype: str,
    degree: int,
    metric: str,
    screening: float,
    *,
    components: int = 1,
    on_host: bool = False,
) -> OperatorVariant:
    """The fastest variant; on a CPU, where a block has one thread, only `elements` matters."""
    if on_host:
        return OperatorVariant(SLICES, max(1, HOST_NODES // (degree + 1) ** 3))
    tables = (SEVERAL_COMPONENTS, VARIANTS) if components > 1 else (VARIANTS,)
    found = [table[dtype, metric][degree - 1] for table in tables if (dtype, metric) in table]
    room = (degree, np.dtype(dtype).itemsize, stored_factors(metric, screening))
    return next((variant for variant in found if variant.fits(*room)), found[-1])
