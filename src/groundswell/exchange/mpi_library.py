"""The MPI library of this process: its version, thread level, mpiexec and support of GPU memory."""

from __future__ import annotations

import ctypes
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from groundswell.errors import BackendError
from groundswell.exchange.mpi_communicator import get_communicator

THREAD_LEVELS = ("single", "funneled", "serialized", "multiple")  # in the standard's order
MPIX_GPU_SUPPORT_CUDA = 0


@cache
def load() -> Any:
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
    mpi = load()
    return bool(mpi.Is_initialized() and not mpi.Is_finalized())


def thread_level() -> str | None:
    """The thread level of MPI; None before MPI is initialised."""
    mpi = load()
    levels = (mpi.THREAD_SINGLE, mpi.THREAD_FUNNELED, mpi.THREAD_SERIALIZED, mpi.THREAD_MULTIPLE)
    return THREAD_LEVELS[levels.index(mpi.Query_thread())] if is_active() else None


def describe() -> dict[str, Any]:
    """Library, version of the standard, thread level and mpiexec, or why there is no library."""
    try:
        library = version()
    except BackendError as error:
        return {"library": None, "reason": str(error)}
    return {
        "library": library,
        "standard": ".".join(map(str, load().Get_version())),
        "thread_level": thread_level(),
        "mpiexec": find_mpiexec(),
    }


def version() -> str:
    """The library's name and version."""
    first = load().Get_library_version().splitlines()[0].split(",")[0]
    return " ".join(first.split())


def reports_gpu_support() -> bool:
    """Whether the library reports that it accepts GPU memory; False if it cannot report it."""
    if not is_active():
        return False
    # The dynamic linker also searches the libraries of mpi4py.
    library = ctypes.CDLL(load().__file__)
    if hasattr(library, "MPIX_GPU_query_support"):  # MPICH and its derivatives
        answer = ctypes.c_int(0)
        failed = library.MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, ctypes.byref(answer))
        return bool(answer.value) and not failed
    if hasattr(library, "MPIX_Query_cuda_support"):  # Open MPI
        return bool(library.MPIX_Query_cuda_support())
    return False


def loaded_file(prefix: str) -> Path | None:
    """The file of a shared library in this process, by the beginning of its name."""
    with Path("/proc/self/maps").open(encoding="utf-8") as maps:
        files = {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}
    paths = (Path(file) for file in sorted(files))
    return next((path for path in paths if path.name.startswith(prefix)), None)


def find_mpiexec() -> str | None:
    """The mpiexec of the library, or else the first one on the path."""
    load()
    library = loaded_file("libmpi")
    folders = [str(folder / "bin") for folder in library.parents] if library else []
    return shutil.which("mpiexec", path=os.pathsep.join(folders)) or shutil.which("mpiexec")
