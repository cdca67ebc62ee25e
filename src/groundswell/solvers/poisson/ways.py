"""How a GPU's threads share elements, by degree: data, which trials are to replace.

So far they follow from threads and registers; benchmarks/poisson_ways.py finds what is fastest.

`nodes` has a thread for each node, `slices` one for each node of a plane, `tensor` a warp for each
8 x 8 nodes of one, whose products are the tensor cores' (see kernels/).
"""

from __future__ import annotations

from dataclasses import dataclass

NODES, SLICES, TENSOR = 0, 1, 2  # see kernels/operator.h
WARP = 32


@dataclass(frozen=True)
class Way:
    """One of the ways, and how many elements a block works on.

    Args:
        blocks: that a processor must have room for, which limits registers; 0 for no limit.
    """

    shape: int
    elements: int
    blocks: int = 0

    def threads(self, degree: int) -> int:
        """Of a block, whole warps."""
        n = degree + 1
        of_element = {NODES: n**3, SLICES: n**2, TENSOR: n**2 // 2}[self.shape]
        return -(-self.elements * of_element // WARP) * WARP

    def constants(self, degree: int) -> dict[str, int]:
        """What kernels call these numbers."""
        most = {"MOST_THREADS": self.threads(degree)}
        limit = {"BLOCKS_AT_ONCE": self.blocks} if self.blocks else {}
        return {"SHAPE": self.shape, "ELEMENTS": self.elements, **most, **limit}


SINGLE = {
    1: Way(NODES, 16),
    2: Way(NODES, 8),
    3: Way(NODES, 4),
    4: Way(SLICES, 8),
    5: Way(SLICES, 6),
    6: Way(SLICES, 4),
    7: Way(SLICES, 4),
    8: Way(SLICES, 3),
    9: Way(SLICES, 2),
    10: Way(SLICES, 2),
    **{degree: Way(SLICES, 1) for degree in range(11, 16)},
}
DOUBLE = {**SINGLE, 3: Way(NODES, 4, 6), 7: Way(TENSOR, 4)}


def way_of(dtype: str, degree: int) -> Way:
    """The usual one."""
    return (DOUBLE if dtype == "float64" else SINGLE)[degree]
