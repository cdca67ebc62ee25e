"""How many threads run the kernels of a CPU, and which library provides them."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from math import ceil, inf
from pathlib import Path

from groundswell.backends.cgroups import cpu_quota
from groundswell.backends.source import INCLUDE, Source

# If the user sets one of these, OpenMP's own threads run the kernels.
OPENMP_BEHAVIOUR = (
    "OMP_WAIT_POLICY OMP_PROC_BIND OMP_PLACES OMP_STACKSIZE OMP_THREAD_LIMIT OMP_DYNAMIC "
    "GOMP_SPINCOUNT GOMP_CPU_AFFINITY GOMP_STACKSIZE KMP_BLOCKTIME KMP_AFFINITY"
).split()


def available_cores(ranks: int = 1) -> int:
    """Number of cores that this process may use: its affinity, or its quota if that is smaller.

    Args:
        ranks: number of processes that share the quota.
    """
    quota = cpu_quota() / ranks
    return max(1, min(len(os.sched_getaffinity(0)), ceil(quota) if quota < inf else 1 << 30))


def default_threads() -> int:
    """OMP_NUM_THREADS as OpenMP reads it, or one per available core.

    The first entry of a list counts, as parallel regions are not nested.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(wanted) if wanted.isdigit() and int(wanted) else available_cores()


def team_source() -> Source:
    """The source of the threads: our own, unless the user controls those of OpenMP."""
    chosen = any(name in os.environ for name in OPENMP_BEHAVIOUR)
    return Source(INCLUDE / ("openmp_team.h" if chosen else "thread_team.h"), {})


class ThreadTeam(ctypes.Structure):
    """Threads that run parallel loops; must agree with ThreadTeam in portable.h.

    Args:
        library: path of the compiled `team_source`.
    """

    _fields_ = [(name, ctypes.c_void_p) for name in ("parallel", "size", "number")]

    def __init__(self, library: Path) -> None:
        found = ctypes.CDLL(str(library))
        functions = (found.team_parallel, found.team_size, found.team_number)
        super().__init__(*(ctypes.cast(function, ctypes.c_void_p) for function in functions))
        self.resize = found.team_resize  # for kernels that the calling thread launches


thread_team = cache(ThreadTeam)
