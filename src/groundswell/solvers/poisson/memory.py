"""Estimates of the memory of a solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundswell.backends.threads import default_threads
from groundswell.solvers.poisson.roofline import CYCLE, INDEX
from groundswell.spectral_elements.geometry import nodes_of_share

# Vectors of the fused iteration: the operator's two, residuals, x, s, p and Jacobi's factors; and
# of the iteration that multigrid preconditions.
FUSED_VECTORS, MULTIGRID_VECTORS = 6 + CYCLE, 6
COEFFICIENTS = 21  # numbers of an element with straight edges

# A level of multigrid: bytes of a value, in double precision if elements are flat; bytes per node
# without stored factors; and vectors.
SINGLE, DOUBLE, LEVEL_NODE, LEVEL_VECTORS = 4, 8, 20, 11
LEVEL_LAUNCHES = 4  # with a list of elements

# Host bytes per node: ids and indices, positions, mass, functions; geometry of levels; what exists
# of these while the coarsest matrix is assembled.
HOST_NODE, HOST_LEVELS, HOST_BEFORE = 165, 5, 100
HOST_FACTOR = 4  # host bytes per node for each factor that is stored while multigrid is set up
HOST_ENTITIES = 620  # host bytes per element for the numbers of its vertices, edges and faces
HOST_COEFFICIENT = 14  # host bytes per node for each coefficient that varies within elements
HOST_SHARE = 85  # host bytes per node that a thread processes
# Host bytes per element of the coarsest matrix: each rank's part, the whole while rank 0 assembles
# it, and what remains of it.
COARSEST_PART, COARSEST_WHOLE, COARSEST_KEPT = 1800, 1770, 700


@dataclass(frozen=True)
class MemoryEstimate:
    """Memory of one rank.

    Args:
        elements: number of its elements.
        nodes, unknowns: of its elements, for the equation's degree and each level of multigrid.
        factors: stored for each node.
        multigrid: whether it is the preconditioner.
        coarsest: elements of the coarsest matrix that this rank assembles; 0 except on rank 0.
        coarsest_factors: bytes of that matrix's factors.
        flat: whether some are flat, so that multigrid works in double precision.
        coefficients: numbers of k and c at each node, if they vary within elements.
    """

    elements: int
    nodes: Sequence[int]
    unknowns: Sequence[int]
    factors: int
    multigrid: bool
    coarsest: int
    coarsest_factors: int
    flat: bool = False
    coefficients: int = 0

    def device(self, size: int) -> int:
        """Bytes on the device for values of `size` bytes."""
        indices = 2 if self.multigrid else 3  # of the elements, the gather, and the fused rows
        of_node = size * (1 + self.factors) + INDEX * indices
        vectors = size * (MULTIGRID_VECTORS if self.multigrid else FUSED_VECTORS)
        of_element = size * COEFFICIENTS + INDEX * (
            1 + (LEVEL_LAUNCHES if self.multigrid else CYCLE)
        )
        finest = self.nodes[0] * of_node + self.unknowns[0] * vectors + self.elements * of_element
        return finest + self._levels() if self.multigrid else finest

    def _levels(self) -> int:
        size = DOUBLE if self.flat else SINGLE
        of_node = LEVEL_NODE + size * self.factors
        *smoothed, _ = zip(self.nodes, self.unknowns, strict=True)
        return sum(n * of_node + u * size * LEVEL_VECTORS for n, u in smoothed)

    @property
    def host(self) -> int:
        """Peak bytes on the host, of the set-up or of the evaluation of u."""
        always = self.elements * HOST_ENTITIES + self._of_threads
        if not self.multigrid:
            of_node = HOST_NODE + HOST_COEFFICIENT * self.coefficients
            return self.nodes[0] * of_node + always
        part, whole = self.elements * COARSEST_PART, self.coarsest * COARSEST_WHOLE
        early = self.nodes[0] * HOST_BEFORE + part + whole
        of_node = HOST_NODE + HOST_LEVELS + HOST_FACTOR * self.factors
        of_node += HOST_COEFFICIENT * self.coefficients
        later = self.nodes[0] * of_node + self.coarsest * COARSEST_KEPT
        return max(early, later) + self.coarsest_factors + always

    @property
    def _of_threads(self) -> int:
        """Bytes that threads beyond the first need while they compute."""
        share = nodes_of_share(self.nodes[0])
        return HOST_SHARE * share * (min(default_threads(), -(-self.nodes[0] // share)) - 1)
