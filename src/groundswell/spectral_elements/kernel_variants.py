"""How a GPU's threads share elements, by degree: data that benchmarks/poisson_ways.py measures.

`slices` has a thread for each node of a plane, `tensor` a warp for each 8 x 8 nodes of one, whose
products are the tensor cores', and `pencils` a thread for each line of nodes (see kernels/).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from groundswell.spectral_elements.metric_layout import plane_bytes
from groundswell.spectral_elements.roofline import stored_factors

SLICES, TENSOR, PENCILS = range(3)  # see kernels/operator.h
WARP = 32

HOST_NODES = 1024  # of the elements that a core does together, if they are more than one

# Bytes of an H200's shared memory, and what any block takes that it does not ask for.
OF_PROCESSOR, LEAST_OF_BLOCK = 228 * 1024, 1536


@dataclass(frozen=True)
class Way:
    """One of the ways, and how many elements a block works on.

    Args:
        blocks: that a processor must have room for, which limits registers; 0 for no limit.
        ring: planes of an element whose stored metric is in a block's shared memory, or on its
            way there; 0 if each node's is read when it is wanted. See kernels/block.h.
    """

    shape: int
    elements: int
    blocks: int = 0
    ring: int = 0

    def threads(self, degree: int) -> int:
        """Of a block, whole warps."""
        return -(-self.elements * threads_of_element(self.shape, degree) // WARP) * WARP

    def shared(self, degree: int, size: int, factors: int) -> int:
        """Bytes that a block asks for; see kernels/.

        Args:
            size: bytes of a value.
            factors: of each node, which come in the ring; 0 if there is none.
        """
        n = degree + 1
        cubes = 2 * n**2 * (n | 1) * size if self.shape == PENCILS else 0
        return self.elements * (cubes + self._planes(degree) * plane_bytes(degree, size, factors))

    def fits(self, degree: int, size: int, factors: int) -> bool:
        """Whether a processor of an H200 has as much for all blocks that it is to have room for."""
        of_block = self._of_block(degree, size, factors) + LEAST_OF_BLOCK
        return max(1, self.blocks) * of_block <= OF_PROCESSOR

    def within(self, room: int, degree: int, size: int, factors: int) -> Way:
        """The same for a device whose blocks have this room: with fewer planes in the ring."""
        fewer = [replace(self, ring=ring) for ring in range(self.ring, -1, -1)]
        fitting = (way for way in fewer if way._of_block(degree, size, factors) <= room)
        return next(fitting, fewer[-1])

    def _of_block(self, degree: int, size: int, factors: int) -> int:
        """Bytes that its threads share, also those that kernels declare."""
        side = padded(degree)
        declared = 3 * side * (side + 4) * size * self.elements if self.shape == TENSOR else 0
        return declared + self.shared(degree, size, factors)

    def constants(self, degree: int) -> dict[str, int]:
        """What kernels call these numbers."""
        most = {"MOST_THREADS": self.threads(degree)}
        limit = {"BLOCKS_AT_ONCE": self.blocks} if self.blocks else {}
        ring = {"RING": self._planes(degree)}
        return {"SHAPE": self.shape, "ELEMENTS": self.elements, **ring, **most, **limit}

    def _planes(self, degree: int) -> int:
        """Of the ring: no more than an element has."""
        return 0 if self.shape == SLICES else min(self.ring, degree + 1)


def threads_of_element(shape: int, degree: int) -> int:
    """That work on an element."""
    return padded(degree) ** 2 // 2 if shape == TENSOR else (degree + 1) ** 2


def padded(degree: int) -> int:
    """Nodes along an axis that the tensor cores' tiles fill."""
    return 8 if degree < 8 else 16


S, T, P = (partial(Way, shape) for shape in (SLICES, TENSOR, PENCILS))

# By type and metric (see `Elements`), of degrees 1 to 15: the fastest on an H200, for four to ten
# million values.
WAYS = {
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
WAYS["float32", "straight"] = WAYS["float32", "affine"]

# The same for three components, where a processor has room: mostly all of an element's metric stays
# for them.
OF_SEVERAL = {
    ("float64", "stored"): (
        *(S(16), S(14, 5), P(5, 0, 4), P(5, 5, 5), P(3, 0, 6)),
        *(P(2, 0, 7), T(1, 7, 8), P(1, 0, 9), P(1, 0, 10), P(1, 0, 11)),
        *(P(1, 0, 12), P(1, 0, 6), P(1, 0, 14), P(1, 0, 15), T(1, 0, 4)),
    ),
}


def way_of(
    dtype: str,
    degree: int,
    metric: str,
    screening: float,
    *,
    components: int = 1,
    on_host: bool = False,
) -> Way:
    """The usual one; of a CPU, where a block is one thread's, only its elements count."""
    if on_host:
        return Way(SLICES, max(1, HOST_NODES // (degree + 1) ** 3))
    room = (degree, np.dtype(dtype).itemsize, stored_factors(metric, screening))
    tables = (OF_SEVERAL, WAYS) if components > 1 else (WAYS,)
    found = [table[dtype, metric][degree - 1] for table in tables if (dtype, metric) in table]
    return next((way for way in found if way.fits(*room)), found[-1])
