"""A block with ghost layers: its points, the owners of its ghosts, and the order of computation.

All of this follows from a decomposition, without arrays, devices or messages. Widths may differ by
side, axis and field. Layers may be thicker than the blocks that own them, and a periodic axis may
be shorter than its ghost layers. Every ghost point is found by its global index, so these are not
special cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from groundswell.arguments import broadcast, flag, whole_numbers
from groundswell.arrays import Integers
from groundswell.exchange.decomposition import Block, Decomposition, Index
from groundswell.exchange.ghosts import Ghosts

Slices = tuple[slice, ...]


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


class GhostedBlock:
    """One rank's block of an array, and the ghost layers around it.

    Args:
        decomposition: all blocks of the array.
        rank: the rank that owns the block.
        ghosts: the ghost layers.

    Attributes: see `Domain`.
    """

    def __init__(self, decomposition: Decomposition, rank: int, ghosts: Ghosts) -> None:
        self.decomposition, self.rank, self.ghosts = decomposition, rank, ghosts
        self.shape, self.dims = decomposition.shape, decomposition.processes
        self.periodic = decomposition.periodic
        self.coords, self.block = decomposition.coordinates(rank), decomposition.block(rank)
        self.local_shape = ghosts.padded(self.block.shape)
        self.own = self._slices(Block((0,) * len(self.shape), self.block.shape))

    def _slices(self, box: Block) -> Slices:
        """A box of own points in this rank's arrays."""
        first = tuple(low + s for low, s in zip(self.ghosts.low, box.start, strict=True))
        return Block(first, box.shape).slices

    @cached_property
    def neighbours(self) -> dict[Index, int]:
        """Ranks of adjacent blocks by direction, such as (0, 0, -1) or (0, 1, 1).

        The mapping contains the directions in which ghosts are sent or received: along single axes
        and, with `corners`, along several. There is no entry beyond a non-periodic boundary. On a
        periodic axis of one or two blocks, a rank is its own neighbour, or has the same neighbour
        twice. Layers thicker than the adjacent block also have values of more distant blocks.
        """
        directions = filter(self._is_exchanged, product((-1, 0, 1), repeat=len(self.shape)))
        ranks = ((d, self.decomposition.neighbour(self.rank, d)) for d in directions)
        return {direction: rank for direction, rank in ranks if rank is not None}

    def _is_exchanged(self, direction: Index) -> bool:
        """Whether ghosts are received from a direction or sent to it."""
        sides = zip(direction, self.ghosts.low, self.ghosts.high, strict=True)
        widths = [(low, high) if d < 0 else (high, low) for d, low, high in sides if d]
        most = len(direction) if self.ghosts.corners else 1
        return 1 <= len(widths) <= most and any(map(all, zip(*widths, strict=True)))

    def local_index(self, point: Sequence[int]) -> Index | None:
        """The index of a global point in this rank's arrays; None if another rank owns it.

        Raises:
            InputError: the point does not exist.
        """
        where = whole_numbers("point", point, len(self.own), self.shape)
        inside = [p - s for p, s in zip(where, self.block.start, strict=True)]
        if not all(0 <= p < n for p, n in zip(inside, self.block.shape, strict=True)):
            return None
        return tuple(p + low for p, low in zip(inside, self.ghosts.low, strict=True))

    def split(self, thickness: int | Sequence[int] | None = None) -> tuple[list[Slices], ...]:
        """The own points as boxes: those near ghosts that exchanges fill, and all others.

        The others are not sent and read no ghosts; they can be computed during an exchange.

        Args:
            thickness: distance that counts as near, for each axis or for all axes; by default, the
                larger width of the ghost layers.
        """
        axes, thick = len(self.own), self.ghosts.widest.low
        if thickness is not None:
            thick = whole_numbers("thickness", broadcast("thickness", thickness, axes), axes)
        near, others = split(self.block.shape, open_sides(self.decomposition, self.rank), thick)
        return [self._slices(box) for box in near], [self._slices(box) for box in others]

    def _indices(self, ghosts: bool) -> list[Integers]:
        """Global indices along each axis, shaped so that they broadcast to the block's shape."""
        ghosts = flag("ghosts", ghosts)
        sides = zip(self.block.slices, self.ghosts.low, self.ghosts.high, strict=True)
        runs = ((s.start - low * ghosts, s.stop + high * ghosts) for s, low, high in sides)
        return list(np.ix_(*(np.arange(*run) for run in runs)))

    def _described(self) -> list[str]:
        """The parts of a `repr`."""
        runs = ", ".join(f"{s.start}:{s.stop}" for s in self.block.slices)
        widths = _short([*map(_short, zip(self.ghosts.low, self.ghosts.high, strict=True))])
        return [
            f"shape {self.shape}",
            f"dims {self.dims}",
            f"rank {self.rank} of {self.decomposition.ranks} at {self.coords} with [{runs}]",
            f"ghosts {widths} {'with' if self.ghosts.corners else 'without'} corners",
            f"periodic {_short(self.periodic)}",
        ]


def _short(values: Sequence[object]) -> object:
    """The common value of all axes or sides, or else all values."""
    return values[0] if len(set(values)) == 1 else tuple(values)


# --- order of computation, for overlap ------------------------------------------------------------


def open_sides(decomposition: Decomposition, rank: int) -> list[tuple[bool, bool]]:
    """For each axis, whether there are points beyond the block's low and high side."""
    coords, counts = decomposition.coordinates(rank), decomposition.processes
    where = zip(coords, counts, decomposition.periodic, strict=True)
    return [(wraps or c > 0, wraps or c < n - 1) for c, n, wraps in where]


def split(
    shape: Index, sides: Sequence[tuple[bool, bool]], thickness: Sequence[int]
) -> tuple[list[Block], list[Block]]:
    """The points near open sides, as boxes that do not overlap, and the box of all others.

    Either list may be empty. Slabs of slow axes are complete; slabs of later axes lie between them.

    Args:
        shape: shape of the block.
        sides: see `open_sides`.
        thickness: thickness of a slab, for each axis; at least the width of ghost layers.
    """
    start, rest, boundary = [0] * len(shape), list(shape), list[Block]()
    for axis, ((low, high), thick) in enumerate(zip(sides, thickness, strict=True)):
        for is_open, at_end in ((low, False), (high, True)):
            count = min(thick, rest[axis]) if is_open else 0
            first, size = list(start), list(rest)
            first[axis] += rest[axis] - count if at_end else 0
            size[axis] = count
            boundary.append(Block(tuple(first), tuple(size)))
            rest[axis] -= count
            start[axis] += 0 if at_end else count
    inner = Block(tuple(start), tuple(rest))
    return [box for box in boundary if prod(box.shape)], [inner] if prod(inner.shape) else []
