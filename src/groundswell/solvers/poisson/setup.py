"""Host-side preparation: reads the mesh, counts unknowns, estimates memory and traffic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain

from groundswell.arrays import Integers
from groundswell.case.recording import RecordSection
from groundswell.errors import CaseError, CaseProblem
from groundswell.exchange.communicator import Communicator
from groundswell.meshes.box import Box, kershaw
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.meshes.reading import read_mesh_groups
from groundswell.outputs.recording import Recording
from groundswell.simulation.kept_parts import kept
from groundswell.solvers.poisson.case import (
    AXES,
    BoxMesh,
    FileMesh,
    PoissonCase,
    unknown_sides,
)
from groundswell.solvers.poisson.case_equation import find_equation, with_inertia
from groundswell.solvers.poisson.case_in_time import split_case
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.film import records_of
from groundswell.solvers.poisson.lines import looks_flat
from groundswell.solvers.poisson.materials import at_time, mismatches, number_elements
from groundswell.solvers.poisson.multigrid import level_degrees
from groundswell.solvers.poisson.recordable import recording
from groundswell.solvers.poisson.roofline import stored_factors
from groundswell.solvers.poisson.step_equation import StepEquation
from groundswell.solvers.poisson.time_section import TimeSection
from groundswell.solvers.poisson.validation import as_function
from groundswell.spectral_elements.boundary import Function
from groundswell.spectral_elements.given_fields import is_number, varies_within_elements
from groundswell.spectral_elements.partition import ElementPartition
from groundswell.spectral_elements.recording import ElementDomain

# Sections that do not change the mesh.
BESIDES_MESH = ("title", "equation", "material", "boundaries", "method", "output", "run", "time")


@dataclass(frozen=True, eq=False)
class Setup:
    """A case with its mesh. A solution without a time counts as one step.

    Args:
        sides: boundary tags of the mesh's sides, by name.
        mesh_warnings: what its file holds that is ignored.
        periodic: names of the sides that periodic links of the file join.
        materials: number of each element's material, (elements,); None without materials.
    """

    case: PoissonCase
    mesh: Hexahedra
    sides: Mapping[str, int]
    mesh_warnings: tuple[str, ...] = ()
    periodic: tuple[str, ...] = ()
    materials: Integers | None = None

    @property
    def steps(self) -> int:
        """Number of steps in time; 1 without a time."""
        return 1 if self.case.time is None else self.case.time.steps

    @property
    def time(self) -> TimeSection:
        """The section of a case with a time."""
        assert self.case.time is not None
        return self.case.time

    @property
    def has_fixed_steps(self) -> bool:
        """Whether a run makes all steps; without a time, the number of iterations is unknown."""
        return self.case.time is not None

    @property
    def recording(self) -> Recording:
        """The recordable field on the whole mesh."""
        return recording(self.case, ElementDomain.outline(self.outline))

    @cached_property
    def records(self) -> tuple[RecordSection, ...]:
        """What is recorded, and the samples of a film."""
        return records_of(self.case, ElementDomain.outline(self.outline))

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
        """The equation, with functions of position; at time 0."""
        return self.equation_at(0.0)

    def equation_at(self, time: float) -> Equation:
        """The equation at a time, s; with `[time]`, that of a step."""
        found = find_equation(self.case, self.sides, self.materials, time)
        return found if self.case.time is None else with_inertia(found, self.case, self.materials)

    def split_in_time(self) -> tuple[dict[str, Equation], Setup | None]:
        """The equation as a sum of functions of time times equations; see `split_case`.

        Returns:
            Equations by functions of time, and the set-up of what is no such sum, or None.
        """
        parts, rest = split_case(self.case)
        equations = {g: replace(self, case=part).equation for g, part in parts.items()}
        return equations, None if rest is None else replace(self, case=rest)

    @property
    def step_equation(self) -> StepEquation:
        """The equation of a step in time."""
        equation = self.equation
        assert isinstance(equation, StepEquation)
        return equation

    @property
    def exact(self) -> Function | None:
        """u by position, at the end of the run, if the case gives it."""
        exact, end = self.case.equation.exact, self.case.time
        if exact is None:
            return None
        return as_function(at_time(exact, end.steps * end.step if end else 0.0), "exact")

    def partition(self, ranks: int) -> ElementPartition:
        """The elements of each rank.

        Raises:
            InputError: there are fewer elements than ranks, or processes do not fit.
        """
        mesh = self.case.mesh
        method = mesh.partition if isinstance(mesh, FileMesh) else "bisection"
        return ElementPartition.of(self.mesh, ranks, self.case.run.processes, method)

    @property
    def unknowns(self) -> int:
        """Number of values of u, including prescribed ones."""
        return self.unknowns_of[self.degree]

    @cached_property
    def unknowns_of(self) -> dict[int, int]:
        """Unknowns by degree, of each level of multigrid."""
        levels = level_degrees(self.degree) if self.has_multigrid else (self.degree,)
        return {degree: self.mesh.count_nodes(degree) for degree in levels}

    @property
    def has_multigrid(self) -> bool:
        """Whether multigrid preconditions the iteration."""
        return self.case.method.preconditioner == "multigrid"

    @cached_property
    def has_flat_elements(self) -> bool:
        """Whether multigrid finds flat elements, in which it works in double precision."""
        return self.has_multigrid and looks_flat(self.mesh)

    @property
    def element_nodes(self) -> int:
        """Nodes of an element."""
        return (self.degree + 1) ** 3

    @property
    def factors(self) -> int:
        """Values that the operator reads for each node, if it computes what it can."""
        return self.factors_of("stored" if self.mesh.order > 1 else "straight")

    def factors_of(self, metric: str) -> int:
        """Values of a metric for each node: of factors, or of k and c within elements."""
        equation = self.equation
        is_tensor, varying = isinstance(equation.conductivity, tuple), self.varying_coefficients
        if metric == "stored" or (is_tensor and (metric == "straight" or varying)):
            has_screening = any(not is_number(c) or c != 0 for c in equation.reactions)
            return stored_factors("stored", float(has_screening))
        return varying

    @property
    def varying_coefficients(self) -> int:
        """Numbers of k and c at each node if they vary within elements; all six of a tensor."""
        k, reactions = self.equation.conductivity, self.equation.reactions
        entries = k if isinstance(k, tuple) else (k,)
        of_k = len(entries) * any(map(varies_within_elements, entries))
        return of_k + any(map(varies_within_elements, reactions))

    @property
    def boundary_kinds(self) -> dict[str, str]:
        """Kind of boundary condition of each side, by name."""
        kinds = {name: self._kind(name) for name in self.sides}
        return kinds | dict.fromkeys(self.periodic, "periodic")

    def _kind(self, name: str) -> str:
        side = self.case.boundaries.get(name)
        return "no flux" if side is None else side.kind


def prepare(case: PoissonCase, comm: Communicator | None = None) -> Setup:
    """Build or read the mesh.

    Raises:
        InputError: the mesh cannot be read, lacks a side that the case names, or does not contain a
            position to record.
    """
    setup = _with_mesh(case)
    setup.recording.require_samples(setup.records, setup.steps)
    return setup


def _with_mesh(case: PoissonCase) -> Setup:
    if isinstance(case.mesh, FileMesh):
        key = partial(case.digest_with_files, without=BESIDES_MESH)
        read = partial(read_mesh_groups, case.mesh.file, periodic=case.mesh.periodic)
        groups = kept("mesh", key, read)
        wrong = unknown_sides(case.boundaries, groups.sides), mismatches(case.material, groups)
        if violations := [*chain(*wrong)]:
            problems = [
                CaseProblem(".".join(map(str, place)), "", text) for place, text in violations
            ]
            raise CaseError(problems, case.source_name)
        materials = number_elements(case.material, groups) if case.material else None
        return Setup(case, groups.mesh, groups.sides, groups.warnings, groups.periodic, materials)
    return Setup(case, _make_box(case.mesh), case.mesh.sides)


def _make_box(section: BoxMesh) -> Box:
    x, y, z = (axis in section.periodic for axis in AXES)
    bend = section.kershaw
    deform = kershaw(bend.eps_y, bend.eps_z, bend.smoothness) if bend else None
    return Box(section.counts, *section.corners, periodic=(x, y, z), deform=deform, order=1)
