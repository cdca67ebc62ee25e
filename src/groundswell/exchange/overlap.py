"""Which points of a block to compute first, so that the others hide the exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from groundswell.exchange.decomposition import Decomposition, Index


@dataclass(frozen=True)
class Box:
    """Some points of a block.

    Args:
        start: local index of the first.
        shape: points along each axis.
    """

    start: Index
    shape: Index


def open_sides(cut: Decomposition, rank: int) -> list[tuple[bool, bool]]:
    """For each axis, whether points lie beyond the block's low and high side."""
    where = zip(cut.coordinates(rank), cut.processes, cut.periodic, strict=True)
    return [(wraps or c > 0, wraps or c < n - 1) for c, n, wraps in where]


def boundary_first(
    cut: Decomposition, rank: int, thickness: Sequence[int], *, wanted: bool
) -> tuple[list[Box], list[Box]]:
    """The points of a block to compute before an exchange, and meanwhile.

    None come first if nobody reads them, if that is not wanted, or if all would.

    Args:
        thickness: see `split`.
    """
    shape = cut.block(rank).shape
    whole = [Box((0,) * len(shape), shape)]
    if cut.ranks == 1 or not wanted:
        return [], whole
    boundary, interior = split(shape, open_sides(cut, rank), thickness)
    return (boundary, interior) if interior else ([], whole)


def split(
    shape: Index, sides: Sequence[tuple[bool, bool]], thickness: Sequence[int]
) -> tuple[list[Box], list[Box]]:
    """The points near open sides, as boxes that do not overlap, and the box of all others.

    Either list may be empty. Slabs of slow axes are whole; those of later axes lie between them.

    Args:
        shape: of the block.
        sides: see `open_sides`.
        thickness: of a slab, for each axis; at least as wide as ghost layers.
    """
    start, rest, boundary = [0] * len(shape), list(shape), []
    for axis, ((low, high), thick) in enumerate(zip(sides, thickness, strict=True)):
        for is_open, at_end in ((low, False), (high, True)):
            count = min(thick, rest[axis]) if is_open else 0
            if count:
                first = start[axis] + (rest[axis] - count if at_end else 0)
                boundary.append(_slab(start, rest, axis, first, count))
                rest[axis] -= count
                start[axis] += 0 if at_end else count
    interior = Box(tuple(start), tuple(rest))
    boundary = [box for box in boundary if prod(box.shape)]
    return boundary, [interior] if prod(interior.shape) else []


def _slab(start: Sequence[int], shape: Sequence[int], axis: int, first: int, count: int) -> Box:
    begin, size = list(start), list(shape)
    begin[axis], size[axis] = first, count
    return Box(tuple(begin), tuple(size))
