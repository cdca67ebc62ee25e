"""Options of a problem: its equation, method, precision and exchange."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from groundswell.arrays import Integers
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import transport_of
from groundswell.exchange.devices import open_device
from groundswell.meshes.hexahedra import Hexahedra
from groundswell.solvers.poisson import validation as arguments
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem
from groundswell.solvers.poisson.case import (
    DTYPES,
    EquationSection,
    MethodSection,
    PoissonRun,
    Precision,
    Preconditioner,
    RouteName,
)
from groundswell.solvers.poisson.equation import Equation
from groundswell.spectral_elements.space import FunctionSpace


class ProblemOptions(TypedDict, total=False):
    """Further keyword arguments of `Problem` and of `solve`.

    Keys:
        screening: lambda, 0 or more, 1/m^2.
        mean: mean of u over the domain, for problems with neither screening nor a fixed side.
        sides: boundary tags by name, as `read_mesh` returns them; those of a `Box` are west, east,
            south, north, bottom and top.
        tolerance: of the residual, relative to that of u = 0 in the interior; by default 1e-10, or
            1e-5 in single precision.
        iterations: limit on the number of iterations.
        preconditioner: "none", "jacobi" or "multigrid".
        backend: "cpu" or "cuda".
        precision: "double" or "single"; multigrid always works in single.
        partition: how meshes other than boxes are distributed to ranks, "bisection" or "metis".
        transport, route: how ranks exchange values, see docs/exchange.md; "auto" measures
            the fastest.
    """

    screening: float
    mean: float | None
    sides: Mapping[str, int] | None
    tolerance: float | None
    iterations: int
    preconditioner: Preconditioner
    backend: str
    precision: Precision
    partition: str
    transport: str
    route: RouteName


@dataclass(frozen=True)
class ChosenOptions:
    """`ProblemOptions` with their defaults."""

    screening: float = 0.0
    mean: float | None = None
    sides: Mapping[str, int] | None = None
    tolerance: float | None = None
    iterations: int = 10_000
    preconditioner: Preconditioner = "jacobi"
    backend: str = "cpu"
    precision: Precision = "double"
    partition: str = "bisection"
    transport: str = "auto"
    route: RouteName = "auto"

    @property
    def equation(self) -> Equation:
        """The equation, without boundary conditions."""
        section = EquationSection(screening=plain(self.screening), mean=plain(self.mean))
        return Equation(screening=section.screening, mean=section.mean)

    @property
    def run(self) -> PoissonRun:
        """The precision, and the route of values between ranks."""
        return PoissonRun(precision=self.precision, route=self.route)

    def method(self, degree: int) -> MethodSection:
        """The degree of the polynomials, and how to solve the equation."""
        return MethodSection(
            degree=plain(degree),
            tolerance=plain(self.tolerance),
            iterations=plain(self.iterations),
            preconditioner=self.preconditioner,
        )

    def tags_of(self, mesh: Hexahedra) -> Mapping[str, int]:
        """Boundary tags by the name of a side."""
        return self.sides if self.sides is not None else arguments.box_sides(mesh)

    def build(
        self, job: Communicator, mesh: Hexahedra, degree: int, mine: Integers, equation: Equation
    ) -> BoundaryValueProblem:
        """Set up the problem on the elements of this rank; all ranks must call it."""
        run, method = self.run, self.method(degree)
        device, dtype = open_device(self.backend, job), DTYPES[self.precision]
        transport = transport_of(device, self.transport)

        def build_on_rank() -> BoundaryValueProblem:
            space = FunctionSpace.on(job, mesh, method.degree, mine)
            tuned = space.autotune(device, dtype, transport=transport, route=run.route)
            return BoundaryValueProblem(device, tuned, equation, method, dtype)

        return job.collective_try(build_on_rank)


def plain(value: Any) -> Any:
    """A number of Python from one of NumPy."""
    return value.item() if isinstance(value, np.generic) else value
