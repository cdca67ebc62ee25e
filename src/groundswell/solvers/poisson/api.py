"""Poisson's equation from Python: a mesh and functions go in, values at its nodes come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.errors import InputError, listed
from groundswell.exchange.devices import open_device
from groundswell.exchange.request import transport_of
from groundswell.exchange.world import world
from groundswell.meshes.hexahedra import Floats, Hexahedra, Numbers, positions
from groundswell.solvers.poisson import validation as arguments
from groundswell.solvers.poisson.boundary_conditions import Field
from groundswell.solvers.poisson.case import TOLERANCES
from groundswell.solvers.poisson.nullspace import SILENT_LEFT
from groundswell.solvers.poisson.problem_data import Given, Method, Preconditioner, Task
from groundswell.solvers.poisson.validation import Function, Table
from groundswell.spectral_elements.fields import as_dataset, gathered, lagrange_elements
from groundswell.spectral_elements.partition import Shares

if TYPE_CHECKING:
    import xarray

DTYPES = {"double": "float64", "single": "float32"}


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """u on elements; on several ranks, on each one's own.

    Args:
        mesh, degree: as the problem has them.
        elements: numbers of this rank's elements in the mesh.
        positions: of their nodes, (elements, (N + 1)^3, 3), m.
        values: u there, (elements, (N + 1)^3).
        residuals: Euclidean norms before each iteration, and after the last.
        converged: whether the last is as small as was asked for.
        unbalanced: where only u's mean was given, the share of the source and fluxes that a
            constant source has taken up, so that they cancel.
    """

    mesh: Hexahedra
    degree: int
    elements: Numbers
    positions: Floats
    values: Floats
    residuals: Floats
    converged: bool
    unbalanced: float = 0.0

    @property
    def iterations(self) -> int:
        """How many it took."""
        return len(self.residuals) - 1

    @property
    def fields(self) -> xarray.Dataset:
        """u on this rank's elements, (element, node), with the nodes' x, y and z, m."""
        return as_dataset(self.positions, {"u": self.values})

    def write(self, path: str | Path) -> Path:
        """Write u for ParaView, as a run's `solution.vtkhdf`; all ranks must call it.

        Raises:
            InputError: a path that cannot hold a file.
            RunFailed: the disk is full.
        """
        path, job = Path(path), world()
        attrs = {"degree": self.degree}

        def together() -> None:
            fields = {"u": gathered(job, self.mesh, self.elements, self.values)}
            if job.first:
                lagrange_elements(self.mesh, self.degree, fields, attrs).write(path)

        job.agree(together)
        return path

    def __repr__(self) -> str:
        """Without its arrays, which fill pages."""
        how = "converged" if self.converged else "not converged"
        if self.unbalanced > SILENT_LEFT:
            how += f", {self.unbalanced:.1%} of the source and fluxes did not cancel"
        return f"Solution({len(self.elements)} elements, {self.iterations} iterations, {how})"


def nodes(mesh: Hexahedra, degree: int) -> Floats:
    """Where values are, (elements, (N + 1)^3, 3), m: along r first, then s, then t."""
    return positions(mesh, degree, np.arange(mesh.count))


def solve(
    mesh: Hexahedra,
    degree: int = 7,
    source: Function | ArrayLike = 0.0,
    boundaries: Mapping[str, Table] | None = None,
    **how: Any,
) -> Solution:
    """Solve -div grad u + screening u = source, once.

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
        mesh, degree, boundaries, how: see `Problem`.
        source: see `Problem.solve`.
    """
    with Problem(mesh, degree, boundaries, **how) as problem:
        return problem.solve(source)


class Problem:
    """-div grad u + screening u = source, set up once, to be solved for any number of sources.

    >>> import groundswell as gs
    >>> step = 1e-3  # of time, with which u goes on as du/dt = div grad u
    >>> walls = {name: {"kind": "fixed"} for name in ("west", "east")}
    >>> box = gs.poisson.Box((3, 1, 1))
    >>> with gs.poisson.Problem(box, 5, walls, screening=1 / step) as implicit:
    ...     u = implicit.solve(1 / step)
    ...     for _ in range(9):
    ...         u = implicit.solve(lambda *at, u=u: u.values / step, start=u)
    >>> bool(0.9 < u.values.max() < 1)
    True

    All ranks must make, use and close it together.

    Args:
        mesh: a `Box`, or a `Mesh` such as `read_gmsh` returns.
        degree: of the polynomials on each element, 1 to 15.
        boundaries: tables as in a case file, by the name of a side: `kind` is "fixed" or "flux",
            `value` u, or du/dn with n pointing outwards: a function of arrays x, y and z, a number
            or an expression.
        screening: lambda, 0 or more, 1/m^2.
        mean: u's over the domain, for problems with neither screening nor a fixed side.
        sides: tags of the sides by name, as `read_gmsh` returns them; those of a `Box` are west,
            east, south, north, bottom, top.
        tolerance: of the residual, over that of u = 0 inside; by default 1e-10, in single precision
            1e-5.
        iterations: at most.
        preconditioner: "none", "jacobi" or "multigrid".
        backend: "cpu" or "cuda".
        precision: "double" or "single"; multigrid always works in single.
        partition: how several ranks share what is no box: "bisection" or "metis".
        transport, route: how values travel between ranks, as docs/exchange.md lists them; "auto"
            takes what is fastest here.

    Attributes:
        elements: numbers of this rank's elements in the mesh.
        positions: of their nodes, (elements, (N + 1)^3, 3), m.

    Raises:
        InputError: something that cannot be done as asked, or has no unique solution.
    """

    def __init__(
        self,
        mesh: Hexahedra,
        degree: int = 7,
        boundaries: Mapping[str, Table] | None = None,
        *,
        screening: float = 0.0,
        mean: float | None = None,
        sides: Mapping[str, int] | None = None,
        tolerance: float | None = None,
        iterations: int = 10_000,
        preconditioner: Preconditioner = "jacobi",
        backend: str = "cpu",
        precision: str = "double",
        partition: str = "bisection",
        transport: str = "auto",
        route: str = "auto",
    ) -> None:
        if not isinstance(mesh, Hexahedra):
            raise InputError(
                f"mesh = {mesh!r:.60}; give a Box, or the Mesh that read_gmsh returns first"
            )
        if precision not in DTYPES:
            raise InputError(f"precision = {precision!r}; allowed: {listed(DTYPES)}")
        self._tolerance = _tolerance(tolerance, precision)
        degree = arguments.whole("degree", degree)
        iterations = arguments.whole("iterations", iterations)
        job = world()
        self.elements = Shares.of(mesh, job.size, method=partition).elements(job.rank)
        self._boundaries = boundaries if boundaries is not None else {}
        self._tags = sides if sides is not None else arguments.sides_of(mesh)
        arguments.require_sides(self._boundaries, self._tags)
        if sides is not None:
            arguments.require_faces(sides, mesh)
        screening, mean = arguments.real("screening", screening), arguments.mean_of(mean)
        self._given = self._with(Given(lambda x, y, z: 0.0, screening, mean=mean), {})
        device = open_device(backend, job)
        way = (transport_of(device, transport), arguments.route_of(route))
        method = Method(degree, preconditioner, iterations, DTYPES[precision], *way)
        self._task = job.agree(lambda: Task(device, job, mesh, self.elements, self._given, method))
        self.positions = self._task.nodes

    def solve(
        self,
        source: Function | ArrayLike = 0.0,
        *,
        values: Mapping[str, Function] | None = None,
        start: Solution | Function | None = None,
    ) -> Solution:
        """u for a source.

        Args:
            source: f: a function of arrays x, y and z, a number, an expression as in a case file,
                or values at `nodes(mesh, degree)`, (elements, (N + 1)^3).
            values: what sides are given by name, where that is not what it was at the beginning.
            start: u from which the iteration begins: an earlier solution, or a function. The
                tolerance is that of u = 0 all the same, so a good start saves iterations.

        Raises:
            InputError: functions that are not real or not finite.
            RunFailed: numbers are not finite.
        """
        problem = self._task.problem
        given = self._with(self._given, values or {})
        of_source = arguments.source_of(
            source, problem.space.mesh, problem.space.degree, self.elements
        )
        self._task.evaluate(replace(given, source=of_source))
        found, outcome = self._task.solve(self._tolerance, _start(start))
        told = (outcome.residuals, outcome.converged, problem.unbalanced)
        where = (problem.space.mesh, problem.space.degree, self.elements, self.positions)
        return Solution(*where, found, *told)

    def _with(self, given: Given, values: Mapping[str, Function]) -> Given:
        """The same, with what sides are given."""
        tables = arguments.with_values(self._boundaries, values)
        fixed, fluxes = (arguments.of_kind(kind, tables, self._tags) for kind in arguments.KINDS)
        return replace(given, fixed=fixed, fluxes=fluxes)

    def close(self) -> None:
        """Give back what it holds of other ranks."""
        self._task.close()

    def __enter__(self) -> Problem:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _tolerance(given: float | None, precision: str) -> float:
    """As it is given, or the usual one."""
    if given is None:
        return TOLERANCES[precision]
    if found := arguments.real("tolerance", given, below=1):
        return found
    raise InputError(f"tolerance = {given}; allowed: above 0, below 1")


def _start(given: Solution | Function | None) -> Field | None:
    if given is None:
        return None
    if isinstance(given, Solution):
        return lambda x, y, z: given.values
    return arguments.function_of(given, "start")
