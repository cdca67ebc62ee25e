"""Conjugate gradients fused with the gathering of the elements' results.

The product A u is never stored as assembled values. u.Au is the sum of each element's values times
its own result, so all sums of an iteration are known before anything is gathered. One sweep over
the rows then gathers, takes the step, and starts the next sums (the recurrences of Chronopoulos &
Gear 1989, fused in the spirit of Kronbichler, Sashko & Munch 2022, arXiv:2205.08909). The residuals
of several iterations are kept, so that the direction and the solution advance by all of them at
once, and are read and written less often.

Exchanges overlap with work that uses few blocks: the halo with the update of unshared rows, the
gather with the sums. Interior elements wait for neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend, Blocks, Constant, Launch, Source
from groundswell.backends.sliced_ellpack import IndexRows, SlicedEllpack, SparseRows
from groundswell.backends.source import precision
from groundswell.linear.cg import MAX_ITERATIONS, SUMS, RecordedIteration
from groundswell.linear.operators import GraphPart, pitches
from groundswell.meshes.hexahedra import Floats
from groundswell.solvers.poisson.element_operator import DEFAULTS
from groundswell.solvers.poisson.roofline import CYCLE
from groundswell.spectral_elements.overlap import split_elements
from groundswell.spectral_elements.space import FunctionSpace

KERNELS = Path(__file__).with_name("kernels")

LANES, SUM_LANES = 256, 1024  # threads of a block, the latter of those that add up blocks' sums
# Blocks per multiprocessor, which leave enough registers: residuals only, or with the direction.
SWEEP_LIMIT, ADVANCE_LIMIT = {"MIN_BLOCKS_PER_SM": 3}, {"MIN_BLOCKS_PER_SM": 2}
WARP, MAX_IN_FLIGHT, STRIPS_PER_BLOCK = 32, 4, 16  # see kernels/fused_cg.h
SUMS_PER_BLOCK, MAX_SUM_BLOCKS = 8192, 128  # of the kernel that adds up blocks' sums
PRODUCTS = 2
INDEX_TYPES = {True: "i4", False: "i8"}  # where 32 bits are enough, and elsewhere
INDEX_LIMIT = 2**31  # values


class ElementProduct(Protocol):
    """A symmetric operator on the elements of a rank, without exchange, such as `ElementOperator`.

    Attributes:
        space: of the vectors.
        dtype: of the vectors, "float32" or "float64".
    """

    space: FunctionSpace
    dtype: str

    def launches(
        self,
        chosen: Integers,
        x: DeviceArray,
        y: DeviceArray,
        energies: DeviceArray,
        scale: DeviceArray | None = None,
    ) -> list[Launch]:
        """See `ElementOperator.launches`."""

    def blocks(self, chosen: Integers) -> int:
        """Number of blocks of the launches for these elements."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of the iteration, assembled, (values,) or (components, values).

    Args:
        residuals: before each iteration of a CYCLE, (CYCLE, values) or (CYCLE, components, values).
        s, p: A times the direction, and the direction, of values that this rank owns.
        x: the solution.
        scale: the diagonal preconditioner of all components; None for the identity.
    """

    residuals: DeviceArray
    s: DeviceArray
    p: DeviceArray
    x: DeviceArray
    scale: DeviceArray | None

    def arguments(self, first: int, turn: int) -> dict[str, DeviceArray | int]:
        """Arguments of advance_rows for the rows from `first` on, in one iteration of the cycle."""
        r, following = self.residuals[turn], self.residuals[(turn + 1) % CYCLE]
        scale = r if self.scale is None else self.scale
        _, pitch, own_pitch = pitches(r, self.s)
        vectors = {"r": r, "scale": scale, "next": following, "first": self.residuals[0]}
        vectors |= {"s": self.s, "p": self.p, "x": self.x}
        rows = {name: vector[..., first:] for name, vector in vectors.items()}
        return {**rows, "first_pitch": r.size, "pitch": pitch, "own_pitch": own_pitch}


@dataclass(frozen=True, eq=False)
class RowSet:
    """Rows that a kernel processes together.

    Args:
        first: number of the first row.
        values: whose sums the rows are, (values,) or (components, values).
        pitch: values from one component to the next.
        count: number of strips.
        strips, indices: see kernels/fused_cg.h.
    """

    first: int
    values: DeviceArray
    pitch: int
    count: int
    strips: DeviceArray
    indices: DeviceArray

    @classmethod
    def of(
        cls, backend: Backend, first: int, values: DeviceArray, rows: IndexRows, index_type: str
    ) -> RowSet:
        """The rows from number `first` on."""
        target = SparseRows.contiguous(0, rows.count)
        slices = SlicedEllpack.of(rows, target, WARP, MAX_IN_FLIGHT, index_type)
        indices, strips = slices.indices, slices.table[:, :4].astype(index_type)
        # Strips of a block then read values near each other, whatever their widths are.
        begins = strips[:, 0] if rows.is_contiguous else indices[strips[:, 3]]
        strips = strips[np.argsort(begins, kind="stable")]
        return cls(
            *(first, values[..., slices.first[0] :], int(values.shape[-1]), len(strips)),
            *(backend.to_device(strips), backend.to_device(indices)),
        )

    @property
    def blocks(self) -> int:
        """Number of blocks for one component."""
        return -(-self.count // STRIPS_PER_BLOCK)


class FusedConjugateGradients(RecordedIteration):
    """For a symmetric operator on elements with a diagonal preconditioner or none.

    All ranks must make and use it together.

    Args:
        scale: the preconditioner, assembled, 0 where values are prescribed; None for the identity.
            It costs less if it has only zeros and ones.
        components: of the vectors; the operator is applied to each.
        max_iterations: limit on the number of iterations.
        local: room for the elements' results of all components, unused by others meanwhile.

    Attributes:
        x: the solution, assembled; the initial guess is 0.
        b: the right-hand side, assembled, which becomes the residual.
    """

    def __init__(
        self,
        backend: Backend,
        elements: ElementProduct,
        scale: Floats | None = None,
        *,
        components: int = 1,
        max_iterations: int = MAX_ITERATIONS,
        local: DeviceArray | None = None,
    ) -> None:
        super().__init__(backend, max_iterations, batch=CYCLE)
        self._elements, self._components, space = elements, components, elements.space
        sharing = space.sharing
        factors = None if scale is None else backend.to_device(scale.astype(elements.dtype))
        self._vectors = self._make_vectors(factors)
        self.b, self.x = self._vectors.residuals[0], self._vectors.x
        # Residuals are 0 where values are prescribed, so the operator needs no mask.
        is_mask = scale is None or bool(np.isin(scale, (0, 1)).all())
        self._factors = None if all(space.comm.allgather(is_mask)) else factors
        self._local = self._zeros(space.dofs.size) if local is None else local
        self._shared = self._zeros(space.size - sharing.unshared)
        # One kernel reads both; rows are padded to at most twice as many indices.
        self._small = 2 * max(self._local.size, self._shared.size) < INDEX_LIMIT

        self._split = split_elements(space)
        self._halos = [space.operation(backend, "halo", r, r) for r in self._vectors.residuals]
        gathered = (self._local, self._shared, sharing.shared_part)
        self._gather = space.operation(backend, "gather", *gathered)
        self._rows = self._make_rows()
        self._energies, self._products = self._make_partial_sums()
        self._sums = self._make_sums()
        self._record_cycle()

    def _record_cycle(self) -> None:
        space, vectors, backend = self._elements.space, self._vectors, self._backend
        total, find_step = self._find_step(
            space.comm, self._elements.dtype, self._sums, space.exchange.transport
        )
        step_found = [*self._add_up(), *find_step]
        measured = [self._measure_turn(turn, step_found) for turn in range(CYCLE)]
        step = [
            launch
            for turn, before in enumerate(measured)
            for launch in (*before, *self._advance(turn))
        ]
        reset = (self.x, vectors.p, vectors.s, self._products)
        parts: list[GraphPart] = [*self._halos, self._gather, *total]
        start, end = [*self._first_products(), *self._halos[0].launches], backend.join([])
        self._record(parts, [*step, *end], [*measured[0], *end], reset, start)

    # --- memory -----------------------------------------------------------------------------------

    def _zeros(self, count: int) -> DeviceArray:
        shape = (count,) if self._components == 1 else (self._components, count)
        return self._backend.zeros(shape, self._elements.dtype)

    def _make_vectors(self, scale: DeviceArray | None) -> Vectors:
        space = self._elements.space
        x, s, p = self._zeros(space.size), self._zeros(space.own), self._zeros(space.own)
        residuals = self._backend.zeros((CYCLE, *x.shape), self._elements.dtype)
        return Vectors(residuals, s, p, x, scale)

    def _make_rows(self) -> tuple[RowSet, RowSet]:
        """Rows of this rank alone, gathered in the sweep, and shared rows, gathered before it."""
        backend, sharing = self._backend, self._elements.space.sharing
        first, index_type = sharing.unshared, INDEX_TYPES[self._small]
        unshared = sharing.unshared_copies
        gathered = SparseRows.contiguous(0, sharing.own - first)
        return (
            RowSet.of(backend, 0, self._local, unshared, index_type),
            RowSet.of(backend, first, self._shared, gathered, index_type),
        )

    def _make_partial_sums(self) -> tuple[DeviceArray, DeviceArray]:
        """Room for the sums of each block: of elements, and of rows."""
        of_elements = sum(self._elements.blocks(chosen) for chosen in self._split)
        of_rows = sum(rows.blocks for rows in self._rows) * self._components
        zeros = self._backend.zeros
        return zeros((of_elements,), "f8"), zeros((PRODUCTS * of_rows,), "f8")

    def _make_sums(self) -> DeviceArray:
        """Room for the sums over all blocks, by several blocks if there are many."""
        count = self._products.size // PRODUCTS + self._energies.size
        blocks = max(1, min(MAX_SUM_BLOCKS, -(-count // SUMS_PER_BLOCK)))
        return self._backend.zeros((blocks * SUMS,), "f8")

    # --- launches ---------------------------------------------------------------------------------

    def _measure_turn(self, turn: int, step_found: list[Launch]) -> list[Launch]:
        """Apply the operator, shared elements first, and find the step."""
        backend, r = self._backend, self._vectors.residuals[turn]
        done, works = 0, list[list[Launch]]()
        for chosen in self._split:
            energies = self._energies[done:]
            launches = self._elements.launches(chosen, r, self._local, energies, self._factors)
            works.append(launches)
            done += self._elements.blocks(chosen)
        shared, interior = works
        return [
            *backend.fork(shared),
            *interior,
            *backend.join([]),
            *backend.fork(self._gather.start),  # it has no local part, as all its ids are shared
            *step_found,
            *backend.continue_fork(self._gather.finish),
        ]

    def _add_up(self) -> list[Launch]:
        """Add up all blocks' sums."""
        products, blocks = self._products.size // PRODUCTS, self._sums.size // SUMS
        module = self._backend.compile(self._source(MAX_THREADS_PER_BLOCK=SUM_LANES))
        partial = (self._products, products, self._energies, self._energies.size)
        extent = Blocks(blocks, SUM_LANES)
        return [module.launch("add_up_sums", extent, *partial, self._sums, blocks)]

    def _advance(self, turn: int) -> list[Launch]:
        """Advance the vectors, first in shared rows, whose halo overlaps with the others."""
        backend, halo = self._backend, self._halos[(turn + 1) % CYCLE]
        unshared, shared = self._rows
        return [
            *backend.fork([*self._sweep(shared, turn, unshared.blocks), *halo.start]),
            *self._sweep(unshared, turn, 0),
            *backend.continue_fork(halo.finish),
        ]

    def _sweep(self, rows: RowSet, turn: int, before: int) -> list[Launch]:
        """Advance residuals, and at the end of a cycle the direction and the solution.

        Args:
            before: blocks of other rows, whose products come first.
        """
        if not rows.count:
            return []
        advanced = CYCLE if turn == CYCLE - 1 else 0
        limit = ADVANCE_LIMIT if advanced else SWEEP_LIMIT
        source = self._source(**limit, INDICES_32_BIT=self._small, ADVANCED=advanced)
        products = self._products[PRODUCTS * self._components * before :]
        return [
            self._backend.compile(source).launch(
                "advance_rows",
                Blocks(rows.blocks * self._components, LANES),
                state=self._state,
                y=rows.values,
                y_pitch=rows.pitch,
                strips=rows.strips,
                places=rows.indices,
                count=rows.count,
                products=products,
                **self._vectors.arguments(rows.first, turn),
            )
        ]

    def _first_products(self) -> list[Launch]:
        """The products of b."""
        if not (blocks := self._products.size // PRODUCTS):
            return []
        vectors = self._vectors.arguments(0, 0)
        return [
            self._backend.compile(self._source()).launch(
                "measure_rows",
                Blocks(blocks, LANES),
                **{name: vectors[name] for name in ("r", "scale", "pitch")},
                count=self._elements.space.own,
                products=self._products,
                blocks=blocks,
            )
        ]

    def _source(self, **chosen: Constant) -> Source:
        scaled = self._vectors.scale is not None
        choice = {"SCALED": scaled, "COMPONENTS": self._components, **chosen}
        return fused_cg_source(self._elements.dtype, **choice)


def fused_cg_source(dtype: str, **chosen: Constant) -> Source:
    """The kernels for vectors of a type; `chosen` are constants of kernels/fused_cg.h."""
    defaults = {"INDICES_32_BIT": True, "ADVANCED": 0, "MAX_THREADS_PER_BLOCK": LANES}
    return Source(KERNELS / "fused_cg.h", {**precision(dtype), **DEFAULTS, **defaults, **chosen})
