"""Row operations, and the four operations on one rank, against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groundswell.backends import Backend, open_backend
from groundswell.backends import sliced_ellpack as module
from groundswell.backends.base import in_order
from groundswell.backends.sliced_ellpack import SparseRows
from groundswell.errors import InputError
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.gather_scatter import GatherScatter
from groundswell.exchange.gather_scatter.rows import OPERATIONS, TYPES, Operand, reduce_rows
from groundswell.exchange.gather_scatter.sharing import NO_ID, find_sharing
from groundswell.exchange.gather_scatter.transfers import Connection

pytestmark = pytest.mark.each_value

REDUCE: dict[str, Any] = {"sum": np.add, "multiply": np.multiply, "min": np.minimum}
REDUCE["max"] = np.maximum


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


def random_rows(rng: np.random.Generator, count: int, values: int) -> tuple[SparseRows, list[Any]]:
    """Rows of one to five places each, and these as lists."""
    lists = [rng.integers(0, values, rng.integers(1, 6)) for _ in range(count)]
    pairs = np.repeat(np.arange(count), [len(found) for found in lists])
    return SparseRows.from_pairs(count, pairs, np.concatenate(lists)), lists


@pytest.mark.parametrize("dtype", list(TYPES))
@pytest.mark.parametrize("operation", list(OPERATIONS))
def test_rows_are_reduced_in_order(backend: Backend, dtype: str, operation: str) -> None:
    rng = np.random.default_rng(1)
    rows, lists = random_rows(rng, 50, 80)
    raw = rng.integers(-(2**31), 2**31, (3, 80)) if "int" in dtype else rng.standard_normal((3, 80))
    source, target = raw.astype(dtype), np.full((3, 120), 99, dtype)
    places = rng.permutation(120)[:50]
    wanted = target.copy()
    with np.errstate(over="ignore"):
        for place, found in zip(places, lists, strict=True):
            result = source[:, found[0]]
            for n in found[1:]:
                result = REDUCE[operation](result, source[:, n])
            wanted[:, place] = result
    work = reduce_rows(
        backend,
        operation,
        (Operand(source), rows),
        (Operand(target), SparseRows.single(places)),
    )
    in_order(work)()
    assert np.array_equal(target, wanted)


@pytest.mark.parametrize("operation", list(OPERATIONS))
def test_nan_wins(backend: Backend, operation: str) -> None:
    source, target = np.array([1.0, np.nan, 2.0, np.nan, 3.0, 1.0]), np.zeros(3)
    rows = SparseRows(3, np.array([0, 2, 4, 6]), np.arange(6))
    in_order(
        reduce_rows(
            backend,
            operation,
            (Operand(source), rows),
            (Operand(target), SparseRows.contiguous(0, 3)),
        )
    )()
    assert np.isnan(target).tolist() == [True, True, False]


def test_a_row_goes_to_several_places(backend: Backend) -> None:
    source, target = np.array([1, 2, 3]), np.zeros(6, np.int64)
    pairs: tuple[NDArray[np.int64], ...] = (np.array([1, 0, 1, 0]), np.array([5, 0, 3, 1]))
    rows = SparseRows.from_pairs(2, *pairs)
    in_order(
        reduce_rows(
            backend,
            "sum",
            (Operand(source), SparseRows.contiguous(1, 3)),
            (Operand(target), rows),
        )
    )()
    assert target.tolist() == [2, 2, 0, 3, 0, 3]


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("most", [1, 3, 12, 40])
def test_many_rows_of_many_sizes(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, in_place: bool, most: int
) -> None:
    """Sorted by size within windows, in slices, they have the same sums."""
    monkeypatch.setattr(module, "WINDOW", 1000)
    monkeypatch.setattr(module, "SLICES_PER_BATCH", 3)
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, most + 1, 3500)
    indices = rng.permutation(sizes.sum())
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    rows = SparseRows(3500, offsets, indices)
    values = rng.integers(-1000, 1000, (2, len(indices)))
    to_rows = rows if in_place else SparseRows.contiguous(2, 3502)
    target = values.copy() if in_place else np.full((2, 3510), 99)
    wanted = target.copy()
    sums = np.add.reduceat(values[:, indices], offsets[:-1], axis=1)
    if in_place:
        wanted[:, indices] = np.repeat(sums, sizes, axis=1)
    else:
        wanted[:, 2:3502] = sums
    source = target if in_place else values
    in_order(reduce_rows(backend, "sum", (Operand(source), rows), (Operand(target), to_rows)))()
    assert np.array_equal(target, wanted)


def test_slices_hold_rows_of_one_width() -> None:
    sizes = np.random.default_rng(3).integers(1, 30, 20_000)
    rows = SparseRows(20_000, np.concatenate([[0], np.cumsum(sizes)]), np.arange(sizes.sum()))
    slices = module.SlicedEllpack.of(rows, SparseRows.contiguous(0, 20_000))
    assert slices.table[:, 1].sum() == 20_000 and slices.table[:, 1].min() > 0
    widths = slices.table[:, 2]
    assert set(widths.tolist()) <= {1, 2, 4, 8, 16, 24, 32}
    assert (widths * slices.table[:, 1]).sum() < 1.4 * sizes.sum()


def test_rows_that_are_taken_out() -> None:
    rows, lists = random_rows(np.random.default_rng(4), 20, 30)
    taken = rows.take(np.array([7, 2, 2]))
    assert taken.offsets is None or taken.indices is not None
    assert taken.sizes.tolist() == [len(lists[n]) for n in (7, 2, 2)]
    assert SparseRows.contiguous(4, 9).take(np.array([3, 1])).indices.tolist() == [7, 5]
    run = rows.take(np.arange(3, 9))
    assert run.offsets[0] == 0 and run.sizes.tolist() == [len(found) for found in lists[3:9]]
    assert run.indices.tolist() == np.concatenate(lists[3:9]).tolist()
    assert SparseRows.contiguous(4, 9).take(np.array([2, 3])).first == 6
    contiguous = SparseRows.single(np.arange(5, 9))
    assert contiguous.indices is None and (contiguous.first, contiguous.count) == (5, 4)


def test_one_rank(backend: Backend) -> None:
    """Without others, all four are sums and copies of its own."""
    ids = np.array([4, 9, 4, NO_ID, 0, 9, 9])
    sharing = find_sharing(SerialCommunicator(), ids)
    assert sharing.ids.tolist() == [0, 4, 9] and sharing.own == sharing.unshared == 3
    local, whole = np.arange(1.0, 8.0), np.full(3, np.nan)

    def run(kind: str, source: Any, target: Any) -> Any:
        work = GatherScatter(backend, sharing, kind, (source, target))
        in_order(work.launches)()
        work.close()
        return target

    assert run("gather", local, whole).tolist() == [5, 4, 15]
    assert run("scatter", whole, local).tolist() == [4, 15, 4, 4, 5, 15, 15]
    assert run("gather-scatter", local, local).tolist() == [8, 45, 8, 4, 5, 45, 45]
    assert run("halo", whole, whole).tolist() == [5, 4, 15]


@pytest.mark.parametrize(
    ("kind", "shapes", "dtypes", "words"),
    [
        (
            "sum",
            (3, 3),
            ("f8", "f8"),
            "'sum' does not exist; allowed: gather, gather-all, scatter, ",
        ),
        ("gather", (3, 3), ("f8", "f8"), "give 3, and 2"),
        ("gather", (3, 2), ("f8", "f4"), "1 component of"),
        ("gather", ((2, 3), 2), ("f8", "f8"), "2 components of float64 into 1"),
        ("gather", (3, 2), ("f2", "f2"), "values of type float16; allowed: float32"),
        ("gather", ((2, 2, 3), 2), ("f8", "f8"), "give one of shape"),
    ],
)
def test_what_does_not_fit(
    backend: Backend, kind: str, shapes: Any, dtypes: Any, words: str
) -> None:
    sharing = find_sharing(SerialCommunicator(), np.array([1, 2, 1]))
    source, target = (np.zeros(s, d) for s, d in zip(shapes, dtypes, strict=True))
    with pytest.raises(InputError, match=words):
        GatherScatter(backend, sharing, kind, (source, target))


def test_an_unknown_reduction(backend: Backend) -> None:
    sharing = find_sharing(SerialCommunicator(), np.array([1, 2, 1]))
    with pytest.raises(InputError, match="reduction 'mean' does not exist; allowed: sum"):
        GatherScatter(backend, sharing, "gather", (np.zeros(3), np.zeros(2)), reduction="mean")


def test_an_unknown_route(backend: Backend) -> None:
    sharing = find_sharing(SerialCommunicator(), np.array([1, 2, 1]))
    arrays = np.zeros(3), np.zeros(2)
    with pytest.raises(InputError, match="route 'ring' does not exist; allowed: pairwise"):
        GatherScatter(backend, sharing, "gather", arrays, connection=Connection(route="ring"))


def test_values_with_gaps(backend: Backend) -> None:
    with pytest.raises(InputError, match="contiguous values"):
        Operand(np.zeros((2, 6))[:, ::2])
    padded = np.zeros((2, 6))[:, :3]
    assert Operand(padded).pitch == 6
