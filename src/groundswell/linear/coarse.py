"""Coarse solves: a small sparse system of all ranks.

A library factorises it on rank 0; the host then gathers the right-hand side and scatters the
solution. Or every rank gathers the right-hand side on its device, and makes a cycle of algebraic
multigrid there, which a graph can record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from groundswell.arrays import DeviceArray, Floats, Integers, Mask
from groundswell.backends import Launch
from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.gather_scatter.sharing import Sharing
from groundswell.exchange.gathering import gather_blocks
from groundswell.linear.aggregation import (
    MAX_COARSEST,
    AggregationCycle,
    Hierarchy,
    has_pyamg,
)
from groundswell.linear.operators import Composite, VectorLayout, components_of, convert
from groundswell.linear.sparse import SparseProduct

CoarseSolve = Callable[[Floats], Floats]

MAX_DIRECT = 20_000  # unknowns, beyond which the fill-in of factors makes multigrid faster
# The pivots of a positive definite matrix are on its diagonal, so its ordering can minimise
# fill-in.
SYMMETRIC: dict[str, Any] = {
    "permc_spec": "MMD_AT_PLUS_A",
    "options": {"SymmetricMode": True, "DiagPivotThresh": 0.0},
}
FACTOR_BYTES = 290  # bytes of factors over unknowns^(4/3), the fill-in in three dimensions
# Of a cycle per unknown: entries of matrices and prolongations; vectors, also those of its set-up.
CYCLE_ENTRIES, CYCLE_VECTORS = 60, 30


class Contribution(NamedTuple):
    """A rank's part of the matrix: ids of its unknowns, of prescribed ones, and entries by id."""

    ids: Integers
    fixed: Integers
    rows: Integers
    columns: Integers
    values: Floats

    @classmethod
    def of(cls, sharing: Sharing, matrices: Floats, fixed: Mask) -> Contribution:
        """The part of this rank; arguments as for `CoarseSolver`."""
        return cls(sharing.ids, sharing.ids[fixed], *assemble_entries(sharing, matrices))


class CoarseSolver(Composite):
    """Applies the inverse of a matrix by factors on rank 0. All ranks must use it together.

    Args:
        vectors: layout of b and x. If each rank owns all its values, the parts of several ranks
            of a value of b are added.
        sharing: of the ids of unknowns, in the order of b and x.
        matrices: the elements' matrices, (elements, m, m), of which the rows and columns are those
            of `sharing.indices`, (elements m,).
        fixed: which unknowns are prescribed, (values,); x is 0 there.

    Attributes:
        b: right-hand side, of which each rank's own values are read.
        x: the solution, with copies of other ranks' values.

    Raises:
        InputError: the matrix is singular.
    """

    in_graph = False  # the host solves

    def __init__(
        self, vectors: VectorLayout, sharing: Sharing, matrices: Floats, fixed: Mask
    ) -> None:
        comm = vectors.comm
        gathered = comm.gather(Contribution.of(sharing, matrices, fixed))
        all_ids = [each.ids for each in gathered]
        ids = np.unique(np.concatenate(all_ids)) if gathered else sharing.ids
        # Rank 0 alone knows the indices of each rank's values among all.
        self._rows = [np.searchsorted(ids, each) for each in all_ids]
        self._owned = comm.gather(vectors.own)
        self._total = len(ids)
        self._solve: CoarseSolve = comm.collective_try(
            lambda: _solve_gathered(gathered) if gathered else _identity
        )
        self._connect(vectors)

    def for_components(self, count: int) -> CoarseSolver:
        """The same for vectors of several components, by the same factors."""
        several = copy(self)
        several._connect(replace(self._vectors, components=count))
        return several

    def _connect(self, vectors: VectorLayout) -> None:
        self._vectors = vectors
        self.b, self.x = vectors.zeros(), vectors.zeros()
        self.launches: list[Launch] = [self._run]

    def _run(self) -> None:
        # Ranks exchange integers that have the bits of the floating-point values. On the host,
        # components are columns.
        backend, comm, columns = self._vectors.backend, self._vectors.comm, self.b.shape[:-1]
        mine = np.asarray(backend.to_host(self.b[..., : self._vectors.own]), float)
        received = comm.alltoallv({0: mine.T.ravel().view(np.int64)})
        sent = {}
        if comm.first:
            b = np.zeros((self._total, *columns))
            for rank, part in received.items():
                b[self._rows[rank][: self._owned[rank]]] += _columns(part, columns)
            x = self._solve(b)
            sent = {rank: x[rows].ravel().view(np.int64) for rank, rows in enumerate(self._rows)}
        for part in comm.alltoallv(sent).values():
            backend.assign(self.x, _columns(part, columns).T.astype(self.x.dtype))


def _columns(bits: Integers, columns: tuple[int, ...]) -> Floats:
    """Values by their bits, (values,) or (values, columns)."""
    return np.asarray(bits.view(np.float64).reshape(-1, *columns))


class CoarseCycle(Composite):
    """Applies a cycle of algebraic multigrid on each rank. All ranks must use it together.

    Arguments and attributes are those of `CoarseSolver`, but each value of b has one owner.

    Args:
        transport: how ranks gather b, a name in connect.TRANSPORTS, or "auto".

    Raises:
        InputError: the matrix is singular, or pyamg is missing.
    """

    def __init__(
        self,
        vectors: VectorLayout,
        sharing: Sharing,
        matrices: Floats,
        fixed: Mask,
        *,
        transport: str = "auto",
    ) -> None:
        backend, comm, own = vectors.backend, vectors.comm, vectors.own
        gathered = comm.gather(Contribution.of(sharing, matrices, fixed))
        free, hierarchy = comm.bcast(
            comm.collective_try(lambda: _aggregate(gathered) if gathered else None)
        )
        owned = comm.allgather(sharing.ids[:own])
        cuts = tuple(max(1, len(ids)) for ids in owned)  # blocks have a point each at least
        self._blocks = Decomposition((sum(cuts),), (comm.size,), (False,), (cuts,))
        self._transport = transport
        cycle = self._cycle = AggregationCycle(backend, hierarchy, vectors.dtype)
        whole, x = backend.zeros(self._blocks.shape, vectors.dtype), vectors.zeros()
        self._ordered = SparseProduct(backend, _selection(free, owned), whole, cycle.b)
        self._back = SparseProduct(backend, _selection(sharing.ids, [free]), cycle.x, x)
        self._connect(vectors)

    def for_components(self, count: int) -> CoarseCycle:
        """The same for vectors of several components, on the same levels, to be closed, too."""
        several = copy(self)
        several._connect(replace(self._vectors, components=count))
        return several

    def _connect(self, vectors: VectorLayout) -> None:
        """Gather all components at once; cycles follow each other."""
        self._vectors, backend, comm = vectors, vectors.backend, vectors.comm
        self.b, self.x = vectors.zeros(), vectors.zeros()
        shape = (vectors.components, *self._blocks.shape)
        wholes, first = backend.zeros(shape, vectors.dtype), self._blocks.block(comm.rank).start[0]
        on = (backend, comm, self._blocks, [*wholes], (0,))
        gather = gather_blocks(*on, transport=self._transport)
        mine = wholes[:, first:] if vectors.components > 1 else wholes[0, first:]
        self.parts = [gather]
        self.launches: list[Launch] = [
            *convert(backend, self.b, mine, vectors.own),
            *gather.launches,
            *(
                launch
                for whole, x in zip(wholes, components_of(self.x), strict=True)
                for launch in self._solve(whole, x)
            ),
        ]

    def _solve(self, whole: DeviceArray, x: DeviceArray) -> list[Launch]:
        """A cycle for one component."""
        cycle = self._cycle
        before, after = self._ordered.between(whole, cycle.b), self._back.between(cycle.x, x)
        return [*before, *cycle.launches, *after]


def make_coarse_solver(
    vectors: VectorLayout,
    sharing: Sharing,
    matrices: Floats,
    fixed: Mask,
    *,
    method: str = "auto",
    transport: str = "auto",
) -> CoarseSolver | CoarseCycle:
    """A coarse solver; for arguments see `CoarseSolver` and `CoarseCycle`.

    Args:
        method: "direct" by factorisation, "amg" by a cycle of algebraic multigrid, or "auto": amg
            if it is faster and pyamg, which it needs for more than MAX_COARSEST unknowns, is
            installed; otherwise direct.
    """
    count = sum(vectors.comm.allgather(vectors.own))
    if method == "amg" or (method == "auto" and _prefers_amg(count, vectors.backend.on_host)):
        return CoarseCycle(vectors, sharing, matrices, fixed, transport=transport)
    return CoarseSolver(vectors, sharing, matrices, fixed)


def _selection(ids: Integers, columns: Sequence[Integers]) -> Any:
    """The matrix that selects values by id, (ids, columns); 0 for ids that are not there.

    Args:
        columns: ids of the columns, in blocks of at least one column.
    """
    starts = np.cumsum([0, *(max(1, len(block)) for block in columns)])
    found = np.concatenate([np.asarray(block, np.int64) for block in columns])
    blocks = zip(columns, starts, strict=False)
    places = np.concatenate([start + np.arange(len(block)) for block, start in blocks])
    order = np.argsort(found)
    at = np.searchsorted(found[order], ids).clip(max=max(len(found) - 1, 0))
    rows = np.flatnonzero(found[order[at]] == ids) if len(found) else np.empty(0, np.int64)
    entries = np.ones(len(rows)), (rows, places[order[at[rows]]])
    return sparse.csr_array(entries, shape=(len(ids), starts[-1]))


def assemble_entries(sharing: Sharing, matrices: Floats) -> tuple[Integers, Integers, Floats]:
    """Sum the elements' matrices to row ids, column ids and values, each pair of ids once."""
    m, count = matrices.shape[-1], len(sharing.ids)
    indices = sharing.indices.reshape(-1, m)
    rows, columns = np.repeat(indices, m, axis=1).ravel(), np.tile(indices, m).ravel()
    matrix = sparse.coo_array((matrices.ravel(), (rows, columns)), shape=(count, count))
    summed = matrix.tocsr().tocoo()
    return sharing.ids[summed.row], sharing.ids[summed.col], summed.data


def factorise(matrix: Any) -> CoarseSolve:
    """A function that applies the inverse of a symmetric positive definite matrix.

    Raises:
        InputError: the matrix is singular.
    """
    if not matrix.shape[0]:
        return _identity
    try:
        factors = linalg.splu(matrix.tocsc(), **SYMMETRIC)
    except RuntimeError as error:
        raise _singular(error) from error
    return lambda b: np.asarray(factors.solve(b))


def _singular(error: Exception) -> InputError:
    return InputError(
        f"the coarsest matrix of multigrid is singular ({error}); give a screening above 0, or a "
        "side that is fixed or robin on each part of the mesh"
    )


def factor_bytes(unknowns: int, *, on_host: bool = True) -> int:
    """Estimated memory of factors for trilinear functions on hexahedra; 0 if amg is used."""
    return 0 if _prefers_amg(unknowns, on_host) else int(FACTOR_BYTES * unknowns ** (4 / 3))


def cycle_bytes(unknowns: int, size: int, *, on_host: bool = True) -> int:
    """Estimated memory of a cycle on each rank, for the same functions; 0 if factors are used.

    Args:
        size: of a value, bytes.
    """
    entries = unknowns * CYCLE_ENTRIES * (size + 4) + unknowns * CYCLE_VECTORS * size
    return entries if _prefers_amg(unknowns, on_host) else 0


def _prefers_amg(unknowns: int, on_host: bool = True) -> bool:
    if not on_host:  # where the host takes a hundred times as long
        return unknowns <= MAX_COARSEST or has_pyamg()
    return unknowns > MAX_DIRECT and has_pyamg()


def _assemble(gathered: Sequence[Contribution]) -> tuple[Integers, Any, Integers]:
    """All ids, ascending, the matrix in their order, and the indices of those that are free."""

    def join(name: str) -> Any:
        return np.concatenate([getattr(each, name) for each in gathered])

    ids = np.unique(join("ids"))
    indices = (np.searchsorted(ids, join("rows")), np.searchsorted(ids, join("columns")))
    matrix = sparse.coo_array((join("values"), indices), shape=(len(ids), len(ids))).tocsr()
    return ids, matrix, np.flatnonzero(~np.isin(ids, join("fixed")))


def _aggregate(gathered: Sequence[Contribution]) -> tuple[Integers, Hierarchy]:
    """The ids of free unknowns, and the levels of their matrix."""
    ids, matrix, free = _assemble(gathered)
    try:
        return ids[free], Hierarchy.of(matrix[free][:, free])
    except np.linalg.LinAlgError as error:
        raise _singular(error) from error


def _solve_gathered(gathered: Sequence[Contribution]) -> CoarseSolve:
    """A function that solves for all unknowns, in the order of ids; 0 where they are prescribed."""
    _, matrix, free = _assemble(gathered)
    return partial(_solve_free, factorise(matrix[free][:, free]), free)


def _solve_free(solve: CoarseSolve, free: Integers, b: Floats) -> Floats:
    x = np.zeros(b.shape)
    x[free] = solve(b[free])
    return x


def _identity(b: Floats) -> Floats:
    return b
