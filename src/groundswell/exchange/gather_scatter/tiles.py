"""Row operations in place on arrays too large for caches, in tiles (tiles.h).

A GPU moves memory in sectors of 32 bytes. A tile is a set of sectors and all rows with values in
them, so each sector is loaded and stored only once, even if it belongs to several rows.
"""

from __future__ import annotations

import numpy as np

from groundswell.arrays import HostArray, Integers
from groundswell.backends import Backend, Blocks, Launch
from groundswell.backends.sliced_ellpack import PADDING, SparseRows, fill, padded_size
from groundswell.exchange.gather_scatter.rows import Operand, reduce_rows, row_source

SECTOR = 32  # bytes
SECTORS = 192  # largest number of sectors of a tile; this and the next two as in tiles.h
WIDTHS = np.array([2, 4, 8])  # possible numbers of indices in a tile's rows
THREADS = 128
MIN_INDICES = 1 << 20  # smaller arrays stay in caches
MAX_INDICES = 1 << 31  # tables cannot index larger arrays
MIN_BLOCKS_PER_SM = 9  # fewer do not hide memory latency, more leave too little cache


def reduce_in_place(
    backend: Backend, operation: str, values: Operand, rows: SparseRows, others: SparseRows
) -> list[Launch]:
    """Launches that reduce rows of several indices in place, in tiles where that is faster.

    Args:
        others: rows of indices to which other kernels may write at the same time.
    """
    pitch, address = values.pitch * values.array.dtype.itemsize, backend.address(values.array)
    many = MIN_INDICES <= len(rows.all_indices) < MAX_INDICES
    if backend.on_host or not many or pitch % SECTOR or address % SECTOR:
        return reduce_rows(backend, operation, (values, rows), (values, rows))
    *tables, left = make_tiles(rows, others, values)
    launches = reduce_rows(backend, operation, (values, left), (values, left))
    if count := len(tables[0]):
        kind = str(values.array.dtype), operation
        bounds = {"MAX_THREADS_PER_BLOCK": THREADS, "MIN_BLOCKS_PER_SM": MIN_BLOCKS_PER_SM}
        tiles, sectors, indices = map(backend.to_device, tables)
        kernels = backend.compile(row_source("tiles.h", kind, **bounds))
        blocks = Blocks(count * values.components, THREADS)
        sizes = {"pitch": values.pitch, "count": count, "components": values.components}
        arrays = {"values": values.array, "tiles": tiles, "sectors": sectors, "indices": indices}
        launches.append(kernels.launch("assemble_tiles", blocks, **arrays, **sizes))
    return launches


def make_tiles(
    rows: SparseRows, others: SparseRows, values: Operand
) -> tuple[HostArray, HostArray, HostArray, SparseRows]:
    """Tiles of an array that begins at a sector boundary.

    Returns:
        The tiles, their sectors and their indices as in tiles.h; the rows that fit in no tile.
    """
    length = SECTOR // values.array.dtype.itemsize
    tile = _tile_of_sectors(rows, others, values.count, length)
    tile_of_row = tile[_first_indices(rows) // length]
    tiled, left = (rows.take(np.flatnonzero(x)) for x in (tile_of_row >= 0, tile_of_row < 0))
    used, sizes = np.flatnonzero(tile >= 0), np.bincount(tile[tile >= 0])
    sectors, begins = used[np.argsort(tile[used], kind="stable")], np.cumsum(sizes) - sizes
    place = np.zeros(len(tile), np.int64)  # position of a sector in its tile
    place[sectors] = np.arange(len(sectors)) - np.repeat(begins, sizes)
    local = place[tiled.all_indices // length] * length + tiled.all_indices % length
    tiled = SparseRows(tiled.count, tiled.offsets, local)
    counts, ends, indices = _slices(tiled, tile_of_row[tile_of_row >= 0], len(sizes))
    pairs = ends[:: len(WIDTHS)] // 2
    columns = begins, sizes, pairs[:-1], np.diff(pairs), counts, np.zeros_like(sizes)
    tiles = np.column_stack(columns)  # as Tile of tiles.h
    return tiles.astype(np.int32), sectors.astype(np.int32), indices, left


def _slices(rows: SparseRows, tile: Integers, tiles: int) -> tuple[Integers, Integers, HostArray]:
    """The rows of each width in each tile, as slices of sliced_ellpack.py.

    Returns:
        Numbers of rows, (tiles, widths); ends of the slices' indices, and 0 before; the indices.
    """
    widths = np.searchsorted(WIDTHS, padded_size(rows.sizes))
    slices = tile * len(WIDTHS) + widths
    counts = np.bincount(slices, minlength=tiles * len(WIDTHS))
    ends = np.append(0, np.cumsum(np.tile(WIDTHS, tiles) * counts))
    table, ordered = np.full(ends[-1], PADDING), rows.take(np.argsort(slices, kind="stable"))
    fill(table, ordered, (np.cumsum(counts) - counts, counts, ends[:-1]))
    return counts.reshape(tiles, len(WIDTHS)), ends, table.astype(np.uint16).view(np.uint32)


def _tile_of_sectors(rows: SparseRows, others: SparseRows, count: int, length: int) -> Integers:
    """The tile of each sector of `count` values, or -1: sectors that rows connect share one.

    A sector is in no tile if it has no rows, is incomplete, contains indices of `others`, or is
    connected to such sectors, by rows that are too long, or to too many sectors.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sector, sizes, end = rows.all_indices // length, padded_size(rows.sizes), -(-count // length)
    first = _first_indices(rows) // length
    long, incomplete = first[sizes > WIDTHS[-1]], np.arange(count // length, end)
    outside = np.concatenate([others.all_indices // length, incomplete, long])
    # One additional node, `end`, connects all sectors that are in no tile.
    nodes = np.concatenate([np.repeat(first, rows.sizes), np.full(len(outside), end)])
    edges = nodes, np.concatenate([sector, outside])
    graph = coo_array((np.ones(len(nodes), bool), edges), shape=(end + 1, end + 1))
    groups, group = connected_components(graph, directed=False)
    used = np.bincount(sector, minlength=end + 1) > 0
    # A tile can store as many indices as its sectors have values.
    room = -(-np.bincount(group[first], sizes, groups) // length)
    room = np.maximum(room, np.bincount(group, used, groups)).astype(np.int64)
    fits = (room <= SECTORS) & (np.arange(groups) != group[end])
    tile = np.full(groups, -1)
    tile[fits] = pack_groups(room[fits])
    return np.where(used, tile[group], -1)[:end]


def _first_indices(rows: SparseRows) -> Integers:
    assert rows.offsets is not None
    return rows.all_indices[rows.offsets[:-1]]


def pack_groups(sizes: Integers) -> Integers:
    """The tile of each group of sectors; consecutive groups share a tile while they fit."""
    ends, firsts = np.cumsum(sizes), [0]
    while firsts[-1] < len(sizes):
        begin = ends[firsts[-1]] - sizes[firsts[-1]]
        firsts.append(int(np.searchsorted(ends, begin + SECTORS, side="right")))
    return np.repeat(np.arange(len(firsts) - 1), np.diff(firsts))
