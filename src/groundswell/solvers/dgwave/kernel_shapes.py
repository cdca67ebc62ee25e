"""How the threads of a GPU share the nodes of elements: data measured by the benchmarks."""

from __future__ import annotations

from dataclasses import dataclass

from groundswell.backends import Backend, Constant

LEAST_THREADS = 128  # of a block
MOST_THREADS = 512
ALIGNMENT = 4  # values of an element, which are copied as whole vectors


@dataclass(frozen=True)
class KernelShape:
    """The shape of the blocks of `advance_nodes.h`.

    Args:
        layers: nodes of a line along z that have a thread at a time.
        elements: elements of a block.
        blocks: blocks that fit on a multiprocessor, which limits registers; 0 for no limit.
        in_shared: how many of an element's two arrays, fields and register, are in shared memory.
    """

    layers: int
    elements: int
    blocks: int
    in_shared: int = 2

    def threads(self, degree: int) -> int:
        """Threads of a block."""
        return (degree + 1) ** 2 * self.layers * self.elements

    def constants(self, degree: int) -> dict[str, Constant]:
        """The constants that kernels are compiled with."""
        limit = {"MIN_BLOCKS_PER_SM": self.blocks} if self.blocks else {}
        return {
            "LAYERS": self.layers,
            "ELEMENTS": self.elements,
            "IN_SHARED": self.in_shared,
            "MAX_THREADS_PER_BLOCK": self.threads(degree),
            **limit,
        }

    def shared_bytes(self, degree: int, fields: int, jump: int, size: int) -> int:
        """Dynamic shared memory of a block.

        Args:
            fields: number of fields.
            jump: values of a face node's flux.
            size: bytes of a value.
        """
        arrays = self.in_shared * pitch(degree, fields)
        return self.elements * (arrays + 6 * jump * (degree + 1) ** 2) * size


HOST = KernelShape(1, 1, 0, in_shared=0)


def pitch(degree: int, fields: int) -> int:
    """Values from one element to the next."""
    return -(-fields * (degree + 1) ** 3 // ALIGNMENT) * ALIGNMENT


def kernel_shape(backend: Backend, degree: int, fields: int, jump: int, size: int) -> KernelShape:
    """The shape for a degree, a number of fields and a type of values of `size` bytes."""
    if backend.on_host:
        return HOST
    n = degree + 1
    turns = -(-n // max(1, min(n, _most_threads(size) // n**2)))
    layers = -(-n // turns)
    elements = max(1, LEAST_THREADS // (layers * n**2))
    for arrays in (2, 1):
        shape = KernelShape(layers, elements, 0, arrays)
        if shape.shared_bytes(degree, fields, jump, size) <= backend.shared_bytes_per_block:
            return shape
    return KernelShape(layers, elements, 0, 0)


def _most_threads(size: int) -> int:
    """Threads of an element: fewer in single precision, where each has more to do."""
    return MOST_THREADS if size == 8 else MOST_THREADS // 2
