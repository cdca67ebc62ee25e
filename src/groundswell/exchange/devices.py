"""Which device a rank computes on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.backends import Backend, open_backend
from groundswell.backends.links import Pair, read_links
from groundswell.errors import BackendError, InputError
from groundswell.exchange.binding import bind
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.mpi_communicator import MpiCommunicator


def open_device(name: str, comm: Communicator, traffic: ArrayLike | None = None) -> Backend:
    """A rank's backend: on GPUs one of the machine's, on CPUs its share of the cores.

    The ranks of a machine that see the same GPUs share these out so that heavy traffic takes fast
    links; where all are joined alike, or nothing is known, in the order of the ranks. A launcher
    that shows each rank a GPU of its own has chosen already.

    Args:
        traffic: bytes from rank to rank, (ranks, ranks), see `exchange.traffic`; by default as
            much from each rank to the next one and back. All ranks must give the same.

    Raises:
        BackendError: the device is absent, on all ranks if it is on one.
        InputError: traffic of another shape, negative or not finite.
    """
    if not isinstance(comm, MpiCommunicator):
        return open_backend(name)
    if name == "cuda":
        return open_backend(name, _gpu(comm, _chain(comm.size) if traffic is None else traffic))
    return open_backend(name, threads=_share_of_cores(comm))


def _gpu(comm: MpiCommunicator, traffic: ArrayLike) -> int:
    """The number of this rank's GPU among those that it sees."""
    seen: list[list[str]] = comm.allgather(comm.collective_try(gpu_buses))
    mine = seen[comm.rank]
    mates = [rank for rank in comm.same_machine if seen[rank] == mine]
    sent = _checked(traffic, comm.size)[np.ix_(mates, mates)]
    # What NVML says may differ between processes: the first of the ranks decides for all.
    chosen = comm.allgather(_bound(mine, sent) if comm.rank == mates[0] else None)[mates[0]]
    return mine.index(chosen[mates.index(comm.rank)])


def _checked(traffic: ArrayLike, ranks: int) -> NDArray[Any]:
    sent = np.asarray(traffic)
    if sent.shape != (ranks, ranks) or not np.all((sent >= 0) & (sent < inf)):
        raise InputError(
            f"traffic is {sent.dtype} {sent.shape}; {ranks} ranks need one row and column each, of "
            "bytes, 0 or more"
        )
    return sent


def sharers(backend: Backend, comm: Communicator) -> list[int]:
    """The ranks that share the memory of this one's device: a GPU's, or all of a machine's."""
    devices = comm.allgather(getattr(backend, "bus", None))
    return [rank for rank in comm.same_machine if devices[rank] == devices[comm.rank]]


def count_devices(name: str) -> int:
    """How many devices of a backend the ranks of this machine can share.

    Raises:
        BackendError: none.
    """
    return len(gpu_buses()) if name == "cuda" else 1


def gpu_buses() -> list[str]:
    """PCI bus ids of the GPUs that this process may use."""
    from groundswell.backends.cuda import pci_bus_ids

    return pci_bus_ids()


def _bound(buses: Sequence[str], traffic: NDArray[Any]) -> list[str]:
    """The GPU of each of the ranks that share these."""
    known, pairs = _topology(buses) if min(len(buses), len(traffic)) > 1 else (buses, ())
    return [known[gpu] for gpu in bind(len(known), pairs, traffic)]


def _topology(buses: Sequence[str]) -> tuple[Sequence[str], Sequence[Pair]]:
    """These GPUs and their pairs in the order of NVML; no pairs if it speaks of others or fails."""
    with suppress(BackendError):
        links = read_links()
        known = [device.bus for device in links.devices]
        if sorted(known) == sorted(buses):
            return known, links.pairs
    return buses, ()


def _chain(ranks: int) -> NDArray[np.int64]:
    """Each rank talks to the next one."""
    ahead = np.eye(ranks, k=1, dtype=np.int64)
    return ahead + ahead.T


def _share_of_cores(comm: MpiCommunicator) -> int | None:
    """How many threads fill this rank's share of the machine's cores.

    None if OMP_NUM_THREADS, of the user or the launcher, decides.
    """
    allowed = comm.allgather(os.sched_getaffinity(0))
    here = [allowed[rank] for rank in comm.same_machine]
    share = max(1, len(set().union(*here)) // len(here))
    return None if "OMP_NUM_THREADS" in os.environ else share
