"""The Python interface: solves Poisson's equation on a mesh, with functions or arrays as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arguments import require_arguments, whole_number
from groundswell.arrays import Integers
from groundswell.errors import InputError, counted
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.meshes.hexahedra import Floats, Hexahedra, positions
from groundswell.solvers.poisson import validation as arguments
from groundswell.solvers.poisson.case import (
    TOLERANCES,
)
from groundswell.solvers.poisson.components import (
    Split,
    pick,
    require_count,
    split_list,
    split_source,
)
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.nullspace import WARN_ABOVE
from groundswell.solvers.poisson.options import ChosenOptions, FieldLike, ProblemOptions
from groundswell.solvers.poisson.validation import ConditionTable, FunctionLike
from groundswell.spectral_elements.boundary import Function
from groundswell.spectral_elements.fields import as_dataset, gather_on_root
from groundswell.spectral_elements.partition import ElementPartition
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """u on elements; with several ranks, on those of this rank.

    Args:
        mesh, degree: of the problem.
        elements: numbers of this rank's elements in the mesh.
        positions: of their nodes, (elements, (N + 1)^3, 3), m.
        values: u at the nodes, (elements, (N + 1)^3), or (components, elements, (N + 1)^3).
        residuals: Euclidean norms before each iteration and after the last. Those of several
            components are relative to u = 0, and the root of the sum of their squares counts.
        converged: whether the last residual met the tolerance.
        unbalanced: if only the mean of u was given, the imbalance of source and fluxes, relative
            to their absolute values; a constant source compensated for it.
    """

    mesh: Hexahedra
    degree: int
    elements: Integers
    positions: Floats
    values: Floats
    residuals: Floats
    converged: bool
    unbalanced: float = 0.0

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return len(self.residuals) - 1

    @property
    def fields(self) -> xarray.Dataset:
        """u on this rank's elements, (element, node), with the nodes' x, y and z, m.

        Several components are u1, u2 and so on.
        """
        return as_dataset(self.positions, self._named)

    @property
    def _named(self) -> dict[str, Floats]:
        """The components by name, each (elements, (N + 1)^3)."""
        if self.values.ndim < self.positions.ndim:
            return {"u": self.values}
        return {f"u{n}": of_one for n, of_one in enumerate(self.values, 1)}

    def write(self, path: str | Path) -> Path:
        """Write u for ParaView, like a run's `solution.vtkhdf`; all ranks must call it.

        Raises:
            InputError: the path cannot hold a file.
            RunFailed: the disk is full.
        """
        path, job = Path(path), get_communicator()

        def write_on_root() -> None:
            whole = {
                name: gather_on_root(job, self.mesh, self.elements, values)
                for name, values in self._named.items()
            }
            if job.first:
                attrs = {"degree": self.degree}
                LagrangeElements.of(self.mesh, self.degree, whole, attrs).write(path)

        job.collective_try(write_on_root)
        return path

    def __repr__(self) -> str:
        """A summary without the arrays."""
        state = "converged" if self.converged else "not converged"
        if self.unbalanced > WARN_ABOVE:
            state += f", source and fluxes unbalanced by {self.unbalanced:.1%}"
        elements = counted(len(self.elements), "element")
        return f"Solution({elements}, {counted(self.iterations, 'iteration')}, {state})"


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
        if not isinstance(mesh, Hexahedra):
            raise InputError(f"mesh = {mesh!r:.60}; give a Box, or the Mesh that read_mesh returns")
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
        require_count(_split_sides(self._boundaries))
        self._equation = self._with_sides(_sides_of(self._boundaries, 0))
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
                Of several components: a list of these, or (components, elements, (N + 1)^3).
            values: values of boundary conditions that differ from the original ones, by side, or
                a list of those of the components; of a "robin" side its ambient value.
            start: initial guess: an earlier solution, a function, or a list of the components'
                functions. The tolerance remains relative to u = 0, so a good guess saves
                iterations.

        Raises:
            InputError: functions are not real or not finite, or numbers of components differ.
            RunFailed: values are not finite.
        """
        space, guess = self._problem.system.space, _initial_guess(start)
        tables = arguments.replace_values(self._boundaries, values or {})
        sources = split_source(source, space.mesh.count)
        guesses = None if guess is None or callable(guess) else guess
        count = require_count({"source": sources, "start": guesses, **_split_sides(tables)})
        if count is None:
            self._problem.evaluate(self._with_source(source, tables))
        else:
            each = [(pick(source, sources, c), _sides_of(tables, c)) for c in range(count)]
            self._problem.evaluate([self._with_source(*of_one) for of_one in each])
            guess = [guess] * count if callable(guess) else guess
        u, history = self._problem.solve(self._tolerance, guess)
        return Solution(
            *(space.mesh, space.degree, self.elements, self.positions, u),
            *(history.residuals, history.converged, self._problem.system.imbalance),
        )

    def _with_source(
        self, source: FunctionLike | ArrayLike, tables: Mapping[str, ConditionTable]
    ) -> Equation:
        """The equation of one component."""
        space = self._problem.system.space
        f = arguments.given_field(source, "source", space.mesh.count, space.degree)
        return replace(self._with_sides(tables), source=f)

    def _with_sides(self, tables: Mapping[str, ConditionTable]) -> Equation:
        """The equation with these boundary conditions."""
        fixed, fluxes = (
            arguments.functions_by_tag(kind, tables, self._tags) for kind in ("fixed", "flux")
        )
        robin = arguments.robin_by_tag(tables, self._tags)
        return replace(self._equation, fixed=fixed, fluxes=fluxes, robin=robin)

    def close(self) -> None:
        """Release memory that is shared with other ranks."""
        self._problem.close()

    def __enter__(self) -> Problem:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _initial_guess(
    start: Solution | FunctionLike | Sequence[FunctionLike] | None,
) -> Function | list[Function] | None:
    """Initial guesses as functions, a list of several components."""
    if start is None:
        return None
    if isinstance(start, Solution):
        named = [lambda x, y, z, u=u: u for u in start._named.values()]
        return named if start.values.ndim == start.positions.ndim else named[0]
    if isinstance(start, list | tuple):
        return [arguments.as_function(guess, "start") for guess in start]
    return arguments.as_function(start, "start")


def _split_sides(tables: Mapping[str, ConditionTable]) -> dict[str, Split]:
    """The values of the components on each side."""
    return {name: split_list(_value_of(table)) for name, table in tables.items()}


def _value_of(table: ConditionTable) -> object:
    return table.get(arguments.CHANGING[table["kind"]])


def _sides_of(tables: Mapping[str, ConditionTable], component: int) -> dict[str, ConditionTable]:
    """The boundary conditions of one component."""
    found = {}
    for name, table in tables.items():
        split = split_list(_value_of(table))
        chosen = {arguments.CHANGING[table["kind"]]: pick(None, split, component)}
        found[name] = table if split is None else {**table, **chosen}
    return found
