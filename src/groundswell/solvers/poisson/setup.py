"""Host-side preparation: reads the mesh, counts unknowns, estimates memory and traffic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from groundswell.case.expressions import Expression
from groundswell.case.quantities import Quantity
from groundswell.errors import CaseError, Problem
from groundswell.exchange.communicator import Communicator
from groundswell.linear.coarse import factor_bytes
from groundswell.meshes.box import Box, kershaw
from groundswell.meshes.gmsh import read_gmsh_groups
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.outputs.recording import Recording
from groundswell.simulation.solver import DecompositionSummary
from groundswell.solvers.poisson import check
from groundswell.solvers.poisson.case import AXES, BoxMesh, GmshMesh, PoissonCase, unknown_sides
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.lines import looks_flat
from groundswell.solvers.poisson.memory import MemoryEstimate
from groundswell.solvers.poisson.multigrid import level_degrees
from groundswell.solvers.poisson.outputs import recording
from groundswell.solvers.poisson.roofline import Traffic, stored_factors
from groundswell.solvers.poisson.validation import functions_by_tag
from groundswell.spectral_elements.boundary import Function
from groundswell.spectral_elements.partition import ElementPartition
from groundswell.spectral_elements.recording import ElementDomain

LEAST_TOLERANCE = {"double": 1e-15, "single": 1e-6}  # about the rounding of residuals


@dataclass(frozen=True, eq=False)
class Setup:
    """A case with its mesh. The whole solution counts as one step.

    Args:
        sides: boundary tags of the mesh's sides, by name.
        mesh_warnings: what its file holds that is ignored.
    """

    has_fixed_steps: ClassVar[bool] = False  # the number of iterations is unknown
    steps: ClassVar[int] = 1

    case: PoissonCase
    mesh: Hexahedra
    sides: Mapping[str, int]
    mesh_warnings: tuple[str, ...] = ()

    @classmethod
    def from_case(cls, case: PoissonCase, comm: Communicator | None = None) -> Setup:
        """Build or read the mesh.

        Raises:
            InputError: the mesh cannot be read, lacks a side that the case names, or does not
                contain a position to record.
        """
        setup = cls._with_mesh(case)
        setup._recording.require_samples(case.output.record, setup.steps)
        return setup

    @classmethod
    def _with_mesh(cls, case: PoissonCase) -> Setup:
        if isinstance(case.mesh, GmshMesh):
            groups = read_gmsh_groups(case.mesh.file)
            if violations := [*unknown_sides(case.boundaries, groups.sides)]:
                problems = [
                    Problem(".".join(map(str, place)), "", text) for place, text in violations
                ]
                raise CaseError(problems, case.source_name)
            return cls(case, groups.mesh, groups.sides, groups.warnings)
        return cls(case, _make_box(case.mesh), case.mesh.sides)

    @property
    def _recording(self) -> Recording:
        """The recordable field on the whole mesh."""
        return recording(self, ElementDomain.outline(self.outline))

    @property
    def outline(self) -> Hexahedra:
        """A mesh that fills the same space, as coarse as possible."""
        if isinstance(self.mesh, Box) and self.mesh.deform is None:
            return Box((1, 1, 1), self.mesh.low, self.mesh.high)
        return self.mesh

    @property
    def dtype(self) -> str:
        """The floating-point type."""
        return self.case.run.dtype

    @property
    def degree(self) -> int:
        """Degree of the polynomials."""
        return self.case.method.degree

    @property
    def equation(self) -> Equation:
        """The equation, with functions of position."""
        section = self.case.equation
        sides = {name: side.model_dump() for name, side in self.case.boundaries.items()}
        return Equation(
            source=Expression(section.source),
            screening=section.screening,
            fixed=functions_by_tag("fixed", sides, self.sides),
            fluxes=functions_by_tag("flux", sides, self.sides),
            mean=section.mean,
        )

    @property
    def exact(self) -> Function | None:
        """u by position, if the case gives it."""
        exact = self.case.equation.exact
        return None if exact is None else Expression(exact)

    def partition(self, ranks: int) -> ElementPartition:
        """The elements of each rank.

        Raises:
            InputError: there are fewer elements than ranks, or processes do not fit.
        """
        mesh = self.case.mesh
        method = mesh.partition if isinstance(mesh, GmshMesh) else "bisection"
        return ElementPartition.of(self.mesh, ranks, self.case.run.processes, method)

    @property
    def unknowns(self) -> int:
        """Number of values of u, including prescribed ones."""
        return self._unknowns[self.degree]

    @cached_property
    def _unknowns(self) -> dict[int, int]:
        """Unknowns by degree, of each level of multigrid."""
        levels = level_degrees(self.degree) if self._has_multigrid else (self.degree,)
        return {degree: self.mesh.count_nodes(degree) for degree in levels}

    @property
    def _has_multigrid(self) -> bool:
        return self.case.method.preconditioner == "multigrid"

    @cached_property
    def has_flat_elements(self) -> bool:
        """Whether multigrid finds flat elements, in which it works in double precision."""
        return self._has_multigrid and looks_flat(self.mesh)

    @property
    def element_nodes(self) -> int:
        """Nodes of an element."""
        return (self.degree + 1) ** 3

    @property
    def updates_per_step(self) -> int:
        """Unknowns that an iteration updates."""
        return self.unknowns

    @property
    def bytes_per_update(self) -> float:
        """Least traffic per unknown and iteration, without a preconditioner."""
        sizes = (self.unknowns, self.mesh.count * self.element_nodes, np.dtype(self.dtype).itemsize)
        return Traffic(*sizes, self.factors).iteration / self.unknowns

    @property
    def factors(self) -> int:
        """Geometric factors stored for each node; none if edges are straight."""
        metric = "stored" if self.mesh.order > 1 else "straight"
        return stored_factors(metric, self.case.equation.screening)

    @property
    def memory(self) -> int:
        """Bytes that the run needs on its device."""
        return self.memory_of(self.mesh.count, first=True)

    def memory_of(self, elements: int, *, first: bool = False) -> int:
        """Bytes for this number of elements; on a CPU including those of the host.

        Args:
            first: whether they are on rank 0, which solves multigrid's coarsest system.
        """
        coarsest = self.mesh.count * (first and self._has_multigrid)
        factored = factor_bytes(self._unknowns[1]) if coarsest else 0
        nodes = [elements * (degree + 1) ** 3 for degree in self._unknowns]
        unknowns = [-(-count * elements // self.mesh.count) for count in self._unknowns.values()]
        estimate = MemoryEstimate(
            *(elements, nodes, unknowns, self._device_factors),
            multigrid=self._has_multigrid,
            coarsest=coarsest,
            coarsest_factors=factored,
            curved=self.mesh.order > 1,
            flat=self.has_flat_elements,
        )
        on_host = estimate.host if self.case.run.backend == "cpu" else 0
        return estimate.device(np.dtype(self.dtype).itemsize) + on_host

    @property
    def _device_factors(self) -> int:
        """Factors stored for each node on the device; straight edges need none on a GPU."""
        is_affine = isinstance(self.mesh, Box) and self.mesh.deform is None
        if is_affine or (self.mesh.order == 1 and self.case.run.backend == "cuda"):
            return 0
        return stored_factors("stored", self.case.equation.screening)

    @property
    def output_bytes(self) -> int:
        """Bytes of the records, and of the solution: connectivity, positions, values."""
        records = self._recording.file_bytes(self.case.output.record, self.steps)
        if not self.case.output.fields:
            return records
        values = 3 + 1 + (self.case.equation.exact is not None)
        return records + 8 * (self.mesh.count * self.element_nodes + values * self.unknowns)

    def quantities(self) -> list[Quantity]:
        """Elements, unknowns, the iteration, memory; the equation and its boundary conditions."""
        return check.quantities(self)

    def decompose(self, ranks: int) -> DecompositionSummary:
        """The decomposition for this number of ranks.

        Raises:
            InputError: there are fewer elements than ranks.
        """
        partition, size = self.partition(ranks), np.dtype(self.dtype).itemsize
        return DecompositionSummary(
            ranks=ranks,
            processes=partition.processes,
            largest_block=partition.largest,
            updates_per_step=-(-self.unknowns * int(partition.counts.max()) // self.mesh.count),
            memory=[self.memory_of(int(n), first=not r) for r, n in enumerate(partition.counts)],
            traffic=size * partition.shared_nodes(self.degree),
        )

    @property
    def boundary_kinds(self) -> dict[str, str]:
        """Kind of boundary condition of each side, by name."""
        return {name: self._kind(name) for name in self.sides}

    def warnings(self) -> list[str]:
        """Choices that may give poor results."""
        precision = self.case.run.precision
        found = [*self.mesh_warnings, *check.too_many_lines(self)]
        if self.case.tolerance < LEAST_TOLERANCE[precision]:
            found.append(
                f"method.tolerance = {self.case.tolerance:g} is below the accuracy of {precision} "
                f"precision, about {LEAST_TOLERANCE[precision]:g}: the residual will fall, but u "
                "will not improve"
            )
        return found

    def _kind(self, name: str) -> str:
        side = self.case.boundaries.get(name)
        return "no flux" if side is None else side.kind


def _make_box(section: BoxMesh) -> Box:
    x, y, z = (axis in section.periodic for axis in AXES)
    bend = section.kershaw
    deform = kershaw(bend.eps_y, bend.eps_z, bend.smoothness) if bend else None
    return Box(section.counts, *section.corners, periodic=(x, y, z), deform=deform, order=1)
