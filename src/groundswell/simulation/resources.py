"""Memory, bandwidth and disk space that a run needs, and whether this machine has them.

A device is a GPU, or all CPUs of a host. Ranks on the same device share its memory and bandwidth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from shutil import disk_usage
from typing import Any

from groundswell.backends import open_backend
from groundswell.case.quantities import byte_size
from groundswell.errors import BackendError, GroundswellError, InputError, NoSpace
from groundswell.exchange.devices import gpu_buses
from groundswell.formats.appendable_hdf5 import METADATA_BYTES
from groundswell.formats.atomic import existing_ancestor
from groundswell.simulation.bandwidths import kept_bandwidth
from groundswell.simulation.results_folder import require_writable
from groundswell.simulation.solver import Cost, Setup

SMALLER = (
    "use larger cells, a smaller region, single instead of double precision, or ranks on more or "
    "other devices"
)


def estimate_resources(
    setup: Setup, cost: Cost, folder: Path, sharing: Mapping[str, Any] | None = None
) -> dict[str, object]:
    """Estimate memory, bandwidth and run time on the case's device.

    `problems` lists the reasons why the run is impossible. `seconds_at_least` is the time of all
    steps at the full measured bandwidth, or of one step if their number is not known in advance
    (`has_fixed_steps`). `in_cache` says whether the data of the run fit in the caches of the
    device; the run may then be faster. `output_bytes` is the size of the samples in the results
    folder.

    Args:
        cost: of a run on one rank.
        sharing: for a run on several ranks, `ranks_per_host`, and `memory` and `updates_per_step`
            of the largest block. All hosts and devices are assumed to be like the local ones.
    """
    name, disk_free = setup.case.run.backend, disk_usage(existing_ancestor(folder)).free
    disk = {"output_bytes": cost.output_bytes, "disk_free": disk_free}
    shared = {"sharing": dict(sharing)} if sharing else {}
    problems = [*_folder_problems(cost, folder)]
    try:
        backend = open_backend(name)
        bandwidth = kept_bandwidth(backend)
        devices = len(gpu_buses()) if name == "cuda" else 1
        ranks = ceil(sharing["ranks_per_host"] / devices) if sharing else 1
    except BackendError as error:
        problems.insert(0, str(error))
        return {"backend": name, "device": None, **disk, **shared, "problems": problems}
    if sharing:
        shared["sharing"]["ranks_per_device"] = ranks
    most = sharing or {"memory": cost.memory, "updates_per_step": cost.updates_per_step}
    steps = setup.steps if setup.has_fixed_steps else 1
    traffic = steps * ranks * most["updates_per_step"] * cost.bytes_per_update
    free, total = backend.memory_info()
    return {
        "backend": name,
        "device": backend.device,
        "memory_free": free,
        "memory_total": total,
        "bandwidth": bandwidth,
        "seconds_at_least": traffic / bandwidth,
        "in_cache": ranks * most["memory"] <= backend.cache_bytes,
        "has_fixed_steps": setup.has_fixed_steps,
        **disk,
        **shared,
        "problems": [*_too_large([most["memory"]] * ranks, free), *problems],
    }


def _folder_problems(cost: Cost, folder: Path) -> Iterator[str]:
    try:
        require_writable(folder)
        require_disk_space(cost.output_bytes + METADATA_BYTES, folder)
    except GroundswellError as error:
        yield str(error)


def require_disk_space(size: int, folder: Path) -> None:
    """Check that files of `size` bytes fit on the disk of a folder.

    Raises:
        NoSpace: they do not fit.
    """
    free = disk_usage(existing_ancestor(folder)).free
    if size > free:
        raise NoSpace(
            f"the results take {byte_size(size)}, but {byte_size(free)} are free for {folder}; "
            "sample less often, use a larger stride, or choose another folder"
        )


def require_memory(needs: Sequence[int], free: int) -> None:
    """Check that the memory needs of the ranks on a device, bytes each, fit into its free memory.

    Raises:
        InputError: they do not fit.
    """
    if problems := _too_large(needs, free):
        raise InputError(problems[0])


def _too_large(needs: Sequence[int], free: int) -> list[str]:
    if sum(needs) <= free:
        return []
    who = "the run takes" if len(needs) == 1 else f"{len(needs)} ranks on one device take"
    return [
        f"{who} {sum(needs) / 1e9:.3g} GB of memory, but {free / 1e9:.3g} GB are free on the "
        f"device; {SMALLER}"
    ]
