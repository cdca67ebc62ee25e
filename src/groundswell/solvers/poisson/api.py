"""The Python interface: solves Poisson's equation on a mesh, with functions or arrays as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arguments import require_arguments, whole_number
from groundswell.arrays import DeviceArray
from groundswell.backends.array_interop import is_foreign
from groundswell.errors import InputError
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.linear.cg import ConvergenceHistory
from groundswell.meshes.hexahedra import Floats, Hexahedra, positions
from groundswell.solvers.poisson import validation as arguments
from groundswell.solvers.poisson.case import TOLERANCES
from groundswell.solvers.poisson.components import (
    Tables,
    initial_guess,
    pick,
    require_count,
    sides_of,
    split_sides,
    split_source,
)
from groundswell.solvers.poisson.device_solve import DeviceSolver
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.nodal_sums import NodalGatherScatter
from groundswell.solvers.poisson.options import ChosenOptions, FieldLike, ProblemOptions
from groundswell.solvers.poisson.solution import Solution
from groundswell.solvers.poisson.validation import ConditionTable, FunctionLike
from groundswell.solvers.poisson.vector_operators import (
    ArrayAccess,
    SystemOperator,
    VectorOperator,
    preconditioner_of,
)
from groundswell.spectral_elements.boundary import Function
from groundswell.spectral_elements.partition import ElementPartition


def nodes(mesh: Hexahedra, degree: int) -> Floats:
    """Positions of the nodes, (elements, (N + 1)^3, 3), m: along r first, then s, then t.

    Raises:
        InputError: the degree is not a whole number in the range of `solve`.
    """
    return positions(mesh, whole_number("degree", degree), np.arange(mesh.count))


def solve(
    mesh: Hexahedra,
    degree: int = 7,
    source: FunctionLike | ArrayLike = 0.0,
    boundaries: Mapping[str, ConditionTable] | None = None,
    **options: Unpack[ProblemOptions],
) -> Solution:
    """Solve -div(conductivity grad u) + screening u = source, once.

    >>> import numpy as np
    >>> import groundswell as gs
    >>> box = gs.poisson.Box((2, 2, 2))
    >>> found = gs.poisson.solve(
    ...     box,
    ...     degree=8,
    ...     source=lambda x, y, z: np.pi**2 * np.sin(np.pi * x),
    ...     boundaries={"west": {"kind": "fixed"}, "east": {"kind": "fixed", "value": 1.0}},
    ... )
    >>> u = found.fields["u"]  # xarray, (element, node)
    >>> bool(np.abs(u - np.sin(np.pi * u.x) - u.x).max() < 1e-7)
    True

    Args:
        mesh, degree, boundaries: see `Problem`.
        options: see `ProblemOptions`.
        source: see `Problem.solve`.
    """
    with Problem(mesh, degree, boundaries, **options) as problem:
        return problem.solve(source)


class Problem:
    """-div(conductivity grad u) + screening u = source, solved for any number of sources.

    >>> import groundswell as gs
    >>> step = 1e-3  # of time, to integrate du/dt = div grad u
    >>> walls = {name: {"kind": "fixed"} for name in ("west", "east")}
    >>> box = gs.poisson.Box((3, 1, 1))
    >>> with gs.poisson.Problem(box, 5, walls, screening=1 / step) as implicit:
    ...     u = implicit.solve(1 / step)
    ...     for _ in range(9):
    ...         u = implicit.solve(lambda *at, u=u: u.values / step, start=u)
    >>> bool(0.9 < u.values.max() < 1)
    True

    All ranks must create, use and close it together.

    Args:
        mesh: a `Box`, or a `Mesh` such as `read_mesh` returns.
        degree: of the polynomials on each element, 1 to 15.
        boundaries: boundary conditions by the name of a side, as in a case file: `kind` is "fixed"
            or "flux", `value` is u, or k du/dn with n pointing outwards; or `kind` is "robin",
            with `h` and `ambient`: k du/dn + h (u - ambient) = 0. Each value is a function of
            arrays x, y and z, a number or an expression; `value` and `ambient` may be lists of
            those of several components. Other sides have no flux.
        options: see `ProblemOptions`.

    Attributes:
        elements: numbers of this rank's elements in the mesh.
        positions: of their nodes, (elements, (N + 1)^3, 3), m.
        operator, preconditioner, gather_scatter: its parts, to build solvers of one's own.

    Raises:
        InputError: an argument is invalid, or the problem has no unique solution.
    """

    def __init__(
        self,
        mesh: Hexahedra,
        degree: int = 7,
        boundaries: Mapping[str, ConditionTable] | None = None,
        **options: Unpack[ProblemOptions],
    ) -> None:
        arguments.require_mesh(mesh)
        allowed = ProblemOptions.__annotations__
        require_arguments(options, ["mesh", "degree", "boundaries", *allowed])
        chosen = ChosenOptions(**options)
        self._tolerance = chosen.method(degree).tolerance or TOLERANCES[chosen.run.precision]
        self._boundaries = boundaries if boundaries is not None else {}
        self._tags = chosen.tags_of(mesh)
        arguments.require_boundaries(self._boundaries, self._tags)
        if chosen.sides is not None:
            arguments.require_faces(chosen.sides, mesh)
        self._equation = chosen.equation(mesh, chosen.method(degree).degree)
        require_count(split_sides(self._boundaries))
        self._equation = self._with_sides(sides_of(self._boundaries, 0))
        job = get_communicator()
        partition = ElementPartition.of(mesh, job.size, method=chosen.partition)
        self.elements = partition.elements(job.rank)
        self._problem = chosen.build(job, mesh, degree, self.elements, self._equation)
        self.positions = self._problem.nodes

    def solve(
        self,
        source: FieldLike | Sequence[FieldLike] = 0.0,
        *,
        values: Mapping[str, FunctionLike | Sequence[FunctionLike]] | None = None,
        start: Solution | FunctionLike | Sequence[FunctionLike] | None = None,
    ) -> Solution:
        """Solve for u, or for all components of u at once.

        Components share the geometry, which each iteration passes once, and the steps; iterations
        end when each component meets the tolerance. An argument with one value holds for all.

        Args:
            source: f: a function of arrays x, y and z, a number, an expression as in a case file,
                values at `nodes(mesh, degree)`, (elements, (N + 1)^3), or of elements, (elements,).
                Of several components: a list of these, or (components, elements, (N + 1)^3). Arrays
                of CuPy, PyTorch and JAX must be on the problem's device, of its type and at the
                nodes of this rank's elements; u is then in the same library, on the device.
            values: values of boundary conditions that differ from the original ones, by side, or
                a list of those of the components; of a "robin" side its ambient value.
            start: initial guess: an earlier solution, a function, or a list of the components'
                functions. The tolerance remains relative to u = 0, so a good guess saves
                iterations.

        Raises:
            InputError: functions are not real or not finite, or numbers of components differ.
            RunFailed: values are not finite.
        """
        tables = arguments.replace_values(self._boundaries, values or {})
        if is_foreign(source):
            return self._solve_on_device(source, tables, start)
        guess = initial_guess(start)
        equations = self._equations(source, tables, guess)
        self._problem.evaluate(equations)
        several = isinstance(equations, list) and callable(guess)
        guess = [guess] * len(equations) if several else guess  # type: ignore[arg-type, list-item]
        return self._solution(*self._problem.solve(self._tolerance, guess))

    def right_hand_side(
        self,
        source: FieldLike | Sequence[FieldLike] = 0.0,
        *,
        values: Mapping[str, FunctionLike | Sequence[FunctionLike]] | None = None,
    ) -> Any:
        """b of `operator` u = b, whose solution has the prescribed values.

        It holds the values that this rank owns, (values,), or (values, components).

        Args:
            source, values: see `solve`.
        """
        tables = arguments.replace_values(self._boundaries, values or {})
        if is_foreign(source):
            return self._access.apply(partial(self._b_on_device, tables), source, "source")
        equations = self._equations(source, tables, None)
        if isinstance(equations, list):
            return self._problem.right_hand_sides(equations).T.astype(self._access.dtype)
        return self._problem.right_hand_sides([equations])[0].astype(self._access.dtype)

    @cached_property
    def operator(self) -> SystemOperator:
        """A, as `operator @ u` of assembled values; see `VectorOperator`."""
        return SystemOperator(self._problem.system)

    @cached_property
    def preconditioner(self) -> VectorOperator:
        """The problem's own preconditioner, as `preconditioner(r)`; see `VectorOperator`."""
        return preconditioner_of(self._problem.system)

    @cached_property
    def gather_scatter(self) -> NodalGatherScatter:
        """Sums of elements' values at shared nodes, as `gather_scatter(local)`."""
        return NodalGatherScatter(self._problem.system)

    @cached_property
    def _access(self) -> ArrayAccess:
        return ArrayAccess(self._problem.system)

    @cached_property
    def _device(self) -> DeviceSolver:
        return DeviceSolver(self._problem.system, self.operator, self.gather_scatter)

    def _solution(self, u: Any, history: ConvergenceHistory) -> Solution:
        space = self._problem.system.space
        return Solution(
            *(space.mesh, space.degree, self.elements, self.positions, u),
            *(history.residuals, history.converged, self._problem.system.imbalance),
        )

    def _equations(
        self, source: Any, tables: Tables, guess: Function | list[Function] | None
    ) -> Equation | list[Equation]:
        """The equation, or that of each component."""
        sources = split_source(source, self._problem.system.space.mesh.count)
        guesses = guess if isinstance(guess, list) else None
        count = require_count({"source": sources, "start": guesses, **split_sides(tables)})
        if count is None:
            return self._with_source(source, tables)
        each = [(pick(source, sources, c), sides_of(tables, c)) for c in range(count)]
        return [self._with_source(*of_one) for of_one in each]

    def _solve_on_device(self, source: Any, tables: Tables, start: Any) -> Solution:
        """Solve for a source on the device, where u remains."""
        history: list[ConvergenceHistory] = []

        def solve(f: DeviceArray) -> DeviceArray:
            flat, rest = self._on_device(f, tables, initial_guess(start))
            guess = self._start_on_device(start, len(rest))
            u, outcome = self._device.solve(flat, rest, self._tolerance, guess)
            history.append(outcome)
            return u.reshape(f.shape if len(rest) == 1 else (len(rest), *f.shape[-2:]))

        if self._equation.mean is not None:
            raise InputError(
                "with a mean, source must be in host memory: give a NumPy array, a function or a "
                "number"
            )
        u = self._access.apply(solve, source, "source")
        return self._solution(u, history[0])

    def _on_device(
        self, f: DeviceArray, tables: Tables, guess: Function | list[Function] | None
    ) -> tuple[DeviceArray, Floats]:
        """The source, (components, nodes), and what sides add, (components, values)."""
        sources = list(f) if f.ndim == self.positions.ndim else None
        guesses = guess if isinstance(guess, list) else None
        count = require_count({"source": sources, "start": guesses, **split_sides(tables)}) or 1
        flat = self.gather_scatter.flat(f, "source")
        with self._access.interop.computing():
            repeated = flat if len(flat) == count else flat.repeat(count, axis=0)
        equations = [self._with_source(0.0, sides_of(tables, c)) for c in range(count)]
        return repeated, self._problem.right_hand_sides(equations)

    def _b_on_device(self, tables: Tables, f: DeviceArray) -> DeviceArray:
        """The right-hand side, (values,) or (values, components)."""
        b = self._device.right_hand_side(*self._on_device(f, tables, None))
        return b[0] if len(b) == 1 and f.ndim < self.positions.ndim else b.T

    def _start_on_device(self, start: Any, count: int) -> DeviceArray | None:
        """The initial guess on the device, (components, nodes)."""
        if start is None:
            return None
        if isinstance(start, Solution) and is_foreign(start.values):
            return self.gather_scatter.flat(self._access.view(start.values, "start"), "start")
        guess = initial_guess(start)
        assert guess is not None
        host = self._problem.evaluate_start(guess)
        nodes = self.positions.shape[0] * self.positions.shape[1]
        whole = np.broadcast_to(host.reshape(-1, nodes), (count, nodes))
        return self._problem.system.backend.to_device(whole.astype(self._access.dtype))

    def _with_source(self, source: FunctionLike | ArrayLike, tables: Tables) -> Equation:
        """The equation of one component."""
        space = self._problem.system.space
        f = arguments.given_field(source, "source", space.mesh.count, space.degree)
        return replace(self._with_sides(tables), source=f)

    def _with_sides(self, tables: Tables) -> Equation:
        """The equation with these boundary conditions."""
        fixed, fluxes = (
            arguments.functions_by_tag(kind, tables, self._tags) for kind in ("fixed", "flux")
        )
        robin = arguments.robin_by_tag(tables, self._tags)
        names = arguments.names_by_tag(self._tags)
        return replace(self._equation, fixed=fixed, fluxes=fluxes, robin=robin, names=names)

    def close(self) -> None:
        """Release memory that is shared with other ranks."""
        for name in ("operator", "preconditioner", "gather_scatter"):
            if name in self.__dict__:
                getattr(self, name).close()
        self._problem.close()

    def __enter__(self) -> Problem:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
