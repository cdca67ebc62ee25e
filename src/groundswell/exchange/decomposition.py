"""Decompositions: the block of an array on each rank, and the number of blocks along each axis.

Axes are in array order, slowest first. Ranks are numbered in the same order: neighbours along the
last axis have consecutive ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from groundswell.arguments import broadcast, flag, integers, is_sequence, whole_numbers
from groundswell.arrays import Integers
from groundswell.errors import InputError, counted

AXES = 3  # largest number of axes of an array

Index = tuple[int, ...]
BlockLengths = Sequence[Sequence[int]]  # for each axis the lengths of its blocks
Topology = tuple[Sequence[int] | None, Sequence[bool] | bool]  # dims, if Cartesian, and periods


@dataclass(frozen=True)
class Block:
    """A box of points, such as the part of an array that one rank holds.

    Args:
        start: index of its first point.
        shape: points along each axis.
    """

    start: Index
    shape: Index

    @property
    def slices(self) -> tuple[slice, ...]:
        """The slices of the block in the array."""
        return tuple(slice(s, s + n) for s, n in zip(self.start, self.shape, strict=True))


@dataclass(frozen=True)
class Decomposition:
    """An array divided into a grid of blocks, one per rank.

    Args:
        shape: number of points of the whole array along each axis.
        processes: number of blocks along each axis.
        periodic: whether each axis is periodic.
        lengths: lengths of the blocks along each axis; by default, they differ by at most one.

    Raises:
        InputError: there are more blocks than points along an axis, tuples differ in length, or
            block lengths do not add up.
    """

    shape: Index
    processes: Index
    periodic: tuple[bool, ...]
    lengths: tuple[Index, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.shape) == len(self.processes) == len(self.periodic):
            raise InputError(
                f"shape {self.shape}, processes {self.processes} and periodic {self.periodic} must "
                "each have one entry per axis"
            )
        for axis, (points, blocks) in enumerate(zip(self.shape, self.processes, strict=True)):
            if not 1 <= blocks <= points:
                raise InputError(
                    f"{counted(blocks, 'block')} along axis {axis} of {counted(points, 'point')}; "
                    f"allowed are 1 to {points}: use fewer ranks, or divide another axis"
                )
        if self.lengths and tuple(map(len, self.lengths)) != self.processes:
            raise InputError(f"blocks of lengths {self.lengths} are not {self.processes} blocks")
        for axis, along in enumerate(self.lengths):
            if min(along) < 1 or sum(along) != self.shape[axis]:
                raise InputError(
                    f"blocks of {along} points along axis {axis} are "
                    f"{counted(sum(along), 'point')}; allowed are lengths above zero that add up "
                    f"to the {counted(self.shape[axis], 'point')}"
                )

    @property
    def ranks(self) -> int:
        """Number of blocks."""
        return prod(self.processes)

    @cached_property
    def edges(self) -> tuple[Integers, ...]:
        """The first points of the blocks along each axis, and the end of the axis."""
        if self.lengths:
            return tuple(np.cumsum((0, *along)) for along in self.lengths)
        pairs = zip(self.shape, self.processes, strict=True)
        return tuple(np.arange(blocks + 1) * points // blocks for points, blocks in pairs)

    def coordinates(self, rank: int) -> Index:
        """Coordinates of a rank in the process grid."""
        return tuple(int(c) for c in np.unravel_index(rank, self.processes))

    def rank_at(self, coordinates: Sequence[int]) -> int:
        """The rank at coordinates of the process grid."""
        return int(np.ravel_multi_index(tuple(coordinates), self.processes))

    def neighbour(self, rank: int, direction: Sequence[int]) -> int | None:
        """The rank of the adjacent block in a direction; None beyond a boundary.

        Args:
            direction: -1, 0 or 1 along each axis.
        """
        place = [c + step for c, step in zip(self.coordinates(rank), direction, strict=True)]
        axes = zip(place, self.processes, self.periodic, strict=True)
        if not all(wraps or 0 <= c < n for c, n, wraps in axes):
            return None
        return self.rank_at([c % n for c, n in zip(place, self.processes, strict=True)])

    def shift(self, rank: int, other: int) -> Index:
        """Distance to another rank in the process grid, along each axis, as if periodic."""
        steps = zip(self.coordinates(rank), self.coordinates(other), self.processes, strict=True)
        return tuple((b - a) % n for a, b, n in steps)

    def block(self, rank: int) -> Block:
        """The block of a rank."""
        where = zip(self.edges, self.coordinates(rank), strict=True)
        ends = [(int(edges[c]), int(edges[c + 1])) for edges, c in where]
        return Block(tuple(a for a, _ in ends), tuple(b - a for a, b in ends))


def decompose(
    shape: Sequence[int],
    ranks: int,
    periodic: Sequence[bool] | bool = False,
    processes: Sequence[int] | None = None,
    least: Sequence[int] | None = None,
    blocks: BlockLengths | None = None,
) -> Decomposition:
    """Divide an array among a number of ranks.

    The chosen process grid is the one with the fewest points that the busiest rank updates and
    receives. Among equal ones, it has the fewest neighbours, and then divides the slowest axes, so
    that faces stay contiguous (Xue & Roy 2020, section 3.2, use the same order).

    Args:
        shape: number of points along each of one to three axes, slowest axis first.
        periodic: whether each axis is periodic, or all are.
        processes: number of blocks along each axis; 0 lets this function choose.
        least: smallest number of points of a block along each axis that is divided.
        blocks: instead of `processes`, the lengths of the blocks along each axis, in points.

    Raises:
        InputError: no process grid fits, or block lengths do not add up to the shape.
    """
    points = array_shape(shape)
    axes = len(points)
    wraps = tuple(flag("periodic", p) for p in broadcast("periodic", periodic, axes))
    lengths = () if blocks is None else _lengths(blocks, points)
    wanted = _wanted_grid(processes, lengths, axes)
    if 0 not in wanted and prod(wanted) != ranks:
        raise InputError(
            f"{' x '.join(map(str, wanted))} = {counted(prod(wanted), 'block')} for "
            f"{counted(ranks, 'rank')}; one block per rank is needed: change processes or blocks, "
            "or leave them out"
        )
    if lengths:
        return Decomposition(points, wanted, wraps, lengths)
    fewest = (1,) * axes if least is None else tuple(least)
    grids = _fitting_grids(points, ranks, wanted, fewest)
    return min((Decomposition(points, grid, wraps) for grid in grids), key=_cost)


def _wanted_grid(processes: Sequence[int] | None, lengths: Sequence[Index], axes: int) -> Index:
    """The requested number of blocks along each axis; 0 for an automatic choice."""
    wanted = whole_numbers("processes", (0,) * axes if processes is None else processes, axes)
    if lengths and processes is not None:
        raise InputError(f"processes = {wanted} and blocks = {lengths}: give only one of them")
    return tuple(map(len, lengths)) or wanted


def _fitting_grids(points: Index, ranks: int, wanted: Index, fewest: Index) -> list[Index]:
    """The process grids with the requested numbers of blocks and large enough blocks."""
    grids = [
        grid
        for grid in process_grids(ranks, len(points))
        if all(w in (0, g) for w, g in zip(wanted, grid, strict=True))
        and all(g == 1 or n // g >= m for g, n, m in zip(grid, points, fewest, strict=True))
    ]
    if not grids:
        asked = f" with processes = {wanted}" if any(wanted) else ""
        raise InputError(
            f"{points} points{asked} cannot be divided among {counted(ranks, 'rank')}: no process "
            f"grid has blocks of at least {fewest} points; change the number of ranks or processes"
        )
    return grids


def _lengths(blocks: BlockLengths, points: Index) -> tuple[Index, ...]:
    """The lengths of the blocks along each axis."""
    given = [integers(along) for along in blocks] if is_sequence(blocks) else []
    lengths = tuple(along for along in given if along is not None)
    if not len(given) == len(lengths) == len(points):
        raise InputError(
            f"blocks = {blocks!r}: give for each of {counted(len(points), 'axis', 'axes')} the "
            "lengths of its blocks, such as ((10, 14), (32,)) for an array of 24 x 32 points on "
            "two ranks"
        )
    return lengths


def array_shape(given: Sequence[int]) -> Index:
    """The shape of a whole array; raises InputError unless it has one to three axes."""
    shape = integers(given)
    if shape is None or not 1 <= len(shape) <= AXES or min(shape) < 1:
        raise InputError(f"shape = {given!r}: give one to {AXES} whole numbers above zero")
    return shape


def decompose_for(
    shape: Sequence[int],
    ranks: int,
    topology: Topology,
    periodic: Sequence[bool] | bool | None = None,
    processes: Sequence[int] | None = None,
    blocks: BlockLengths | None = None,
) -> Decomposition:
    """Divide an array among the ranks of a communicator.

    A Cartesian communicator sets the number of blocks along each axis. MPI numbers its ranks like a
    decomposition, with the last axis fastest, so each rank has the same coordinates in both. If the
    numbers of axes differ, `processes` or `blocks` show which axes are those of the communicator.

    Args:
        topology: `dims` and `periods` of a Cartesian communicator; None and False for others.
        periodic: whether each axis is periodic, or all are; None for the communicator's periods.
        processes, blocks: as for `decompose`; None for the communicator's `dims`, or an automatic
            choice.

    Raises:
        InputError: arguments contradict each other or the communicator, or do not fit.
    """
    dims, periods = topology
    wraps = periods if periodic is None else periodic
    if dims is None:
        return decompose(shape, ranks, wraps, processes, blocks=blocks)
    axes = len(array_shape(shape))
    if len(dims) != axes and (periodic is None or (processes is None and blocks is None)):
        raise InputError(
            f"comm is a Cartesian communicator of {counted(len(dims), 'axis', 'axes')}, but the "
            f"shape has {axes}; give periodic and processes, with one entry per axis"
        )
    if len(dims) == axes and blocks is None:
        asked = dims if processes is None else whole_numbers("processes", processes, axes)
        processes = [n or dim for n, dim in zip(asked, dims, strict=True)]
    found = decompose(shape, ranks, wraps, processes, blocks=blocks)
    _require_topology(found.processes, tuple(dims))
    return found


def _require_topology(found: Index, dims: Index) -> None:
    """Check that ranks have the communicator's coordinates; added axes must be undivided."""
    added = len(found) != len(dims)
    if found != dims and not (added and [n for n in found if n > 1] == [n for n in dims if n > 1]):
        raise InputError(
            f"{found} blocks along the axes contradict comm, a Cartesian communicator with dims "
            f"{dims}; leave processes and blocks out, or give a communicator without a topology, "
            "such as comm.Split()"
        )


def process_grids(ranks: int, axes: int) -> Iterator[Index]:
    """Every ordered way to write `ranks` as a product of `axes` numbers."""
    if axes == 1:
        yield (ranks,)
        return
    for first in range(1, ranks + 1):
        if ranks % first == 0:
            for rest in process_grids(ranks // first, axes - 1):
                yield (first, *rest)


def _cost(decomposition: Decomposition) -> tuple[int, int, Index]:
    """Points that the busiest rank updates and receives, its faces, and minus the blocks."""
    axes = [_kinds(*axis) for axis in zip(decomposition.edges, decomposition.periodic, strict=True)]
    most = 0
    for block in product(*axes):
        volume = prod(length for length, _ in block)
        most = max(most, volume + sum(faces * volume // length for length, faces in block))
    faces = sum(max(faces for _, faces in kinds) for kinds in axes)
    return most, faces, tuple(-n for n in decomposition.processes)


def _kinds(edges: Integers, periodic: bool) -> set[tuple[int, int]]:
    """Lengths of the blocks of an axis, with the number of sides next to another block."""
    lengths = np.diff(edges)
    sides = np.full(len(lengths), 2 if len(lengths) > 1 else 0)
    if not periodic and len(lengths) > 1:
        sides[[0, -1]] = 1
    return {(int(length), int(n)) for length, n in zip(lengths, sides, strict=True)}
