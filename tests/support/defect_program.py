"""A program for two ranks: what goes wrong in exchanges elsewhere, tried on this one.

    mpiexec -n 2 python defect_program.py

Prints one line of JSON: for each transport and check a complaint, or null. "staged" sends through
pinned memory as on GPUs without a better way; on a CPU it can be tried all the same.
"""

from __future__ import annotations

import gc
import json
import os
import time
import traceback
from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numpy as np
from checked_arrays import MARGIN, ExchangeSetup, repeat, run
from halo_oracle import EMPTY, around, needed, owners, random_cut, random_ghosts

from groundswell.backends import open_backend
from groundswell.errors import InputError, RunFailed
from groundswell.exchange.allreduce import PeerAllReduce
from groundswell.exchange.connect import TRANSPORTS
from groundswell.exchange.decomposition import decompose
from groundswell.exchange.ghosts import Ghosts, uniform
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.mpi_communicator import MpiCommunicator, get_communicator
from groundswell.exchange.transfer import BufferedTransfer
from groundswell.exchange.transports import mpi
from groundswell.exchange.waiting import TIMEOUT

PATHS = {
    "mpi": "MPI",
    "mpi-thread": "MPI, driven by a thread",
    "peer": "peer memory (shared memory)",
    "staged": "MPI through pinned host memory",
}
TRANSPORTS["cpu"]["staged"] = partial(BufferedTransfer, transport=mpi.StagedMpiTransport)

Check = Callable[[ExchangeSetup], None]
CHECKS: list[Check] = []


def check(function: Check) -> Check:
    CHECKS.append(function)
    return function


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


# --- corners --------------------------------------------------------------------------------------


@check
def corners_are_exchanged_only_if_asked_for(at: ExchangeSetup) -> None:
    cut = decompose((6, 6, 6), 2, True)
    sizes = []
    for corners in (False, True):
        part = at.part(cut, "float32", uniform(2, corners=corners))
        halo = at.exchange(cut, [part])
        halo()
        corner = part.array[1, 1, 1], part.array[1, 1, 4], part.array[4, 1, 1]
        assert (EMPTY in corner) != corners and len(set(corner)) == (3 if corners else 1)
        part.check()
        sizes.append(halo.bytes)
        halo.close()
    assert sizes[0] < sizes[1]


# --- the way that messages take -------------------------------------------------------------------


@check
def the_path_is_what_is_really_used(at: ExchangeSetup) -> None:
    """Ranks that use MPI for each message must be able to show it; so must those that do not."""
    cut = decompose((8,), 2, True)
    part = at.part(cut, "float32", uniform(1, 1))
    halo = at.exchange(cut, [part])
    assert halo.path == PATHS[at.transport]
    with_mpi = hasattr(getattr(halo.transfers[0], "_transport", None), "_mpi_comm")
    assert with_mpi == halo.path.startswith("MPI")
    halo.close()
    for other in ("nccl", "mpi-gpu", "direct", "pigeon"):
        try:
            at.exchange(cut, [part], transport=other)
        except InputError as error:
            assert repr(other) in str(error) and "peer, mpi, mpi-thread" in str(error)
        else:
            raise AssertionError(f"{other} was not refused")


@check
def operations_show_themselves(at: ExchangeSetup) -> None:
    """Bytes, ranks, transport and why it was chosen; of an all-reduce, this depends on the host."""
    halo = at.exchange(cut := decompose((8,), 2, True), [at.part(cut, "float32", uniform(1, 1))])
    total, other = PeerAllReduce(at.backend, at.job, 3), 1 - at.job.rank
    for operation, size in ((halo, 8), (halo.transfers[0], 256)):
        expected = f": {size} bytes to rank {other} by {halo.path}; as requested>"
        assert repr(operation).endswith(expected), repr(operation)
    assert repr(total) == f"<PeerAllReduce: 128 bytes to rank {other} by {total.path}>"
    total.close()
    halo.close()


# --- aggregation ----------------------------------------------------------------------------------


@check
def aggregation_changes_nothing(at: ExchangeSetup) -> None:
    rng = np.random.default_rng(12)
    for _ in range(5):
        cut = random_cut(rng, 2)
        ghosts = [random_ghosts(rng, len(cut.shape)) for _ in range(4)]
        types = rng.choice(["float32", "float64", "complex64", "uint8"], 4)
        results = []
        for aggregate in (True, False):
            parts = [
                at.part(cut, str(t), g, n)
                for n, (t, g) in enumerate(zip(types, ghosts, strict=True))
            ]
            fields = [p.field for p in parts]
            halo = at.exchange(cut, parts, aggregate=aggregate)
            halo()
            results.append([f.array.tobytes() for f in fields])
            halo.close()
        assert results[0] == results[1]


# --- poison ---------------------------------------------------------------------------------------


@check
def poison_is_gone_where_the_exchange_fills(at: ExchangeSetup) -> None:
    """Between its halves all points of the other rank are NaN, whatever they held before."""
    cut = decompose((6, 5), 2, True, (2, 1))
    types = ("float32", "complex128", "int16")
    parts = [at.part(cut, t, uniform(MARGIN, 2, corners=True), n) for n, t in enumerate(types)]
    halo = at.exchange(cut, parts, poison=True)
    repeat(halo, parts, 1)
    at.job.allgather(None)
    run(halo.start)
    others = around(owners(cut), cut, at.job.rank, MARGIN, at.job.rank) != at.job.rank
    for part in parts[:2]:
        poisoned = others & needed(cut, part.rank, part.ghosts, MARGIN)
        assert poisoned.any() and np.array_equal(np.isnan(part.array), poisoned)
    run(halo.finish)
    for part in parts:
        part.check()
    halo.close()


@check
def poison_stays_where_nobody_fills(at: ExchangeSetup) -> None:
    """Points of other blocks that were not asked for; beyond an open end there are none."""
    cut = decompose((6, 5), 2, (True, False), (2, 1))
    part = at.part(cut, "float64", uniform(2, 2))
    halo = at.exchange(cut, [part], poison=True)
    halo()
    filled = needed(cut, part.rank, part.ghosts, MARGIN)
    exists = around(owners(cut), cut, at.job.rank, MARGIN, -1) >= 0
    filled[MARGIN:-MARGIN, MARGIN:-MARGIN] = True
    assert np.array_equal(np.isnan(part.array), exists & ~filled)


# --- waiting --------------------------------------------------------------------------------------


@check
def a_rank_that_does_not_come_is_named(at: ExchangeSetup) -> None:
    """MPI's and shared memory's can be taken up again: the rank was slow, not dead."""
    cut = decompose((8,), 2, True)
    part = at.part(cut, "float32", uniform(1, 1))
    halo = at.exchange(cut, [part])
    if at.job.rank == 1:
        time.sleep(1.0)
    run(halo.start)
    if at.job.rank == 0:
        require_late(halo)
    if at.transport in ("mpi", "peer") or at.job.rank == 1:
        run(halo.finish)
        part.check()
    halo.close()


def require_late(halo: HaloExchange) -> None:
    """Wait in vain for rank 1."""
    usual, os.environ[TIMEOUT] = os.environ[TIMEOUT], "0.3"
    try:
        run(halo.finish)
    except RunFailed as error:
        assert "rank 1 has sent no data for" in str(error), error
    else:
        raise AssertionError("nothing was wrong")
    finally:
        os.environ[TIMEOUT] = usual


def complaint(test: Check, at: ExchangeSetup) -> str | None:
    """What the ranks have to complain about.

    If one rank has given up, the other one times out before the first one does.
    """
    found, os.environ[TIMEOUT] = None, "5"
    try:
        test(at)
    except Exception:
        found = f"rank {at.job.rank}: {traceback.format_exc()[-1500:]}"
    os.environ[TIMEOUT] = "20"
    return "\n".join(filter(None, at.job.allgather(found))) or None


def main() -> None:
    backend, job = open_backend("cpu"), get_communicator()
    assert isinstance(job, MpiCommunicator)
    places = {transport: ExchangeSetup(backend, job, transport) for transport in PATHS}
    found = {
        transport: {test.__name__: complaint(test, at) for test in CHECKS}
        for transport, at in places.items()
    }
    if job.first:
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
