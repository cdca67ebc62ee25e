"""One equation with all that is given, ready to be solved, and how far u then is from the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from groundswell.backends import Backend
from groundswell.exchange.world import World
from groundswell.grids.hexahedra import Floats, Hexahedra
from groundswell.linear.cg import Outcome
from groundswell.solvers.poisson.sides import (
    Field,
    at_positions,
    flux_loads,
    nodes_on,
    prescribed_values,
)
from groundswell.solvers.poisson.solver import MOST, Poisson

Preconditioner = Literal["none", "jacobi", "multigrid"]


@dataclass(frozen=True, eq=False)
class Given:
    """What an equation says beside its mesh.

    Args:
        screening: lambda, 0 or more, 1/m^2.
        source: f, by position.
        fixed: u on sides where it is prescribed, by tag.
        fluxes: du/dn on sides where it is not 0, by tag; n points outwards.
    """

    source: Field
    screening: float = 0.0
    fixed: Mapping[int, Field] = field(default_factory=dict)
    fluxes: Mapping[int, Field] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """How it is solved; see `Poisson`."""

    degree: int = 7
    precondition: Preconditioner = "jacobi"
    most: int = MOST
    dtype: str = "float64"


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
            dtype=method.dtype,
            precondition=method.precondition,
            most=method.most,
        )
        space, operator = self.problem.space, self.problem.operator
        sides = {tag: nodes_on(space, operator, tag) for tag in given.fixed}
        self.nodes = nodes = self.problem.nodes

        def evaluate() -> tuple[Floats, Floats, Floats]:
            return (
                at_positions(given.source, nodes, "the source"),
                prescribed_values(nodes, sides, given.fixed),
                flux_loads(mesh, method.degree, space.elements, given.fluxes),
            )

        self._source, self._known, self._loads = world.agree(evaluate)

    def solve(self, tolerance: float) -> tuple[Floats, Outcome]:
        """u at this rank's nodes, (elements, (N + 1)^3), and how the iteration went."""
        return self.problem.solve(
            lambda *at: self._source,
            lambda *at: self._known,
            loads=self._loads,
            tolerance=tolerance,
        )

    def errors(self, found: Floats, exact: Field) -> tuple[float, float]:
        """The largest error at a node, and its L2 norm, m^(3/2) times u's unit."""
        space = self.problem.space
        right = self._world.agree(lambda: at_positions(exact, self.nodes, "the exact solution"))
        error, own = np.zeros(len(space.sharing.ids)), space.sharing.own
        error[space.places] = found - right
        mass = self.problem.operator.load(np.ones_like(found))
        square = float(mass[:own] @ error[:own] ** 2)
        parts = self._world.share((float(np.abs(error).max(initial=0.0)), square))
        largest, squares = zip(*parts, strict=True)
        return max(largest), float(np.sqrt(sum(squares)))

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
        self.problem.close()
