"""Facts about this machine: what `groundswell info` shows."""

from __future__ import annotations

import platform
import shutil
from typing import Any

from groundswell import __version__
from groundswell.backends import open_backend
from groundswell.backends.cache import KernelCache, default_folder
from groundswell.errors import BackendError
from groundswell.run.summary import library_versions

EXTRAS = ("cuda-core", "cuda-bindings", "mpi4py", "obspy", "pyvista")


def describe_machine() -> dict[str, Any]:
    """Versions, devices with free memory (bytes) and bandwidth (bytes/s), MPI, and kernel cache."""
    cache, libraries = KernelCache(default_folder()), library_versions(EXTRAS)
    return {
        "groundswell": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "libraries": libraries,
        "devices": {name: _device(name) for name in ("cpu", "cuda")},
        "mpi": {"mpi4py": libraries.get("mpi4py"), "mpiexec": shutil.which("mpiexec")},
        "cache": {
            "folder": str(cache.folder),
            "entries": len(cache.entries()),
            "bytes": cache.size(),
            "limit": cache.limit,
        },
    }


def _device(name: str) -> dict[str, Any]:
    """What a backend runs on, or why it cannot."""
    try:
        backend = open_backend(name)
        free, total = backend.memory()
        return {
            "device": backend.device,
            "memory_free": free,
            "memory_total": total,
            "bandwidth": backend.measure_bandwidth(),
            "versions": backend.versions(),
        }
    except BackendError as error:
        return {"device": None, "reason": str(error)}
