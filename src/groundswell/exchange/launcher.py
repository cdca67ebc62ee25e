"""The environment variables of launchers: how many processes were started together.

A single process needs no MPI.
"""

from __future__ import annotations

import os
import sys

# The number of processes: Open MPI, PMI (MPICH, Intel MPI, Cray), MVAPICH, Slurm, Flux, IBM.
SIZE_VARIABLES = (
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "MV2_COMM_WORLD_SIZE",
    "SLURM_STEP_NUM_TASKS",
    "FLUX_JOB_SIZE",
    "JSM_NAMESPACE_SIZE",
)
# Variables that show a launcher; some launchers do not set the number of processes.
LAUNCHER_VARIABLES = (
    "PMIX_RANK",
    "PMI_RANK",
    "PMI_FD",
    "PMI_PORT",
    "MPI_LOCALRANKID",
    "OMPI_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_RANK",
    "PALS_RANKID",
    "ALPS_APP_PE",
    "FLUX_TASK_RANK",
    "JSM_NAMESPACE_RANK",
)


def started_ranks() -> int:
    """The number of processes that were started together.

    1 without a launcher; 0 if there is one, but only MPI has the number.
    """
    counts = [int(os.environ[name]) for name in _known(SIZE_VARIABLES)]
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
        counts.append(mpi.COMM_WORLD.size)
    return max(counts, default=0 if set(LAUNCHER_VARIABLES) & set(os.environ) else 1)


def signs() -> str:
    """The names of the variables that show other processes."""
    several = [name for name in _known(SIZE_VARIABLES) if int(os.environ[name]) > 1]
    return ", ".join(several or sorted(set(LAUNCHER_VARIABLES) & set(os.environ)))


def exclude_libfabric() -> None:
    """Exclude libfabric from Open MPI if all processes are on one machine; call before MPI starts.

    Messages need no network then, and libfabric searches for network hardware for about a second. A
    value of OMPI_MCA_btl that is already set remains.
    """
    size = os.environ.get("OMPI_COMM_WORLD_SIZE")
    if size is not None and size == os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE"):
        os.environ.setdefault("OMPI_MCA_btl", "^ofi")


def _known(names: tuple[str, ...]) -> list[str]:
    """Those that are set to a number."""
    return [name for name in names if os.environ.get(name, "").isdigit()]
