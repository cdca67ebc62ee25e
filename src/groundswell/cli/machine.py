"""Information about this machine for `groundswell info`."""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import Any

from groundswell import registry
from groundswell.backends import open_backend
from groundswell.backends.cache import KernelCache, default_folder
from groundswell.backends.links import read_links
from groundswell.errors import BackendError
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import (
    TRANSPORTS,
    load_mpi,
    mpi_version,
    obstacle,
    thread_level,
)
from groundswell.exchange.devices import open_device
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.exchange.probing import ONE_PROCESS, find_obstacles
from groundswell.processes import find_mpiexec
from groundswell.simulation.bandwidths import kept_bandwidth
from groundswell.simulation.summary import library_versions
from groundswell.version import __version__

EXTRAS = ("cuda-core", "cuda-bindings", "mpi4py", "obspy")
BACKENDS = ("cpu", "cuda")


def describe_machine() -> dict[str, object] | None:
    """Describe versions, solvers, devices with free memory (bytes) and bandwidth (bytes/s), links
    between GPUs, MPI, transports between ranks, and the kernel cache.

    All ranks of a job must call it. Rank 0 gets the description, other ranks None.
    """
    job = get_communicator()
    found = job.collective_try(lambda: _host() if job.first else {})
    mpi = {**describe_mpi(), "ranks": job.size, "hosts": _hosts(job)}
    transports = {name: _transports(name, job) for name in BACKENDS}
    if not job.first:
        return None
    return {**found, "mpi": {**found["mpi"], **mpi}, "transports": transports}


def _host() -> dict[str, Any]:
    """The part of the description that needs one process only."""
    cache, libraries = KernelCache(default_folder()), library_versions(EXTRAS)
    return {
        "groundswell": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "solvers": registry.names(),
        "libraries": libraries,
        "devices": {name: _device(name) for name in BACKENDS},
        "links": _links(),
        "mpi": {"mpi4py": libraries.get("mpi4py"), "mpiexec": find_mpiexec()},
        "cache": {
            "folder": str(cache.folder),
            "entries": len(cache.entries()),
            "bytes": cache.size(),
            "limit": cache.limit,
        },
    }


def describe_mpi() -> dict[str, Any]:
    """Library, version of the standard, thread level and mpiexec, or why there is no library."""
    try:
        library = mpi_version()
    except BackendError as error:
        return {"library": None, "reason": str(error)}
    return {
        "library": library,
        "standard": ".".join(map(str, load_mpi().Get_version())),
        "thread_level": thread_level(),
        "mpiexec": find_mpiexec(),
    }


def _device(name: str) -> dict[str, object]:
    """The device of a backend, or the reason why there is none."""
    try:
        backend = open_backend(name)
        free, total = backend.memory_info()
        return {
            "device": backend.device,
            "memory_free": free,
            "memory_total": total,
            "bandwidth": kept_bandwidth(backend, again=True),
            "versions": backend.versions(),
        }
    except BackendError as error:
        return {"device": None, "reason": str(error)}


def _links() -> dict[str, object]:
    """GPUs by bus, and the link between each two of them with its assumed bandwidth."""
    try:
        links = read_links()
    except BackendError as error:
        return {"devices": [], "pairs": [], "reason": str(error)}
    return {
        "devices": [asdict(device) for device in links.devices],
        "pairs": [
            {"devices": list(pair.devices), "kind": pair.kind, "bandwidth": pair.bandwidth}
            for pair in links.pairs
        ],
    }


def _hosts(job: Communicator) -> int:
    """Number of hosts: groups of ranks that share memory."""
    return len(set(job.allgather(job.same_host[0])))


def _transports(name: str, job: Communicator) -> dict[str, object]:
    """The transports between the ranks: whether each works, and why not.

    For a single process they are those between ranks that could be started. Only a job of several
    ranks can test them, so it is unknown whether they work (None) unless a requirement is not met.
    """
    try:
        backend = job.collective_try(lambda: open_device(name, job))
        if job.size > 1:
            reasons = find_obstacles(backend, job)
        else:
            reasons = {key: obstacle(key, backend, job) or ONE_PROCESS for key in TRANSPORTS[name]}
    except BackendError as error:
        reasons = dict.fromkeys(TRANSPORTS[name], str(error))
    return {
        key: {"works": None if why == ONE_PROCESS else why is None, "reason": why}
        for key, why in reasons.items()
    }
