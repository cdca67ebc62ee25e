"""Kernel variants: how the threads of a GPU share the nodes of elements.

`SLICES` has a thread for each node of a plane, `TENSOR_CORES` a warp for each 8 x 8 tile of a
plane, and `PENCILS` a thread for each line of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

SLICES, TENSOR_CORES, PENCILS = range(3)
WARP = 32

# Bytes of shared memory of an H200's multiprocessor, and of what each block takes for the system.
H200_SHARED_BYTES, RESERVED_BYTES = 228 * 1024, 1536


@dataclass(frozen=True)
class KernelVariant:
    """A layout of threads, and how many elements a block processes.

    Args:
        layout: SLICES, TENSOR_CORES or PENCILS.
        elements: per block.
        blocks: number that must fit on a multiprocessor, which limits registers; 0 for no limit.
    """

    layout: int
    elements: int
    blocks: int = 0

    def threads(self, degree: int) -> int:
        """Threads of a block, a multiple of a warp."""
        return -(-self.elements * threads_per_element(self.layout, degree) // WARP) * WARP

    def constants(self, degree: int) -> dict[str, int]:
        """The constants that kernels are compiled with."""
        limit = {"MIN_BLOCKS_PER_SM": self.blocks} if self.blocks else {}
        most = {"MAX_THREADS_PER_BLOCK": self.threads(degree)}
        return {"LAYOUT": self.layout, "ELEMENTS": self.elements, **most, **limit}

    def fits_h200(self, block_bytes: int) -> bool:
        """Whether a multiprocessor has shared memory for `blocks` blocks of this size."""
        return max(1, self.blocks) * (block_bytes + RESERVED_BYTES) <= H200_SHARED_BYTES


def threads_per_element(layout: int, degree: int) -> int:
    """Threads that process an element."""
    return padded_nodes(degree) ** 2 // 2 if layout == TENSOR_CORES else (degree + 1) ** 2


def padded_nodes(degree: int) -> int:
    """Nodes along an axis, padded to whole tiles of the tensor cores."""
    return 8 if degree < 8 else 16
