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
from groundswell.exchange.decomposition import Decomposition, Index
from groundswell.exchange.overlap import Box, open_sides, split
from groundswell.exchange.pattern import Ghosts, uniform

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
        runs = zip(self.ghosts.low, box.start, box.shape, strict=True)
        return tuple(slice(low + s, low + s + n) for low, s, n in runs)

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
        if not 1 <= len(widths) <= (len(direction) if self.ghosts.corners else 1):
            return False
        received, sent = zip(*widths, strict=True)
        return all(received) or all(sent)

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
        around = self.ghosts if ghosts else uniform(0, len(self.own))
        sides = zip(self.block.start, self.block.shape, around.low, around.high, strict=True)
        return list(np.ix_(*(np.arange(s - low, s + n + high) for s, n, low, high in sides)))

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
