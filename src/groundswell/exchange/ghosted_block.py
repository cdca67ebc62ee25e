"""One rank's block of an array with its ghost layers, and the order of computation for overlap."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from groundswell.arguments import broadcast, flag, whole_numbers
from groundswell.arrays import Integers
from groundswell.errors import InputError, counted
from groundswell.exchange.decomposition import Decomposition, Index
from groundswell.exchange.pattern import Box, Ghosts

Slices = tuple[slice, ...]


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
        self.own = self._slices(Box((0,) * len(self.shape), self.block.shape))

    def _slices(self, box: Box) -> Slices:
        """A box of own points in this rank's arrays."""
        first = tuple(low + s for low, s in zip(self.ghosts.low, box.start, strict=True))
        return Box(first, box.shape).slices

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

    def first_own_point(self, shape: Index, ghosts: Ghosts, given: Sequence[int] | None) -> Index:
        """The index of the first own point in an array: as given, or from layers that fit."""
        axes = len(self.own)
        if given is not None and len(shape) == axes:
            return whole_numbers("origin", given, axes)
        if given is None and shape == self.local_shape:
            return self.ghosts.low
        if given is None and shape == ghosts.padded(self.block.shape):
            return ghosts.low
        raise InputError(
            f"the last axes of an array have {shape} points, but rank {self.rank} has "
            f"{self.local_shape} points with ghost layers; if the array has other layers, give the "
            "index of its first own point, Field(array, origin=...), one number for each of "
            f"{counted(axes, 'axis', 'axes')}"
        )

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


def _short(values: Sequence[Any]) -> Any:
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
) -> tuple[list[Box], list[Box]]:
    """The points near open sides, as boxes that do not overlap, and the box of all others.

    Either list may be empty. Slabs of slow axes are complete; slabs of later axes lie between them.

    Args:
        shape: shape of the block.
        sides: see `open_sides`.
        thickness: thickness of a slab, for each axis; at least the width of ghost layers.
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
