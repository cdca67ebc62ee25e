"""Row operations in place on large arrays, tile by tile: see tiles.h.

A tile is a set of sectors, the units in which a GPU moves memory, with all rows that have values in
them. So each sector is read and written once, and as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Blocks, Launch, Source
from groundswell.exchange.gather_scatter.rows import (
    Numbers,
    Rows,
    Values,
    padded_size,
    reduce_rows,
    reduction_constants,
    to_ellpack,
)

SOURCE = Path(__file__).with_name("tiles.h")
SECTOR = 32  # bytes
SECTORS = 192  # of a tile, at most
THREADS = 128
MIN_BLOCKS_PER_SM = 9  # fewer do not hide the latency of memory, more leave too little cache
WIDTHS = (2, 4, 8)  # possible numbers of indices in a tile's rows
ROUNDS = 8  # of joining sectors; suffice where few rows connect a group
MIN_INDICES, MAX_INDICES = 1 << 20, 1 << 31  # fewer stay in caches; tables cannot count more


def reduce_locally(
    backend: Backend,
    operation: str,
    source: tuple[Values, Rows],
    target: tuple[Values, Rows],
    others: Rows,
) -> list[Launch]:
    """Launches as of `reduce_rows`, by tiles where that is faster.

    Args:
        source, target: the same for an operation in place, of disjoint rows of several indices.
        others: indices of the target that other kernels may write to meanwhile.
    """
    values, rows = source
    if backend.on_host or rows is not target[1] or not _is_worth_tiles(backend, values, rows):
        return reduce_rows(backend, operation, source, target)
    tiles, left = Tiles.of(rows, others, values)
    rest = (values, rows.take(left))
    launches = launch_tiles(backend, operation, values, tiles)
    return [*launches, *reduce_rows(backend, operation, rest, rest)]


def _is_worth_tiles(backend: Backend, values: Values, rows: Rows) -> bool:
    """Whether there are many indices, and all components begin where sectors do."""
    pitch, address = values.pitch * values.array.dtype.itemsize, backend.address(values.array)
    many = rows.indices is not None and MIN_INDICES <= len(rows.indices) < MAX_INDICES
    return many and pitch % SECTOR == 0 and address % SECTOR == 0


def launch_tiles(backend: Backend, operation: str, values: Values, tiles: Tiles) -> list[Launch]:
    """The launch that reduces the rows of some tiles; none without tiles."""
    count = len(tiles.table)
    if not count:
        return []
    constants = {
        **reduction_constants(str(values.array.dtype), operation),
        "MAX_THREADS_PER_BLOCK": THREADS,
        "MIN_BLOCKS_PER_SM": MIN_BLOCKS_PER_SM,
    }
    tables = [backend.to_device(table) for table in (tiles.table, tiles.sectors, tiles.indices)]
    return [
        backend.compile(Source(SOURCE, constants)).launch(
            "assemble_tiles",
            Blocks(count * values.components, THREADS),
            *(values.array, values.pitch, *tables, count, values.components),
        )
    ]


@dataclass(frozen=True, eq=False)
class Tiles:
    """Sets of sectors with all rows that have indices in them, laid out as in tiles.h.

    Args:
        table: a record for each tile.
        sectors: of all tiles, those of each in rising order.
        indices: of their rows, among the values of a tile's sectors, two in a word.
    """

    table: NDArray[np.int32]
    sectors: NDArray[np.int32]
    indices: NDArray[np.uint32]

    @classmethod
    def of(cls, rows: Rows, others: Rows, values: Values) -> tuple[Tiles, Numbers]:
        """Tiles of an array that is aligned to sectors, and the numbers of the rows in none.

        Arguments as of `reduce_in_place`.
        """
        assert rows.offsets is not None and rows.indices is not None
        length = SECTOR // values.array.dtype.itemsize
        sector, count = rows.indices // length, -(-values.count // length)
        group = _connect(sector, rows.offsets, count)
        # Exclude sectors that others write to, incomplete ones, and those of rows that do not fit.
        excluded = np.zeros(count, bool)
        excluded[group[others.all_indices // length]] = True
        excluded[group[values.count // length :]] = True
        low, high = (f.reduceat(group[sector], rows.offsets[:-1]) for f in (np.minimum, np.maximum))
        unfit = (low != high) | (rows.sizes > WIDTHS[-1])
        excluded[group[sector[np.repeat(unfit, rows.sizes)]]] = True
        used = np.zeros(count, bool)
        used[sector] = True
        # A tile has room for half as many pairs of indices as its sectors have values.
        pairs = np.bincount(low, padded_size(rows.sizes) // 2, minlength=count).astype(np.int64)
        sizes = np.maximum(np.bincount(group[used], minlength=count), -(-2 * pairs // length))
        excluded |= sizes > SECTORS
        groups, inside = np.flatnonzero((sizes > 0) & ~excluded), ~excluded[low]
        tile_of = np.full(count, -1)
        tile_of[groups] = pack_groups(sizes[groups])
        tiled, sectors = rows.take(np.flatnonzero(inside)), np.flatnonzero(used & ~excluded[group])
        return cls._make(tiled, sectors, tile_of[group], length), np.flatnonzero(~inside)

    @classmethod
    def _make(cls, rows: Rows, sectors: Numbers, tile_of: Numbers, length: int) -> Tiles:
        """Tiles of these rows and sectors of `length` values, given the tile of each sector."""
        if not rows.count:
            return cls(np.empty((0, 8), np.int32), np.empty(0, np.int32), np.empty(0, np.uint32))
        assert rows.offsets is not None and rows.indices is not None
        tile = tile_of[sectors]
        sectors, counts = sectors[np.argsort(tile, kind="stable")], np.bincount(tile)
        first = np.cumsum(counts) - counts
        number = np.empty(len(tile_of), np.int64)
        number[sectors] = np.arange(len(sectors)) - np.repeat(first, counts)
        local = number[rows.indices // length] * length + rows.indices % length
        tile = tile_of[rows.indices[rows.offsets[:-1]] // length]
        key = len(WIDTHS) * tile + np.searchsorted(WIDTHS, padded_size(rows.sizes))
        order = np.argsort(key, kind="stable")
        runs, begin, count = np.unique(key[order], return_index=True, return_counts=True)
        by_width = Rows(rows.count, rows.offsets, local).take(order)
        (widths, _), indices = to_ellpack([by_width], begin, count)
        table = np.zeros((len(counts), 8), np.int32)
        table[:, 0], table[:, 1] = first, counts
        np.add.at(table[:, 3], runs // len(WIDTHS), widths * count // 2)
        table[:, 2] = np.cumsum(table[:, 3]) - table[:, 3]
        table[runs // len(WIDTHS), 4 + runs % len(WIDTHS)] = count
        return cls(table, sectors.astype(np.int32), indices.astype(np.uint16).view(np.uint32))


def pack_groups(sizes: Numbers) -> Numbers:
    """The tile of each group of sectors: as many groups as fit, one after another."""
    ends, firsts = np.cumsum(sizes), [0]
    while firsts[-1] < len(sizes):
        begin = ends[firsts[-1]] - sizes[firsts[-1]]
        firsts.append(int(np.searchsorted(ends, begin + SECTORS, side="right")))
    return np.repeat(np.arange(len(firsts) - 1), np.diff(firsts))


def _connect(sector: Numbers, offsets: Numbers, count: int) -> Numbers:
    """The group of each sector: one for sectors that rows connect, unless ROUNDS do not suffice."""
    group, sizes = np.arange(count), np.diff(offsets)
    for _ in range(ROUNDS):
        low = np.minimum.reduceat(group[sector], offsets[:-1])
        joined = group.copy()
        np.minimum.at(joined, sector, np.repeat(low, sizes))
        joined = joined[joined]
        if np.array_equal(joined, group):
            break
        group = joined
    return group
