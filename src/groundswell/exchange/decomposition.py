"""Cartesian process grids: which rank holds which block of an array, and how many ranks per axis.

Axes are an array's, slowest first. Ranks are numbered the same way: neighbours along the last axis
have consecutive ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError

Index = tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """The part of an array that one rank holds.

    Args:
        start: global index of its first point.
        shape: points along each axis.
    """

    start: Index
    shape: Index

    @property
    def slices(self) -> tuple[slice, ...]:
        """Where it lies in the whole array."""
        return tuple(slice(s, s + n) for s, n in zip(self.start, self.shape, strict=True))


@dataclass(frozen=True)
class Decomposition:
    """An array cut into a grid of blocks, one a rank, whose lengths differ by one at most.

    Args:
        shape: points of the whole array.
        processes: blocks along each axis.
        periodic: whether an axis' end is followed by its beginning.

    Raises:
        InputError: more blocks than points along an axis, or tuples of different lengths.
    """

    shape: Index
    processes: Index
    periodic: tuple[bool, ...]

    def __post_init__(self) -> None:
        if not len(self.shape) == len(self.processes) == len(self.periodic):
            raise InputError(
                f"shape {self.shape}, processes {self.processes} and periodic {self.periodic} must "
                "have one entry an axis each"
            )
        for axis, (points, blocks) in enumerate(zip(self.shape, self.processes, strict=True)):
            if not 1 <= blocks <= points:
                raise InputError(
                    f"{blocks} blocks along axis {axis} of {points} points; allowed are 1 to "
                    f"{points}: use fewer ranks, or cut another axis"
                )

    @property
    def ranks(self) -> int:
        """Number of blocks."""
        return prod(self.processes)

    @cached_property
    def edges(self) -> tuple[NDArray[np.int64], ...]:
        """Of each axis the first points of its blocks, and its end."""
        pairs = zip(self.shape, self.processes, strict=True)
        return tuple(np.arange(blocks + 1) * points // blocks for points, blocks in pairs)

    def coordinates(self, rank: int) -> Index:
        """Place of a rank in the process grid."""
        return tuple(int(c) for c in np.unravel_index(rank, self.processes))

    def rank_at(self, coordinates: Sequence[int]) -> int:
        """The rank at a place of the process grid."""
        return int(np.ravel_multi_index(tuple(coordinates), self.processes))

    def block(self, rank: int) -> Block:
        """The part that a rank holds."""
        where = self.coordinates(rank)
        start = tuple(int(e[c]) for e, c in zip(self.edges, where, strict=True))
        stop = tuple(int(e[c + 1]) for e, c in zip(self.edges, where, strict=True))
        return Block(start, tuple(b - a for a, b in zip(start, stop, strict=True)))


def decompose(
    shape: Sequence[int],
    ranks: int,
    periodic: Sequence[bool] | bool = False,
    processes: Sequence[int] | None = None,
) -> Decomposition:
    """Cut an array for so many ranks.

    Of all process grids the one is taken whose busiest rank updates and receives the fewest points;
    among equals the one with the fewest neighbours, and then the one that cuts slow axes, so that
    faces stay contiguous (Xue & Roy 2020, section 3.2, prefers in this order too).

    Args:
        shape: points of the whole array, slowest axis first.
        ranks: number of blocks.
        periodic: of each axis, or of all.
        processes: blocks along each axis, to be used instead of choosing; 0 leaves an axis open.

    Raises:
        InputError: no process grid fits.
    """
    shape = tuple(int(n) for n in shape)
    wraps = (periodic,) * len(shape) if isinstance(periodic, bool) else tuple(periodic)
    wanted = tuple(processes or (0,) * len(shape))
    if len(wanted) != len(shape):
        raise InputError(f"processes {wanted} must have an entry for each of {len(shape)} axes")
    grids = [
        grid
        for grid in process_grids(ranks, len(shape))
        if all(w in (0, g) for w, g in zip(wanted, grid, strict=True))
        and all(g <= n for g, n in zip(grid, shape, strict=True))
    ]
    if not grids:
        asked = f" as {wanted}" if any(wanted) else ""
        raise InputError(
            f"{ranks} ranks cannot share {shape} points{asked}: no process grid has at least one "
            "point a rank along every axis; use another number of ranks"
        )
    return Decomposition(shape, min(grids, key=lambda g: _cost(shape, g, wraps)), wraps)


def process_grids(ranks: int, axes: int) -> Iterator[Index]:
    """Every ordered way to write `ranks` as a product of `axes` numbers."""
    if axes == 1:
        yield (ranks,)
        return
    for first in range(1, ranks + 1):
        if ranks % first == 0:
            for rest in process_grids(ranks // first, axes - 1):
                yield (first, *rest)


def _cost(shape: Index, grid: Index, periodic: Sequence[bool]) -> tuple[int, int, Index]:
    """Points of the busiest rank and of its faces, faces, and how late the cut axes come."""
    largest = [-(-n // g) for n, g in zip(shape, grid, strict=True)]
    faces = [
        (2 if wraps else min(2, g - 1)) if g > 1 else 0
        for g, wraps in zip(grid, periodic, strict=True)
    ]
    volume = prod(largest)
    surface = sum(f * volume // n for f, n in zip(faces, largest, strict=True))
    return volume + surface, sum(faces), tuple(-g for g in grid)
