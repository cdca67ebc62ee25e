"""Places where the workers of an ensemble run: GPUs, or some of the cores."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from groundswell.backends.host_memory import host_memory
from groundswell.backends.links import read_links, shareable_memory
from groundswell.backends.threads import available_cores
from groundswell.case import Case
from groundswell.ensembles.executors.local import Place
from groundswell.ensembles.plan import Plan
from groundswell.errors import BackendError, InputError
from groundswell.exchange.devices import gpu_buses
from groundswell.simulation.preparation import cost_of, prepare

# While one worker makes time steps on a GPU, others set up their runs and write results, which can
# take several times as long as the steps of a small run.
WORKERS_PER_GPU = 8
CONTEXT_BYTES = 6e8  # of a process on a GPU
SPARE = 1.5  # memory of a worker over that of a run: a worker keeps the media of earlier runs
# Open MPI would bind the ranks of all workers to the same cores.
UNBOUND = {
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}
THREADS, VISIBLE = "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"


def places_for(plan: Plan, case: Case, workers: int | None, runs: int) -> list[Place]:
    """A place for each worker; there are no more workers than runs.

    Args:
        case: a case of the plan, for the backend and the memory of runs.
        workers: number of workers; by default one per core, or up to eight for each GPU, as cores
            and memory allow.
        runs: number of runs.

    Raises:
        InputError: `workers` is not positive, or there is no GPU.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers = {workers}: give 1 or more")
    on_gpus = case.run.backend == "cuda"
    if on_gpus and plan.ranks_per_run > 1:  # a run sees all GPUs
        return [_place(plan, {}) for _ in range(min(workers or 1, runs))]
    most = workers or (_fitting_gpus(case) if on_gpus else _fitting_cores(plan, case))
    count = min(most, runs)
    return _on_gpus(plan, count) if on_gpus else _on_cores(plan, count)


def _fitting_cores(plan: Plan, case: Case) -> int:
    """Number of workers for which the cores and the memory suffice."""
    wanted = _threads()
    by_cores = available_cores() // (plan.ranks_per_run * (int(wanted) if wanted else 1))
    return max(1, min(by_cores, int(host_memory()[0] // (SPARE * _memory_of(case)))))


def _fitting_gpus(case: Case) -> int:
    """Number of workers for which all GPUs together suffice."""
    buses, each = _visible_buses(), SPARE * _memory_of(case) + CONTEXT_BYTES
    by_cores = max(1, available_cores() // len(buses))
    try:
        by_memory = int(min(shareable_memory(buses)) // each)
    except BackendError:  # NVML is missing
        by_memory = 1
    return len(buses) * max(1, min(WORKERS_PER_GPU, by_cores, by_memory))


def _memory_of(case: Case) -> int:
    """Memory of a run, bytes."""
    setup = prepare(case)
    return cost_of(setup).estimate(setup).memory


def _threads() -> str:
    """The number of threads of each process that the user has set; empty for the default."""
    wanted = os.environ.get(THREADS, "")
    return wanted if wanted.isdigit() and int(wanted) else ""


def _on_cores(plan: Plan, count: int) -> list[Place]:
    """Workers that share the cores."""
    threads = _threads() or str(max(1, available_cores() // (count * plan.ranks_per_run)))
    return [_place(plan, {THREADS: threads}) for _ in range(count)]


def _on_gpus(plan: Plan, count: int) -> list[Place]:
    """Workers that share the GPUs evenly, and take turns if several have the same one."""
    buses = _visible_buses()
    gpus = [*zip(_visible_names(len(buses)), map(_turn_of, buses), strict=True)]
    threads = _threads() or str(max(1, available_cores() // count))
    turns = count > len(gpus)
    return [
        Place({VISIBLE: gpu, THREADS: threads}, turn if turns else None, launcher=plan.launcher)
        for gpu, turn in (gpus[n % len(gpus)] for n in range(count))
    ]


def _visible_buses() -> list[str]:
    """PCI bus ids of the GPUs that this process may use; from NVML, which needs no CUDA."""
    try:
        return [device.bus for device in read_links().devices]
    except BackendError:
        return gpu_buses()


def _visible_names(count: int) -> list[str]:
    """The GPUs that this process may use, as entries of CUDA_VISIBLE_DEVICES."""
    named = [name.strip() for name in os.environ.get(VISIBLE, "").split(",") if name.strip()]
    return named[:count] if named else [str(n) for n in range(count)]


def _turn_of(bus: str) -> Path:
    """The lock of a GPU, for all processes of this user on this host."""
    return Path(tempfile.gettempdir()) / f"groundswell-{os.getuid()}-{bus.replace(':', '-')}.lock"


def _place(plan: Plan, environment: dict[str, str]) -> Place:
    unbound = UNBOUND if plan.ranks_per_run > 1 else {}
    return Place(environment | unbound, None, plan.ranks_per_run, plan.launcher)
