"""What each transport requires here: hosts, GPUs, the libraries MPI and NCCL.

Requirements are checked before any message is sent. An obstacle is the reason, in a sentence, why a
transport does not work.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from groundswell.backends import Backend
from groundswell.errors import BackendError, GroundswellError, InputError, RunFailed
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.devices import gpu_buses, sharers
from groundswell.exchange.mpi_communicator import get_communicator

# Errors of libraries that do not work here. Other errors are bugs, and not obstacles.
LIBRARY_ERRORS = (GroundswellError, ImportError, MemoryError, OSError, RuntimeError)
GPU_MPI = "GROUNDSWELL_GPU_MPI"  # the user's answer whether MPI reads GPU memory: 1 or 0
MPIX_GPU_SUPPORT_CUDA = 0

Obstacle = str | None  # None: there is none


def obstacle(transport: str, backend: Backend, comm: Communicator) -> Obstacle:
    """The first unmet requirement of a transport, the same on all ranks; all must call it.

    A single process gets the one of ranks that could be started on its host.
    """

    def unmet() -> Obstacle:
        if comm.size == 1 and not find_mpiexec():
            return "there is no mpiexec to start ranks with"
        check = REQUIREMENTS.get(transport)
        return check(backend, comm) if check else None

    return first_obstacle(comm, unmet)


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


def _threads(backend: Any, comm: Communicator) -> Obstacle:
    level = thread_level()
    works = level in (None, "multiple")  # None: MPI has not been started
    return None if works else f"MPI allows calls from one thread only ({level})"


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
    """A library that cannot read GPU memory ends the process with a segmentation fault."""
    answer = os.environ.get(GPU_MPI, "")
    if answer not in ("", "0", "1"):
        raise InputError(f"{GPU_MPI} = {answer!r} must be 1 (MPI reads GPU memory) or 0")
    if answer == "0":
        return f"{GPU_MPI} = 0 rules it out"
    if answer or not is_active() or reports_gpu_support():
        return None
    return f"MPI reports that it cannot read GPU memory; set {GPU_MPI}=1 if it can, as UCX may"


REQUIREMENTS: dict[str, Callable[[Any, Communicator], Obstacle]] = {
    "nccl": _nccl,
    "mpi-gpu": _gpu_mpi,
    "mpi-thread": _threads,
}


# --- the MPI library of this process --------------------------------------------------------------


@cache
def load_mpi() -> Any:
    """mpi4py's MPI module; does not initialise MPI in a single process.

    Raises:
        BackendError: mpi4py or its library is missing.
    """
    get_communicator()  # initialises MPI if there are several processes
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise BackendError(
            f"MPI cannot be used ({error}); `pip install 'groundswell[mpi]'`"
        ) from error
    return MPI


def is_active() -> bool:
    """Whether MPI is initialised and not finalised."""
    mpi = load_mpi()
    return bool(mpi.Is_initialized() and not mpi.Is_finalized())


def thread_level() -> str | None:
    """The thread level of MPI; None before MPI is initialised."""
    mpi, names = load_mpi(), ("single", "funneled", "serialized", "multiple")
    levels = {getattr(mpi, f"THREAD_{name.upper()}"): name for name in names}
    return levels[mpi.Query_thread()] if is_active() else None


def mpi_version() -> str:
    """The library's name and version."""
    first = load_mpi().Get_library_version().splitlines()[0].split(",")[0]
    return " ".join(first.split())


def reports_gpu_support() -> bool:
    """Whether the library reports that it accepts GPU memory; False if it cannot report it."""
    # The dynamic linker also searches the libraries of mpi4py.
    library = ctypes.CDLL(load_mpi().__file__)
    if hasattr(library, "MPIX_GPU_query_support"):  # MPICH and its derivatives
        answer = ctypes.c_int(0)
        failed = library.MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, ctypes.byref(answer))
        return bool(answer.value) and not failed
    if hasattr(library, "MPIX_Query_cuda_support"):  # Open MPI
        return bool(library.MPIX_Query_cuda_support())
    return False


def find_mpiexec() -> str | None:
    """The mpiexec of the library, or else the first one on the path."""
    load_mpi()
    with Path("/proc/self/maps").open(encoding="utf-8") as maps:
        files = sorted({line.split(maxsplit=5)[5].strip() for line in maps if "/" in line})
    library = next((Path(file) for file in files if Path(file).name.startswith("libmpi")), None)
    folders = [str(folder / "bin") for folder in library.parents] if library else []
    return shutil.which("mpiexec", path=os.pathsep.join(folders)) or shutil.which("mpiexec")
