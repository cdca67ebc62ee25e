"""Options of a problem: its equation, method, precision and exchange."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Integers
from groundswell.errors import InputError, counted
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
from groundswell.solvers.poisson.equation import NAMES, Conductivity, Equation
from groundswell.solvers.poisson.materials import field_of, find_conductivity
from groundswell.solvers.poisson.validation import ElementCounts, FunctionLike
from groundswell.spectral_elements.given_fields import GivenField
from groundswell.spectral_elements.space import FunctionSpace

FieldLike = FunctionLike | ArrayLike  # values of elements, or at nodes


class ProblemOptions(TypedDict, total=False):
    """Further keyword arguments of `Problem` and of `solve`.

    >>> import groundswell as gs
    >>> options = gs.poisson.ProblemOptions(preconditioner="multigrid", screening=1.0)
    >>> gs.poisson.solve(gs.poisson.Box((2, 2, 2)), degree=3, source=1.0, **options).converged
    True

    Keys:
        conductivity: k, 1 by default: a number above 0, a function of arrays x, y and z or an
            expression, an array with a value of each element, (elements,), or at the nodes,
            (elements, (N + 1)^3), of the whole mesh or of this rank's `own_elements`; or a list of
            six of these, the entries xx, xy, xz, yy, yz and zz of a symmetric tensor. It may jump
            between elements.
        screening: c, 0 or more: a number, a function, an expression or an array.
        mean: mean of u over the domain, for problems without a screening and without fixed or
            robin sides.
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

    conductivity: FieldLike | Sequence[FieldLike]
    screening: FieldLike
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

    conductivity: FieldLike | Sequence[FieldLike] = 1.0
    screening: FieldLike = 0.0
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

    def equation(self, counts: ElementCounts) -> Equation:
        """The equation, without boundary conditions."""
        return Equation(
            screening=_screening(plain(self.screening), counts),
            mean=EquationSection(mean=plain(self.mean)).mean,
            conductivity=_conductivity(plain(self.conductivity), counts),
        )

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


def _is_plain(value: Any) -> bool:
    """Whether a case file may have this value: numbers, text, or lists of these."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return not callable(value) and np.ndim(value) == 0


def _screening(given: Any, counts: ElementCounts) -> GivenField:
    """c as in a case file, or an array or a function."""
    arguments.refuse_table(given, "screening")
    if _is_plain(given):
        return field_of(EquationSection(screening=given).screening)
    return arguments.given_field(given, "screening", counts)


def _conductivity(given: Any, counts: ElementCounts) -> Conductivity:
    """k as in a case file, or one or six arrays or functions."""
    arguments.refuse_table(given, "conductivity")
    if _is_plain(given):
        return find_conductivity(EquationSection(conductivity=given), {}, None)
    if not isinstance(given, list | tuple):
        return arguments.given_field(given, "conductivity", counts)
    if len(given) != len(NAMES):
        raise InputError(
            f"conductivity has {counted(len(given), 'entry', 'entries')}; a symmetric tensor has "
            f"six: {', '.join(NAMES)}"
        )
    named = zip(given, NAMES, strict=True)
    return tuple(arguments.given_field(k, f"conductivity {name}", counts) for k, name in named)


def plain(value: Any) -> Any:
    """A number of Python from one of NumPy."""
    return value.item() if isinstance(value, np.generic) else value
