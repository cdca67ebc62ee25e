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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition, Index, broadcast, flag, integers


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
        within = tuple(None if run is None else integers(run) or () for run in self.within)
        if len(within) not in (0, len(low)) or {len(r) for r in within if r is not None} - {2}:
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

    def padded(self, shape: Index) -> Index:
        """The shape of a block with its ghost layers."""
        return tuple(a + n + b for a, n, b in zip(self.low, shape, self.high, strict=True))


Layers = int | Sequence[int | tuple[int, int]] | Ghosts  # as users give them


def as_ghosts(given: Layers, axes: int, corners: bool) -> Ghosts:
    """Ghost layers; `corners` unless given as `Ghosts`."""
    if not isinstance(given, Ghosts):
        widths = [broadcast("ghosts", w, 2, "sides") for w in broadcast("ghosts", given, axes)]
        low, high = zip(*widths, strict=True)
        return Ghosts(low, high, corners)
    if len(given.low) != axes:
        raise InputError(f"{given} has {len(given.low)} axes, and the domain {axes}")
    return given


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


class _Span(NamedTuple):
    """A run of points along one axis, all with the same owner."""

    here: int
    there: int
    points: int
    owner: int  # its coordinate in the process grid
    is_ghost: bool


@lru_cache(maxsize=4096)
def receives(cut: Decomposition, rank: int, ghosts: Ghosts) -> tuple[Piece, ...]:
    """The ghost points of a rank, box by box, in an order that all ranks agree on."""
    where, pieces = cut.coordinates(rank), list[Piece]()
    most = len(where) if ghosts.corners else 1
    for box in product(*(_spans(cut, axis, n, ghosts) for axis, n in enumerate(where))):
        here, there, shape, owner, is_ghost = zip(*box, strict=True)
        if 1 <= sum(is_ghost) <= most and all(shape):
            pieces.append(Piece(cut.rank_at(owner), here, there, shape))
    return tuple(pieces)


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
    first, last = start, stop  # of the own points beside which ghosts are needed
    if ghosts.within and (within := ghosts.within[axis]) is not None:
        first, last = within
        if cut.periodic[axis] or start > 0:
            first = max(first, start)
        if cut.periodic[axis] or stop < cut.shape[axis]:
            last = min(last, stop)
    yield _Span(first - start, first - start, max(last - first, 0), where, False)
    for begin, end in ((start - ghosts.low[axis], start), (stop, stop + ghosts.high[axis])):
        yield from _owned_runs(cut, axis, start, begin, end)


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
    firsts = np.array([(0,) * len(block), *(piece.here for piece in pieces)]) + origin
    ends = firsts + np.array([block, *(piece.shape for piece in pieces)])
    for axis, (first, end) in enumerate(zip(firsts.min(axis=0), ends.max(axis=0), strict=True)):
        if first < 0 or end > shape[axis]:
            raise InputError(
                f"an array of shape {tuple(shape)} whose own points begin at {tuple(origin)} has "
                f"no room for {block} points and their ghosts: along axis {axis} they take indices "
                f"{first} to {end - 1}; allocate a larger one, or ask for fewer layers"
            )
