"""Conjugate gradients whose vectors go forward while the elements' parts are gathered.

What the operator makes of u is never stored as assembled values: u.Au is what each element's values
times its own part come to, so all sums of an iteration are known before anything is gathered, and
one sweep over the rows gathers, makes the step, and begins the next sums (the recurrences of
Chronopoulos & Gear 1989; fused as Kronbichler, Sashko & Munch 2022, arXiv:2205.08909, fuse others).
Residuals of several iterations are kept, so that the direction and the solution can follow these
all at once, and are read and written less often.

Messages travel where hardly any elements run, as they would hold these up: values behind rows that
one rank has alone, elements' parts behind sums. Elements inside wait for neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundswell.backends import Array, Backend, Blocks, Constant, Launch, Source
from groundswell.backends.source import precision
from groundswell.exchange.assembly.rows import Rows, Slices
from groundswell.exchange.world import World
from groundswell.linear.cg import SUMS, Iteration
from groundswell.meshes.hexahedra import Floats
from groundswell.spectral_elements.elements import USUAL, Elements, pitches
from groundswell.spectral_elements.overlap import apart
from groundswell.spectral_elements.roofline import CYCLE

KERNELS = Path(__file__).with_name("kernels")

LANES, SUM_LANES = 256, 1024  # of blocks, the latter of those that add up what others have
# More blocks would have too few registers for what is under way; without the direction, or with it.
AS_SWEPT, AS_FOLLOWED = {"BLOCKS_AT_ONCE": 3}, {"BLOCKS_AT_ONCE": 2}
WARP, MOST_AT_ONCE, TOGETHER = 32, 4, 16  # see kernels/iterate.h
# Of a block: as many sums as its lanes have under way, by so many blocks at the most.
SUMS_EACH, MOST_PARTS = 8192, 128
PRODUCTS = 2
PLACES = {True: "i4", False: "i8"}  # types of small ones and of others
LARGE = 2**31  # values, places among which want 64 bits


@dataclass(frozen=True, eq=False)
class Vectors:
    """Of an iteration, assembled, (values,) or (components, values).

    Args:
        residuals: before each iteration of a CYCLE, (CYCLE, values) or (CYCLE, components, values).
        s, p: A times the direction, and the direction; of values that this rank owns.
        x: the solution.
        scale: the preconditioner, of all components; None for ones.
    """

    residuals: Array
    s: Array
    p: Array
    x: Array
    scale: Array | None

    def arguments(self, first: int, turn: int) -> tuple[Array | int, ...]:
        """From a value on, as kernels want them, in a turn of the cycle."""
        r, after = self.residuals[turn], self.residuals[(turn + 1) % CYCLE]
        scale = r if self.scale is None else self.scale
        begun, pitch = self.residuals[0], r.size
        _, of_component, of_own = pitches(r, self.s)
        before, others = (r, scale, after, begun), (self.s, self.p, self.x)
        return (
            *(vector[..., first:] for vector in before),
            pitch,
            *(vector[..., first:] for vector in others),
            of_component,
            of_own,
        )


@dataclass(frozen=True, eq=False)
class Share:
    """Rows that are worked on together.

    Args:
        first: of the rows.
        values: what they are sums of, (values,) or (components, values).
        pitch: values from one component to the next.
        count: of strips.
        strips, places: see kernels/iterate.h.
    """

    first: int
    values: Array
    pitch: int
    count: int
    strips: Array
    places: Array

    @classmethod
    def of(cls, backend: Backend, first: int, values: Array, rows: Rows, kind: str) -> Share:
        """Rows `first` and so on, with places of a type among values."""
        found = Slices.of(rows, Rows.straight(0, rows.count), WARP, MOST_AT_ONCE)
        places, strips = found.places.astype(kind), found.table[:, :4].astype(kind)
        # Those of a block look for values near each other, whatever their widths are.
        begins = strips[:, 0] if rows.places is None else places[strips[:, 3]]
        strips = strips[np.argsort(begins, kind="stable")]
        given = (values[..., found.first[0] :], int(values.shape[-1]), len(strips))
        return cls(first, *given, backend.to_device(strips), backend.to_device(places))

    @property
    def parts(self) -> int:
        """What blocks work on."""
        return -(-self.count // TOGETHER)


class Merged(Iteration):
    """For the screened Poisson operator, with a diagonal preconditioner or none.

    All ranks must make and use it together.

    Args:
        scale: the preconditioner, assembled, 0 where values are prescribed; None for ones. If it
            has nothing but zeros and ones, it costs less.
        components: of vectors, to each of which the operator is applied.
        most: iterations.
        local: room for what elements make of all components, which nobody else wants meanwhile.

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
        components: int = 1,
        most: int = 1000,
        local: Array | None = None,
    ) -> None:
        super().__init__(backend, most, at_once=CYCLE)
        self._elements, sharing = elements, elements.space.sharing
        self._alone, self._own, count = sharing.alone, sharing.own, len(sharing.ids)
        self._components = components

        def zeros(count: int) -> Array:
            shape = (count,) if components == 1 else (components, count)
            return backend.zeros(shape, elements.dtype)

        x, s, p = zeros(count), zeros(self._own), zeros(self._own)
        residuals = backend.zeros((CYCLE, *x.shape), elements.dtype)
        factors = None if scale is None else backend.to_device(scale.astype(elements.dtype))
        self._vectors = Vectors(residuals, s, p, x, factors)
        self.b, self.x = residuals[0], x
        # Residuals are 0 where values are prescribed, so the operator need not be told.
        plain = scale is None or bool(np.isin(scale, (0, 1)).all())
        self._factors = None if all(world.share(plain)) else self._vectors.scale
        self._local = zeros(elements.space.places.size) if local is None else local
        self._shared = zeros(count - sharing.alone)
        # One kernel takes from both; rows are filled up to at most twice as many places.
        self._small = 2 * max(self._local.size, self._shared.size) < LARGE

        space = elements.space
        self._apart = apart(space)
        self._halos = [space.operation(backend, world, "halo", r, r) for r in residuals]
        gathered = (self._local, self._shared, sharing.of_several)
        self._gather = space.operation(backend, world, "gather", *gathered)
        self._rows = self._shares()
        self._energies, self._products = self._partial_sums()
        self._sums = self._room_for_sums()
        total, find_step = self._steps(world, elements.dtype, self._sums, space.way.transport)
        step_found = [*self._added_up(), *find_step]
        measured = [self._measured(turn, step_found) for turn in range(CYCLE)]
        step = [
            launch
            for turn, before in enumerate(measured)
            for launch in (*before, *self._advanced(turn))
        ]
        reset = (self.x, self._vectors.p, self._vectors.s, self._products)
        parts = [*self._halos, self._gather, *total]
        start, end = [*self._first_products(), *self._halos[0].launches], backend.rejoin([])
        self._record(parts, [*step, *end], [*measured[0], *end], reset, start)

    # --- what is done to rows ---------------------------------------------------------------------

    def _shares(self) -> tuple[Share, Share]:
        """Rows of this rank alone, which are gathered now, and of several, which have been."""
        backend, kind = self._backend, PLACES[self._small]
        mine = self._elements.space.sharing.copies.take(np.arange(self._alone))
        gathered = Rows.straight(0, self._own - self._alone)
        alone = Share.of(backend, 0, self._local, mine, kind)
        return alone, Share.of(backend, self._alone, self._shared, gathered, kind)

    def _partial_sums(self) -> tuple[Array, Array]:
        """Room for each block's, of elements and of rows."""
        blocks = sum(self._elements.blocks(some) for some in self._apart)
        parts = sum(share.parts for share in self._rows) * self._components
        zeros = self._backend.zeros
        return zeros((blocks,), "f8"), zeros((PRODUCTS * parts,), "f8")

    def _room_for_sums(self) -> Array:
        """Of all blocks, by several if they are many."""
        count = self._products.size // PRODUCTS + self._energies.size
        parts = max(1, min(MOST_PARTS, -(-count // SUMS_EACH)))
        return self._backend.zeros((parts * SUMS,), "f8")

    def _advanced(self, turn: int) -> list[Launch]:
        """Residuals go forward, first those that other ranks wait for, which get them meanwhile."""
        backend, halo = self._backend, self._halos[(turn + 1) % CYCLE]
        alone, shared = self._rows
        return [
            *backend.aside([*self._swept(shared, turn, alone.parts), *halo.send]),
            *self._swept(alone, turn, 0),
            *backend.further_aside(halo.receive),
        ]

    def _swept(self, share: Share, turn: int, before: int) -> list[Launch]:
        """Residuals go forward; at a cycle's end the direction and the solution, too.

        Args:
            before: parts of other rows, whose products come first.
        """
        if not share.count:
            return []
        followed = CYCLE if turn == CYCLE - 1 else 0
        room = AS_FOLLOWED if followed else AS_SWEPT
        choice = {"SMALL_INDICES": self._small, "FOLLOWED": followed}
        module = self._backend.compile(self._source(**room, **choice))
        given = (self._state, share.values, share.pitch, share.strips, share.places)
        vectors = self._vectors.arguments(share.first, turn)
        products = self._products[PRODUCTS * self._components * before :]
        blocks = Blocks(share.parts * self._components, LANES)
        arguments = (*given, *vectors, share.count, products)
        return [module.launch("advance_rows", blocks, *arguments)]

    def _first_products(self) -> list[Launch]:
        """Those of b."""
        r, scale, *_, pitch, _ = self._vectors.arguments(0, 0)
        blocks = self._products.size // PRODUCTS
        arguments = (r, scale, pitch, self._own, self._products, blocks)
        module = self._backend.compile(self._source())
        return [module.launch("measure_rows", Blocks(blocks, LANES), *arguments)] if blocks else []

    # --- the operator -----------------------------------------------------------------------------

    def _measured(self, turn: int, step_found: list[Launch]) -> list[Launch]:
        """Elements do their part, first those that wait for other ranks, and the step is found."""
        backend, r = self._backend, self._vectors.residuals[turn]
        done, works = 0, list[list[Launch]]()
        for some in self._apart:
            given = (some, r, self._local, self._energies[done:], self._factors)
            works.append(self._elements.launches(*given))
            done += self._elements.blocks(some)
        outer, inside = works
        return [
            *backend.aside(outer),
            *inside,
            *backend.rejoin([]),
            *backend.aside(self._gather.send),  # nothing of it is local: its ids have several ranks
            *step_found,
            *backend.further_aside(self._gather.receive),
        ]

    def _added_up(self) -> list[Launch]:
        """All blocks' sums."""
        products, parts = self._products.size // PRODUCTS, self._sums.size // SUMS
        module = self._backend.compile(self._source(MOST_THREADS=SUM_LANES))
        given = (self._products, products, self._energies, self._energies.size)
        return [module.launch("add_up_sums", Blocks(parts, SUM_LANES), *given, self._sums, parts)]

    def _source(self, **chosen: Constant) -> Source:
        scaled = self._vectors.scale is not None
        choice = {"SCALED": scaled, "COMPONENTS": self._components, **chosen}
        return iterate_source(self._elements.dtype, **choice)


def iterate_source(dtype: str, **chosen: Constant) -> Source:
    """The kernels for vectors of a type."""
    double = precision(dtype)
    usual = {"SMALL_INDICES": True, "FOLLOWED": 0, "MOST_THREADS": LANES}
    return Source(KERNELS / "iterate.h", {**double, **USUAL, **usual, **chosen})
