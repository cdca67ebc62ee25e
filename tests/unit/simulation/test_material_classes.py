"""Tables of materials with the classes of cells, and the number of different materials."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.simulation.material_classes import MOST, ClassCount, ClassTable, class_bytes

rng = np.random.default_rng(41)


# --- the table ------------------------------------------------------------------------------------


def random_values(count: int, shape: tuple[int, ...], dtype: str) -> list[NDArray[Any]]:
    """Three properties of random cells of so many materials, some of them infinite."""
    materials = rng.normal(size=(count, 3)).astype(dtype)
    materials[::5, 2] = np.inf
    chosen = np.sort(rng.integers(0, count, shape), axis=-1)  # with runs along x
    return [materials[chosen, n] for n in range(3)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_record_has_the_bits_of_its_cells(dtype: str) -> None:
    table = ClassTable(3, dtype)
    first, second = (random_values(300, (5, 7, 40), dtype) for _ in range(2))
    for values in (first, second, first):
        classes = table.classify(values)
        assert classes.dtype == np.uint16 and classes.shape == values[0].shape
        for n, column in enumerate(table.records.T):
            assert column[classes].tobytes() == values[n].tobytes()
    assert len(np.unique(table.records, axis=0)) == len(table.records)


def test_materials_that_were_found_keep_their_classes() -> None:
    table, values = ClassTable(3, "float32"), random_values(50, (4, 4, 30), "float32")
    before = table.classify(values)
    table.classify(random_values(50, (4, 4, 30), "float32"))
    assert (table.classify(values) == before).all()


def test_65536_materials_are_allowed_and_no_more() -> None:
    table = ClassTable(1, "float32")
    parts = np.split(rng.permutation(MOST).astype("float32"), 8)
    assert sorted(np.concatenate([table.classify([part]) for part in parts])) == [*range(MOST)]
    with pytest.raises(InputError, match="more than 65,536 different materials"):
        table.classify([np.float32([-1, 3, -2])])


def test_two_materials_with_one_key_are_not_confused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "groundswell.simulation.material_classes"
    monkeypatch.setattr(f"{module}._keys", lambda flat: np.zeros(flat[0].size, np.uint64))
    with pytest.raises(RuntimeError, match="same key"):
        ClassTable(1, "float32").classify([np.float32([1, 2])])


def test_threads_may_classify_parts_of_a_medium() -> None:
    table, values = ClassTable(3, "float32"), random_values(400, (64, 5, 60), "float32")
    with ThreadPoolExecutor(4) as threads:
        parts = [[v[k] for v in values] for k in range(64)]
        classes = np.stack([*threads.map(table.classify, parts)])
    assert len(table.records) == len(np.unique(np.stack([*map(np.ravel, values)]), axis=1).T)
    for n, column in enumerate(table.records.T):
        assert np.array_equal(column[classes], values[n])


def test_classes_have_8_or_16_bits() -> None:
    assert [class_bytes(n) for n in (1, 256, 257, MOST)] == [1, 1, 2, 2]


# --- the count ------------------------------------------------------------------------------------


def test_the_count_is_that_of_the_table() -> None:
    first, second, both = ClassCount(), ClassCount(), ClassTable(3, "float32")
    for count in (first, second):
        for _ in range(3):
            values = random_values(200, (5, 60), "float32")
            count.add(values)
            both.classify(values)
    assert first.value and second.value and first.value + second.value == len(both.records)
    first.merge(pickle.loads(pickle.dumps(second)))
    first.merge(second)
    assert first.value == len(both.records)


def test_more_materials_than_a_table_has_are_not_counted() -> None:
    count, other = ClassCount(), ClassCount()
    count.add([np.arange(MOST, dtype="float32")])
    assert count.value == MOST
    other.add([np.float32([-1])])
    count.merge(other)
    assert count.value is None
    count.add([np.float32([-1])])
    other.merge(count)
    assert count.value is None and other.value is None
