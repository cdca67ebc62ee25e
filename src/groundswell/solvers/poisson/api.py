"""Poisson's equation from Python: a mesh and functions go in, values at its nodes come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.case.expressions import Expression
from groundswell.case.problems import did_you_mean, listed
from groundswell.errors import InputError
from groundswell.exchange.devices import open_device
from groundswell.exchange.world import world
from groundswell.grids.box import Box
from groundswell.grids.hexahedra import Floats, Hexahedra, Numbers, positions
from groundswell.solvers.poisson.case import TOLERANCES, BoxMesh
from groundswell.solvers.poisson.shares import Shares
from groundswell.solvers.poisson.sides import Field
from groundswell.solvers.poisson.task import Given, Method, Preconditioner, Task
from groundswell.solvers.poisson.unique import SILENT_LEFT

Function = Field | float | str  # of position: x, y, z in m; as text what `Expression` knows
Table = Mapping[str, Any]  # of a case file, whose values may be functions

DTYPES = {"double": "float64", "single": "float32"}
KINDS = ("fixed", "flux")


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """u on elements; on several ranks, on each one's own.

    Args:
        elements: numbers of this rank's elements in the mesh.
        positions: of their nodes, (elements, (N + 1)^3, 3), m.
        values: u there, (elements, (N + 1)^3).
        residuals: Euclidean norms before each iteration, and after the last.
        converged: whether the last is as small as was asked for.
        unbalanced: where only u's mean was given, the share of the source and fluxes that a
            constant source has taken up, so that they cancel.
    """

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

    def __repr__(self) -> str:
        """Without its arrays, which fill pages."""
        how = "converged" if self.converged else "not converged"
        if self.unbalanced > SILENT_LEFT:
            how += f", {self.unbalanced:.1%} of the source and fluxes did not cancel"
        return f"Solution({len(self.elements)} elements, {self.iterations} iterations, {how})"


def nodes(mesh: Hexahedra, degree: int) -> Floats:
    """Where values are, (elements, (N + 1)^3, 3), m: along r first, then s, then t."""
    return positions(mesh, degree, every(mesh))


def every(mesh: Hexahedra) -> Numbers:
    """Numbers of all elements."""
    return np.arange(mesh.count)


def solve(
    mesh: Hexahedra,
    degree: int = 7,
    source: Function | ArrayLike = 0.0,
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
) -> Solution:
    """Solve -div grad u + screening u = source.

    >>> import numpy as np
    >>> import groundswell as gs
    >>> box = gs.poisson.Box((2, 2, 2))
    >>> found = gs.poisson.solve(
    ...     box,
    ...     degree=8,
    ...     source=lambda x, y, z: np.pi**2 * np.sin(np.pi * x),
    ...     boundaries={"west": {"kind": "fixed"}, "east": {"kind": "fixed", "value": 1.0}},
    ... )
    >>> x = found.positions[..., 0]
    >>> bool(np.abs(found.values - np.sin(np.pi * x) - x).max() < 1e-7)
    True

    Args:
        mesh: a `Box`, or a `Mesh` such as `read_gmsh` returns.
        degree: of the polynomials on each element, 1 to 15.
        source: f: a function of arrays x, y and z, a number, an expression as in a case file, or
            values at `nodes(mesh, degree)`, (elements, (N + 1)^3).
        boundaries: tables as in a case file, by the name of a side: `kind` is "fixed" or "flux",
            `value` u, or du/dn with n pointing outwards: a function, a number or an expression.
        screening: lambda, 0 or more, 1/m^2.
        mean: u's over the domain, for problems with neither screening nor a fixed side.
        sides: tags of the sides by name, as `read_gmsh` returns them; those of a `Box` are west,
            east, south, north, bottom, top.
        tolerance: of the residual, over its first value; by default 1e-10, in single precision
            1e-5.
        iterations: at most.
        preconditioner: "none", "jacobi" or "multigrid".
        backend: "cpu" or "cuda".
        precision: "double" or "single"; multigrid always works in single.
        partition: how several ranks share what is no box: "bisection" or "metis".

    Raises:
        InputError: something that cannot be done as asked, or has no unique solution.
        RunFailed: numbers are not finite.
    """
    if not isinstance(mesh, Hexahedra):
        raise InputError(
            f"mesh = {mesh!r:.60}; give a Box, or the Mesh that read_gmsh returns first"
        )
    if precision not in DTYPES:
        raise InputError(f"precision = {precision!r}; allowed: {listed(DTYPES)}")
    wanted = TOLERANCES[precision] if tolerance is None else _real("tolerance", tolerance, below=1)
    if not wanted:
        raise InputError(f"tolerance = {tolerance}; allowed: above 0, below 1")
    degree, iterations = _whole("degree", degree), _whole("iterations", iterations)
    job = world()
    shares = Shares.of(mesh, job.size, method=partition)
    mine = shares.elements(job.rank)
    tags = sides if sides is not None else _sides_of(mesh)
    _require_sides(boundaries or {}, tags)
    if sides is not None:
        _require_faces(sides, mesh)
    given = Given(
        _values(source, mesh, degree, mine),
        _real("screening", screening),
        _of_kind("fixed", boundaries or {}, tags),
        _of_kind("flux", boundaries or {}, tags),
        _mean(mean),
    )
    method = Method(degree, preconditioner, iterations, DTYPES[precision])
    device = open_device(backend, job)
    task = job.agree(lambda: Task(device, job, mesh, mine, given, method))
    try:
        found, outcome = task.solve(wanted)
    finally:
        task.close()
    how = (outcome.residuals, outcome.converged, task.problem.unbalanced)
    return Solution(mine, task.nodes, found, *how)


def _whole(what: str, value: Any) -> int:
    """A number of something, 1 or more."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 1:
        return int(value)
    raise InputError(f"{what} = {value!r:.60}; allowed: a whole number, 1 or more")


def _real(what: str, value: Any, below: float = inf) -> float:
    """A number from 0 up to `below`."""
    if _is_finite(value) and 0 <= value < below:
        return float(value)
    bound = f"0 and more, below {below:g}" if below < inf else "0 and more, in SI units"
    raise InputError(f"{what} = {value!r:.60}; allowed: a number, {bound}")


def _mean(value: Any) -> float | None:
    if value is None:
        return None
    if _is_finite(value):
        return float(value)
    raise InputError(f"mean = {value!r:.60}; allowed: a finite number")


def _is_finite(value: Any) -> bool:
    if not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _sides_of(mesh: Hexahedra) -> Mapping[str, int]:
    if not isinstance(mesh, Box):
        return {}
    periodic = tuple(axis for axis, wraps in zip("xyz", mesh.periodic, strict=True) if wraps)
    return BoxMesh(kind="box", counts=mesh.counts, periodic=periodic).sides


def _require_faces(sides: Mapping[str, int], mesh: Hexahedra) -> None:
    """See that sides are somewhere."""
    there = np.unique(mesh.tags(every(mesh)))
    for name, tag in sides.items():
        if tag not in there:
            raise InputError(f"sides: {name} = {tag!r}, which is no face's tag in the mesh")


def _require_sides(boundaries: Mapping[str, Table], tags: Mapping[str, int]) -> None:
    """See that sides are there, and given what they can be given."""
    if not isinstance(boundaries, Mapping):
        raise InputError(f"boundaries = {boundaries!r:.60}; give tables by the names of sides")
    for name, table in boundaries.items():
        if name not in tags:
            known = f"its sides are {listed(tags)}" if tags else "give their tags as sides"
            raise InputError(f"{name!r} is no side of the mesh{did_you_mean(name, tags)}; {known}")
        keys = set(table) if isinstance(table, Mapping) else set()
        if not {"kind"} <= keys <= {"kind", "value"} or table["kind"] not in KINDS:
            raise InputError(f'{name}: give a table with kind = "fixed" or "flux", and value')


def _of_kind(
    kind: str, boundaries: Mapping[str, Table], tags: Mapping[str, int]
) -> dict[int, Field]:
    """What sides of a kind are given, by tag."""
    return {
        tags[name]: _function(table.get("value", 0.0), f"the value of {name}")
        for name, table in boundaries.items()
        if table["kind"] == kind
    }


def _function(given: Any, what: str) -> Field:
    if callable(given):
        return given  # type: ignore[no-any-return]
    try:
        return Expression(given)
    except (ValueError, TypeError) as error:
        raise InputError(f"{what} = {given!r} {error}") from None


def _values(given: Any, mesh: Hexahedra, degree: int, elements: Numbers) -> Field:
    """The source as a function that this rank's nodes are handed to."""
    if callable(given) or isinstance(given, str) or np.ndim(given) == 0:
        return _function(given, "source")
    values, shape = np.asarray(given), (mesh.count, (degree + 1) ** 3)
    if values.shape != shape:
        raise InputError(f"source has shape {values.shape}; values at nodes have {shape}")
    return lambda x, y, z: values[elements]  # seen to be real numbers where it is called
