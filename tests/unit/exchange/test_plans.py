"""Plans of exchanges on one rank: made once, kept, run in halves, and closed."""

from __future__ import annotations

import contextlib
import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from array_layouts import elsewhere

from groundswell.backends.listing import describe
from groundswell.errors import InputError
from groundswell.exchange import Domain, Field, Ghosts, plan_cache
from groundswell.exchange import domain as module
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.halo import MOST_LAYOUTS, HaloExchange
from groundswell.exchange.transfer import LocalTransfer
from groundswell.exchange.tuning import Choice


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def test_arrays_of_one_kind_share_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    domain, made = Domain((6, 5), 1, periodic=True), []
    exchange = module.HaloExchange
    monkeypatch.setattr(module, "HaloExchange", lambda *a, **k: made.append(a) or exchange(*a, **k))
    u, v = domain.zeros(), domain.zeros()
    for _ in range(3):
        domain.exchange(u, v)
        domain.exchange(v, u)
        domain.exchange(u[...], v.view())
        domain.exchange(domain.zeros(), np.zeros((7, 8)).T)
    assert len(made) == 1
    domain.exchange(u.view("int64"), v)
    domain.exchange(Field(u, ghosts=0), v)
    assert len(made) == 3


@pytest.mark.parametrize("options", [{}, {"poison": True}])
def test_a_shared_plan_exchanges_the_arrays_it_is_given(
    rng: np.random.Generator, options: dict[str, Any]
) -> None:
    domain = Domain((16, 15), 1, periodic=True, **options)
    for _ in range(60):
        arrays = [elsewhere(domain.local_shape, rng) for _ in range(2)]
        for array in arrays:
            domain.interior(array)[...] = rng.normal(size=(16, 15))
        expected = [np.pad(domain.interior(array), 1, mode="wrap") for array in arrays]
        domain.exchange(*arrays)
        assert all(map(np.array_equal, arrays, expected))
    assert len(domain._cached) == 1


def test_arrays_of_the_last_layout_are_exchanged_without_new_views(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old and new arrays of a time step take turns, with components of their own."""
    domain, viewed = Domain((6, 5), 1, periodic=True), []
    components = Domain._components
    monkeypatch.setattr(Domain, "_components", lambda *a: viewed.append(a) or components(*a))
    pairs = [(domain.zeros(), domain.zeros(components=3)) for _ in range(3)]
    for turn in range(12):
        arrays = pairs[turn % 3]
        for array in arrays:
            domain.interior(array)[...] = rng.normal(size=domain.interior(array).shape)
        assert domain.exchange(*arrays) is not None
        for array in arrays:
            width = [(0, 0)] * (array.ndim - 2) + [(1, 1)] * 2
            assert np.array_equal(array, np.pad(domain.interior(array), width, mode="wrap"))
    assert len(viewed) == 2
    read_only = domain.zeros()
    read_only.flags.writeable = False
    domain.exchange(domain.zeros())
    with pytest.raises(InputError, match=r"read-only|writ"):
        domain.exchange(read_only)


def test_few_plans_are_kept_and_none_keeps_its_arrays() -> None:
    domain = Domain((6, 5), 1, periodic=True)
    arrays = [domain.zeros(components=n) for n in range(1, plan_cache.MOST_PLANS + 4)]
    for array in arrays:
        array[...] = 7
        domain.exchange(array)
    assert len(domain._cached) == plan_cache.MOST_PLANS
    alive = [weakref.ref(array) for array in arrays]
    arrays.clear()
    del array
    gc.collect()
    assert not any(found() is not None for found in alive)


def test_plans_of_certain_arrays_keep_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise new arrays at the same addresses would be taken for them."""
    monkeypatch.setattr(LocalTransfer, "rebindable", False)
    domain = Domain((6, 5), 1, periodic=True)
    u, v = domain.zeros(), domain.zeros()
    for array in (u, v, u):
        array[...] = 1
        array[0] = 0
        domain.exchange(array)
        assert (array == 1).all()
    assert len(domain._cached) == 2
    alive = [weakref.ref(u), weakref.ref(v)]
    del u, v, array
    gc.collect()
    assert all(found() is not None for found in alive)
    domain.close()
    gc.collect()
    assert all(found() is None for found in alive)


@pytest.mark.parametrize("options", [{"transport": "fastest"}, {"codec": "zfp16"}])
def test_plans_are_shared_with_any_options(options: dict[str, Any]) -> None:
    domain = Domain((6, 5), 1, periodic=True, **options)
    for _ in range(3):
        u = domain.zeros()
        domain.exchange(u)
    assert len(domain._cached) == 1
    alive = weakref.ref(u)
    del u
    gc.collect()
    assert alive() is None


def test_only_plans_of_certain_arrays_may_be_tied_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    domain, asked = Domain((6, 5), 1, periodic=True, transport="fastest"), list[str]()

    def chosen(choices: list[Choice]) -> list[Choice]:
        asked.append("any arrays")
        return choices

    monkeypatch.setattr(module, "for_any_arrays", chosen)
    domain.plan(domain.zeros())
    assert not asked
    domain.exchange(domain.zeros())
    assert asked == ["any arrays"]


def test_strides_along_axes_of_length_1_do_not_matter() -> None:
    domain = Domain((1, 5), ((0, 0), (1, 1)), periodic=True)
    many = np.zeros((3, 8))[:, :7]  # rows begin at multiples of 16 bytes
    field = [GhostField(many[:1], (0, 1), domain.ghosts)]
    halo = HaloExchange(domain.backend, domain.comm, domain.decomposition, field)
    assert many[:1].strides != many[::3].strides
    assert not halo.bind([GhostField(many[::3], (0, 1), domain.ghosts)])
    launch = halo.launches
    assert not halo.bind([GhostField(many[1:2], (0, 1), domain.ghosts)])
    many[1, 1:-1] = range(5)
    for each in launch:
        each()
    assert many[1].tolist() == [4, 0, 1, 2, 3, 4, 0] and not many[[0, 2]].any()


@pytest.mark.parametrize("options", [{}, {"sweeps": True}])
def test_an_error_leaves_an_exchange_as_it_was(options: dict[str, Any]) -> None:
    """The second array cannot be exchanged; with sweeps, only the second one would notice."""
    domain = Domain((8, 9), 1, periodic=True, **options)
    along = Ghosts((1, 0), (1, 0), corners=True), Ghosts((0, 1), (0, 1), corners=True)

    def exchange(*arrays: Any) -> None:
        domain.exchange(*(Field(a, g, origin=(1, 1)) for a, g in zip(arrays, along, strict=True)))

    def filled(value: float) -> list[Any]:
        arrays = [domain.zeros("float32") for _ in range(2)]
        for array in arrays:
            domain.interior(array)[...] = value
        return arrays

    old = filled(1)
    exchange(*old)
    packed = np.zeros(domain.local_shape, np.dtype([("flag", "i1"), ("u", "f4")]))["u"]
    with pytest.raises(InputError, match="allowed are multiples"):
        exchange(filled(5)[0], packed)
    for value, (a, b) in ((2, old), (3, filled(3))):
        domain.interior(a)[...] = domain.interior(b)[...] = value
        exchange(a, b)
        assert (a[0, 1:-1] == value).all() and (b[1:-1, -1] == value).all()
    assert old[0][0, 1] == 2


@pytest.mark.parametrize("options", [{}, {"sweeps": True}, {"codec": "mpc"}])
def test_known_layouts_need_no_new_tables(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = Domain((6, 5), 1, periodic=True, **options)
    layouts = [domain.zeros(), np.zeros(domain.local_shape[::-1]).T]
    for array in layouts:
        domain.exchange(array)
    monkeypatch.setattr(LocalTransfer, "prepare", lambda *_: pytest.fail("new tables"))
    for array in [*layouts, domain.zeros(), *layouts]:
        domain.interior(array)[...] = 4
        domain.exchange(array)
        assert (array == 4).all()


def test_the_oldest_of_many_layouts_is_forgotten() -> None:
    domain = Domain((6, 5), 1, periodic=True)
    for n in range(2 * MOST_LAYOUTS):
        array = np.zeros((8, 7 + 2 * n))[:, :7]
        domain.interior(array)[...] = n
        domain.exchange(array)
        assert (array == n).all()
    (plan,) = domain._cached.values()
    assert isinstance(plan._exchange, HaloExchange)
    assert len(plan._exchange._layouts) == MOST_LAYOUTS


def test_an_exchange_of_certain_arrays_is_not_bound_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(LocalTransfer, "rebindable", False)
    domain = Domain((6, 5), 1, periodic=True)
    fields = [[GhostField(domain.zeros(), (1, 1), domain.ghosts)] for _ in range(2)]
    halo = HaloExchange(domain.backend, domain.comm, domain.decomposition, fields[0])
    assert not halo.bind(fields[0])
    with pytest.raises(InputError, match="cannot be bound to other arrays"):
        halo.bind(fields[1])


def test_a_graph_captures_only_the_arrays_of_the_last_exchange(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    domain = Domain((6, 5), 1, periodic=True)
    u, v = domain.zeros(), domain.zeros()
    domain.interior(v)[...] = 2
    capturing: list[bool] = []
    monkeypatch.setattr(domain._interop, "is_capturing", lambda streams: bool(capturing))
    capturing.append(True)
    with pytest.raises(InputError, match="no plan for these arrays"):
        domain.exchange(u)
    capturing.clear()
    domain.exchange(u)
    capturing.append(True)
    with pytest.raises(InputError, match="not those of the last exchange"):
        domain.exchange(v)
    capturing.clear()
    domain.exchange(u)
    domain.exchange(v)
    capturing.append(True)
    domain.exchange(v)  # the graph has this plan for itself
    assert not domain._cached and np.all(v == 2)


def test_a_plan_keeps_its_arrays_alive(rng: np.random.Generator) -> None:
    domain = Domain((6, 5), 1, periodic=True)
    u = domain.zeros()
    domain.interior(u)[...] = rng.normal(size=(6, 5))
    expected, alive = np.pad(domain.interior(u), 1, mode="wrap"), weakref.ref(u)
    plan = domain.plan(u)
    del u
    gc.collect()
    plan()
    found = alive()
    assert found is not None and np.array_equal(found, expected)
    plan.close()
    del found
    gc.collect()
    assert alive() is None


def test_halves_come_in_turn_and_nothing_after_the_end() -> None:
    domain = Domain((6, 5), 1, periodic=True)
    u = domain.zeros()
    with domain.plan(u) as plan:
        assert plan.path == "copies within one rank" and plan.bytes == 0
        shown = "<HaloExchange: no messages; copies within one rank>"
        assert repr(plan) == f"<Plan {plan._number}: {shown}>"
        with pytest.raises(InputError, match="start it first"):
            plan.finish()
        domain.interior(u)[...] = 2
        plan.start()
        for act in (plan, plan.start):
            with pytest.raises(InputError, match="finish it first"):
                act()
        for close in (plan.close, domain.close):
            with pytest.raises(InputError, match="finish"):
                close()
        assert not plan.closed
        plan.finish()
        assert np.all(u == 2)
    assert plan.closed
    plan.close()
    for act in (plan, plan.start, plan.finish, plan.check, lambda: plan.path):
        with pytest.raises(InputError, match="plan is closed"):
            act()
    kept = domain.plan(u)
    domain.close()
    domain.close()
    assert kept.closed
    for late in (domain.exchange, domain.plan, domain.gather):
        with pytest.raises(InputError, match="domain is closed"):
            late(u)


def test_a_plan_that_is_left_under_way() -> None:
    domain = Domain((6, 5), 1, periodic=True)
    with pytest.raises(InputError, match="finish it first"), domain.plan(domain.zeros()) as plan:
        plan.start()
    with pytest.raises(InputError, match="no streams"):
        plan.finish(stream=0)
    assert plan.under_way
    with pytest.raises(ZeroDivisionError), domain, domain.plan(domain.zeros()) as other:
        other.start()
        raise ZeroDivisionError
    with pytest.raises(InputError, match="under way: 2"):
        domain.close()
    for started in (plan, other):
        started.finish()
    domain.close()
    assert plan.closed and other.closed


def test_a_script_that_ends_finishes_what_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Domain((6, 5), 1, periodic=True)
    u = domain.zeros()
    domain.interior(u)[...] = 2
    plan = domain.plan(u)
    plan.start()
    monkeypatch.setattr(plan_cache, "_OPEN", [domain])
    monkeypatch.delattr(sys, "last_value", raising=False)
    plan_cache._close_all()
    assert plan.closed and not plan_cache._OPEN and np.all(u == 2)


@pytest.mark.gpu
def test_a_captured_exchange_keeps_its_arrays(rng: np.random.Generator) -> None:
    """Later exchanges of other arrays of the same kind do not change the graph."""
    cupy = pytest.importorskip("cupy")
    domain = Domain((16, 15), 1, periodic=True, device="cuda")
    u, v = domain.zeros("float32"), domain.zeros("float32")
    domain.exchange(v)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        with pytest.raises(InputError, match="exchange them once before the capture"):
            domain.exchange(u, stream=stream)
        with contextlib.suppress(cupy.cuda.runtime.CUDARuntimeError):
            stream.end_capture()
    domain.exchange(u)
    with stream:
        stream.begin_capture()
        domain.exchange(u, stream=stream)
        graph = stream.end_capture()
    for array in (v, domain.zeros("float32"), u, v):
        domain.exchange(array)
    values = cupy.asarray(rng.normal(size=(16, 15)).astype("float32"))
    domain.interior(u)[...] = values
    cupy.cuda.Device().synchronize()
    graph.launch(stream)
    stream.synchronize()
    assert cupy.array_equal(u, cupy.pad(values, 1, mode="wrap"))
    assert not cupy.any(v)


def test_a_listing_tells_how_many_bytes_are_copied() -> None:
    domain = Domain((6, 5), 1, periodic=True, corners=False)
    with domain.plan(domain.zeros("float32")) as plan:
        shown = describe(plan._whole)
    assert "copy_boxes" in shown and f"{4 * 2 * (6 + 5)} bytes" in shown
