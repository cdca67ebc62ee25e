"""Opens the device of each rank: a GPU of the machine, or a share of its cores.

Ranks with much traffic between them get GPUs with a fast link between them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

import numpy as np

from groundswell.arrays import HostArray
from groundswell.backends import Backend, open_backend
from groundswell.backends.links import bind, link_times
from groundswell.backends.threads import available_cores
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.mpi_communicator import MpiCommunicator

# Bytes that some ranks of a machine send to each other, (ranks, ranks).
TrafficEstimate = Callable[[Sequence[int]], HostArray]


def open_device(name: str, comm: Communicator, traffic: TrafficEstimate | None = None) -> Backend:
    """A rank's backend: one of the machine's GPUs, or its share of the cores.

    Ranks that see the same GPUs of a machine are assigned so that heavy traffic uses fast links. If
    all links are equal or unknown, GPUs are assigned in order. If the launcher makes only one GPU
    visible to each rank, the rank uses that GPU.

    Args:
        traffic: called only for GPUs, with the ranks that see the same ones, see `pattern.traffic`;
            by default, equal traffic between consecutive ranks.

    Raises:
        BackendError: the device is absent on some rank; raised on all ranks.
    """
    if not isinstance(comm, MpiCommunicator):
        return open_backend(name)
    if name == "cuda":
        return open_backend(name, _gpu(comm, traffic))
    # The rank's share of the machine's cores, unless the user or the launcher has set it.
    allowed = comm.allgather(os.sched_getaffinity(0))
    here = [allowed[rank] for rank in comm.same_machine]
    share = max(1, len(set().union(*here)) // len(here))
    share = min(share, available_cores(ranks=len(comm.same_host)))
    return open_backend(name, threads=None if "OMP_NUM_THREADS" in os.environ else share)


def find_device(
    device: str | Backend, comm: Communicator, traffic: TrafficEstimate | None = None
) -> Backend:
    """The backend of a rank, from a name ("cpu", "cuda", "cuda:1") or an open backend.

    Args:
        traffic: see `open_device`.

    Raises:
        InputError: there is no such device.
    """
    if isinstance(device, Backend):
        return device
    if not isinstance(device, str) or not re.fullmatch(r"cpu|cuda(:[0-9]+)?", device):
        raise InputError(f'device = {device!r}: allowed are "cpu", "cuda", and "cuda:0" and so on')
    name, _, number = device.partition(":")
    return open_backend(name, int(number)) if number else open_device(name, comm, traffic)


def sharers(backend: Backend, comm: Communicator) -> list[int]:
    """The ranks that share the memory of this rank's GPU, or of the machine for CPUs."""
    devices = comm.allgather(getattr(backend, "bus", None))
    return [rank for rank in comm.same_machine if devices[rank] == devices[comm.rank]]


def gpu_buses() -> list[str]:
    """PCI bus ids of the GPUs that this process may use."""
    from groundswell.backends.cuda import pci_bus_ids

    return pci_bus_ids()


# --- GPUs -----------------------------------------------------------------------------------------


def _gpu(comm: MpiCommunicator, traffic: TrafficEstimate | None) -> int:
    """The index of this rank's GPU among the visible GPUs."""
    buses: list[list[str]] = comm.allgather(comm.collective_try(gpu_buses))
    mine = buses[comm.rank]
    ranks = [rank for rank in comm.same_machine if buses[rank] == mine]
    # NVML may report different things to different processes, so the first rank decides for all.
    bound = bind(link_times(mine), (traffic or _ahead)(ranks)) if comm.rank == ranks[0] else []
    return int(comm.allgather(bound)[ranks[0]][ranks.index(comm.rank)])


def _ahead(ranks: Sequence[int]) -> HostArray:
    """Equal traffic between consecutive ranks."""
    return np.eye(len(ranks), k=1) + np.eye(len(ranks), k=-1)
