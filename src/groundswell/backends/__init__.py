"""Where code runs: compile, cache, allocate, launch, record graphs, time. All CUDA lives here."""

from __future__ import annotations

from groundswell.backends.base import (
    Array,
    Backend,
    Blocks,
    Cells,
    Event,
    Graph,
    Items,
    Launch,
    Module,
)
from groundswell.backends.source import Constant, Exact, Parameter, Source
from groundswell.errors import BackendError

__all__ = [
    "Array",
    "Backend",
    "Blocks",
    "Cells",
    "Constant",
    "Event",
    "Exact",
    "Graph",
    "Items",
    "Launch",
    "Module",
    "Parameter",
    "Source",
    "open_backend",
]


def open_backend(name: str, device: int | None = None, *, threads: int | None = None) -> Backend:
    """The backend of that name, ready for use.

    Args:
        device: which GPU, where there are several; by default the current one.
        threads: how many the CPU's kernels use; by default as OMP_NUM_THREADS says, or all cores.

    Raises:
        BackendError: unknown name, or the device it needs is absent.
    """
    if name == "cpu":
        from groundswell.backends.cpu import CpuBackend

        return CpuBackend(threads=threads)
    if name == "cuda":
        from groundswell.backends.cuda import CudaBackend

        return CudaBackend(device=device)
    raise BackendError(f"backend {name!r} is unknown; allowed: cpu, cuda")
