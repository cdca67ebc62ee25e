"""The processes of a job: how many were started, and which can access each other's memory.

The environment variables of launchers give the number, so a single process needs no MPI.

Host names do not identify a machine: two containers may have the same one, and a machine may have
two. MPI's shared communicators depend on such names too, or on the launcher. Instead, this module
compares

- the boot id, which is the same in all containers of a machine (NCCL uses it as well);
- the PID and the IPC namespace: only processes with the same ones access each other's memory, by
  /proc/<pid>/fd on CPUs and by CUDA IPC on GPUs;
- the process itself: copies of a virtual machine agree in all of the above, but have no process
  with the PID and the start time of the other rank's process.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

HOST = "GROUNDSWELL_HOST"
BOOT = Path("/proc/sys/kernel/random/boot_id")

# The number of processes: Open MPI, PMI (MPICH, Intel MPI, Cray), MVAPICH, Slurm, Flux, IBM.
SIZE_VARIABLES = (
    "OMPI_COMM_WORLD_SIZE PMI_SIZE MV2_COMM_WORLD_SIZE SLURM_STEP_NUM_TASKS FLUX_JOB_SIZE "
    "JSM_NAMESPACE_SIZE"
).split()
# The rank of this process; one above 0 reveals other processes.
RANK_VARIABLES = (
    "PMIX_RANK PMI_RANK MPI_LOCALRANKID OMPI_COMM_WORLD_RANK MV2_COMM_WORLD_RANK PALS_RANKID "
    "ALPS_APP_PE FLUX_TASK_RANK JSM_NAMESPACE_RANK"
).split()
# Variables that reveal a launcher; some launchers do not set the number of processes.
LAUNCHER_VARIABLES = [*RANK_VARIABLES, "PMI_FD", "PMI_PORT"]


def started_ranks() -> int:
    """The number of processes that were started together, or a lower bound if only a rank is known.

    1 without a launcher; 0 if there is a launcher, but only MPI knows the number.
    """
    counts = list(_counts().values())
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
        counts.append(mpi.COMM_WORLD.size)
    return max(counts, default=0 if _launcher() else 1)


def launcher_variables() -> str:
    """The names of the variables that indicate several processes."""
    several = [name for name, count in _counts().items() if count > 1]
    return ", ".join(several or _launcher())


def without_launcher(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a process that belongs to no job, whatever has started its parent."""
    prefixes = ("OMPI_COMM_", "OMPI_UNIVERSE_", "PMIX_", "PMI_", "SLURM_STEP_", "PRTE_LAUNCHED")
    names = {*SIZE_VARIABLES, *LAUNCHER_VARIABLES, "SLURM_PROCID", "SLURM_LOCALID"}
    if "RANK" in environment:  # of torchrun
        names |= {"RANK", "WORLD_SIZE"}
    return {
        name: value
        for name, value in environment.items()
        if name not in names and not name.startswith(prefixes)
    }


def find_mpiexec() -> str | None:
    """Path of mpiexec: in the folder of this Python, with its MPI, or else on the path."""
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def exclude_libfabric() -> None:
    """Exclude libfabric from Open MPI if all processes are on one machine; call before MPI starts.

    Messages need no network then, and libfabric searches for network hardware for about a second. A
    value of OMPI_MCA_btl that is already set remains.
    """
    size = os.environ.get("OMPI_COMM_WORLD_SIZE")
    if size is not None and size == os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE"):
        os.environ.setdefault("OMPI_MCA_btl", "^ofi")


def _counts() -> dict[str, int]:
    """The numbers of processes by variable; those that follow from a rank are lower bounds."""
    # torchrun sets both; WORLD_SIZE alone may be meant for a program that a script starts later.
    torch = ["WORLD_SIZE"] if "RANK" in os.environ else []
    # The script of a Slurm job has rank 0, too, but srun has not started it.
    ranks = _numbers([*RANK_VARIABLES, "SLURM_PROCID"])
    above = {name: rank + 1 for name, rank in ranks.items() if rank}
    return _numbers([*SIZE_VARIABLES, *torch]) | above


def _numbers(names: Iterable[str]) -> dict[str, int]:
    """The variables that are set to whole numbers."""
    values = {name: os.environ.get(name, "") for name in names}
    return {name: int(value) for name, value in values.items() if value.isdigit()}


def _launcher() -> list[str]:
    return sorted(set(LAUNCHER_VARIABLES) & set(os.environ))


class Process(NamedTuple):
    """The process of a rank, as other ranks identify it."""

    machine: str  # tests override it by the variable HOST
    namespaces: tuple[str, ...]  # PID and IPC
    pid: int  # in that namespace
    start_time: int  # clock ticks since the machine has started

    @classmethod
    def this(cls) -> Process:
        """The current process."""
        pid, machine = os.getpid(), os.environ.get(HOST) or _machine()
        return cls(machine, (_namespace("pid"), _namespace("ipc")), pid, _stat(pid)[1])

    def sees(self, other: Process) -> bool:
        """Whether this process, which must be the current one, can access another."""
        together = self.machine == other.machine and self.namespaces == other.namespaces
        return together and _stat(other.pid)[1] == other.start_time

    @property
    def alive(self) -> bool:
        """Whether it runs, if the current process can see it; zombies do not count as running."""
        return is_running(self.pid) and _stat(self.pid)[1] == self.start_time


def is_running(pid: int) -> bool:
    """Whether a process that this one can see runs; zombies do not count as running."""
    return _stat(pid)[0] not in ("", "Z", "X")


def _machine() -> str:
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return socket.gethostname()


def _namespace(kind: str) -> str:
    try:
        return str(Path(f"/proc/self/ns/{kind}").readlink())
    except OSError:
        return ""


def _stat(pid: int) -> tuple[str, int]:
    """State and start time of a process; "" and -1 if there is none. See proc(5)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return "", -1
    fields = text.rpartition(")")[2].split()  # the name may contain anything
    return fields[0], int(fields[19])
