"""A block with ghost layers: its points, the owners of its ghosts, and the order of computation.

All of this follows from a decomposition, without arrays, devices or messages. Widths may differ by
side, axis and field. Layers may be thicker than the blocks that own them, and a periodic axis may
be shorter than its ghost layers. Every ghost point is found by its global index, so these are not
special cases.
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

from groundswell.arguments import broadcast, flag, integers
from groundswell.arrays import Integers
from groundswell.errors import InputError, counted
from groundswell.exchange.decomposition import Block, Decomposition, Index

Box = Block  # points of a rank's block, by local index


@dataclass(frozen=True)
class Ghosts:
    """The ghost layers that one field needs.

    Args:
        low, high: widths on the low and the high side of each axis, slowest axis first.
        corners: whether points outside the block along several axes are also needed; None for the
            default of the domain, and no where there is none.
        within: for each axis, the range of global indices (start, stop) for which ghosts of the
            other axes are needed; None for all. It may extend beyond a non-periodic boundary, to
            values there that belong to the outermost blocks.
    """

    low: Index
    high: Index
    corners: bool | None = None
    within: tuple[tuple[int, int] | None, ...] = ()

    def __post_init__(self) -> None:
        low, high = integers(self.low) or (), integers(self.high) or ()
        if not len(low) == len(high) > 0 or min(*low, *high) < 0:
            raise InputError(
                f"ghost layers low = {self.low}, high = {self.high}: give one whole number per "
                "axis in each, at least 0"
            )
        within = tuple(None if run is None else integers(run) or () for run in self.within)
        if len(within) not in (0, len(low)) or {len(r) for r in within if r is not None} - {2}:
            raise InputError(f"within = {self.within}: give for each axis None, or (start, stop)")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "within", within)
        if self.corners is not None:
            object.__setattr__(self, "corners", flag("corners", self.corners))

    @property
    def widest(self) -> Ghosts:
        """The same with the wider width on both sides."""
        most = tuple(max(pair) for pair in zip(self.low, self.high, strict=True))
        return replace(self, low=most, high=most)

    def padded(self, shape: Index) -> Index:
        """The shape of a block with its ghost layers."""
        return tuple(a + n + b for a, n, b in zip(self.low, shape, self.high, strict=True))


Layers = int | Sequence[int | tuple[int, int]] | Ghosts  # user input


def as_ghosts(given: Layers, axes: int, corners: bool) -> Ghosts:
    """Ghost layers from user input.

    Args:
        corners: the value for layers that do not set their own.
    """
    if not isinstance(given, Ghosts):
        widths = [broadcast("ghosts", w, 2, "sides") for w in broadcast("ghosts", given, axes)]
        low, high = zip(*widths, strict=True)
        return Ghosts(low, high, corners)
    if len(given.low) != axes:
        raise InputError(
            f"{given} has {counted(len(given.low), 'axis', 'axes')}, and the domain {axes}"
        )
    return replace(given, corners=corners) if given.corners is None else given


def uniform(width: int, axes: int = 3, *, corners: bool = False) -> Ghosts:
    """Equal layers on every side."""
    return Ghosts((width,) * axes, (width,) * axes, corners)


@dataclass(frozen=True)
class GhostBox:
    """A box of ghost points and the location of its values.

    Args:
        owner: the rank that owns the points.
        here: local index of the first point in the block that needs the values; negative for
            ghosts on the low side.
        there: local index of the same point in the owner's block.
        shape: number of points along each axis.
    """

    owner: int
    here: Index
    there: Index
    shape: Index


class _Span(NamedTuple):
    """Consecutive points along one axis with the same owner."""

    here: int
    there: int
    points: int
    owner: int  # its coordinate in the process grid
    is_ghost: bool


@lru_cache(maxsize=4096)
def receives(
    decomposition: Decomposition, rank: int, ghosts: Ghosts, sweep: int | None = None
) -> tuple[GhostBox, ...]:
    """The ghost points of a rank as boxes; all ranks compute the same boxes in the same order.

    Args:
        sweep: only ghosts outside the block along this axis, and not along later axes. At edges and
            corners, their values are ghosts of the owner, which earlier sweeps have filled.
    """
    where, boxes = decomposition.coordinates(rank), list[GhostBox]()
    spans = [[*_spans(decomposition, axis, n, ghosts)] for axis, n in enumerate(where)]
    if sweep is not None:
        spans = [
            along
            if axis == sweep
            else _filled(along, earlier=axis < sweep and ghosts.corners is True)
            for axis, along in enumerate(spans)
        ]
    most = len(where) if ghosts.corners else 1
    for box in product(*spans):
        here, there, shape, owner, is_ghost = zip(*box, strict=True)
        if 1 <= sum(is_ghost) <= most and all(shape):
            boxes.append(GhostBox(decomposition.rank_at(owner), here, there, shape))
    return tuple(boxes)


def _filled(along: Sequence[_Span], *, earlier: bool) -> list[_Span]:
    """The points along an axis that have values when another axis is swept, in few spans.

    Args:
        earlier: whether this axis has been swept, so that its ghosts have values.
    """
    own, found = along[0], list[_Span]()
    for span in sorted(along) if earlier else [own]:
        if found and found[-1].here + found[-1].points == span.here:
            found[-1] = found[-1]._replace(points=found[-1].points + span.points)
        else:
            found.append(own._replace(here=span.here, there=span.here, points=span.points))
    return found


def partners(
    decomposition: Decomposition, rank: int, ghosts: Ghosts, sweep: int | None = None
) -> list[int]:
    """The ranks that may need points of this rank or own points that it needs, ascending."""
    return sorted({box.owner for box in receives(decomposition, rank, ghosts.widest, sweep)})


def traffic(
    decomposition: Decomposition,
    fields: Iterable[tuple[Ghosts, int]],
    ranks: Sequence[int] | None = None,
) -> Integers:
    """Bytes of one exchange from rank to rank, (ranks, ranks); the diagonal is zero.

    Args:
        fields: ghost layers of each field, and size of a value in a message, bytes.
        ranks: the ranks to consider; by default, all.
    """
    bytes_of: Counter[Ghosts] = Counter()
    for ghosts, size in fields:
        bytes_of[ghosts] += size
    index = {rank: n for n, rank in enumerate(ranks or range(decomposition.ranks))}
    sent = np.zeros((len(index), len(index)), np.int64)
    for (ghosts, size), rank in product(bytes_of.items(), index):
        for box in receives(decomposition, rank, ghosts):
            if box.owner in index:
                sent[index[box.owner], index[rank]] += prod(box.shape) * size
    np.fill_diagonal(sent, 0)
    return sent


def _spans(decomposition: Decomposition, axis: int, where: int, ghosts: Ghosts) -> Iterator[_Span]:
    """The block's own points along an axis, and the ghosts at both ends."""
    start, stop = (int(decomposition.edges[axis][where + n]) for n in (0, 1))
    first, last = start, stop  # range of own points that need ghosts next to them
    if ghosts.within and (within := ghosts.within[axis]) is not None:
        first, last = within
        if decomposition.periodic[axis] or start > 0:
            first = max(first, start)
        if decomposition.periodic[axis] or stop < decomposition.shape[axis]:
            last = min(last, stop)
    yield _Span(first - start, first - start, max(last - first, 0), where, False)
    for begin, end in ((start - ghosts.low[axis], start), (stop, stop + ghosts.high[axis])):
        yield from _owned_runs(decomposition, axis, start, begin, end)


def _owned_runs(
    decomposition: Decomposition, axis: int, start: int, begin: int, end: int
) -> Iterator[_Span]:
    """Global indices begin .. end - 1, wrapped or clipped, split by owner."""
    edges, points = decomposition.edges[axis], decomposition.shape[axis]
    if not decomposition.periodic[axis]:
        begin, end = max(begin, 0), min(end, points)
    while begin < end:
        inside = begin % points
        owner = int(edges.searchsorted(inside, side="right")) - 1
        count = min(end - begin, int(edges[owner + 1]) - inside)
        yield _Span(begin - start, inside - int(edges[owner]), count, owner, True)
        begin += count
