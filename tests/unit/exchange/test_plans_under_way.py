"""Plans of exchanges on one rank: run in halves, left under way, captured, listed."""

from __future__ import annotations

import contextlib
import sys

import numpy as np
import pytest

from groundswell.backends.listing import describe
from groundswell.errors import InputError
from groundswell.exchange import Domain, plan_cache


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


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
