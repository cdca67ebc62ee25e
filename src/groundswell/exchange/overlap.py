"""A rank's block: where its points and ghost layers lie, who is next to it, what to compute first.

All of this follows from a decomposition: no array, device or message is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.exchange.decomposition import Block, Decomposition, Index, broadcast, whole_numbers
from groundswell.exchange.pattern import Ghosts

Box = Block  # some points of a rank's block, by local index
Slices = tuple[slice, ...]


class GhostedBlock:
    """One rank's block of an array, and the ghost layers around it.

    Args:
        decomposition: all blocks of the array.
        rank: whose block it is.
        ghosts: the layers.

    Attributes: see `Domain`.
    """

    def __init__(self, decomposition: Decomposition, rank: int, ghosts: Ghosts) -> None:
        self.decomposition, self.rank, self.ghosts = decomposition, rank, ghosts
        self.shape, self.dims = decomposition.shape, decomposition.processes
        self.periodic = decomposition.periodic
        self.coords, self.block = decomposition.coordinates(rank), decomposition.block(rank)
        self.local_shape = ghosts.padded(self.block.shape)
        self.own = self._slices(Box((0,) * len(self.shape), self.block.shape))

    def _slices(self, box: Box) -> Slices:
        """A box of own points in this rank's arrays."""
        first = tuple(low + s for low, s in zip(self.ghosts.low, box.start, strict=True))
        return Box(first, box.shape).slices

    @cached_property
    def neighbours(self) -> dict[Index, int]:
        """Ranks of adjacent blocks by direction, such as (0, 0, -1) or (0, 1, 1).

        A direction is there if ghosts are exchanged in it, one way or both: along single axes, and
        with `corners` along several. Beyond an end that is not periodic there is none. On a
        periodic axis of one or two blocks a rank is its own neighbour, or the same one twice.
        Layers thicker than the adjacent block have values of blocks behind it, too.
        """
        directions = filter(self._is_exchanged, product((-1, 0, 1), repeat=len(self.shape)))
        ranks = ((d, self.decomposition.neighbour(self.rank, d)) for d in directions)
        return {direction: rank for direction, rank in ranks if rank is not None}

    def _is_exchanged(self, direction: Index) -> bool:
        """Whether ghosts are received in a direction, or sent: to the layers on the other side."""
        sides = zip(direction, self.ghosts.low, self.ghosts.high, strict=True)
        widths = [(low, high) if d < 0 else (high, low) for d, low, high in sides if d]
        most = len(direction) if self.ghosts.corners else 1
        return 1 <= len(widths) <= most and any(map(all, zip(*widths, strict=True)))

    def local_index(self, point: Sequence[int]) -> Index | None:
        """Where a point of the whole is in this rank's arrays; None if another rank owns it.

        Raises:
            InputError: there is no such point.
        """
        where = whole_numbers("point", point, len(self.own), self.shape)
        inside = [p - s for p, s in zip(where, self.block.start, strict=True)]
        if not all(0 <= p < n for p, n in zip(inside, self.block.shape, strict=True)):
            return None
        return tuple(p + low for p, low in zip(inside, self.ghosts.low, strict=True))

    def split(self, thickness: int | Sequence[int] | None = None) -> tuple[list[Slices], ...]:
        """The own points as boxes: those near points of other ranks, and all others.

        What is computed of the others reads no ghosts, so it can hide an exchange.

        Args:
            thickness: how near, for each axis; by default as the widest ghost layers.
        """
        axes, thick = len(self.own), self.ghosts.widest.low
        if thickness is not None:
            thick = whole_numbers("thickness", broadcast("thickness", thickness, axes), axes)
        near, others = split(self.block.shape, open_sides(self.decomposition, self.rank), thick)
        return [self._slices(box) for box in near], [self._slices(box) for box in others]

    def _indices(self, ghosts: bool) -> list[NDArray[np.int64]]:
        """Global indices along each axis, shaped so that they combine to the block's shape."""
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


def _short(values: Sequence[Any]) -> Any:
    """One value for all axes or sides where they have the same."""
    return values[0] if len(set(values)) == 1 else tuple(values)


# --- what to compute first, so that the rest hides the exchange -----------------------------------


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
    boundary, interior = split(shape, open_sides(cut, rank), thickness)
    if cut.ranks == 1 or not wanted or not interior:
        return [], [Box((0,) * len(shape), shape)]
    return boundary, interior


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
    start, rest, boundary = [0] * len(shape), list(shape), list[Box]()
    for axis, ((low, high), thick) in enumerate(zip(sides, thickness, strict=True)):
        for is_open, at_end in ((low, False), (high, True)):
            count = min(thick, rest[axis]) if is_open else 0
            first, size = list(start), list(rest)
            first[axis] += rest[axis] - count if at_end else 0
            size[axis] = count
            boundary.append(Box(tuple(first), tuple(size)))
            rest[axis] -= count
            start[axis] += 0 if at_end else count
    inner = Box(tuple(start), tuple(rest))
    return [box for box in boundary if prod(box.shape)], [inner] if prod(inner.shape) else []
