"""Row operations in tiles give the same bits as row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.bench.exchange.assembly import box_ids
from groundswell.exchange.gather_scatter import tiles as module
from groundswell.exchange.gather_scatter.rows import OPERATIONS, TYPES, Rows, Values, reduce_rows
from groundswell.exchange.gather_scatter.tiles import SECTOR, SECTORS, Tiles, launch_tiles


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def every_copy_of(ids: Any) -> Rows:
    """Rows of the ids that occur several times."""
    _, rows, counts = np.unique(ids, return_inverse=True, return_counts=True)
    every = Rows.from_pairs(len(counts), rows, np.arange(len(ids)))
    return every.take(np.flatnonzero(counts > 1))


def copies_of(ids: Any) -> tuple[Rows, Rows]:
    """Most of these rows, and every ninth, which others write to."""
    every = every_copy_of(ids)
    ninth = np.arange(every.count) % 9 == 0
    return every.take(np.flatnonzero(~ninth)), every.take(np.flatnonzero(ninth))


def random_ids(rng: np.random.Generator, degree: int, elements: int) -> Any:
    """A mesh whose elements are numbered at random, with some values without copies."""
    ids = box_ids(elements, degree, 0).reshape(elements**3, -1)[rng.permutation(elements**3)]
    ids = ids.ravel()
    single = rng.random(len(ids)) < 0.05
    ids[single] = 10**6 + np.arange(single.sum())
    return np.concatenate([ids, 10**7 + np.arange(rng.integers(0, 9))])


@pytest.mark.parametrize("operation", list(OPERATIONS))
@pytest.mark.parametrize("dtype", list(TYPES))
@settings(max_examples=10)
@given(degree=st.integers(1, 8), elements=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_tiles_and_the_rows_that_are_left_are_all(
    backend: Backend, dtype: str, operation: str, degree: int, elements: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    ids = random_ids(rng, degree, elements)
    rows, others = copies_of(ids)
    pitch = -(-len(ids) // 8) * 8
    given = rng.integers(-100, 100, (2, pitch)).astype(dtype)
    arrays = [backend.to_device(given) for _ in range(2)]
    wanted, got = (Values(array[:, : len(ids)]) for array in arrays)
    in_order(reduce_rows(backend, operation, (wanted, rows), (wanted, rows)))()
    if not rows.count:
        return
    tiles, left = Tiles.of(rows, others, got)
    require_closed(tiles, got, others)
    rest = rows.take(left)
    in_order(launch_tiles(backend, operation, got, tiles))()
    in_order(reduce_rows(backend, operation, (got, rest), (got, rest)))()
    assert arrays[0].tobytes() == arrays[1].tobytes()


def require_closed(tiles: Tiles, values: Values, others: Rows) -> None:
    """No sector belongs to two tiles, to others, or in part to what lies behind the array."""
    length = SECTOR // values.array.dtype.itemsize
    assert len(np.unique(tiles.sectors)) == len(tiles.sectors) == tiles.table[:, 1].sum()
    assert not np.isin(others.all_indices // length, tiles.sectors).any()
    assert tiles.sectors.max(initial=-1) < values.count // length
    assert tiles.table[:, 1].max(initial=0) <= SECTORS
    assert tiles.table[:, 3].max(initial=0) <= SECTORS * length // 2


@pytest.mark.parametrize(("dtype", "degree"), [("float64", 7), ("float32", 7), ("float64", 3)])
def test_elements_whose_rows_are_sectors_are_all_in_tiles(dtype: str, degree: int) -> None:
    """NekBone's elements, and those like them; tiles are full, and each sector is moved once."""
    ids = box_ids(12, degree, 0)
    rows = every_copy_of(ids)
    tiles, left = Tiles.of(rows, Rows.contiguous(0, 0), Values(np.zeros(len(ids), dtype)))
    assert not len(left)
    assert tiles.table[:, 1].mean() > 0.5 * SECTORS


@pytest.mark.parametrize("links", [SECTORS + 1, 300_000])
def test_rows_that_connect_too_many_sectors_are_left(links: int) -> None:
    """A chain: the last value of each sector is the first of the next one."""
    single = 10**6 + np.arange(2 * links).reshape(links, 2)
    ids = np.column_stack([np.arange(links), single, np.arange(links) + 1])
    ids = np.concatenate([np.arange(2 * 10**6, 2 * 10**6 + 4).repeat(4), ids.ravel()])
    rows = every_copy_of(ids)
    tiles, left = Tiles.of(rows, Rows.contiguous(0, 0), Values(np.zeros(len(ids))))
    assert tiles.sectors.tolist() == [0, 1, 2, 3]
    assert len(left) == rows.count - 4


def test_groups_are_cut_into_tiles_that_hold_them() -> None:
    sizes = np.random.default_rng().integers(1, SECTORS + 1, 1000)
    tile = module.pack_groups(sizes)
    assert np.bincount(tile, sizes).max() <= SECTORS and (np.diff(tile) >= 0).all()
    assert module.pack_groups(np.empty(0, np.int64)).size == 0
