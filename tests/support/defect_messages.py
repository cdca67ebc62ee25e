"""Defects of exchanges: messages that are mixed up, cut off, or whose memory is gone."""

from __future__ import annotations

import gc
import time
from unittest.mock import patch

import numpy as np
from checked_arrays import ExchangeSetup, repeat, run
from defect_paths import Check, collecting
from halo_oracle import EMPTY, random_cut, random_ghosts

from groundswell.exchange.decomposition import decompose
from groundswell.exchange.ghosts import uniform
from groundswell.exchange.pattern import Ghosts
from groundswell.exchange.transports import mpi

CHECKS: list[Check] = []
check = collecting(CHECKS)


# --- matching -------------------------------------------------------------------------------------


@check
def west_and_east_are_not_swapped(at: ExchangeSetup) -> None:
    """Both come from the same rank; three fields, so several messages may come from it too."""
    cut = decompose((8,), 2, True)
    for aggregate in (True, False):
        parts = [at.part(cut, "float64", Ghosts((2,), (1 + n,)), n) for n in range(3)]
        halo = at.exchange(cut, parts, aggregate=aggregate)
        repeat(halo, parts, 3)
        west, east = (6, 4) if at.job.rank == 0 else (2, 0)  # by hand, for the first field
        first = at.part(cut, "float64", Ghosts((2,), (1,)))
        again = at.exchange(cut, [first], aggregate=aggregate)
        again()
        assert first.array[1:3].tolist() == [100 + west, 101 + west]
        assert first.array[7:9].tolist() == [100 + east, EMPTY]
        halo.close()
        again.close()


@check
def parts_of_a_message_come_in_order(at: ExchangeSetup) -> None:
    """Messages beyond what one call of MPI may move travel in several parts."""
    with patch.multiple(mpi, PART=768, STAGE=768):
        cut = decompose((2, 999), 2, True, (2, 1))
        parts = [at.part(cut, t, uniform(1, 2, corners=True)) for t in ("float64", "int16")]
        halo = at.exchange(cut, parts)
    repeat(halo, parts, 5)
    halo.close()


# --- several exchanges, and one again and again ---------------------------------------------------


@check
def exchanges_in_flight_do_not_mix(at: ExchangeSetup) -> None:
    """Begun in one order and finished in the other one, a hundred times."""
    cut = decompose((6, 7), 2, True)
    parts = [at.part(cut, "float32", Ghosts((1, n), (2, 1), n == 1), n) for n in range(3)]
    halos = [at.exchange(cut, [part]) for part in parts]
    for turn in range(100):
        for halo in halos:
            run(halo.start)
        for halo in halos if turn % 2 else halos[::-1]:
            run(halo.finish)
        for part in parts:
            part.check()
            part.renew()
    for halo in halos:
        halo.close()


@check
def an_exchange_can_be_used_many_times(at: ExchangeSetup) -> None:
    """The ranks drift apart in between, now one and now the other one."""
    cut = decompose((5, 4, 6), 2, (True, False, True))
    parts = [at.part(cut, t, uniform(1, 3, corners=True)) for t in ("float64", "complex64")]
    halo = at.exchange(cut, parts)
    for turn in range(30):
        time.sleep(0.002 * ((turn + at.job.rank) % 2))
        repeat(halo, parts, 5)
    halo.close()


@check
def a_rank_may_lag_behind_by_one_exchange(at: ExchangeSetup) -> None:
    """The other one has sent its next values before this one looks at the last ones."""
    cut = decompose((3, 40), 2, True, (1, 2))
    part = at.part(cut, "float64", uniform(2, 2))
    halo = at.exchange(cut, [part])
    for turn in range(4):
        run(halo.start)
        if turn % 2 == at.job.rank:
            time.sleep(0.03)
        run(halo.finish)
        part.check()
        part.renew()
    halo.close()


# --- size and shape -------------------------------------------------------------------------------


@check
def faces_may_have_more_than_65535_rows(at: ExchangeSetup) -> None:
    """A launch with that many blocks along its second axis would fail on a GPU."""
    cut = decompose((70_001, 4), 2, (False, True), (1, 2))
    part = at.part(cut, "float32", uniform(2, 2))
    halo = at.exchange(cut, [part])
    halo()
    part.check()
    halo.close()


@check
def any_widths_shapes_and_types(at: ExchangeSetup) -> None:
    """Asymmetric widths for each field, axes of length 1, complex numbers, self-neighbours."""
    rng = np.random.default_rng(11)
    seen = {"length 1": False, "self": False, "asymmetric": False}
    for _ in range(25):
        cut = random_cut(rng, 2, longest=5)
        types = rng.choice(["float32", "complex64", "complex128", "uint8", "int16"], 3)
        ghosts = [random_ghosts(rng, len(cut.shape)) for _ in types]
        parts = [
            at.part(cut, str(t), g, n) for n, (t, g) in enumerate(zip(types, ghosts, strict=True))
        ]
        halo = at.exchange(cut, parts, aggregate=bool(rng.integers(2)))
        repeat(halo, parts, 2)
        halo.close()
        seen["length 1"] |= 1 in cut.shape
        axes = zip(cut.periodic, cut.processes, strict=True)
        seen["self"] |= any(wraps and blocks == 1 for wraps, blocks in axes)
        seen["asymmetric"] |= any(g.low != g.high for g in ghosts)
    assert all(seen.values()), seen


# --- what keeps what alive ------------------------------------------------------------------------


@check
def an_exchange_keeps_what_it_needs(at: ExchangeSetup) -> None:
    """The caller forgets everything but the exchange and its arrays."""
    cut = decompose((40, 50), 2, True)
    ghosts = {"float64": uniform(2, 2), "complex64": uniform(3, 2, corners=True)}
    parts = [at.part(cut, dtype, around) for dtype, around in ghosts.items()]
    halo = at.exchange(cut, parts)
    forget(at)
    repeat(halo, parts, 3)
    halo.close()


@check
def launches_keep_what_they_need(at: ExchangeSetup) -> None:
    """A solver that has put the launches into its step may forget the exchange."""
    cut = decompose((40, 50), 2, True)
    part = at.part(cut, "float64", uniform(2, 2))
    launches = at.exchange(cut, [part]).launches
    forget(at)
    repeat(lambda: run(launches), [part], 3)


def forget(at: ExchangeSetup) -> None:
    """Free what nobody holds, and write into the memory that this leaves."""
    gc.collect()
    for _ in range(50):
        for size in (1, 80, 1000, 5000, 20_000):
            at.backend.zeros((size,), np.float64)[...] = -1.0
