"""What each transport requires: hosts, GPUs, libraries; checked before any message is sent.

An obstacle is the reason, in a sentence, why a transport does not work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from groundswell.backends import Backend
from groundswell.errors import GroundswellError, RunFailed
from groundswell.exchange import mpi_library
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.devices import gpu_buses, sharers

# Errors of libraries that do not work here. Other errors are bugs, and not obstacles.
LIBRARY_ERRORS = (GroundswellError, ImportError, MemoryError, OSError, RuntimeError)

Obstacle = str | None  # None: there is none
Check = Callable[[Any, Communicator], Obstacle]


def obstacle(transport: str, backend: Backend, comm: Communicator) -> Obstacle:
    """The first unmet requirement of a transport, the same on all ranks; all must call it.

    A single process gets the one of ranks that could be started on its host.
    """
    return first_obstacle(comm, lambda: _unmet(transport, backend, comm))


def first_obstacle(comm: Communicator, check: Callable[[], Obstacle]) -> Obstacle:
    """The obstacle of the first rank that has one; all ranks must call it.

    The error of a library that a check raises is an obstacle.

    Raises:
        RunFailed: the check has raised another error on some rank.
    """

    def examine() -> Obstacle:
        try:
            return check()
        except LIBRARY_ERRORS as error:
            kind = "" if isinstance(error, GroundswellError) else f"{type(error).__name__}: "
            return kind + " ".join(str(error).split())
        except Exception as error:
            # Ranks may know it by the check's own communicator, but they take it for an obstacle.
            raise RunFailed(f"{type(error).__name__}: {error}") from error

    found = comm.allgather(comm.collective_try(examine))
    return next((reason for reason in found if reason), None)


def _unmet(transport: str, backend: Backend, comm: Communicator) -> Obstacle:
    if comm.size == 1 and not mpi_library.find_mpiexec():
        return "there is no mpiexec to start ranks with"
    check = REQUIREMENTS.get(transport)
    return check(backend, comm) if check else None


def _threads(backend: Any, comm: Communicator) -> Obstacle:
    if comm.size == 1:  # MPI has not been started
        return None
    level = mpi_library.thread_level()
    return None if level == "multiple" else f"MPI allows calls from one thread only ({level})"


def _nccl(backend: Any, comm: Communicator) -> Obstacle:
    ranks = sharers(backend, comm)
    if len(ranks) > 1:
        return f"ranks {', '.join(map(str, ranks))} share a GPU, and NCCL needs one for each"
    if comm.size == 1 and len(gpu_buses()) == 1:
        return "NCCL needs a GPU for each rank, and this host has one"
    from groundswell.backends import nccl

    nccl.load()  # raises BackendError if there is none
    return None


def _gpu_mpi(backend: Any, comm: Communicator) -> Obstacle:
    """The first rank of each host probes it on the GPUs of the first two.

    MPI that can read GPU memory within a host is assumed to do so between hosts.
    """
    buses, here = comm.allgather(str(backend.bus)), comm.same_host
    if comm.rank != here[0]:
        return None
    used = gpu_buses() if comm.size == 1 else [buses[rank] for rank in here]
    return mpi_library.gpu_obstacle(tuple(used[: mpi_library.RANKS]))


REQUIREMENTS: dict[str, Check] = {
    "nccl": _nccl,
    "mpi-gpu": _gpu_mpi,
    "mpi-thread": _threads,
}
