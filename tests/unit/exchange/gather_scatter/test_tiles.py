"""Row operations in tiles give the same bits as row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from emulated_backend import EmulatedBackend
from hypothesis import given, settings
from hypothesis import strategies as st
from source_collector import aligned_zeros
from variants import long_variants

from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.sliced_ellpack import SparseRows
from groundswell.bench.exchange.assembly import box_ids
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.gather_scatter import GatherScatter
from groundswell.exchange.gather_scatter import tiles as module
from groundswell.exchange.gather_scatter.rows import OPERATIONS, TYPES, Operand, reduce_rows
from groundswell.exchange.gather_scatter.sharing import find_sharing
from groundswell.exchange.gather_scatter.tiles import (
    SECTOR,
    SECTORS,
    make_tiles,
    pack_groups,
    reduce_in_place,
)

pytestmark = pytest.mark.each_value


class Gpu(CpuBackend):
    """Kernels of a GPU's backend that run on the CPU."""

    on_host = False


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    with patch.object(module, "MIN_INDICES", 0):
        yield Gpu()


def launches_of(
    backend: Backend, operation: str, values: Operand, rows: SparseRows, others: SparseRows
) -> Any:
    """The launches, and the names of their kernels."""
    launches = reduce_in_place(backend, operation, values, rows, others)
    return in_order(launches), [launch.name for launch in launches]


def every_copy_of(ids: Any) -> SparseRows:
    """Rows of the ids that occur several times."""
    _, rows, counts = np.unique(ids, return_inverse=True, return_counts=True)
    every = SparseRows.from_pairs(len(counts), rows, np.arange(len(ids)))
    return every.take(np.flatnonzero(counts > 1))


def copies_of(ids: Any) -> tuple[SparseRows, SparseRows]:
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
    arrays = [aligned_zeros(given.shape, dtype) for _ in range(2)]
    for array in arrays:
        array[:] = given
    wanted, got = (Operand(array[:, : len(ids)]) for array in arrays)
    in_order(reduce_rows(backend, operation, (wanted, rows), (wanted, rows)))()
    if not rows.count:
        return
    *tables, left = make_tiles(rows, others, got)
    require_closed(*tables, got, others)
    run, names = launches_of(backend, operation, got, rows, others)
    run()
    assert names == ["assemble"] * (left.count > 0) + ["assemble_tiles"] * (len(tables[0]) > 0)
    assert arrays[0].tobytes() == arrays[1].tobytes()


def require_closed(
    tiles: Any, sectors: Any, indices: Any, values: Operand, others: SparseRows
) -> None:
    """No sector belongs to two tiles, to others, or in part to what lies behind the array."""
    length = SECTOR // values.array.dtype.itemsize
    assert len(np.unique(sectors)) == len(sectors) == tiles[:, 1].sum()
    assert not np.isin(others.all_indices // length, sectors).any()
    assert sectors.max(initial=-1) < values.count // length
    assert tiles[:, 1].max(initial=0) <= SECTORS
    assert tiles[:, 3].max(initial=0) <= SECTORS * length // 2
    assert tiles[:, 3].sum() == len(indices)


@pytest.mark.parametrize(("dtype", "degree"), [("float64", 7), ("float32", 7), ("float64", 3)])
def test_elements_whose_rows_are_sectors_are_all_in_tiles(dtype: str, degree: int) -> None:
    """NekBone's elements, and those like them; tiles are full, and each sector is moved once."""
    ids = box_ids(12, degree, 0)
    nothing = SparseRows.contiguous(0, 0)
    tiles, *_, left = make_tiles(every_copy_of(ids), nothing, Operand(np.zeros(len(ids), dtype)))
    assert not left.count
    assert tiles[:, 1].mean() > 0.5 * SECTORS


@pytest.mark.parametrize("links", [SECTORS + 1, 300_000])
def test_rows_that_connect_too_many_sectors_are_left(links: int) -> None:
    """A chain: the last value of each sector is the first of the next one."""
    single = 10**6 + np.arange(2 * links).reshape(links, 2)
    ids = np.column_stack([np.arange(links), single, np.arange(links) + 1])
    ids = np.concatenate([np.arange(2 * 10**6, 2 * 10**6 + 4).repeat(4), ids.ravel()])
    rows, nothing = every_copy_of(ids), SparseRows.contiguous(0, 0)
    _, sectors, _, left = make_tiles(rows, nothing, Operand(np.zeros(len(ids))))
    assert sectors.tolist() == [0, 1, 2, 3]
    assert left.count == rows.count - 4


def test_groups_are_cut_into_tiles_that_hold_them() -> None:
    sizes = np.random.default_rng(1).integers(1, SECTORS + 1, 1000)
    tile = pack_groups(sizes)
    assert np.bincount(tile, sizes).max() <= SECTORS and (np.diff(tile) >= 0).all()
    assert pack_groups(np.empty(0, np.int64)).size == 0


@pytest.mark.parametrize("dtype", ["float32", *long_variants(["float64"])])
def test_tiles_on_an_emulated_gpu(backend: Backend, dtype: str) -> None:
    """Two components of a mesh with rows of all widths."""
    emulated = EmulatedBackend()
    emulated.on_host = False
    ids = random_ids(np.random.default_rng(2), 3, 2)
    rows, others = copies_of(ids)
    given = np.random.default_rng(3).standard_normal((2, -(-len(ids) // 8) * 8)).astype(dtype)
    expected, values = (
        given.copy(),
        Operand(aligned_zeros(given.shape, dtype)[:, : len(ids)]),
    )
    values.array[:] = given[:, : len(ids)]
    *_, left = make_tiles(rows, others, values)
    *_, tiled = reduce_in_place(emulated, "sum", values, rows, others)
    tiled()
    for row in np.split(rows.all_indices, rows.offsets[1:-1]):  # an oracle without tables
        if not np.isin(row, left.all_indices).any():
            expected[:, row] = np.add.accumulate(expected[:, row], axis=1)[:, -1:]
    assert 0 < left.count < rows.count
    assert values.array.tobytes() == expected[:, : len(ids)].tobytes()


@pytest.mark.parametrize(("offset", "least"), [(0, 0), (1, 0), (0, 65)])
def test_rows_go_through_tiles_if_many_begin_where_sectors_do(
    backend: Backend, offset: int, least: int
) -> None:
    rows, array = SparseRows(32, 2 * np.arange(33), np.arange(64)), aligned_zeros((68,), "float64")
    array += 1
    values = Operand(array[offset:][:64])
    with patch.object(module, "MIN_INDICES", least):
        run, names = launches_of(backend, "sum", values, rows, SparseRows.contiguous(0, 0))
    run()
    assert names == ["assemble_tiles" if (offset, least) == (0, 0) else "assemble"]
    assert (values.array == 2).all()


def test_arrays_that_replace_others_are_tiled_if_they_begin_where_sectors_do(
    backend: Backend,
) -> None:
    ids = box_ids(3, 3, 0)
    arrays = [aligned_zeros((len(ids) + 4,), "float64")[n:][: len(ids)] for n in (0, 0, 1, 0)]
    for array in arrays:
        array[:] = np.random.default_rng(4).integers(-9, 9, len(ids))
    expected = [np.bincount(ids, array)[ids] for array in arrays]
    sharing = find_sharing(SerialCommunicator(), ids)
    work = GatherScatter(backend, sharing, "gather-scatter", (arrays[0], arrays[0]))
    tiled = []
    for array in arrays:
        work.bind(array, array)
        in_order(work.launches)()
        tiled += ["assemble_tiles" in {launch.name for launch in work.local}]
    assert tiled == [True, True, False, True]
    assert all(map(np.array_equal, arrays, expected))
