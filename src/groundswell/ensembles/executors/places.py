"""Where the workers of an ensemble run: GPUs, or shares of the cores."""

from __future__ import annotations

import os
from collections.abc import Sequence

from groundswell.backends.threads import available_cores
from groundswell.ensembles.executors.local import Place
from groundswell.ensembles.plan import Plan
from groundswell.ensembles.store import Store
from groundswell.errors import InputError
from groundswell.exchange.devices import gpu_buses

# While one worker makes time steps on a GPU, others set up their runs and write results.
WORKERS_PER_GPU = 4
THREADS, VISIBLE = "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"


def places_for(plan: Plan, backend: str, workers: int | None, runs: int) -> list[Place]:
    """A place for each worker; no more than there are runs.

    Args:
        workers: their number; by default one per core, or a few for each GPU.
        runs: number of runs.

    Raises:
        InputError: the number is not positive, or there is no GPU.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers = {workers}: give 1 or more")
    make = _on_gpus if backend == "cuda" else _on_cores
    return make(plan, workers, runs)


def _on_cores(plan: Plan, workers: int | None, runs: int) -> list[Place]:
    """Workers that share the cores; OMP_NUM_THREADS sets the threads of each process."""
    cores, ranks = available_cores(), plan.ranks_per_run
    wanted = os.environ.get(THREADS, "")
    most = max(1, cores // (ranks * (int(wanted) if wanted.isdigit() and int(wanted) else 1)))
    count = min(workers or most, runs)
    threads = wanted or str(max(1, cores // (count * ranks)))
    return [_place(plan, {THREADS: threads}) for _ in range(count)]


def _on_gpus(plan: Plan, workers: int | None, runs: int) -> list[Place]:
    """Workers that share the GPUs; a run of several ranks sees all of them."""
    if plan.ranks_per_run > 1:
        return [_place(plan, {}) for _ in range(min(workers or 1, runs))]
    gpus = visible_gpus()
    count = min(workers or WORKERS_PER_GPU * len(gpus), runs)
    threads = os.environ.get(THREADS, str(max(1, available_cores() // count)))
    store = Store(plan.store)
    return [
        Place(
            {VISIBLE: gpu, THREADS: threads},
            store.work / f"gpu-{gpu}.lock" if count > len(gpus) else None,
            launcher=plan.launcher,
        )
        for gpu in (gpus[n % len(gpus)] for n in range(count))
    ]


def visible_gpus() -> Sequence[str]:
    """The GPUs that this process may use, as entries of CUDA_VISIBLE_DEVICES.

    Raises:
        BackendError: there is none.
    """
    count = len(gpu_buses())
    named = [name for name in os.environ.get(VISIBLE, "").split(",") if name]
    return named[:count] if named else [str(n) for n in range(count)]


def _place(plan: Plan, environment: dict[str, str]) -> Place:
    return Place(environment, None, plan.ranks_per_run, plan.launcher)
