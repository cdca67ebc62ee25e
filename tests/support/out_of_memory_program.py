"""A program for several ranks, the last of which runs out of memory again and again.

    mpiexec -n 3 python out_of_memory_program.py mailboxes|peer|sums|sharing|gpu

Each time all ranks are told, and are in step afterwards: a word that one of them has said too
often would come up instead of the next one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from groundswell.backends import Backend, open_backend
from groundswell.errors import InputError
from groundswell.exchange import transfer
from groundswell.exchange.allreduce import GatheredAllReduce, PeerAllReduce
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import decompose
from groundswell.exchange.devices import open_device
from groundswell.exchange.gather_scatter import sharing
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import uniform
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.exchange.transports.peer_memory import PeerMemory


def check(job: Communicator, make: Callable[[], Any], where: Any, name: str) -> None:
    """What cannot be made if that function fails on the last rank can be made afterwards."""
    last = job.size - 1
    fault = patch.object(where, name, side_effect=MemoryError("no room"))
    with (
        fault if job.rank == last else nullcontext(),
        pytest.raises(InputError, match=rf"rank {last} is out of memory \(no room\)"),
    ):
        make()
    for turn in range(3):
        assert job.allgather((turn, job.rank)) == [(turn, rank) for rank in range(job.size)], name
    make()


def mailboxes(job: Communicator) -> None:
    """Whatever is missing: memory for others, for the host, for the device, or after all these."""
    backend = open_backend("cpu")

    for name in (
        "allocate_shared",
        "attach_handle",
        "pinned_bytes",
        "zeros",
        "add_poll_callback",
        "to_device",
    ):
        check(job, partial(make_sum, job, backend), backend, name)


def make_sum(job: Communicator, backend: Backend) -> None:
    """Make an all-reduce in peer memory, and close it."""
    total = job.collective_try(lambda: PeerAllReduce(backend, job, 4))
    total.close()


def peer(job: Communicator) -> None:
    """Tables of what is sent and received, when all have mapped each other's memory."""
    backend, cut = open_backend("cpu"), decompose((12, 5), job.size, True)
    block = cut.block(job.rank)
    array = backend.zeros(tuple(n + 2 for n in block.shape), "f8")
    field = GhostField(array, (1, 1), uniform(1, 2))

    def make() -> None:
        with patch.object(
            PeerMemory, "close", autospec=True, side_effect=PeerMemory.close
        ) as closed:
            try:
                HaloExchange(backend, job, cut, [field], transport="peer").close()
            finally:
                assert closed.call_count == 1

    for name in ("compile_kernels", "Copies"):
        check(job, make, transfer, name)


def sums(job: Communicator) -> None:
    """Before and while all make what gathers numbers, which MPI begins without any patience."""
    backend = open_backend("cpu")

    def make() -> None:
        free, _ = backend.memory_info()
        values = np.full(3, float(free > 0))
        total = GatheredAllReduce(backend, job, values, "mpi")
        for launch in total.launches:
            launch()
        total.close()
        assert (values == job.size).all()

    for name in ("memory_info", "zeros", "compile"):
        check(job, lambda: job.collective_try(make), backend, name)


def ids(job: Communicator) -> None:
    """Before, between and after the messages that tell who shares what."""
    mine = np.arange(job.rank, 20)

    def make() -> None:
        found = sharing.find_sharing(job, mine)
        assert len(found.ids) == len(mine) and len(found.shared_with) == job.size - 1

    for name in ("_number", "_split_by_rank", "_answer_queries", "_arrange"):
        check(job, make, sharing, name)


def gpu(job: Communicator) -> None:
    """More than a GPU has: for other ranks, for this one."""
    backend, last = open_device("cuda", job), job.size - 1
    size = 10**13 if job.rank == last else 64
    for allocate in (backend.allocate_shared, lambda size: backend.zeros((size,), np.uint8)):
        with pytest.raises(InputError, match=f"rank {last} is out of memory"):
            job.collective_try(partial(allocate, size))
        assert job.allgather(job.rank) == list(range(job.size))
    make_sum(job, backend)


if __name__ == "__main__":
    programs = {"mailboxes": mailboxes, "peer": peer, "sums": sums, "sharing": ids, "gpu": gpu}
    programs[sys.argv[1]](get_communicator())
