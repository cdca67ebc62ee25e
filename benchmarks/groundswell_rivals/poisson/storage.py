"""NekBone with its own storage of vectors: with every copy of a shared value, element by element.

NekBone (Nek5000/Nekbone) solves (S + lambda I) u = b, with the stiffness S and u = 0 on all sides.
Its vectors are scattered: each element has the values at all of its nodes. The same problem is
solved here with scattered and with assembled vectors, by the same recurrences, and by the solver's
fused iteration.

Scattered vectors come in two kinds. With the matrix Z that copies assembled values to elements, u
is scattered as Z u, and b = Z' b_e has any parts b_e. The product of the two kinds, element by
element, is that of the assembled vectors, so no weights are needed; the elements' operators map the
first kind to the second, and Z Z' back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends import Backend
from groundswell.bench import Session
from groundswell.bench.tables import Row
from groundswell.linear.cg import ConjugateGradients, RecordedIteration
from groundswell.linear.operators import Composite, VectorLayout
from groundswell.solvers.poisson.benchmarks.problems import SCREENING, VALUE, Cubes
from groundswell.solvers.poisson.benchmarks.speed import ITERATIONS, time_iterations
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.element_operator import ElementOperator
from groundswell.solvers.poisson.equation import DiscreteEquation
from groundswell.solvers.poisson.fused_cg import FusedConjugateGradients
from groundswell.solvers.poisson.operator import Operator
from groundswell.solvers.poisson.roofline import FACTORS, INDEX, MemoryTraffic
from groundswell.spectral_elements.element_kernels import multiply
from groundswell.spectral_elements.geometry import compute_mass

# Vectors that the separate kernels of an iteration read and write: three for the sums; of the step,
# six that are read and four that are written.
SUMS, STEP = 3, 10
SIDES = range(1, 7)  # tags


@dataclass(frozen=True, eq=False)
class Nekbone:
    """NekBone's problem on the cube of one rank.

    Args:
        cubes: the elements.
    """

    backend: Backend
    cubes: Cubes

    @cached_property
    def copies(self) -> Floats:
        """Number of elements that share each assembled value."""
        space = self.cubes.space
        return np.bincount(space.sharing.indices, minlength=space.size).astype(float)

    @cached_property
    def coefficients(self) -> Coefficients:
        """lambda I as a coefficient c: at each node its mass times c is lambda over the copies."""
        space = self.cubes.space
        mass = compute_mass(space.mesh, space.degree, space.elements)
        return Coefficients(screening=SCREENING / (self.copies[space.dofs] * mass))

    @cached_property
    def operator(self) -> ElementOperator:
        """The operator on elements, from assembled values."""
        return ElementOperator(
            self.backend, self.cubes.space, self.coefficients, "f8", metric="stored"
        )

    @property
    def load(self) -> Floats:
        """b, assembled."""
        return self.cubes.load * self.cubes.inside

    def split(self, load: Floats) -> Floats:
        """A load in equal parts, scattered."""
        return np.asarray((load / self.copies)[self.cubes.space.dofs].ravel())

    def residual(self, scattered: Floats) -> float:
        """The norm of a scattered residual relative to that of the load."""
        space = self.cubes.space
        sums = np.bincount(space.sharing.indices, scattered, space.size) * self.cubes.inside
        return float(np.linalg.norm(sums) / np.linalg.norm(self.load))


class ScatteredOperator(ElementOperator):
    """The operator between scattered vectors, (elements (N + 1)^3,), of one rank."""

    def __init__(self, problem: Nekbone) -> None:
        space = problem.cubes.space
        super().__init__(problem.backend, space, problem.coefficients, "f8", metric="stored")
        self._dofs = problem.backend.to_device(np.arange(space.dofs.size, dtype="i4"))


class ElementProducts(Composite):
    """The elements' operators from scattered x to scattered y."""

    def __init__(self, problem: Nekbone, x: DeviceArray, y: DeviceArray) -> None:
        operator, everyone = ScatteredOperator(problem), np.arange(problem.cubes.box.count)
        energies = problem.backend.zeros((operator.blocks(everyone),), "f8")
        self.launches = operator.launches(everyone, x, y, energies)


class DirectStiffnessSum(Composite):
    """Z Z' from scattered x to scattered y, 0 on all sides."""

    def __init__(self, problem: Nekbone, x: DeviceArray, y: DeviceArray) -> None:
        backend, space = problem.backend, problem.cubes.space
        sums = backend.zeros((space.size,), "f8")
        inside = backend.to_device(problem.cubes.inside)
        gather = space.operation(backend, "gather", x, sums)
        scatter = space.operation(backend, "scatter", sums, y)
        self.parts = (gather, scatter)
        masked = multiply(backend, sums, inside, sums, space.size)
        self.launches = [*gather.launches, *masked, *scatter.launches]


# --- the iteration with each storage --------------------------------------------------------------


def scattered_cg(problem: Nekbone, iterations: int = ITERATIONS) -> RecordedIteration:
    """Conjugate gradients with scattered vectors."""
    backend, space = problem.backend, problem.cubes.space
    values = space.dofs.size
    return ConjugateGradients(
        VectorLayout(backend, space.comm, values, values, "float64"),
        partial(ElementProducts, problem),
        precondition=partial(DirectStiffnessSum, problem),
        max_iterations=iterations,
    )


def assembled_cg(problem: Nekbone, iterations: int = ITERATIONS) -> RecordedIteration:
    """The same with assembled vectors."""
    backend, space = problem.backend, problem.cubes.space
    equation = DiscreteEquation(problem.coefficients, space.degree, SIDES)
    return ConjugateGradients(
        space.vectors(backend, "float64"),
        lambda x, y: Operator(backend, space, equation, x, y, elements=problem.operator),
        max_iterations=iterations,
    )


def fused_cg(problem: Nekbone, iterations: int = ITERATIONS) -> RecordedIteration:
    """The solver's iteration."""
    return FusedConjugateGradients(
        problem.backend, problem.operator, problem.cubes.inside, max_iterations=iterations
    )


def _scattered_bytes(assembled: int, local: int) -> float:
    """Bytes of an iteration: of the operator, the sums, the step, and of Z Z' and the mask."""
    of_elements = 1 + FACTORS + 1 + 1 + SUMS + STEP + 2
    return VALUE * (of_elements * local + 5 * assembled) + 3 * INDEX * local


def _assembled_bytes(assembled: int, local: int) -> float:
    """The same: of the operator, its sums at nodes, the mask, the sums and the step."""
    of_elements = FACTORS + 1 + 1 + 1
    return VALUE * (of_elements * local + (5 + SUMS + STEP) * assembled) + 2 * INDEX * local


def _fused_bytes(assembled: int, local: int) -> float:
    return MemoryTraffic(assembled, local, VALUE, FACTORS + 1).iteration


@dataclass(frozen=True)
class Storage:
    """A storage of vectors.

    Args:
        make: makes the iteration.
        iteration_bytes: minimum traffic, from the numbers of assembled and of scattered values.
        is_scattered: whether vectors have every copy.
    """

    make: Callable[[Nekbone], RecordedIteration]
    iteration_bytes: Callable[[int, int], float]
    is_scattered: bool = False


STORAGES = {
    "scattered": Storage(scattered_cg, _scattered_bytes, is_scattered=True),
    "assembled": Storage(assembled_cg, _assembled_bytes),
    "assembled, fused": Storage(fused_cg, _fused_bytes),
}


def measure_storage(session: Session) -> Iterator[Row]:
    """100 iterations on the largest cube of each degree, with each storage.

    Yields:
        Rows: `storage`, sizes, `seconds` of an iteration, `throughput`, traffic, `residual`, and
        the `gain`, how much faster than with scattered vectors.
    """
    for degree, edges in session.sizes.edges.items():
        problem = Nekbone(
            session.backend, Cubes.on(session.backend, session.comm, degree, max(edges))
        )
        slowest = 0.0
        for name, storage in STORAGES.items():
            row = _measured(session, problem, storage)
            slowest = slowest or row["seconds"]
            yield {"storage": name, **row, "gain": slowest / row["seconds"]}


def _measured(session: Session, problem: Nekbone, storage: Storage) -> Row:
    cubes, bandwidth = problem.cubes, session.bandwidth()
    solver = storage.make(problem)
    load = problem.load
    of_elements = problem.split(load) if storage.is_scattered else load
    seconds, residual = time_iterations(session.backend, solver, of_elements, cubes.comm)
    if storage.is_scattered:
        residual = problem.residual(session.backend.to_host(solver.b))
    moved = storage.iteration_bytes(cubes.assembled, cubes.local)
    return {
        "degree": cubes.degree,
        "edge": cubes.edge,
        "elements": cubes.box.count,
        "dofs": cubes.dofs,
        "seconds": seconds,
        "throughput": cubes.dofs / seconds,
        "bytes_per_dof": moved / cubes.dofs,
        "share": moved / seconds / bandwidth,
        "residual": residual,
    }
