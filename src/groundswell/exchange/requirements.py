"""What each transport requires: hosts, GPUs, libraries; checked before any message is sent.

An obstacle is the reason, in a sentence, why a transport does not work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from groundswell.backends import Backend
from groundswell.errors import GroundswellError, RunFailed
from groundswell.exchange import mpi_library, probe_gpu_mpi
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.devices import gpu_buses, sharers

# Errors of libraries that do not work here. Other errors are bugs, and not obstacles.
LIBRARY_ERRORS = (GroundswellError, ImportError, MemoryError, OSError, RuntimeError)

Obstacle = str | None  # None: there is none
Check = Callable[[Any, Communicator], Obstacle]


def obstacle(transport: str, backend: Backend, comm: Communicator) -> Obstacle:
    """The first unmet requirement of a transport, the same on all ranks; all must call it."""
    check = REQUIREMENTS.get(transport)
    return first_obstacle(comm, lambda: check(backend, comm)) if check else None


def obstacle_on_host(transport: str) -> Obstacle:
    """The first unmet requirement of a transport between ranks that could be started on this host.

    A single process may call it.
    """
    return caught(_launcher) or caught(REQUIREMENTS_ON_HOST.get(transport, lambda: None))


def first_obstacle(comm: Communicator, check: Callable[[], Obstacle]) -> Obstacle:
    """The obstacle of the first rank that has one; all ranks must call it.

    Raises:
        RunFailed: the check has raised another error on some rank.
    """

    def examine() -> Obstacle:
        try:
            return caught(check)
        except Exception as error:
            # Ranks may know it by the check's own communicator, but they take it for an obstacle.
            raise RunFailed(f"{type(error).__name__}: {error}") from error

    found = comm.allgather(comm.collective_try(examine))
    return next((reason for reason in found if reason), None)


def caught(check: Callable[[], Obstacle]) -> Obstacle:
    """The obstacle that a check returns, or the error of a library that it raises."""
    try:
        return check()
    except LIBRARY_ERRORS as error:
        kind = "" if isinstance(error, GroundswellError) else f"{type(error).__name__}: "
        return kind + " ".join(str(error).split())


# --- of the ranks of a job ------------------------------------------------------------------------


def _one_host(backend: Any, comm: Communicator) -> Obstacle:
    if len(comm.same_host) == comm.size:
        return None
    return "the ranks are on several hosts, and peer memory needs a single one"


def _threads(backend: Any, comm: Communicator) -> Obstacle:
    level = mpi_library.thread_level()
    return None if level == "multiple" else f"MPI allows calls from one thread only ({level})"


def _nccl(backend: Any, comm: Communicator) -> Obstacle:
    ranks = sharers(backend, comm)
    if len(ranks) > 1:
        return f"ranks {', '.join(map(str, ranks))} share a GPU, and NCCL needs one for each"
    return _nccl_library()


def _nccl_library() -> Obstacle:
    """None; raises BackendError if NCCL cannot be loaded."""
    from groundswell.backends import nccl

    nccl.load()
    return None


def _gpu_mpi(backend: Any, comm: Communicator) -> Obstacle:
    """The first rank of each host probes it on the GPUs of the first two.

    MPI that can read GPU memory within a host is assumed to do so between hosts.
    """
    buses, here = comm.allgather(str(backend.bus)), comm.same_host
    if comm.rank != here[0]:
        return None
    return probe_gpu_mpi.obstacle(tuple(buses[rank] for rank in here[: probe_gpu_mpi.RANKS]))


REQUIREMENTS: dict[str, Check] = {
    "direct": _one_host,
    "peer": _one_host,
    "nccl": _nccl,
    "mpi-gpu": _gpu_mpi,
    "mpi-thread": _threads,
}


# --- of ranks that could be started on this host --------------------------------------------------


def _launcher() -> Obstacle:
    return None if mpi_library.find_mpiexec() else "there is no mpiexec to start ranks with"


def _nccl_on_host() -> Obstacle:
    several = len(gpu_buses()) > 1
    return _nccl_library() if several else "NCCL needs a GPU for each rank, and this host has one"


def _gpu_mpi_on_host() -> Obstacle:
    return probe_gpu_mpi.obstacle(tuple(gpu_buses()[: probe_gpu_mpi.RANKS]))


REQUIREMENTS_ON_HOST = {"nccl": _nccl_on_host, "mpi-gpu": _gpu_mpi_on_host}
