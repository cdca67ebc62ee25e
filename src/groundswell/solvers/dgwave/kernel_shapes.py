"""Assignment of GPU threads to nodes of elements: parameters tuned on an H200."""

from __future__ import annotations

from dataclasses import dataclass

from groundswell.backends import Backend, Constant

ALIGNMENT = 4  # values; elements are copied as whole vectors
MORTAR_THREADS = 512  # largest number of threads of a mortar; more would have too few registers


@dataclass(frozen=True)
class KernelVariant:
    """What determines the fastest shape and the shared memory of a block.

    Args:
        fields: number of fields.
        jump: number of values of the flux at a face node.
        size: size of a value, bytes.
        columns: number of differentiated values per node in elements that are not bricks; 0 in
            bricks, which differentiate the fields.
        is_nodal: whether the material varies inside elements.
    """

    degree: int
    fields: int
    jump: int
    size: int
    columns: int = 0
    is_nodal: bool = False

    @property
    def kind(self) -> str:
        """The key of MEASURED."""
        return "curved" if self.columns else "nodal" if self.is_nodal else "bricks"


@dataclass(frozen=True)
class KernelShape:
    """The shape of the blocks of `advance_nodes.h`.

    Args:
        layers: number of nodes of a line along z that threads process at the same time.
        elements: number of elements of a block.
        blocks: number of blocks that must fit on a multiprocessor, which limits registers; 0 for
            no limit.
        in_shared: whether the fields and the register of elements are in shared memory; in elements
            that are not bricks, the values that are differentiated.
    """

    layers: int
    elements: int = 1
    blocks: int = 0
    in_shared: bool = True

    def threads(self, degree: int) -> int:
        """Number of threads of a block."""
        return (degree + 1) ** 2 * self.layers * self.elements

    def constants(self, degree: int) -> dict[str, Constant]:
        """The compile-time constants of kernels."""
        limit = {"MIN_BLOCKS_PER_SM": self.blocks} if self.blocks else {}
        return {
            "LAYERS": self.layers,
            "ELEMENTS": self.elements,
            "IN_SHARED": self.in_shared,
            "MAX_THREADS_PER_BLOCK": self.threads(degree),
            **limit,
        }

    def shared_bytes(self, variant: KernelVariant) -> int:
        """Dynamic shared memory of a block, bytes."""
        nodes = variant.degree + 1
        differentiated = variant.columns * nodes**3
        inside = differentiated or 2 * pitch(variant.degree, variant.fields)
        faces = 6 * variant.jump * nodes**2
        return self.elements * (self.in_shared * inside + faces) * variant.size


HOST = KernelShape(1, in_shared=False)

# Fastest shapes by degree: layers, elements, blocks; for elastic waves in double and in single
# precision, then for acoustic waves. Measured with benchmarks/dgwave_shapes.py.
BRICKS = {
    1: ((2, 8, 8), (2, 8, 8), (2, 16, 0), (2, 8, 0)),
    2: ((3, 2, 12), (3, 2, 18), (3, 4, 0), (1, 16, 0)),
    3: ((2, 2, 8), (2, 2, 12), (2, 2, 0), (2, 2, 0)),
    4: ((5, 1, 0), (5, 1, 0), (1, 4, 5), (1, 4, 7)),
    5: ((3, 1, 4), (2, 1, 9), (6, 1, 0), (1, 2, 8)),
    6: ((2, 1, 0), (2, 1, 0), (1, 2, 3), (1, 2, 6)),
    7: ((2, 1, 4), (2, 1, 5), (2, 1, 0), (1, 2, 6)),
    8: ((9, 1, 1), (2, 1, 0), (3, 1, 3), (3, 1, 4)),
    9: ((5, 1, 0), (2, 1, 2), (2, 1, 3), (2, 1, 0)),
    10: ((3, 1, 1), (2, 1, 0), (2, 1, 0), (2, 1, 3)),
    11: ((3, 1, 0), (3, 1, 0), (4, 1, 1), (2, 1, 2)),
    12: ((3, 1, 0), (3, 1, 0), (3, 1, 0), (2, 1, 2)),
    13: ((2, 1, 0), (2, 1, 0), (2, 1, 0), (1, 1, 2)),
    14: ((2, 1, 0), (2, 1, 1), (2, 1, 0), (1, 1, 2)),
    15: ((1, 1, 0), (2, 1, 2), (2, 1, 0), (2, 1, 1)),
}
CURVED = {
    1: ((2, 8, 0), (2, 8, 12), (2, 8, 0), (2, 8, 16)),
    2: ((3, 4, 0), (3, 8, 3), (3, 4, 0), (3, 8, 0)),
    3: ((4, 1, 8), (4, 1, 12), (4, 1, 12), (2, 2, 12)),
    4: ((5, 1, 0), (5, 1, 8), (5, 1, 0), (5, 1, 6)),
    5: ((3, 1, 0), (6, 1, 3), (3, 1, 4), (6, 1, 4)),
    6: ((3, 1, 3), (3, 1, 0), (7, 1, 2), (3, 1, 2)),
    7: ((4, 1, 2), (4, 1, 3), (4, 1, 2), (4, 1, 4)),
    8: ((5, 1, 1), (3, 1, 1), (3, 1, 1), (3, 1, 3)),
    9: ((5, 1, 1), (3, 1, 0), (5, 1, 1), (2, 1, 3)),
    10: ((4, 1, 0), (3, 1, 2), (4, 1, 0), (3, 1, 2)),
    11: ((3, 1, 1), (4, 1, 0), (3, 1, 1), (2, 1, 2)),
    12: ((1, 1, 0), (3, 1, 0), (3, 1, 1), (2, 1, 2)),
    13: ((1, 1, 0), (2, 1, 0), (2, 1, 1), (2, 1, 0)),
    14: ((1, 1, 0), (2, 1, 1), (2, 1, 1), (2, 1, 1)),
    15: ((1, 1, 0), (1, 1, 0), (2, 1, 0), (2, 1, 0)),
}
NODAL = BRICKS | {  # shapes of bricks for degrees that were not measured
    3: ((4, 1, 12), (2, 2, 12), (2, 2, 12), (2, 2, 16)),
    4: ((3, 2, 0), (3, 2, 5), (3, 2, 5), (1, 4, 0)),
    5: ((3, 1, 0), (2, 2, 5), (3, 2, 4), (2, 2, 5)),
    6: ((3, 1, 3), (2, 1, 0), (3, 1, 5), (2, 1, 7)),
    7: ((8, 1, 2), (4, 1, 4), (2, 1, 4), (2, 1, 0)),
    8: ((9, 1, 0), (3, 1, 0), (3, 1, 3), (3, 1, 4)),
}
MEASURED = {"bricks": BRICKS, "nodal": NODAL, "curved": CURVED}


def pitch(degree: int, fields: int) -> int:
    """Number of values from one element to the next."""
    return -(-fields * (degree + 1) ** 3 // ALIGNMENT) * ALIGNMENT


def kernel_shape(backend: Backend, variant: KernelVariant) -> KernelShape:
    """The kernel shape; elements that are too large for shared memory stay in global memory."""
    if backend.on_host:
        return HOST
    column = 2 * (variant.fields < 9) + (variant.size == 4)
    shape = KernelShape(*MEASURED[variant.kind][variant.degree][column])
    if shape.shared_bytes(variant) <= backend.shared_bytes_per_block:
        return shape
    return KernelShape(shape.layers, in_shared=False)


def mortar_shape(variant: KernelVariant) -> KernelShape:
    """The shape of the blocks of `mortars.h`, whose layers are values of a trace."""
    return KernelShape(min(variant.jump, MORTAR_THREADS // (variant.degree + 1) ** 2))
