"""Defects of exchanges: points that are not to be filled, other ways than told, late ranks."""

from __future__ import annotations

import os
import time

import numpy as np
from checked_arrays import MARGIN, ExchangeSetup, repeat, run
from defect_paths import PATHS, Check, collecting
from halo_oracle import EMPTY, around, needed, owners, random_cut, random_ghosts

from groundswell.errors import InputError, RunFailed
from groundswell.exchange.allreduce import PeerAllReduce
from groundswell.exchange.decomposition import decompose
from groundswell.exchange.ghosts import uniform
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.waiting import TIMEOUT

CHECKS: list[Check] = []
check = collecting(CHECKS)


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
