"""The Python interface: solves Poisson's equation on a mesh, with functions or arrays as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Unpack
from weakref import ref

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arguments import require_arguments
from groundswell.arrays import DeviceArray
from groundswell.backends.array_interop import as_numpy, is_foreign
from groundswell.errors import InputError
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.linear.cg import ConvergenceHistory
from groundswell.meshes.hexahedra import Floats, Hexahedra
from groundswell.solvers.poisson import validation as arguments
from groundswell.solvers.poisson.boundary_value_problem import Terms
from groundswell.solvers.poisson.case import TOLERANCES
from groundswell.solvers.poisson.components import (
    Split,
    Tables,
    initial_guess,
    require_count,
    sides_of,
    split_list,
    split_sides,
)
from groundswell.solvers.poisson.device_solve import DeviceSolver
from groundswell.solvers.poisson.given_equations import GivenEquations
from groundswell.solvers.poisson.nodal_sums import NodalGatherScatter
from groundswell.solvers.poisson.node_positions import own_elements
from groundswell.solvers.poisson.options import ChosenOptions, FieldLike, ProblemOptions
from groundswell.solvers.poisson.side_flows import by_name
from groundswell.solvers.poisson.solution import Solution
from groundswell.solvers.poisson.validation import ConditionTable, ElementCounts, FunctionLike
from groundswell.solvers.poisson.vector_operators import (
    ArrayAccess,
    SystemOperator,
    VectorOperator,
    preconditioner_of,
)


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

    Raises:
        InputError: an argument is invalid, or u is determined only up to a constant.
        RunFailed: values are not finite.
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
    ...         u = implicit.solve(u.values / step, start=u)
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
        tables, tags = boundaries if boundaries is not None else {}, chosen.tags_of(mesh)
        arguments.require_boundaries(tables, tags)
        if chosen.sides is not None:
            arguments.require_faces(chosen.sides, mesh)
        require_count(split_sides(tables))
        self.elements = own_elements(mesh, chosen.partition)
        counts = ElementCounts(mesh.count, len(self.elements), chosen.method(degree).degree)
        self._given = GivenEquations(chosen.equation(counts), tables, tags, counts)
        equation = self._given.with_sides(sides_of(tables, 0))
        self._problem = chosen.build(get_communicator(), mesh, degree, self.elements, equation)
        self.positions = self._problem.nodes
        self._last: tuple[ref[Solution], Terms] | None = None

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
                values at `positions`, (elements, (N + 1)^3), or of elements, (elements,): of this
                rank's elements or, on each rank, of the whole mesh. Of several components: a list
                of these, or (components, elements, (N + 1)^3). Arrays of CuPy, PyTorch and JAX must
                be on the problem's device, of its type and of this rank's elements; u is then in
                the same library, on the device.
            values: values of boundary conditions that differ from the original ones, by side, or
                a list of those of the components; of a "robin" side its ambient value.
            start: initial guess: an earlier solution, a function, or a list of the components'
                functions. The tolerance remains relative to u = 0, so a good guess saves
                iterations.

        Raises:
            InputError: functions are not real or not finite, or numbers of components differ.
            RunFailed: values are not finite.
        """
        tables = self._given.tables(values)
        if is_foreign(source):
            return self._solve_on_device(source, tables, start)
        guess = initial_guess(start)
        equations = self._given.of(source, tables, {"start": split_list(guess)})
        terms = self._problem.evaluate(equations)
        several = isinstance(equations, list) and callable(guess)
        guess = [guess] * len(equations) if several else guess  # type: ignore[arg-type, list-item]
        found = self._solution(*self._problem.solve(terms, self._tolerance, guess))
        self._last = ref(found), terms
        return found

    def flows(
        self,
        u: Any,
        source: FieldLike | Sequence[FieldLike] | None = None,
        *,
        values: Mapping[str, FunctionLike | Sequence[FunctionLike]] | None = None,
    ) -> dict[str, Any]:
        """What flows in through each side with a condition: the integral of k du/dn, by name.

        Negative flows flow out. They balance the integral of f - c u up to the residual. Fixed
        sides that meet have one entry, their sum, with their names joined by commas. Of several
        components each flow is an array, (components,). All ranks must call it, and each gets the
        flows through whole sides.

        Args:
            u: the last `Solution` of this problem; or an earlier one, or an array of the shape of
                `Solution.values`, with the source and values with which it was found.
            source, values: see `solve`; not for the last solution.

        Raises:
            InputError: u has another shape, or its source is missing.
        """
        local = as_numpy(getattr(u, "values", u))
        is_last = source is None and values is None
        terms = self._last_terms(u) if is_last else self._terms_of(local, source, values)
        if local.shape != terms.source.shape:
            raise InputError(f"u has shape {local.shape}; give {terms.source.shape}")
        each = zip(terms.of_components, local.reshape(-1, *local.shape[-2:]), strict=True)
        found = [self._problem.measure_flows(*of_one) for of_one in each]
        flows = [by_name(of_one, self._given.tags) for of_one in found]
        if local.ndim < self.positions.ndim:
            return dict(flows[0])
        return {name: np.array([of_one[name] for of_one in flows]) for name in flows[0]}

    def _last_terms(self, u: object) -> Terms:
        """Source and sides of the last solution."""
        if self._last is None or self._last[0]() is not u:
            raise InputError(
                "u is not the last solution for a source in host memory; give also the source and "
                "the values with which it was found"
            )
        return self._last[1]

    def _terms_of(self, u: Floats, source: Any, values: Mapping[str, Any] | None) -> Terms:
        """Source and sides with which u was found."""
        f = as_numpy(source) if is_foreign(source) else 0.0 if source is None else source
        components = list(u) if u.ndim == self.positions.ndim else None
        equations = self._given.of(f, self._given.tables(values), {"u": components})
        return self._problem.evaluate(equations)

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
        tables = self._given.tables(values)
        if is_foreign(source):
            return self._access.apply(partial(self._b_on_device, tables), source, "source")
        equations = self._given.of(source, tables, {})
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

    def _solve_on_device(self, source: Any, tables: Tables, start: Any) -> Solution:
        """Solve for a source on the device, where u remains."""
        history: list[ConvergenceHistory] = []

        def solve(f: DeviceArray) -> DeviceArray:
            flat, rest = self._on_device(f, tables, split_list(initial_guess(start)))
            guess = self._start_on_device(start, len(rest))
            u, outcome = self._device.solve(flat, rest, self._tolerance, guess)
            history.append(outcome)
            return u.reshape(f.shape if len(rest) == 1 else (len(rest), *f.shape[-2:]))

        if self._given.equation.mean is not None:
            raise InputError(
                "with a mean, source must be in host memory: give a NumPy array, a function or a "
                "number"
            )
        u = self._access.apply(solve, source, "source")
        return self._solution(u, history[0])

    def _on_device(
        self, f: DeviceArray, tables: Tables, guesses: Split
    ) -> tuple[DeviceArray, Floats]:
        """The source, (components, nodes), and what sides add, (components, values)."""
        sources = list(f) if f.ndim == self.positions.ndim else None
        count = require_count({"source": sources, "start": guesses, **split_sides(tables)}) or 1
        flat = self.gather_scatter.flat(f, "source")
        with self._access.interop.computing():
            repeated = flat if len(flat) == count else flat.repeat(count, axis=0)
        equations = [self._given.of_one(0.0, sides_of(tables, c)) for c in range(count)]
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
