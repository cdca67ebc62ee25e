"""A rank's block with its ghost layers: which points it has, where they lie, who is next to it.

All of this follows from a decomposition: no array, device or message is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.exchange.arguments import broadcast, whole_numbers
from groundswell.exchange.decomposition import Block, Decomposition, Index
from groundswell.exchange.overlap import Box, open_sides, split
from groundswell.exchange.pattern import Ghosts, uniform
from groundswell.exchange.request import Slices, padded_shape, slices


class GhostedBlock:
    """One rank's block of an array, and the ghost layers around it.

    Args:
        decomposition: all blocks of the array.
        rank: whose block it is.
        ghosts: the layers.

    Attributes:
        block: `start`, `shape`, and `slices` of the whole.
    """

    def __init__(self, decomposition: Decomposition, rank: int, ghosts: Ghosts) -> None:
        self.decomposition, self.rank, self.ghosts = decomposition, rank, ghosts
        self.block: Block = decomposition.block(rank)

    # --- blocks -----------------------------------------------------------------------------------

    @property
    def shape(self) -> Index:
        """Points of the whole array."""
        return self.decomposition.shape

    @property
    def dims(self) -> Index:
        """Blocks along each axis."""
        return self.decomposition.processes

    @property
    def periodic(self) -> tuple[bool, ...]:
        """Whether each axis' end is followed by its beginning."""
        return self.decomposition.periodic

    @cached_property
    def coords(self) -> Index:
        """Place of this rank's block in the grid of blocks."""
        return self.decomposition.coordinates(self.rank)

    @cached_property
    def neighbours(self) -> dict[Index, int]:
        """Ranks of adjacent blocks by direction, such as (0, 0, -1) or (0, 1, 1).

        A direction is there if ghosts are exchanged in it, one way or both: along single axes, and
        with `corners` along several. Beyond an end that is not periodic there is none. On a
        periodic axis of one or two blocks a rank is its own neighbour, or the same one twice.
        Layers thicker than the adjacent block have values of blocks behind it, too.
        """
        ranks = ((d, self.decomposition.neighbour(self.rank, d)) for d in self._directions())
        return {direction: rank for direction, rank in ranks if rank is not None}

    def _directions(self) -> list[Index]:
        """Those in which ghosts are received, or sent: they are received on the other side."""
        low, high = self.ghosts.low, self.ghosts.high
        return [
            d
            for d in product((-1, 0, 1), repeat=len(low))
            if 1 <= sum(map(abs, d)) <= (len(d) if self.ghosts.corners else 1)
            and (_has_layers(d, low, high) or _has_layers(d, high, low))
        ]

    # --- arrays -----------------------------------------------------------------------------------

    @cached_property
    def local_shape(self) -> Index:
        """Points of this rank's arrays, ghost layers included."""
        return padded_shape(self.block, self.ghosts)

    @cached_property
    def own(self) -> Slices:
        """Where the block's own points are in its arrays."""
        return slices(self.ghosts.low, Box((0,) * len(self.block.shape), self.block.shape))

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
        parts = split(self.block.shape, open_sides(self.decomposition, self.rank), thick)
        near, others = ([slices(self.ghosts.low, box) for box in boxes] for boxes in parts)
        return near, others

    def _indices(self, ghosts: bool) -> list[NDArray[np.int64]]:
        """Global indices along each axis, shaped so that they combine to the block's shape."""
        around = self.ghosts if ghosts else uniform(0, len(self.own))
        sides = zip(self.block.start, self.block.shape, around.low, around.high, strict=True)
        return list(np.ix_(*(np.arange(s - low, s + n + high) for s, n, low, high in sides)))

    def _described(self) -> list[str]:
        """The parts of a `repr`."""
        runs = ", ".join(f"{s.start}:{s.stop}" for s in self.block.slices)
        pairs = zip(self.ghosts.low, self.ghosts.high, strict=True)
        widths = _short([_short(pair) for pair in pairs])
        return [
            f"shape {self.shape}",
            f"dims {self.dims}",
            f"rank {self.rank} of {self.decomposition.ranks} at {self.coords} with [{runs}]",
            f"ghosts {widths} {'with' if self.ghosts.corners else 'without'} corners",
            f"periodic {_short(self.periodic)}",
        ]


def _has_layers(direction: Index, low: Index, high: Index) -> bool:
    """Whether there are ghosts in a direction, given the layers on both sides of each axis."""
    widths = zip(direction, low, high, strict=True)
    return all((b if d > 0 else a) > 0 for d, a, b in widths if d)


def _short(values: Sequence[Any]) -> Any:
    """One value for all axes or sides where they have the same."""
    return values[0] if len(set(values)) == 1 else tuple(values)
