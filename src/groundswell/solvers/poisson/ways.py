"""How a GPU's threads share elements, by degree: data that benchmarks/poisson_ways.py measures.

`slices` has a thread for each node of a plane, `tensor` a warp for each 8 x 8 nodes of one, whose
products are the tensor cores', and `pencils` a thread for each line of nodes (see kernels/).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

SLICES, TENSOR, PENCILS = range(3)  # see kernels/operator.h
WARP = 32


@dataclass(frozen=True)
class Way:
    """One of the ways, and how many elements a block works on.

    Args:
        blocks: that a processor must have room for, which limits registers; 0 for no limit.
        ahead: planes of an element whose stored metric is on its way before it is wanted.
    """

    shape: int
    elements: int
    blocks: int = 0
    ahead: int = 0

    def threads(self, degree: int) -> int:
        """Of a block, whole warps."""
        n = degree + 1
        of_element = {SLICES: n**2, TENSOR: n**2 // 2, PENCILS: n**2}[self.shape]
        return -(-self.elements * of_element // WARP) * WARP

    def shared(self, degree: int, size: int) -> int:
        """Bytes that a block shares, of values that have `size`; see kernels/pencils.h."""
        n = degree + 1
        cube = n * n * (n | 1) * size
        return 2 * self.elements * cube if self.shape == PENCILS else 0

    def constants(self, degree: int) -> dict[str, int]:
        """What kernels call these numbers."""
        most = {"MOST_THREADS": self.threads(degree)}
        limit = {"BLOCKS_AT_ONCE": self.blocks} if self.blocks else {}
        sharing = {"SHAPE": self.shape, "ELEMENTS": self.elements, "AHEAD": self.ahead}
        return {**sharing, **most, **limit}


S, T, P = (partial(Way, shape) for shape in (SLICES, TENSOR, PENCILS))

# By type and metric (see `Elements`), of degrees 1 to 15: the fastest on an H200, for four to six
# million values.
WAYS = {
    ("float64", "stored"): (
        *(S(16, 16), S(32, 3), P(4, 16), P(2, 13), P(3, 4)),
        *(P(1), P(1, 8), P(1, 4), P(1, 5, 3), P(1, 0, 3)),
        *(P(1, 2, 3), P(1, 2, 4), P(1, 2, 4), P(1, 0, 4), T(1, 0, 4)),
    ),
    ("float64", "straight"): (
        *(S(16), S(16), P(4), P(6, 4), P(4, 4)),
        *(P(3, 4), T(2), P(1), P(1, 3), P(1)),
        *(P(1, 4), P(1), P(1, 2), P(1, 2), P(1, 2)),
    ),
    ("float64", "affine"): (
        *(S(32), S(32, 3), P(8), P(6), P(6, 4)),
        *(P(3, 6), T(2), P(1, 8), P(1, 5), P(1, 5)),
        *(P(1, 4), P(1), P(1, 2), P(1, 2), P(1, 2)),
    ),
    ("float32", "stored"): (
        *(S(16), S(32), P(4, 8), P(2, 13), P(4, 7)),
        *(P(1, 13), P(1, 10), P(1, 8), P(1, 6), P(1, 5)),
        *(P(1, 4), P(1, 3), P(1, 2), P(1, 2), P(1, 2)),
    ),
    ("float32", "affine"): (
        *(S(32), P(32), P(8), P(6), P(4)),
        *(P(3), P(1), P(1, 12), P(1), P(1, 8)),
        *(P(1, 7), P(1, 4), P(1, 3), P(1, 3), P(1)),
    ),
}
WAYS["float32", "straight"] = WAYS["float32", "affine"]


def way_of(dtype: str, degree: int, metric: str) -> Way:
    """The usual one."""
    return WAYS[dtype, metric][degree - 1]
