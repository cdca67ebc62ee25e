"""How the threads of a GPU share the nodes of elements: data measured on an H100."""

from __future__ import annotations

from dataclasses import dataclass

from groundswell.backends import Backend, Constant

ALIGNMENT = 4  # values of an element, which are copied as whole vectors


@dataclass(frozen=True)
class KernelShape:
    """The shape of the blocks of `advance_nodes.h`.

    Args:
        layers: nodes of a line along z that have a thread at a time.
        elements: elements of a block.
        blocks: blocks that fit on a multiprocessor, which limits registers; 0 for no limit.
        in_shared: whether fields and register of the elements are in shared memory; of elements
            that are not bricks, what is differentiated.
    """

    layers: int
    elements: int = 1
    blocks: int = 0
    in_shared: bool = True

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

    def shared_bytes(self, degree: int, fields: int, jump: int, size: int, columns: int = 0) -> int:
        """Dynamic shared memory of a block.

        Args:
            fields: number of fields.
            jump: values of a face node's flux.
            size: bytes of a value.
            columns: values of a node that are differentiated; 0 in bricks, where they are fields.
        """
        inside = columns * (degree + 1) ** 3 if columns else 2 * pitch(degree, fields)
        faces = 6 * jump * (degree + 1) ** 2
        return self.elements * (self.in_shared * inside + faces) * size


HOST = KernelShape(1, in_shared=False)
ELASTIC_DOUBLE, ELASTIC_SINGLE, ACOUSTIC_DOUBLE, ACOUSTIC_SINGLE = range(4)

# The fastest of all shapes by degree, in the order of these names: layers, elements, blocks.
MEASURED = {
    1: ((2, 16, 4), (2, 8, 8), (2, 8, 8), (2, 8, 8)),
    2: ((3, 4, 4), (3, 8, 4), (3, 4, 0), (3, 4, 0)),
    3: ((2, 4, 0), (4, 2, 8), (2, 4, 6), (2, 4, 10)),
    4: ((5, 1, 4), (5, 1, 6), (5, 1, 8), (2, 2, 0)),
    5: ((6, 1, 3), (6, 1, 0), (6, 1, 0), (3, 2, 5)),
    6: ((3, 1, 3), (2, 1, 5), (2, 1, 0), (2, 1, 0)),
    7: ((2, 1, 0), (2, 1, 5), (2, 1, 0), (2, 1, 8)),
    8: ((5, 1, 0), (3, 1, 0), (3, 1, 2), (3, 1, 4)),
    9: ((5, 1, 0), (2, 1, 2), (3, 1, 2), (2, 1, 0)),
    10: ((2, 1, 0), (2, 1, 2), (2, 1, 0), (2, 1, 3)),
    11: ((3, 1, 0), (3, 1, 0), (3, 1, 0), (3, 1, 0)),
    12: ((3, 1, 0), (3, 1, 0), (3, 1, 0), (2, 1, 2)),
    13: ((2, 1, 0), (2, 1, 0), (2, 1, 0), (2, 1, 0)),
    14: ((2, 1, 0), (2, 1, 1), (2, 1, 0), (1, 1, 2)),
    15: ((1, 1, 0), (2, 1, 2), (2, 1, 0), (1, 1, 0)),
}


def pitch(degree: int, fields: int) -> int:
    """Values from one element to the next."""
    return -(-fields * (degree + 1) ** 3 // ALIGNMENT) * ALIGNMENT


def kernel_shape(
    backend: Backend, degree: int, fields: int, jump: int, size: int, columns: int = 0
) -> KernelShape:
    """The shape for a degree, a number of fields and a type of values of `size` bytes.

    Elements that are too large for shared memory stay in global memory. For the arguments see
    `KernelShape.shared_bytes`.
    """
    if backend.on_host:
        return HOST
    column = 2 * (fields < 9) + (size == 4)
    shape = KernelShape(*MEASURED[degree][column])
    if shape.shared_bytes(degree, fields, jump, size, columns) <= backend.shared_bytes_per_block:
        return shape
    return KernelShape(shape.layers, in_shared=False)
