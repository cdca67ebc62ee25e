"""CPU and CUDA backends: memory, compiled kernels, graphs, timing. Only this package uses CUDA."""

from __future__ import annotations

from groundswell.backends.base import Backend, Event, Module
from groundswell.backends.launch import Blocks, Cells, Graph, HostCall, Items, KernelLaunch, Launch
from groundswell.backends.launch_times import LaunchTime, TimedGraph
from groundswell.backends.listing import Listing, describe, list_launches
from groundswell.backends.source import Constant, Exact, Parameter, Source
from groundswell.errors import BackendError

__all__ = [
    "Backend",
    "Blocks",
    "Cells",
    "Constant",
    "Event",
    "Exact",
    "Graph",
    "HostCall",
    "Items",
    "KernelLaunch",
    "Launch",
    "LaunchTime",
    "Listing",
    "Module",
    "Parameter",
    "Source",
    "TimedGraph",
    "describe",
    "list_launches",
    "open_backend",
    "start_backend",
]


def start_backend(name: str) -> None:
    """Start to open the first device in the background, before `open_backend` is called."""
    if name == "cuda":
        from groundswell.backends.cuda_context import start_context

        start_context()


def open_backend(name: str, device: int | None = None, *, threads: int | None = None) -> Backend:
    """Open a backend.

    >>> import groundswell as gs
    >>> backend = gs.open_backend("cpu", threads=2)
    >>> u = backend.zeros((3, 4), "float32")
    >>> backend.name, u.shape
    ('cpu', (3, 4))

    Args:
        name: "cpu" or "cuda".
        device: number of the GPU; by default the current one.
        threads: number of CPU threads; by default OMP_NUM_THREADS, or all cores.

    Raises:
        BackendError: the name is unknown, or the device or its libraries are missing.
    """
    if name == "cpu":
        from groundswell.backends.cpu import CpuBackend

        return CpuBackend(threads=threads)
    if name == "cuda":
        from groundswell.backends.cuda import CudaBackend

        return CudaBackend(device=device)
    raise BackendError(f"backend {name!r} is unknown; allowed: cpu, cuda")
