"""Coarse solves: a small sparse system of all ranks, solved by a library on rank 0.

The right-hand side is gathered and the solution scattered by the host, so no graph can record it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from groundswell.arrays import Floats, Integers, Mask
from groundswell.backends import Launch
from groundswell.errors import InputError, install
from groundswell.exchange.gather_scatter.sharing import Sharing
from groundswell.linear.operators import Composite, VectorLayout

CoarseSolve = Callable[[Floats], Floats]

MAX_DIRECT = 20_000  # unknowns, beyond which the fill-in of factors makes multigrid faster
# The pivots of a positive definite matrix are on its diagonal, so its ordering can minimise
# fill-in.
SYMMETRIC: dict[str, Any] = {
    "permc_spec": "MMD_AT_PLUS_A",
    "options": {"SymmetricMode": True, "DiagPivotThresh": 0.0},
}
MAX_COARSEST = 500  # unknowns of the coarsest level of algebraic multigrid
FACTOR_BYTES = 290  # bytes of factors over unknowns^(4/3), the fill-in in three dimensions
NO_PYAMG = (
    f"coarse = 'amg' needs pyamg, which is not installed; {install('multigrid')}, or choose "
    "'direct'"
)


class Contribution(NamedTuple):
    """A rank's part of the matrix: ids of its unknowns, of prescribed ones, and entries by id."""

    ids: Integers
    fixed: Integers
    rows: Integers
    columns: Integers
    values: Floats


class CoarseSolver(Composite):
    """Applies the inverse of a matrix, or an approximation. All ranks must use it together.

    Args:
        vectors: layout of b and x. If each rank owns all its values, the parts of several ranks
            of a value of b are added.
        sharing: of the ids of unknowns, in the order of b and x.
        matrices: the elements' matrices, (elements, m, m), of which the rows and columns are those
            of `sharing.indices`, (elements m,).
        fixed: which unknowns are prescribed, (values,); x is 0 there.
        method: "direct" by factorisation, "amg" by a cycle of algebraic multigrid, or "auto": amg
            for more than MAX_DIRECT unknowns if pyamg is installed, otherwise direct.

    Attributes:
        b: right-hand side, of which each rank's own values are read.
        x: the solution, with copies of other ranks' values.

    Raises:
        InputError: the matrix is singular.
    """

    in_graph = False  # the host solves

    def __init__(
        self,
        vectors: VectorLayout,
        sharing: Sharing,
        matrices: Floats,
        fixed: Mask,
        *,
        method: str = "auto",
    ) -> None:
        self._vectors, comm = vectors, vectors.comm
        self.b, self.x = vectors.zeros(), vectors.zeros()
        mine = Contribution(sharing.ids, sharing.ids[fixed], *assemble_entries(sharing, matrices))
        gathered = comm.gather(mine)
        all_ids = [each.ids for each in gathered]
        ids = np.unique(np.concatenate(all_ids)) if gathered else sharing.ids
        # Rank 0 alone knows the indices of each rank's values among all.
        self._rows = [np.searchsorted(ids, each) for each in all_ids]
        self._owned = comm.gather(vectors.own)
        self._total = len(ids)
        self._solve: CoarseSolve = comm.collective_try(
            lambda: _solve_gathered(ids, gathered, method) if gathered else _identity
        )
        self.launches: list[Launch] = [self._run]

    def _run(self) -> None:
        # Ranks exchange integers that have the bits of the floating-point values.
        backend, comm = self._vectors.backend, self._vectors.comm
        mine = np.asarray(backend.to_host(self.b[: self._vectors.own]), float)
        received = comm.alltoallv({0: mine.view(np.int64)})
        sent = {}
        if comm.first:
            b = np.zeros(self._total)
            for rank, part in received.items():
                b[self._rows[rank][: self._owned[rank]]] += part.view(np.float64)
            x = self._solve(b)
            sent = {rank: x[rows].view(np.int64) for rank, rows in enumerate(self._rows)}
        for part in comm.alltoallv(sent).values():
            backend.assign(self.x, part.view(np.float64).astype(self.x.dtype))


def assemble_entries(sharing: Sharing, matrices: Floats) -> tuple[Integers, Integers, Floats]:
    """Sum the elements' matrices to row ids, column ids and values, each pair of ids once."""
    m, count = matrices.shape[-1], len(sharing.ids)
    indices = sharing.indices.reshape(-1, m)
    rows, columns = np.repeat(indices, m, axis=1).ravel(), np.tile(indices, m).ravel()
    matrix = sparse.coo_array((matrices.ravel(), (rows, columns)), shape=(count, count))
    summed = matrix.tocsr().tocoo()
    return sharing.ids[summed.row], sharing.ids[summed.col], summed.data


def make_inverse(matrix: Any, method: str = "auto") -> CoarseSolve:
    """A function that applies the inverse of a symmetric positive definite matrix, or nearly so.

    Raises:
        InputError: the matrix is singular, or pyamg is missing.
    """
    if not matrix.shape[0]:
        return _identity
    if method == "amg" or (method == "auto" and _prefers_amg(matrix.shape[0])):
        return _make_amg_cycle(matrix)
    try:
        factors = linalg.splu(matrix.tocsc(), **SYMMETRIC)
    except RuntimeError as error:
        raise InputError(
            f"the coarsest matrix of multigrid is singular ({error}); give a screening above 0, or "
            "a side where u is prescribed on each part of the mesh"
        ) from error
    return lambda b: np.asarray(factors.solve(b))


def factor_bytes(unknowns: int) -> int:
    """Estimated memory of factors for trilinear functions on hexahedra; 0 if amg is used."""
    return 0 if _prefers_amg(unknowns) else int(FACTOR_BYTES * unknowns ** (4 / 3))


def _prefers_amg(unknowns: int) -> bool:
    return unknowns > MAX_DIRECT and _has_pyamg()


def _make_amg_cycle(matrix: Any) -> CoarseSolve:
    """A symmetric V-cycle of smoothed aggregation (Vanek, Mandel & Brezina 1996, Computing 56)."""
    if not _has_pyamg():
        raise InputError(NO_PYAMG)
    import pyamg

    smoother = ("gauss_seidel", {"sweep": "symmetric"})
    hierarchy = pyamg.smoothed_aggregation_solver(
        matrix.tocsr(),
        symmetry="symmetric",
        # Other weightings start from random numbers, which would make runs irreproducible.
        smooth=("jacobi", {"weighting": "local"}),
        presmoother=smoother,
        postsmoother=smoother,
        max_coarse=MAX_COARSEST,
    )
    cycle = hierarchy.aspreconditioner(cycle="V")
    return lambda b: np.asarray(cycle @ b)


def _has_pyamg() -> bool:
    try:
        import pyamg  # noqa: F401
    except ImportError:
        return False
    return True


def _solve_gathered(ids: Integers, gathered: list[Contribution], method: str) -> CoarseSolve:
    """A function that solves for all unknowns, in the order of ids; 0 where they are prescribed."""

    def join(name: str) -> Any:
        return np.concatenate([getattr(each, name) for each in gathered])

    indices = (np.searchsorted(ids, join("rows")), np.searchsorted(ids, join("columns")))
    matrix = sparse.coo_array((join("values"), indices), shape=(len(ids), len(ids))).tocsr()
    free = np.flatnonzero(~np.isin(ids, join("fixed")))
    return partial(_solve_free, make_inverse(matrix[free][:, free], method), free)


def _solve_free(solve: CoarseSolve, free: Integers, b: Floats) -> Floats:
    x = np.zeros(len(b))
    x[free] = solve(b[free])
    return x


def _identity(b: Floats) -> Floats:
    return b
