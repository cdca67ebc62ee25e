"""From a case to what is computed: the mesh and its sides, unknowns, and how ranks share them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from groundswell.case.expressions import Expression
from groundswell.case.quantities import Quantity
from groundswell.errors import CaseError, Problem
from groundswell.exchange.world import World
from groundswell.linear.coarse import factor_bytes
from groundswell.meshes.box import Box, kershaw
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.simulation.solver import DecompositionSummary
from groundswell.solvers.poisson import check
from groundswell.solvers.poisson.boundary_conditions import Field
from groundswell.solvers.poisson.case import (
    BoxMesh,
    FixedSide,
    FluxSide,
    GmshMesh,
    PoissonCase,
    unknown_sides,
)
from groundswell.solvers.poisson.memory import Kept
from groundswell.solvers.poisson.multigrid import degrees_of
from groundswell.spectral_elements.partition import Shares
from groundswell.spectral_elements.roofline import Traffic, stored_factors

FINEST = {"double": 1e-15, "single": 1e-6}  # of the residual, about what can be told


@dataclass(frozen=True, eq=False)
class Setup:
    """A case that has been looked through. The whole solution counts as one step.

    Args:
        sides: tags of the mesh's sides, by name.
    """

    has_fixed_steps: ClassVar[bool] = False  # the number of iterations is not known
    steps: ClassVar[int] = 1

    case: PoissonCase
    mesh: Hexahedra
    sides: Mapping[str, int]

    @classmethod
    def from_case(cls, case: PoissonCase, world: World | None = None) -> Setup:
        """The case, with its mesh.

        Raises:
            InputError: a mesh that cannot be read, or without a side that the case names.
        """
        if isinstance(case.mesh, GmshMesh):
            mesh, sides = _read(case.mesh)
            if faults := [*unknown_sides(case.boundaries, sides)]:
                problems = [Problem(".".join(map(str, place)), "", text) for place, text in faults]
                raise CaseError(problems)
            return cls(case, mesh, sides)
        return cls(case, _box(case.mesh), case.mesh.sides)

    @property
    def dtype(self) -> str:
        """NumPy's name of the floating-point type."""
        return self.case.run.dtype

    @property
    def degree(self) -> int:
        """Of the polynomials."""
        return self.case.method.degree

    @property
    def source(self) -> Field:
        """f, by position."""
        return Expression(self.case.equation.source)

    @property
    def exact(self) -> Field | None:
        """u, by position, if the case knows it."""
        given = self.case.equation.exact
        return None if given is None else Expression(given)

    @property
    def fixed(self) -> dict[int, Field]:
        """u on sides where it is given, by tag."""
        return self._given(FixedSide)

    @property
    def fluxes(self) -> dict[int, Field]:
        """du/dn on sides where it is given, by tag."""
        return self._given(FluxSide)

    def _given(self, kind: type[FixedSide | FluxSide]) -> dict[int, Field]:
        sides = self.case.boundaries.items()
        return {self.sides[n]: Expression(s.value) for n, s in sides if isinstance(s, kind)}

    def shares(self, ranks: int) -> Shares:
        """How ranks share the elements; raises InputError if they cannot."""
        given = self.case.mesh
        method = given.partition if isinstance(given, GmshMesh) else "bisection"
        return Shares.of(self.mesh, ranks, self.case.run.processes, method)

    @property
    def unknowns(self) -> int:
        """Values of u, prescribed ones among them."""
        return self._unknowns[self.degree]

    @cached_property
    def _unknowns(self) -> dict[int, int]:
        """The same by degree: with multigrid, of each level."""
        levels = degrees_of(self.degree) if self._cycle else (self.degree,)
        return {degree: self.mesh.count_nodes(degree) for degree in levels}

    @property
    def _cycle(self) -> bool:
        return self.case.method.preconditioner == "multigrid"

    @property
    def local(self) -> int:
        """Nodes of an element."""
        return (self.degree + 1) ** 3

    @property
    def updates_per_step(self) -> int:
        """Unknowns of an iteration: how many of these there will be, nobody knows."""
        return self.unknowns

    @property
    def bytes_per_update(self) -> float:
        """Least traffic of an unknown's iteration, without a preconditioner."""
        sizes = (self.unknowns, self.mesh.count * self.local, np.dtype(self.dtype).itemsize)
        return Traffic(*sizes, self.factors).iteration / self.unknowns

    @property
    def factors(self) -> int:
        """Numbers that are kept of the shape of elements, at each node; straight ones have few."""
        metric = "stored" if self.mesh.order > 1 else "straight"
        return stored_factors(metric, self.case.equation.screening)

    @property
    def memory(self) -> int:
        """Bytes that the run takes on its device."""
        return self.memory_of(self.mesh.count, first=True)

    def memory_of(self, elements: int, *, first: bool = False) -> int:
        """What so many elements take; on a CPU the host's part is of the same memory.

        Args:
            first: whether they are rank 0's, which solves multigrid's coarsest system for all.
        """
        coarsest = self.mesh.count * (first and self._cycle)
        factored = factor_bytes(self._unknowns[1]) if coarsest else 0
        nodes = [elements * (degree + 1) ** 3 for degree in self._unknowns]
        unknowns = [-(-count * elements // self.mesh.count) for count in self._unknowns.values()]
        of_matrix, curved = (coarsest, factored), self.mesh.order > 1
        kept = Kept(elements, nodes, unknowns, self._stored, self._cycle, *of_matrix, curved)
        on_host = kept.host if self.case.run.backend == "cpu" else 0
        return kept.device(np.dtype(self.dtype).itemsize) + on_host

    @property
    def _stored(self) -> int:
        """Factors that each node has on its device, if no element is a parallelepiped by chance."""
        straight = isinstance(self.mesh, Box) and self.mesh.deform is None
        if straight or (self.mesh.order == 1 and self.case.run.backend == "cuda"):
            return 0
        return stored_factors("stored", self.case.equation.screening)

    def unknowns_of(self, elements: int) -> int:
        """About as many unknowns as so many elements have."""
        return -(-self.unknowns * elements // self.mesh.count)

    @property
    def output_bytes(self) -> int:
        """Bytes of the file of the solution: places of nodes, positions, values."""
        if not self.case.output.fields:
            return 0
        values = 3 + 1 + (self.case.equation.exact is not None)
        return 8 * (self.mesh.count * self.local + values * self.unknowns)

    def quantities(self) -> list[Quantity]:
        """Elements, unknowns, the iteration, memory; the equation and its boundary conditions."""
        return check.quantities(self)

    def decompose(self, ranks: int) -> DecompositionSummary:
        """How so many ranks would share the elements.

        Raises:
            InputError: there are fewer elements than ranks.
        """
        shares, size = self.shares(ranks), np.dtype(self.dtype).itemsize
        return DecompositionSummary(
            ranks=ranks,
            processes=shares.processes,
            largest_block=shares.largest,
            updates_per_step=self.unknowns_of(int(shares.counts.max())),
            memory=[self.memory_of(int(n), first=not r) for r, n in enumerate(shares.counts)],
            traffic=size * shares.shared_nodes(self.degree),
        )

    @property
    def boundary_kinds(self) -> dict[str, str]:
        """Kind of boundary condition of each side, by name."""
        return {name: self._kind(name) for name in self.sides}

    def warnings(self) -> list[str]:
        """What will run, but may give poor results."""
        precision = self.case.run.precision
        if self.case.tolerance >= FINEST[precision]:
            return []
        return [
            f"method.tolerance = {self.case.tolerance:g} is more than {precision} precision can "
            f"tell, about {FINEST[precision]:g}: the iteration goes on and its residual falls, but "
            "u does not get better"
        ]

    def _kind(self, name: str) -> str:
        side = self.case.boundaries.get(name)
        return "no flux" if side is None else side.kind


def _box(given: BoxMesh) -> Box:
    x, y, z = (axis in given.periodic for axis in ("x", "y", "z"))
    wanted = given.kershaw
    deform = kershaw(wanted.eps_y, wanted.eps_z, wanted.smoothness) if wanted else None
    return Box(given.counts, *given.corners, periodic=(x, y, z), deform=deform, order=1)


def _read(given: GmshMesh) -> tuple[Hexahedra, Mapping[str, int]]:
    from groundswell.meshes.gmsh import read_gmsh

    return read_gmsh(given.file)
