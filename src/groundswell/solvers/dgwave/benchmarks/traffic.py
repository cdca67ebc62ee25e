"""Arithmetic and memory traffic of a kernel, counted by hand, for rooflines.

Arithmetic: operations as written in the kernels. A sum, a difference or a product counts as one
operation, a fused multiply-add as two, and a change of sign as none. Products of constants of an
element or a face, such as the scaled derivatives, are not counted.

Traffic: each array value that a kernel reads or writes counts once, as if all reused values stayed
in a cache. Face values count by value, not by the 32-byte sectors that a GPU fetches. The tables of
elements and faces are included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from groundswell.solvers.dgwave.benchmarks.problems import Configuration
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME

FACES, ADDRESS = 6, 8  # and the size of an address in tables, bytes
AGAIN = 1 - 1 / SCHEME.stages  # fraction of stages that read the register

# Operations per node, by equations: the contribution of one node of a line to the derivatives at
# another (add_slopes), and the rates from all derivatives (find_rates).
SLOPES = {"acoustic": 4, "elastic": 12}
RATES = {"acoustic": 4, "elastic": 18}

# Operations per face node: the flux (find_jump), by equations and kind; and its contribution to the
# derivatives (add_jump).
JUMP = {
    ("acoustic", "Riemann"): 6,
    ("acoustic", "central"): 10,
    ("elastic", "Riemann"): 18,
    ("elastic", "central"): 33,
}
ADDED = {"acoustic": 4, "elastic": 12}

# Number of values of a Material and a Face in the kernels.
MATERIAL = {"acoustic": 6, "elastic": 8}
FACE = {"acoustic": 4, "elastic": 6}


@dataclass(frozen=True)
class KernelCost:
    """Operations and bytes per unknown and stage."""

    flops: float
    bytes: float


def total(costs: Iterable[KernelCost]) -> KernelCost:
    """The sum of costs."""
    found = list(costs)
    return KernelCost(sum(cost.flops for cost in found), sum(cost.bytes for cost in found))


@dataclass(frozen=True)
class Element:
    """An element of a configuration.

    Args:
        degree: N.
    """

    configuration: Configuration
    degree: int

    @property
    def unknowns(self) -> int:
        """Number of values of all fields at all nodes."""
        return self.fields * (self.degree + 1) ** 3

    @property
    def fields(self) -> int:
        """Number of fields."""
        return len(self.configuration.solved.fields)

    @property
    def face_nodes(self) -> int:
        """Number of nodes of all faces; nodes on edges count for each of their faces."""
        return FACES * (self.degree + 1) ** 2

    @property
    def traces(self) -> int:
        """Number of trace values of one side of all faces."""
        return self.face_nodes * self.configuration.solved.trace

    def cost(self, flops: float, values: float, table_bytes: float = 0) -> KernelCost:
        """The cost per unknown, from operations, values and other bytes of the element."""
        moved = values * self.configuration.size + table_bytes
        return KernelCost(flops / self.unknowns, moved / self.unknowns)


def volume_flops(element: Element) -> int:
    """Operations for the volume terms."""
    equations, n = element.configuration.equations, element.degree + 1
    return n**3 * (3 * n * SLOPES[equations] + RATES[equations])


def jump_flops(element: Element) -> int:
    """Operations for the flux at all faces, added to the derivatives."""
    equations, flux = element.configuration.equations, element.configuration.flux
    return element.face_nodes * (JUMP[equations, flux] + ADDED[equations])


def material_values(element: Element) -> int:
    """Values of the material of an element."""
    return MATERIAL[element.configuration.equations]


def face_values(element: Element) -> int:
    """Values of the material at all faces."""
    return FACES * FACE[element.configuration.equations]


def advance(element: Element) -> KernelCost:
    """Reads and writes fields, register and traces."""
    n = element.unknowns
    flops = volume_flops(element) + jump_flops(element) + (2 + 2 * AGAIN) * n
    values = (3 + AGAIN) * n + 2 * element.traces
    values += material_values(element) + face_values(element)
    return element.cost(flops, values, 2 * FACES * ADDRESS)
