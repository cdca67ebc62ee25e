"""Who needs which values of whom: ghost layers as boxes, each owned by one rank.

Widths may differ by side, axis and field. Layers may be thicker than the blocks they come from, and
a periodic axis may be shorter than its ghost layers: every ghost point is looked up by its global
index, so none of these is a special case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.exchange.arguments import flag, integers
from groundswell.exchange.decomposition import Decomposition, Index


@dataclass(frozen=True)
class Ghosts:
    """The ghost layers that one field needs.

    Args:
        low, high: layers on the low and the high side of each axis, slowest axis first.
        corners: whether points that lie outside the block along several axes are needed too.
        within: for each axis, the global indices (start, stop) along which ghosts of the other axes
            are needed, instead of all of them (None). They may reach beyond an end that is not
            periodic: to values there that are the outermost blocks' own.
    """

    low: Index
    high: Index
    corners: bool = False
    within: tuple[tuple[int, int] | None, ...] = ()

    def __post_init__(self) -> None:
        low, high = integers(self.low) or (), integers(self.high) or ()
        if not len(low) == len(high) > 0 or min(*low, *high) < 0:
            raise InputError(
                f"ghost layers {self.low} below and {self.high} above: give one whole number an "
                "axis in each, none below 0"
            )
        given = tuple(self.within or ())
        within = tuple(None if run is None else integers(run) or () for run in given)
        if len(within) not in (0, len(low)) or any(
            len(run) != 2 for run in within if run is not None
        ):
            raise InputError(f"within = {self.within}: give for each axis None, or (start, stop)")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "within", within)
        object.__setattr__(self, "corners", flag("corners", self.corners))

    @property
    def widest(self) -> Ghosts:
        """The same with both sides as wide as the wider one."""
        most = tuple(max(pair) for pair in zip(self.low, self.high, strict=True))
        return replace(self, low=most, high=most)


def uniform(width: int, axes: int = 3, *, corners: bool = False) -> Ghosts:
    """Equal layers on every side."""
    return Ghosts((width,) * axes, (width,) * axes, corners)


@dataclass(frozen=True)
class Piece:
    """A box of ghost points and where its values are.

    Args:
        owner: the rank that has them.
        here: local index of the first point, in the block that needs them; ghosts on the low side
            have negative ones.
        there: the same point's local index in the owner's block.
        shape: points along each axis.
    """

    owner: int
    here: Index
    there: Index
    shape: Index


@dataclass(frozen=True)
class _Span:
    """A run of points along one axis, all with the same owner."""

    here: int
    there: int
    count: int
    owner: int  # its coordinate in the process grid
    ghost: bool


@lru_cache(maxsize=4096)
def receives(cut: Decomposition, rank: int, ghosts: Ghosts) -> tuple[Piece, ...]:
    """The ghost points of a rank, box by box, in an order that all ranks agree on."""
    spans = [
        list(_spans(cut, axis, where, ghosts)) for axis, where in enumerate(cut.coordinates(rank))
    ]
    return tuple(
        Piece(
            cut.rank_at([s.owner for s in box]),
            tuple(s.here for s in box),
            tuple(s.there for s in box),
            tuple(s.count for s in box),
        )
        for box in product(*spans)
        if 1 <= sum(s.ghost for s in box) <= (len(box) if ghosts.corners else 1)
        and all(s.count for s in box)
    )


def partners(cut: Decomposition, rank: int, ghosts: Ghosts) -> list[int]:
    """The ranks that may need points of this one or have some that it needs, in rising order."""
    return sorted({piece.owner for piece in receives(cut, rank, ghosts.widest)})


def traffic(cut: Decomposition, fields: Iterable[tuple[Ghosts, int]]) -> NDArray[np.int64]:
    """Bytes of one exchange from rank to rank, (ranks, ranks); the diagonal is zero.

    Args:
        fields: of each field its ghost layers, and the bytes of a value in a message.
    """
    bytes_of: Counter[Ghosts] = Counter()
    for ghosts, size in fields:
        bytes_of[ghosts] += size
    sent = np.zeros((cut.ranks, cut.ranks), np.int64)
    for (ghosts, size), rank in product(bytes_of.items(), range(cut.ranks)):
        for piece in receives(cut, rank, ghosts):
            sent[piece.owner, rank] += prod(piece.shape) * size
    np.fill_diagonal(sent, 0)
    return sent


def _spans(cut: Decomposition, axis: int, where: int, ghosts: Ghosts) -> Iterator[_Span]:
    """The block's own run along an axis and the ghost runs at both of its ends."""
    start, stop = (int(cut.edges[axis][where + n]) for n in (0, 1))
    first, last = _own_run(cut, axis, start, stop, ghosts)
    yield _Span(first - start, first - start, last - first, where, False)
    for begin, end in ((start - ghosts.low[axis], start), (stop, stop + ghosts.high[axis])):
        yield from _owned_runs(cut, axis, start, begin, end)


def _own_run(
    cut: Decomposition, axis: int, start: int, stop: int, ghosts: Ghosts
) -> tuple[int, int]:
    """Global indices of the block's own points along an axis beside which ghosts are needed."""
    within = ghosts.within[axis] if ghosts.within else None
    if within is None:
        return start, stop
    ends = not cut.periodic[axis]
    first = within[0] if ends and start == 0 else max(within[0], start)
    last = within[1] if ends and stop == cut.shape[axis] else min(within[1], stop)
    return first, max(first, last)


def _owned_runs(cut: Decomposition, axis: int, start: int, begin: int, end: int) -> Iterator[_Span]:
    """Global indices begin .. end - 1, wrapped or clipped, parted by owner."""
    edges, points = cut.edges[axis], cut.shape[axis]
    if not cut.periodic[axis]:
        begin, end = max(begin, 0), min(end, points)
    while begin < end:
        inside = begin % points
        owner = int(edges.searchsorted(inside, side="right")) - 1
        count = min(end - begin, int(edges[owner + 1]) - inside)
        yield _Span(begin - start, inside - int(edges[owner]), count, owner, True)
        begin += count


def require_room(
    shape: Sequence[int], origin: Sequence[int], block: Index, pieces: Sequence[Piece]
) -> None:
    """See that an array has room for a block and its ghosts.

    Args:
        shape: of the array.
        origin: index in it of the block's first point.

    Raises:
        InputError: it has not.
    """
    own = Piece(0, (0,) * len(block), (0,) * len(block), block)
    for axis, (points, first) in enumerate(zip(shape, origin, strict=True)):
        begins = [first + p.here[axis] for p in (own, *pieces)]
        ends = [first + p.here[axis] + p.shape[axis] for p in (own, *pieces)]
        if min(begins) < 0 or max(ends) > points:
            raise InputError(
                f"an array of shape {tuple(shape)} whose own points begin at {tuple(origin)} has "
                f"no room for {block} points and their ghosts: along axis {axis} they take indices "
                f"{min(begins)} to {max(ends) - 1}; allocate a larger one, or ask for fewer layers"
            )
