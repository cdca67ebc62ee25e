"""Cartesian process grids: which rank holds which block of an array, and how many ranks per axis.

Axes are an array's, slowest first. Ranks are numbered the same way: neighbours along the last axis
have consecutive ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.exchange.arguments import broadcast, flag, integers, is_sequence

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
    """An array cut into a grid of blocks, one a rank.

    Args:
        shape: points of the whole array.
        processes: blocks along each axis.
        periodic: whether an axis' end is followed by its beginning.
        cuts: of each axis the first points of its blocks but the first; by default the lengths of
            blocks differ by one at most.

    Raises:
        InputError: more blocks than points along an axis, a block without points, or tuples of
            different lengths.
    """

    shape: Index
    processes: Index
    periodic: tuple[bool, ...]
    cuts: tuple[Index, ...] | None = None

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
        if self.cuts is not None and [len(cuts) + 1 for cuts in self.cuts] != [*self.processes]:
            raise InputError(
                f"cuts {self.cuts} for processes {self.processes}: give one less than blocks along "
                "each axis"
            )
        for axis, edges in enumerate(self.edges):
            if min(np.diff(edges)) < 1:
                raise InputError(
                    f"cuts along axis {axis} at {edges[1:-1].tolist()} leave a block without any "
                    f"of {self.shape[axis]} points; use fewer ranks, or cut another axis"
                )

    @property
    def ranks(self) -> int:
        """Number of blocks."""
        return prod(self.processes)

    @cached_property
    def edges(self) -> tuple[NDArray[np.int64], ...]:
        """Of each axis the first points of its blocks, and its end."""
        pairs = zip(self.shape, self.processes, strict=True)
        if self.cuts is None:
            return tuple(np.arange(blocks + 1) * points // blocks for points, blocks in pairs)
        ends = zip(self.cuts, self.shape, strict=True)
        return tuple(np.array([0, *cuts, points], np.int64) for cuts, points in ends)

    def coordinates(self, rank: int) -> Index:
        """Place of a rank in the process grid."""
        return tuple(int(c) for c in np.unravel_index(rank, self.processes))

    def rank_at(self, coordinates: Sequence[int]) -> int:
        """The rank at a place of the process grid."""
        return int(np.ravel_multi_index(tuple(coordinates), self.processes))

    def neighbour(self, rank: int, direction: Sequence[int]) -> int | None:
        """The rank of the adjacent block in a direction; None beyond an end.

        Args:
            direction: -1, 0 or 1 along each axis.
        """
        place = [c + step for c, step in zip(self.coordinates(rank), direction, strict=True)]
        axes = zip(place, self.processes, self.periodic, strict=True)
        if not all(wraps or 0 <= c < n for c, n, wraps in axes):
            return None
        return self.rank_at([c % n for c, n in zip(place, self.processes, strict=True)])

    def shift(self, rank: int, other: int) -> Index:
        """How far away another rank is in the process grid, along each axis and around its ends."""
        steps = zip(self.coordinates(rank), self.coordinates(other), self.processes, strict=True)
        return tuple((b - a) % n for a, b, n in steps)

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
    least: Sequence[int] | None = None,
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
        least: points that a block must have along each axis, if there is more than one.

    Raises:
        InputError: no process grid fits.
    """
    points = _whole("shape", shape)
    wraps = _flags(periodic, len(points))
    wanted = _whole("processes", (0,) * len(points) if processes is None else processes)
    fewest = _whole("least", (1,) * len(points) if least is None else least)
    if ranks < 1 or min(points, default=0) < 1 or len(wanted) != len(points):
        raise InputError(
            f"{ranks} ranks, shape {points} and processes {wanted}: there must be a rank, an axis "
            "and a point along each, and as many processes as axes"
        )
    if min(wanted) < 0:
        raise InputError(
            f"processes {wanted}: give the number of blocks along each axis, or 0 to leave it open"
        )
    if 0 not in wanted and prod(wanted) != ranks:
        raise InputError(
            f"processes {wanted} are {prod(wanted)} blocks for {ranks} ranks; one a rank is needed"
        )
    grids = [
        grid
        for grid in process_grids(ranks, len(points))
        if all(w in (0, g) for w, g in zip(wanted, grid, strict=True))
        and all(g == 1 or n // g >= m for g, n, m in zip(grid, points, fewest, strict=True))
    ]
    if not grids:
        asked = f" as {wanted}" if any(wanted) else ""
        raise InputError(
            f"{ranks} ranks cannot share {points} points{asked}: no process grid leaves blocks at "
            f"least {fewest} points; use another number of ranks, or other processes"
        )
    return Decomposition(points, min(grids, key=lambda g: _cost(points, g, wraps)), wraps)


def decompose_into(
    blocks: Sequence[Sequence[int]],
    shape: Sequence[int],
    ranks: int,
    periodic: Sequence[bool] | bool = False,
) -> Decomposition:
    """Cut an array into blocks of given lengths.

    Args:
        blocks: for each axis the lengths of its blocks, in points.
        shape: points of the whole array, slowest axis first.
        ranks: number of blocks.
        periodic: of each axis, or of all.

    Raises:
        InputError: lengths that do not add up to the shape, or more or fewer blocks than ranks.
    """
    points = _whole("shape", shape)
    lengths = _lengths(blocks, points)
    counts = tuple(map(len, lengths))
    if prod(counts) != ranks:
        raise InputError(
            f"blocks = {blocks!r} are {' x '.join(map(str, counts))} = {prod(counts)} blocks for "
            f"{ranks} ranks; one a rank is needed"
        )
    cuts = tuple(tuple(accumulate(along[:-1])) for along in lengths)
    return Decomposition(points, counts, _flags(periodic, len(points)), cuts)


def _lengths(blocks: Sequence[Sequence[int]], points: Index) -> list[Index]:
    """The lengths of the blocks along each axis."""
    given = [integers(along) for along in blocks] if is_sequence(blocks) else []
    lengths = [along for along in given if along is not None]
    if not len(given) == len(lengths) == len(points):
        raise InputError(
            f"blocks = {blocks!r}: give for each of {len(points)} axes the lengths of its blocks, "
            "such as ((10, 14), (32,)) for an array of 24 x 32 points on two ranks"
        )
    for axis, (along, count) in enumerate(zip(lengths, points, strict=True)):
        if min(along, default=0) < 1 or sum(along) != count:
            raise InputError(
                f"blocks of {along} points along axis {axis} are {sum(along)} points; allowed are "
                f"lengths above zero that add up to the {count} points of this axis"
            )
    return lengths


def _flags(periodic: Sequence[bool] | bool, axes: int) -> tuple[bool, ...]:
    return tuple(flag("periodic", p) for p in broadcast("periodic", periodic, axes))


def _whole(name: str, given: Sequence[int]) -> Index:
    numbers = integers(given)
    if numbers is None:
        raise InputError(f"{name} = {given!r} must be whole numbers, one an axis")
    return numbers


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
    """Points that the busiest rank updates and receives, its faces, and how late cut axes come."""
    axes = [_kinds(*axis) for axis in zip(shape, grid, periodic, strict=True)]
    most = 0
    for block in product(*axes):
        volume = prod(length for length, _ in block)
        most = max(most, volume + sum(faces * volume // length for length, faces in block))
    faces = sum(max(faces for _, faces in kinds) for kinds in axes)
    return most, faces, tuple(-g for g in grid)


def _kinds(points: int, blocks: int, periodic: bool) -> set[tuple[int, int]]:
    """Lengths of an axis' blocks, with the number of sides on which another block lies."""
    edges = np.arange(blocks + 1) * points // blocks
    sides = np.full(blocks, 2 if blocks > 1 else 0)
    if not periodic and blocks > 1:
        sides[[0, -1]] = 1
    return {(int(length), int(n)) for length, n in zip(np.diff(edges), sides, strict=True)}
