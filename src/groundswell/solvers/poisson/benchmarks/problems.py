"""Cubes of elements on every rank, and their minimum traffic and arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Floats
from groundswell.solvers.poisson.roofline import MemoryTraffic, stored_factors
from groundswell.spectral_elements.partition import ElementPartition
from groundswell.spectral_elements.space import FunctionSpace

SCREENING = 0.1  # NekBone's and hipBone's
VALUE = 8  # bytes
# Labels of metrics in tables: stored for each node, or computed each time, as of any elements with
# straight edges, or of parallelepipeds.
METRICS = {"stored": "stored", "straight": "computed, trilinear", "affine": "computed, affine"}


def kinds(backend: Backend) -> list[str]:
    """Kinds of metrics to measure: a CPU reads trilinear ones faster than it computes them."""
    return [metric for metric in METRICS if metric != "straight" or not backend.on_host]


@dataclass(frozen=True, eq=False)
class Cubes:
    """A cube with this number of elements per edge on each rank; the cubes of all ranks form a box.

    Args:
        space: this rank's part.
    """

    comm: Communicator
    degree: int
    edge: int
    box: Box
    space: FunctionSpace
    screening: float = SCREENING
    components: int = 1

    @classmethod
    def on(cls, backend: Backend, comm: Communicator, degree: int, edge: int) -> Cubes:
        """Create the problem with the fastest exchange; all ranks must call it."""
        x, y, z = (edge * n for n in processes(comm.size))
        box = Box((x, y, z))
        elements = ElementPartition.of(box, comm.size).elements(comm.rank)
        space = FunctionSpace.on(comm, box, degree, elements).autotune(backend, "f8")
        return cls(comm, degree, edge, box, space)

    @property
    def assembled(self) -> int:
        """Nodes of all ranks, with those on the sides of the box; shared nodes count once."""
        return self.components * int(np.prod([self.degree * n + 1 for n in self.box.counts]))

    @property
    def dofs(self) -> int:
        """Degrees of freedom of all ranks: N^3 per element, as programs count sides differently.

        Chalmers et al. (2023) use this approximation, too (section "The NekBone benchmark").
        """
        return self.components * self.box.count * self.degree**3

    @property
    def local(self) -> int:
        """Nodes of all elements; shared nodes count in each element."""
        return self.components * self.box.count * (self.degree + 1) ** 3

    @property
    def sizes(self) -> dict[str, int]:
        """Degree and sizes, for the rows of tables."""
        sizes = {"degree": self.degree, "edge": self.edge, "ranks": self.comm.size}
        counts = {"elements": self.box.count, "dofs": self.dofs, "assembled": self.assembled}
        return sizes | counts

    @property
    def merit(self) -> int:
        """Floating-point operations of an iteration, as NekBone counts them (eq. 3)."""
        n = self.degree + 1
        return self.components * self.box.count * (12 * n**4 + 34 * n**3)

    @property
    def operator_flops(self) -> int:
        """Of the operator (eq. 4)."""
        n = self.degree + 1
        return self.components * self.box.count * (12 * n**4 + 18 * n**3)

    def traffic(self, metric: str) -> MemoryTraffic:
        """Minimum traffic of all ranks, bytes."""
        sizes = (self.assembled // self.components, self.local // self.components, VALUE)
        return MemoryTraffic(*sizes, stored_factors(metric, self.screening), self.components)

    @cached_property
    def inside(self) -> Floats:
        """1 for values inside the box, 0 for those on its sides, assembled."""
        lattice = [self.degree * n + 1 for n in self.box.counts[::-1]]
        places = np.unravel_index(self.space.sharing.ids, lattice)
        inside = [(n > 0) & (n < count - 1) for n, count in zip(places, lattice, strict=True)]
        return np.asarray(np.all(inside, axis=0), float)

    @cached_property
    def load(self) -> Floats:
        """A right-hand side that is the same on any number of ranks: a wave over the ids."""
        ids = self.space.sharing.ids
        load = np.sin(0.7 * ids) + np.cos(1e-3 * ids)
        load[self.space.sharing.own :] = 0
        return np.asarray(load)


def processes(ranks: int) -> tuple[int, int, int]:
    """The most even process grid along x, y and z."""
    grids = [
        (x, y, ranks // (x * y))
        for x in range(1, ranks + 1)
        if ranks % x == 0
        for y in range(1, ranks // x + 1)
        if ranks // x % y == 0
    ]
    return min(grids, key=lambda grid: (max(grid), sum(grid), grid))
