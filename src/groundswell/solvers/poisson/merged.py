"""Conjugate gradients whose vectors go forward while the elements' parts are gathered.

What the operator makes of u is never stored as assembled values: u.Au is what each element's values
times its own part come to, so all sums of an iteration are known before anything is gathered, and
one sweep over the rows gathers, makes the step, and begins the next sums (the recurrences of
Chronopoulos & Gear 1989; fused as Kronbichler, Sashko & Munch 2022, arXiv:2205.08909, fuse others).
Residuals change places between two arrays, so that the direction and the solution can follow two
iterations at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from groundswell.backends import Array, Backend, Blocks, Launch, Source
from groundswell.exchange.assembly.operation import Operation
from groundswell.exchange.assembly.rows import THREADS, Rows, Slices
from groundswell.exchange.world import World
from groundswell.grids.hexahedra import Floats
from groundswell.linear.cg import SUMS, Iteration
from groundswell.solvers.poisson.elements import KERNELS, Elements

LANES = 256  # see kernels/iterate.h
PRODUCTS = 2


@dataclass(frozen=True, eq=False)
class Vectors:
    """Of an iteration, assembled.

    Args:
        b: residuals before even iterations.
        other: residuals before odd ones.
        s, p: A times the direction, and the direction; of values that this rank owns.
        x: the solution.
        scale: the preconditioner; None for ones.
    """

    b: Array
    other: Array
    s: Array
    p: Array
    x: Array
    scale: Array | None

    @classmethod
    def on(
        cls, backend: Backend, count: int, own: int, dtype: DTypeLike, scale: Floats | None
    ) -> Vectors:
        """Zeros, in the device's memory."""
        b, other, x = (backend.zeros((count,), dtype) for _ in range(3))
        s, p = (backend.zeros((own,), dtype) for _ in range(2))
        given = None if scale is None else backend.to_device(scale.astype(dtype))
        return cls(b, other, s, p, x, given)

    def arguments(self, first: int, *, odd: bool) -> tuple[Array, ...]:
        """From a value on, as kernels want them."""
        r, other = (self.other, self.b) if odd else (self.b, self.other)
        vectors = (r, r if self.scale is None else self.scale, other, self.s, self.p, self.x)
        return tuple(vector[first:] for vector in vectors)


class Merged(Iteration):
    """For the screened Poisson operator, with a diagonal preconditioner or none.

    All ranks must make and use it together.

    Args:
        scale: the preconditioner, assembled, 0 where values are prescribed; None for ones. If it has
            nothing but zeros and ones, it costs less.
        most: iterations; an even number of them is made.
        transport: a name in connect.TRANSPORTS, or "auto".
        route: one of routes.ROUTES.

    Attributes:
        x: the solution, assembled, and where it starts from: 0.
        b: the right-hand side, assembled, which becomes the residual.
    """

    def __init__(
        self,
        backend: Backend,
        world: World,
        elements: Elements,
        scale: Floats | None = None,
        *,
        most: int = 1000,
        transport: str = "auto",
        route: str = "pairwise",
    ) -> None:
        super().__init__(backend, most, at_once=2)
        self._elements, sharing = elements, elements.space.sharing
        self._alone, self._own, count = sharing.alone, sharing.own, len(sharing.ids)
        self._vectors = Vectors.on(backend, count, sharing.own, elements.dtype, scale)
        self.b, self.x = self._vectors.b, self._vectors.x
        # Residuals are 0 where values are prescribed, so the operator need not be told.
        plain = scale is None or bool(np.isin(scale, (0, 1)).all())
        self._factors = None if all(world.share(plain)) else self._vectors.scale
        self._local = backend.zeros((elements.space.places.size,), elements.dtype)
        self._shared = backend.zeros((count - sharing.alone,), elements.dtype)
        self._sums = backend.zeros((SUMS,), "f8")

        def operation(kind: str, source: Array, target: Array) -> Operation:
            whose = sharing.of_several if kind == "gather" else sharing
            given = (backend, world, whose, kind, source, target)
            return Operation(*given, transport=transport, route=route)

        self._halos = [operation("halo", r, r) for r in (self.b, self._vectors.other)]
        self._gather = operation("gather", self._local, self._shared)
        self._slices = self._slices_of_rows()
        self._energies, self._products = self._partial_sums()
        total, find_step = self._steps(world, elements.dtype, self._sums)
        halves = [self._measured(odd, find_step) for odd in (False, True)]
        step = [
            launch
            for odd, half in enumerate(halves)
            for launch in (*half, *self._advanced(odd=bool(odd)))
        ]
        reset = (self.x, self._vectors.p, self._vectors.s, self._products)
        parts = [*self._halos, self._gather, total]
        self._record(parts, step, halves[0], reset, start=self._first_products())

    # --- what is done to rows ---------------------------------------------------------------------

    def _slices_of_rows(self) -> list[tuple[int, Array, Slices]]:
        """First row, and places of rows' values: of this rank alone, and of several ranks."""
        sharing = self._elements.space.sharing
        alone, shared = self._alone, self._own - self._alone
        mine = sharing.copies.take(np.arange(alone))
        every = [(0, self._local, mine), (alone, self._shared, Rows.straight(0, shared))]
        return [
            (first, old, Slices.of(rows, Rows.straight(0, rows.count)))
            for first, old, rows in every
            if rows.count
        ]

    def _partial_sums(self) -> tuple[Array, Array]:
        """Room for each block's, of elements and of rows."""
        first, outer, second = self._elements.space.in_turn
        blocks = sum(self._elements.blocks(some) for some in (first, outer, second))
        rows = sum(len(slices.table) for _, _, slices in self._slices)
        zeros = self._backend.zeros
        return zeros((blocks,), "f8"), zeros((PRODUCTS * rows,), "f8")

    def _advanced(self, *, odd: bool) -> list[Launch]:
        """Residuals go forward, after odd iterations the direction and the solution, too."""
        launches, done = [], 0
        for first, old, slices in self._slices:
            count, products = len(slices.table), self._products[PRODUCTS * done :]
            small = self._local.size < 2**31
            module = self._backend.compile(self._source(small=small, follow=odd))
            device = self._backend.to_device
            places = device(slices.places.astype("i4" if small else "i8"))
            given = (self._state, old[slices.first[0] :], device(slices.table), places)
            vectors = self._vectors.arguments(first, odd=odd)
            arguments = (*given, *vectors, count, products)
            launches.append(module.launch("advance_rows", Blocks(count, THREADS), *arguments))
            done += count
        return launches

    def _first_products(self) -> list[Launch]:
        """Those of b."""
        r, scale, *_ = self._vectors.arguments(0, odd=False)
        blocks = self._products.size // PRODUCTS
        arguments = (r, scale, self._own, self._products, blocks)
        module = self._backend.compile(self._source())
        return [module.launch("measure_rows", Blocks(blocks, LANES), *arguments)] if blocks else []

    # --- the operator -----------------------------------------------------------------------------

    def _measured(self, odd: bool, find_step: list[Launch]) -> list[Launch]:
        """Elements do their part, and all sums are known."""
        turns = iter(self._elements.space.in_turn)
        done = 0

        def work() -> list[Launch]:
            nonlocal done
            some = next(turns)
            energies = self._energies[done:]
            done += self._elements.blocks(some)
            r = self._vectors.other if odd else self.b
            return self._elements.launches(some, r, self._local, energies, self._factors)

        first, outer, second = work(), work(), work()
        module = self._backend.compile(self._source())
        products = (self._products, self._products.size // PRODUCTS)
        arguments = (*products, self._energies, self._energies.size, self._sums)
        return [
            *self._halos[odd].hidden_by(first),
            *outer,
            *self._gather.hidden_by(second),
            module.launch("add_up_sums", Blocks(1, LANES), *arguments),
            *find_step,
        ]

    def _source(self, *, small: bool = True, follow: bool = False) -> Source:
        return iterate_source(
            self._elements.dtype, scaled=self._vectors.scale is not None, small=small, follow=follow
        )


def iterate_source(
    dtype: str, *, scaled: bool = False, small: bool = True, follow: bool = False
) -> Source:
    """The kernels for vectors of a type."""
    double = {"DOUBLE_PRECISION": 1} if dtype == "float64" else {}
    choice = {"SCALED": scaled, "SMALL_INDICES": small, "FOLLOWED": follow}
    return Source(KERNELS / "iterate.h", {**double, **choice})
