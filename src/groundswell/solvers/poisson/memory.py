"""What a solution takes of memory, as its parts ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundswell.spectral_elements.roofline import CYCLE, PLACE

# Vectors of the merged iteration: the operator's two, residuals, x, s, p and Jacobi's factors; and
# of the one around multigrid.
MERGED, AROUND = 6 + CYCLE, 6
SHAPE = 21  # numbers of an element with straight edges

# Of a level of multigrid, single precision: bytes a node but for stored factors, and vectors.
SINGLE, LEVEL_NODE, LEVEL_VECTORS = 4, 24, 11
LEVEL_LAUNCHES = 4  # that are told which elements are theirs

# Bytes a node at the host: ids and places, positions, mass, what is given; shapes of levels; what
# there is of these while the coarsest matrix is put together.
HOST_NODE, HOST_LEVELS, HOST_BEFORE = 165, 55, 100
HOST_CURVED = 130  # of curved elements with multigrid, whose metric the host works out
# Bytes an element of the coarsest matrix: of each rank's part, of all that rank 0 puts together,
# and of what it keeps of that.
COARSEST_PART, COARSEST_WHOLE, COARSEST_KEPT = 1800, 3300, 700


@dataclass(frozen=True)
class Kept:
    """Of one rank.

    Args:
        elements: how many it has.
        nodes, unknowns: of all of these, for the equation's degree; with multigrid, of each level.
        factors: that are stored for each node.
        cycle: whether there is multigrid.
        coarsest: elements whose part of the coarsest matrix it gets, its own among them.
        factored: bytes of that matrix's factors.
        curved: whether elements have curved edges.
    """

    elements: int
    nodes: Sequence[int]
    unknowns: Sequence[int]
    factors: int
    cycle: bool
    coarsest: int
    factored: int
    curved: bool = False

    def device(self, size: int) -> int:
        """Bytes on the device, of values that have `size` bytes."""
        places = 2 if self.cycle else 3  # of the operator's elements, of its gather, of merged rows
        of_node = size * (1 + self.factors) + PLACE * places
        vectors = size * (AROUND if self.cycle else MERGED)
        of_element = size * SHAPE + PLACE * (1 + (LEVEL_LAUNCHES if self.cycle else CYCLE))
        finest = self.nodes[0] * of_node + self.unknowns[0] * vectors + self.elements * of_element
        return finest + self._levels() if self.cycle else finest

    def _levels(self) -> int:
        of_node = LEVEL_NODE + SINGLE * self.factors
        *smoothed, _ = zip(self.nodes, self.unknowns, strict=True)
        return sum(n * of_node + u * SINGLE * LEVEL_VECTORS for n, u in smoothed)

    @property
    def host(self) -> int:
        """Bytes at the host while all is made ready and while u is looked at."""
        if not self.cycle:
            return self.nodes[0] * HOST_NODE
        part, whole = self.elements * COARSEST_PART, self.coarsest * COARSEST_WHOLE
        early = self.nodes[0] * HOST_BEFORE + part + whole
        of_node = HOST_NODE + HOST_LEVELS + HOST_CURVED * self.curved
        later = self.nodes[0] * of_node + self.coarsest * COARSEST_KEPT
        return max(early, later) + self.factored
