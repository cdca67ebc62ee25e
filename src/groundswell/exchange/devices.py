"""Opens the device of each rank: a GPU of the machine, or a share of its cores.

Ranks with much traffic between them get GPUs with a fast link between them.
"""

from __future__ import annotations

import os
import re
from itertools import permutations
from math import factorial, inf, perm
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.backends import Backend, open_backend
from groundswell.backends.links import link_times
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.mpi_communicator import MpiCommunicator

MOST_BINDINGS = factorial(8)  # largest number of trials; 8 GPUs take 0.1 s
ROUNDING = 1e-9  # relative difference of times that count as equal


def open_device(name: str, comm: Communicator, traffic: ArrayLike | None = None) -> Backend:
    """A rank's backend: one of the machine's GPUs, or its share of the cores.

    Ranks that see the same GPUs of a machine are assigned so that heavy traffic uses fast links. If
    all links are equal or unknown, GPUs are assigned in order. If the launcher makes only one GPU
    visible to each rank, the rank uses that GPU.

    Args:
        traffic: bytes from rank to rank, (ranks, ranks), the same on all ranks, see
            `pattern.traffic`; by default, equal traffic between consecutive ranks.

    Raises:
        BackendError: the device is absent on some rank; raised on all ranks.
        InputError: the traffic has a wrong shape, or is negative or not finite.
    """
    if not isinstance(comm, MpiCommunicator):
        return open_backend(name)
    if name == "cuda":
        return open_backend(name, _gpu(comm, traffic))
    # The rank's share of the machine's cores, unless the user or the launcher has set it.
    allowed = comm.allgather(os.sched_getaffinity(0))
    here = [allowed[rank] for rank in comm.same_machine]
    share = max(1, len(set().union(*here)) // len(here))
    return open_backend(name, threads=None if "OMP_NUM_THREADS" in os.environ else share)


def find_device(device: str | Backend, comm: Communicator, traffic: ArrayLike) -> Backend:
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


def count_devices(name: str) -> int:
    """How many devices of a backend the ranks of this machine can share; BackendError if none."""
    return len(gpu_buses()) if name == "cuda" else 1


def gpu_buses() -> list[str]:
    """PCI bus ids of the GPUs that this process may use."""
    from groundswell.backends.cuda import pci_bus_ids

    return pci_bus_ids()


# --- GPUs -----------------------------------------------------------------------------------------


def _gpu(comm: MpiCommunicator, traffic: ArrayLike | None) -> int:
    """The index of this rank's GPU among the visible GPUs."""
    ahead = np.eye(comm.size, k=1, dtype=np.int64)
    sent = np.asarray(ahead + ahead.T if traffic is None else traffic)
    if sent.shape != ahead.shape or not np.all((sent >= 0) & (sent < inf)):
        raise InputError(
            f"traffic is {sent.dtype} {sent.shape}; {comm.size} ranks need one row and column "
            "each, of bytes, 0 or more"
        )
    buses: list[list[str]] = comm.allgather(comm.collective_try(gpu_buses))
    mine = buses[comm.rank]
    ranks = [rank for rank in comm.same_machine if buses[rank] == mine]
    sent = sent[np.ix_(ranks, ranks)]
    # NVML may report different things to different processes, so the first rank decides for all.
    bound = bind(link_times(mine), sent) if comm.rank == ranks[0] else []
    return int(comm.allgather(bound)[ranks[0]][ranks.index(comm.rank)])


def bind(times: NDArray[np.float64], traffic: NDArray[Any]) -> list[int]:
    """The GPU of each rank that minimises the sum of the times of all messages.

    Slow links are shared, above all the one between sockets: the sum is smallest where few bytes
    cross them. The authors of k-Wave report the effect on two sockets with four GPUs each: with the
    best binding 4 overlaps cross the link between the sockets, with the worst all of them.

    Of equal bindings the first in the order of ranks is taken. Ranks keep their order without a
    search if all links are equal or unknown, or there are too many bindings to try (more than 8
    GPUs with as many ranks). On fewer GPUs, equal groups of consecutive ranks share one.

    Args:
        times: seconds per byte between GPUs, (gpus, gpus).
        traffic: bytes from rank to rank, (ranks, ranks).
    """
    ranks, gpus = len(traffic), len(times)
    count = min(ranks, gpus)
    groups = np.arange(ranks) * count // ranks
    links = times[~np.eye(gpus, dtype=bool)]
    if len(set(links)) > 1 and perm(gpus, count) <= MOST_BINDINGS:
        sent = np.zeros((count, count))
        np.add.at(sent, (groups[:, None], groups), traffic)
        bindings = np.array(list(permutations(range(gpus), count)))
        total = np.tensordot(times[bindings[:, :, None], bindings[:, None]], sent)
        groups = bindings[np.argmax(total <= total.min() * (1 + ROUNDING))][groups]
    return [int(gpu) for gpu in groups]
