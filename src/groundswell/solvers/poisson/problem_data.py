"""One equation with all that is given, ready to be solved, and how far u then is from the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from groundswell.backends import Backend
from groundswell.exchange.world import World
from groundswell.linear.cg import Outcome
from groundswell.meshes.hexahedra import Floats, Hexahedra, Numbers, positions, refine
from groundswell.solvers.poisson.boundary_conditions import (
    Field,
    at_positions,
    flux_loads,
    nodes_on,
    prescribed_values,
)
from groundswell.solvers.poisson.problem import MOST, Poisson
from groundswell.spectral_elements.geometry import Geometry

Preconditioner = Literal["none", "jacobi", "multigrid"]

Terms = tuple[Floats, Floats, Floats]  # source, prescribed values, loads; (elements, (N + 1)^3)

EXACT = "equation.exact"
FINER = 6  # degrees by which the rule of errors is above that of the equation
PORTION = 256  # elements whose errors are worked out at a time


@dataclass(frozen=True, eq=False)
class Given:
    """What an equation says beside its mesh.

    Args:
        screening: lambda, 0 or more, 1/m^2.
        source: f, by position.
        fixed: u on sides where it is prescribed, by tag.
        fluxes: du/dn on sides where it is not 0, by tag; n points outwards.
        mean: u's over the domain, where any constant may be added to u.
    """

    source: Field
    screening: float = 0.0
    fixed: Mapping[int, Field] = field(default_factory=dict)
    fluxes: Mapping[int, Field] = field(default_factory=dict)
    mean: float | None = None


@dataclass(frozen=True)
class Method:
    """How it is solved; see `Poisson`."""

    degree: int = 7
    precondition: Preconditioner = "jacobi"
    most: int = MOST
    dtype: str = "float64"
    transport: str = "auto"
    route: str = "auto"


class Task:
    """An equation on this rank's elements. All ranks must make and use it together.

    Attributes:
        problem: its left-hand side.
        nodes: where values are, (elements, (N + 1)^3, 3).

    Raises:
        InputError: something given that is not finite, or a problem without a unique solution.
    """

    def __init__(
        self,
        backend: Backend,
        world: World,
        mesh: Hexahedra,
        elements: ArrayLike,
        given: Given,
        method: Method,
    ) -> None:
        self._world = world
        self.problem = Poisson(
            *(backend, world, mesh, method.degree, elements),
            screening=given.screening,
            fixed=tuple(given.fixed),
            mean=given.mean,
            dtype=method.dtype,
            precondition=method.precondition,
            most=method.most,
            transport=method.transport,
            route=method.route,
        )
        self.nodes = self.problem.nodes
        self._sides = {
            tag: nodes_on(self.problem.space, self.problem.operator, tag) for tag in given.fixed
        }
        self._given = given
        self._terms: Terms | None = None

    def evaluate(self, given: Given | None = None) -> Terms:
        """Work out the source and what sides are given, at nodes, for the next solutions.

        Args:
            given: other functions than those of the beginning, on the same sides.

        Raises:
            InputError: a function that is not finite or not real.
        """
        terms: Terms = self._world.agree(lambda: self._evaluated(given or self._given))
        self._terms = terms
        return terms

    def _evaluated(self, given: Given) -> Terms:
        space = self.problem.space
        return (
            at_positions(given.source, self.nodes, "the source"),
            prescribed_values(self.nodes, self._sides, given.fixed),
            flux_loads(space.mesh, space.degree, space.elements, given.fluxes),
        )

    def solve(self, tolerance: float, start: Field | None = None) -> tuple[Floats, Outcome]:
        """u at this rank's nodes, (elements, (N + 1)^3), and how the iteration went.

        Args:
            start: u from which the iteration begins, by position; 0 inside by default.
        """
        terms = self._terms or self.evaluate()
        near = None
        if start is not None:
            near = self._world.agree(lambda: at_positions(start, self.nodes, "start"))
        source, known, loads = terms
        return self.problem.solve(
            lambda *at: source,
            lambda *at: known,
            loads=loads,
            start=near,
            tolerance=tolerance,
        )

    def errors(self, found: Floats, exact: Field) -> tuple[float, float]:
        """The largest error, and its L2 norm, m^(3/2) times u's unit.

        By a rule of a higher degree, since at the nodes themselves u is far better than in between.
        """
        mesh, degree = self.problem.space.mesh, self.problem.space.degree

        def measure() -> tuple[float, float]:
            largest = square = 0.0
            for part, elements in self._portions():
                right = at_positions(exact, positions(mesh, degree + FINER, elements), EXACT)
                between = refine(found[part][..., None], degree, degree + FINER)[..., 0]
                error, mass = between - right, Geometry.of(mesh, degree + FINER, elements).mass
                largest = max(largest, float(np.abs(error).max()))
                square += float((mass * error**2).sum())
            return largest, square

        parts = self._world.share(self._world.agree(measure))
        largest, squares = zip(*parts, strict=True)
        return max(largest), float(np.sqrt(sum(squares)))

    def require_finite(self, exact: Field) -> None:
        """See that errors can be told; raises InputError, also for elements that are inside out."""
        mesh, degree = self.problem.space.mesh, self.problem.space.degree + FINER
        for _, elements in self._portions():
            at_positions(exact, positions(mesh, degree, elements), EXACT)
            Geometry.of(mesh, degree, elements)

    def _portions(self) -> Iterator[tuple[slice, Numbers]]:
        """This rank's elements, some at a time."""
        elements = self.problem.space.elements
        for first in range(0, len(elements), PORTION):
            part = slice(first, first + PORTION)
            yield part, elements[part]

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
        self.problem.close()
