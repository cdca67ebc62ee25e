"""Values with copies as users exchange them, on one rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.exchange import Numbering

IDS = [4, 9, 4, -1, 0, 9, 9]


def test_the_four_operations() -> None:
    with Numbering(IDS) as numbering:
        u = np.arange(1.0, 8.0)
        assert numbering.ids.tolist() == [0, 4, 9] and numbering.own == 3
        v = numbering.gather(u)
        assert v.tolist() == [5, 4, 15]
        assert numbering.gather(u, op="max").tolist() == [5, 3, 7]
        assert numbering.scatter(v, out=np.full(7, -1.0)).tolist() == [4, 15, 4, -1, 5, 15, 15]
        assert numbering.halo(v) is v
        assert numbering.gather_scatter(u) is u
        assert u.tolist() == [4, 15, 4, 4, 5, 15, 15]


def test_its_repr_names_what_it_has() -> None:
    words = "<Numbering: 7 values of 3 ids, 3 of them own, rank 0 of 1, device cpu, transport mpi, "
    assert repr(Numbering(IDS, transport="mpi")) == f"{words}route pairwise, codec none>"


def test_components_and_types() -> None:
    numbering = Numbering(IDS)
    u = np.arange(14, dtype="int32").reshape(2, 7)
    v = numbering.gather(u, out=numbering.zeros("int32", components=2))
    assert v.tolist() == [[4, 2, 12], [11, 16, 33]]
    assert numbering.scatter(v)[1].tolist() == [16, 33, 16, 0, 11, 33, 33]


def test_a_plan_in_halves() -> None:
    numbering = Numbering(IDS)
    u, v = np.ones(7), numbering.zeros()
    with numbering.plan("gather", u, v, op="sum") as plan:
        plan.start()
        plan.finish()
        assert v.tolist() == [1, 2, 3] and plan.path == "copies within one rank" and plan.bytes == 0
        u[:] = 2
        plan()
        assert v.tolist() == [2, 4, 6]


def test_plans_are_kept() -> None:
    numbering, u = Numbering(IDS), np.ones(7)
    for _ in range(3):
        numbering.gather_scatter(u)
    assert len(numbering._cached) == 1
    numbering.gather_scatter(u, op="min")
    assert len(numbering._cached) == 2


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda n: n.gather_scatter(np.ones(6)), "give 7, and 7"),
        (lambda n: n.gather(np.ones(7), out=np.ones(2)), "give 7, and 3"),
        (lambda n: n.gather(np.ones(7), op="mean"), "reduction 'mean' does not exist"),
        (lambda n: n.plan("spread", np.ones(7)), "operation 'spread' does not exist"),
        (lambda n: n.plan("halo", np.ones(3), np.ones(3)), "halo is done in place"),
        (lambda n: n.plan("gather-scatter", np.ones(7), np.ones(7)), "give the same array"),
        (lambda n: overlapping(n), "arrays that overlap in memory"),
        (lambda n: n.plan("halo", np.ones(3), route="ring"), "route = 'ring' does not exist"),
        (lambda n: n.plan("halo", np.ones(3, int), codec="mpc"), "int64 cannot be compressed"),
        (lambda n: n.plan("halo", np.ones(3), transport="x"), "transport = 'x' does not exist"),
        (lambda n: n.plan("halo", np.ones(3), rute="x"), "rute: no such argument; allowed: target"),
    ],
)
def test_what_does_not_fit(act: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        act(Numbering(IDS))


def overlapping(numbering: Numbering) -> None:
    memory = np.ones(9)
    numbering.gather(memory[:7], out=memory[6:])


def test_ids_of_another_kind() -> None:
    with pytest.raises(InputError, match="not an array of whole numbers"):
        Numbering([[1, 2], [3]])


def test_a_closed_numbering() -> None:
    numbering = Numbering(IDS)
    numbering.close()
    with pytest.raises(InputError, match="this numbering is closed"):
        numbering.gather(np.ones(7))


def test_unknown_options() -> None:
    with pytest.raises(InputError, match="route = 'straight' does not exist; give pairwise"):
        Numbering(IDS, route="straight")


def test_arrays_that_cannot_be_written_may_be_read() -> None:
    with Numbering(IDS) as numbering:
        local, whole = np.arange(7.0), numbering.zeros()
        numbering.gather_scatter(local)
        before = local.copy()
        local.setflags(write=False)
        numbering.gather(local, out=whole)
        with pytest.raises(InputError, match="read-only"):
            numbering.gather_scatter(local)
        assert np.array_equal(local, before)
        whole.setflags(write=False)
        with pytest.raises(InputError, match="read-only"):
            numbering.gather(before, out=whole)


@pytest.mark.parametrize(
    ("dtype", "components", "words"),
    [
        *((kind, 1, f"dtype = '{kind}': give one of float32") for kind in ("float16", "flot")),
        *(("f8", n, f"components = {n!r}: give a whole number above zero") for n in (0, 1.5, "a")),
    ],
)
def test_zeros_of_another_kind(dtype: str, components: Any, words: str) -> None:
    with Numbering(IDS) as numbering, pytest.raises(InputError, match=words):
        numbering.zeros(dtype, components)
