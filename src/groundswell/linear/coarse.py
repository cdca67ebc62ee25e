"""Small systems in the middle of large ones: a sparse matrix, solved by a library on one rank.

Its values come from all ranks and go back to them, so this is the host's work, and no graph of
launches can hold it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import linalg

from groundswell.backends import Array, Backend, Launch
from groundswell.errors import InputError
from groundswell.exchange.assembly.sharing import Sharing
from groundswell.exchange.world import World

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Solve = Callable[[Floats], Floats]

WAYS = ("auto", "direct", "amg")
MOST_DIRECT = 20_000  # unknowns, beyond which factors fill up and cycles are faster
# Pivots of a positive matrix are on its diagonal, so rows keep the order that fills up least.
SYMMETRIC: dict[str, Any] = {
    "permc_spec": "MMD_AT_PLUS_A",
    "options": {"SymmetricMode": True, "DiagPivotThresh": 0.0},
}
AGGREGATED = 500  # unknowns, below which cycles go no further
FACTORED = 290  # bytes of factors, over unknowns^(4/3), as they fill up in three dimensions
MISSING = (
    "coarse = 'amg' needs pyamg, which is not installed; `pip install 'groundswell[multigrid]'`, "
    "or choose 'direct'"
)


class CoarseSolver:
    """Makes x of b by a matrix's inverse, or nearly so. All ranks must make and use it together.

    Args:
        sharing: of the ids of unknowns; b and x are in its order.
        matrices: what this rank's elements add to the matrix, (elements, m, m); their rows are
            those of `sharing.rows`, (elements m,).
        fixed: unknowns that this rank knows to be prescribed, (values,); x is 0 there.
        b: right-hand side, (values,), of which those that this rank owns are read.
        x: the solution, (values,), those that other ranks own as well.
        way: "direct" by factors, "amg" by a cycle of algebraic multigrid, or "auto": cycles for
            more than MOST_DIRECT unknowns if pyamg is installed, and else factors.

    Attributes:
        ends: b and x.

    Raises:
        InputError: no such way, or a matrix without an inverse.
    """

    in_graph = False

    def __init__(
        self,
        backend: Backend,
        world: World,
        sharing: Sharing,
        matrices: Floats,
        fixed: NDArray[np.bool_],
        b: Array,
        x: Array,
        *,
        way: str = "auto",
    ) -> None:
        if way not in WAYS:
            raise InputError(f"coarse = {way!r}; allowed: {', '.join(WAYS)}")
        self._backend, self._world, self.ends = backend, world, (b, x)
        self._own = sharing.own
        part = (sharing.ids, sharing.ids[fixed], *entries(sharing, matrices))
        told = world.gather(part)
        ids = np.unique(np.concatenate([ids for ids, *_ in told])) if told else sharing.ids
        # Of each rank, where its values are among all; rank 0 alone knows.
        self._rows = [np.searchsorted(ids, those) for those, *_ in told]
        self._owned = world.gather(sharing.own)
        self._total = len(ids)
        self._solve: Solve = world.agree(lambda: _prepared(ids, told, way) if told else _nothing)
        self.launches: list[Launch] = [self._run]

    def _run(self) -> None:
        # Whole numbers are what ranks swap: these are the bits of floating-point ones.
        mine = np.asarray(self._backend.to_host(self.ends[0][: self._own]), float)
        come = self._world.swap({0: mine.view(np.int64)})
        sent = {}
        if self._world.first:
            b = np.zeros(self._total)
            for rank, part in come.items():
                b[self._rows[rank][: self._owned[rank]]] = part.view(np.float64)
            x = self._solve(b)
            sent = {rank: x[rows].view(np.int64) for rank, rows in enumerate(self._rows)}
        for part in self._world.swap(sent).values():
            x_here = self.ends[1]
            self._backend.assign(x_here, part.view(np.float64).astype(x_here.dtype))

    def check(self) -> None:
        """Ranks that are lost are noticed at once."""

    def close(self) -> None:
        """Nothing is held of others."""


def entries(sharing: Sharing, matrices: Floats) -> tuple[Numbers, Numbers, Floats]:
    """Ids of rows and columns, and values, of what elements add up to, each pair of ids once."""
    m, count = matrices.shape[-1], len(sharing.ids)
    places = sharing.rows.reshape(-1, m)
    rows, columns = np.repeat(places, m, axis=1).ravel(), np.tile(places, m).ravel()
    whole = sparse.coo_array((matrices.ravel(), (rows, columns)), shape=(count, count))
    summed = whole.tocsr().tocoo()
    return sharing.ids[summed.row], sharing.ids[summed.col], summed.data


def inverse(matrix: Any, way: str = "auto") -> Solve:
    """What multiplies by the inverse of a symmetric positive matrix, or by what is near to it.

    Raises:
        InputError: no inverse, or no library.
    """
    if not matrix.shape[0]:
        return _nothing
    if way == "amg" or (way == "auto" and _in_cycles(matrix.shape[0])):
        return _cycles(matrix)
    try:
        factors = linalg.splu(matrix.tocsc(), **SYMMETRIC)
    except RuntimeError as error:
        raise InputError(
            f"the coarsest matrix of multigrid has no inverse ({error}): each part of the mesh "
            "needs a screening above 0, or a side where u is prescribed"
        ) from error
    return lambda b: np.asarray(factors.solve(b))


def factor_bytes(unknowns: int) -> int:
    """About what factors of a matrix of functions of degree 1 on hexahedra take; of cycles, 0."""
    return 0 if _in_cycles(unknowns) else int(FACTORED * unknowns ** (4 / 3))


def _in_cycles(unknowns: int) -> bool:
    """Whether "auto" means cycles."""
    return unknowns > MOST_DIRECT and _has_pyamg()


def _cycles(matrix: Any) -> Solve:
    """A symmetric V-cycle of smoothed aggregation (Vanek, Mandel & Brezina 1996, Computing 56)."""
    if not _has_pyamg():
        raise InputError(MISSING)
    import pyamg

    smoother = ("gauss_seidel", {"sweep": "symmetric"})
    hierarchy = pyamg.smoothed_aggregation_solver(
        matrix.tocsr(),
        symmetry="symmetric",
        # By rows: other weights begin with random numbers, and no two runs would be the same.
        smooth=("jacobi", {"weighting": "local"}),
        presmoother=smoother,
        postsmoother=smoother,
        max_coarse=AGGREGATED,
    )
    cycle = hierarchy.aspreconditioner(cycle="V")
    return lambda b: np.asarray(cycle @ b)


def _has_pyamg() -> bool:
    try:
        import pyamg  # noqa: F401
    except ImportError:
        return False
    return True


def _prepared(ids: Numbers, told: list[Any], way: str) -> Solve:
    """Solves for all unknowns, by rising id, those that any rank knows to be prescribed being 0."""
    fixed = np.concatenate([prescribed for _, prescribed, *_ in told])
    rows, columns, values = (
        np.concatenate(part) for part in zip(*(t[2:] for t in told), strict=True)
    )
    places = (np.searchsorted(ids, rows), np.searchsorted(ids, columns))
    matrix = sparse.coo_array((values, places), shape=(len(ids), len(ids))).tocsr()
    free = np.flatnonzero(~np.isin(ids, fixed))
    solve = inverse(matrix[free][:, free], way)

    def solve_all(b: Floats) -> Floats:
        x = np.zeros(len(ids))
        x[free] = solve(b[free])
        return x

    return solve_all


def _nothing(b: Floats) -> Floats:
    return b
