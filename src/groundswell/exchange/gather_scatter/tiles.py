"""Rows of places in one array by tiles: sets of sectors that memory moves whole; see tiles.h."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Blocks, Constant, Launch, Source
from groundswell.exchange.gather_scatter.rows import (
    OPERATIONS,
    TYPES,
    Numbers,
    Rows,
    Values,
    padded_size,
    reduce_rows,
    sliced,
)

SOURCE = Path(__file__).with_name("tiles.h")
SECTOR = 32  # bytes
SECTORS = 192  # of a tile, at most
THREADS = 128
MIN_BLOCKS_PER_SM = 9  # of a processor: with fewer memory idles, more take its cache away
WIDTHS = (2, 4, 8)  # places of the rows that tiles can hold
ROUNDS = 8  # of joining sectors; tiles are for those that few rows connect
MOST = 1 << 31  # places that tables of tiles can count
FEWEST = 1 << 20  # places that are worth another launch; those of fewer stay in caches


def reduce_in_place(
    backend: Backend, operation: str, values: Values, rows: Rows, others: Rows
) -> list[Launch]:
    """Launches that store each row's sum, product, ... in all of that row's places.

    Args:
        rows: of at least two places each; none belongs to two.
        others: places that may be written meanwhile.
    """
    pitch = values.pitch * values.array.dtype.itemsize
    aligned = pitch % SECTOR == 0 and backend.address(values.array) % SECTOR == 0
    few = rows.places is None or not FEWEST <= len(rows.places) < MOST
    if backend.on_host or not aligned or few:
        return reduce_rows(backend, operation, (values, rows), (values, rows))
    tiles, left = Tiles.of(rows, others, values)
    rest = rows.take(left)
    return [
        *launch_tiles(backend, operation, values, tiles),
        *reduce_rows(backend, operation, (values, rest), (values, rest)),
    ]


def launch_tiles(backend: Backend, operation: str, values: Values, tiles: Tiles) -> list[Launch]:
    """A launch for some tiles; none without."""
    count = len(tiles.table)
    if not count:
        return []
    constants: dict[str, Constant] = {
        "VALUE": TYPES[str(values.array.dtype)],
        "OPERATION": OPERATIONS[operation],
        "MAX_THREADS_PER_BLOCK": THREADS,
        "MIN_BLOCKS_PER_SM": MIN_BLOCKS_PER_SM,
    }
    return [
        backend.compile(Source(SOURCE, constants)).launch(
            "assemble_tiles",
            Blocks(count * values.components, THREADS),
            *(values.array, values.pitch, backend.to_device(tiles.table)),
            *(backend.to_device(tiles.sectors), backend.to_device(tiles.places)),
            *(count, values.components),
        )
    ]


@dataclass(frozen=True, eq=False)
class Tiles:
    """Sets of sectors with all rows that have places in them, as tiles.h wants them.

    Args:
        table: of the tiles.
        sectors: of all tiles, those of each in rising order.
        places: of their rows, among the values of a tile's sectors, two in a word.
    """

    table: NDArray[np.int32]
    sectors: NDArray[np.int32]
    places: NDArray[np.uint32]

    @classmethod
    def of(cls, rows: Rows, others: Rows, values: Values) -> tuple[Tiles, Numbers]:
        """Tiles of an array that begins where a sector does, and the rows that are in none.

        Arguments as of `reduce_in_place`.
        """
        assert rows.starts is not None and rows.places is not None
        length = SECTOR // values.array.dtype.itemsize
        sector, count = rows.places // length, -(-values.count // length)
        group = _joined(sector, rows.starts, count)
        # Those that others write to, that are not whole, whose rows are too long, or too many.
        open_ = np.zeros(count, bool)
        open_[group[others.every // length]] = True
        open_[group[values.count // length :]] = True
        low, high = (f.reduceat(group[sector], rows.starts[:-1]) for f in (np.minimum, np.maximum))
        unfit = (low != high) | (rows.sizes > WIDTHS[-1])
        open_[group[sector[np.repeat(unfit, rows.sizes)]]] = True
        used = np.zeros(count, bool)
        used[sector] = True
        # A tile has room for half as many pairs of places as its sectors have values.
        pairs = np.bincount(low, padded_size(rows.sizes) // 2, minlength=count).astype(np.int64)
        sizes = np.maximum(np.bincount(group[used], minlength=count), -(-2 * pairs // length))
        open_ |= sizes > SECTORS
        groups, inside = np.flatnonzero((sizes > 0) & ~open_), ~open_[low]
        tile_of = np.full(count, -1)
        tile_of[groups] = cut(sizes[groups])
        kept, sectors = rows.take(np.flatnonzero(inside)), np.flatnonzero(used & ~open_[group])
        return cls._made(kept, sectors, tile_of[group], length), np.flatnonzero(~inside)

    @classmethod
    def _made(cls, rows: Rows, sectors: Numbers, tile_of: Numbers, length: int) -> Tiles:
        """Tiles of these rows and sectors, given the tile of each sector."""
        if not rows.count:
            return cls(np.empty((0, 8), np.int32), np.empty(0, np.int32), np.empty(0, np.uint32))
        assert rows.starts is not None and rows.places is not None
        tile = tile_of[sectors]
        order = np.argsort(tile, kind="stable")
        sectors, counts = sectors[order], np.bincount(tile)
        first = np.cumsum(counts) - counts
        number = np.empty(len(tile_of), np.int64)
        number[sectors] = np.arange(len(sectors)) - np.repeat(first, counts)
        local = number[rows.places // length] * length + rows.places % length
        tile = tile_of[rows.places[rows.starts[:-1]] // length]
        width = np.searchsorted(WIDTHS, padded_size(rows.sizes))
        key = len(WIDTHS) * tile + width
        order = np.argsort(key, kind="stable")
        runs, begin, count = np.unique(key[order], return_index=True, return_counts=True)
        widths, _, places = sliced(Rows(rows.count, rows.starts, local).take(order), begin, count)
        table = np.zeros((len(counts), 8), np.int32)
        table[:, 0], table[:, 1] = first, counts
        np.add.at(table[:, 3], runs // len(WIDTHS), widths * count // 2)
        table[:, 2] = np.cumsum(table[:, 3]) - table[:, 3]
        table[runs // len(WIDTHS), 4 + runs % len(WIDTHS)] = count
        return cls(table, sectors.astype(np.int32), places.astype(np.uint16).view(np.uint32))


def cut(sizes: Numbers) -> Numbers:
    """The tile of each group of sectors: as many groups as fit, one after another."""
    ends, firsts = np.cumsum(sizes), [0]
    while firsts[-1] < len(sizes):
        begin = ends[firsts[-1]] - sizes[firsts[-1]]
        firsts.append(int(np.searchsorted(ends, begin + SECTORS, side="right")))
    return np.repeat(np.arange(len(firsts) - 1), np.diff(firsts))


def _joined(sector: Numbers, starts: Numbers, count: int) -> Numbers:
    """A number for each sector, the same for sectors that rows connect, unless many do."""
    group, sizes = np.arange(count), np.diff(starts)
    for _ in range(ROUNDS):
        low = np.minimum.reduceat(group[sector], starts[:-1])
        joined = group.copy()
        np.minimum.at(joined, sector, np.repeat(low, sizes))
        joined = joined[joined]
        if np.array_equal(joined, group):
            break
        group = joined
    return group
