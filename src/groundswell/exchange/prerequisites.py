"""What each transport requires, checked before it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from groundswell.backends import Backend
from groundswell.errors import GroundswellError
from groundswell.exchange import mpi_library, probe_gpu_mpi
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.devices import sharers
from groundswell.exchange.mpi_communicator import MpiCommunicator

# What libraries raise that cannot be used here. All else is a mistake of ours, and no reason.
OBSTRUCTED = (GroundswellError, ImportError, MemoryError, OSError, RuntimeError)

Reason = str | None  # why something does not work, in a sentence


def obstacle(name: str, backend: Backend, comm: Communicator) -> Reason:
    """What can be said against a transport before it is used; all ranks get the same answer."""
    check = CHECKS.get(name)
    return agreed(comm, lambda: check(backend, comm)) if check else None  # type: ignore


def agreed(comm: Communicator, examine: Callable[[], Reason]) -> Reason:
    """The reason of the first rank that has one."""
    reasons = comm.allgather(comm.collective_try(lambda: reason_of(examine)))
    return next((reason for reason in reasons if reason), None)


def reason_of(examine: Callable[[], Reason]) -> Reason:
    try:
        return examine()
    except OBSTRUCTED as error:
        kind = "" if isinstance(error, GroundswellError) else f"{type(error).__name__}: "
        return kind + " ".join(str(error).split())


def _one_host(backend: Backend, comm: MpiCommunicator) -> Reason:
    if len(comm.same_host) == comm.size:
        return None
    return "the ranks are on several hosts, and peer memory joins those of one"


def _threads(backend: Backend, comm: MpiCommunicator) -> Reason:
    level = mpi_library.thread_level()
    return None if level == "multiple" else f"MPI lets one thread call it only (level: {level})"


def _nccl(backend: Backend, comm: MpiCommunicator) -> Reason:
    mates = sharers(backend, comm)
    if len(mates) > 1:
        return f"ranks {', '.join(map(str, mates))} share a GPU, and NCCL needs one for each"
    return nccl_library()


def nccl_library() -> Reason:
    """Nothing, or a BackendError."""
    from groundswell.backends import nccl

    nccl.load()
    return None


def _gpu_mpi(backend: Backend, comm: MpiCommunicator) -> Reason:
    """On each host the first rank has it tried, on the GPUs of the first two.

    What works on a host is taken to work between hosts.
    """
    buses, here = comm.allgather(_bus(backend)), comm.same_host
    if comm.rank != here[0]:
        return None
    return probe_gpu_mpi.why_not(tuple(buses[rank] for rank in here[: probe_gpu_mpi.RANKS]))


CHECKS: dict[str, Callable[[Backend, MpiCommunicator], Reason]] = {
    "direct": _one_host,
    "peer": _one_host,
    "nccl": _nccl,
    "mpi-gpu": _gpu_mpi,
    "mpi-thread": _threads,
}


def _bus(backend: Any) -> str:
    return str(backend.bus)
