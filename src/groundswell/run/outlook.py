"""What a run will ask of its device and its disk, and whether they have it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import disk_usage
from typing import Any

from groundswell.backends import Backend, open_backend
from groundswell.errors import BackendError, GroundswellError, InputError
from groundswell.io.atomic import existing_part
from groundswell.run.folder import require_writable

SMALLER = "use larger cells, a smaller region, single precision, another device or more ranks"


def outlook(setup: Any, folder: Path, ranks: int = 1) -> dict[str, Any]:
    """Memory, bandwidth and least time on the case's device; what forbids the run in `problems`.

    `seconds_at_least` is the time if all of the measured bandwidth were used, `output_bytes` what
    the samples take in the folder of the results.
    """
    disk = {"output_bytes": setup.output_bytes, "disk_free": disk_usage(existing_part(folder)).free}
    problems = [*_folder_problems(setup, folder, disk["disk_free"])]
    try:
        backend = open_backend(setup.case.run.backend)
        bandwidth = backend.measure_bandwidth()
    except BackendError as error:
        return {"device": None, **disk, "problems": [str(error), *problems]}
    free, total = backend.memory()
    traffic = setup.steps * setup.updates_per_step * setup.bytes_per_update
    return {
        "device": backend.device,
        "memory_free": free,
        "memory_total": total,
        "bandwidth": bandwidth,
        "seconds_at_least": traffic / bandwidth,
        **disk,
        "problems": [*_too_large(setup, free, ranks), *problems],
    }


def _folder_problems(setup: Any, folder: Path, free: int) -> Iterator[str]:
    try:
        require_writable(folder)
    except GroundswellError as error:
        yield str(error)
    if setup.output_bytes > free:
        yield (
            f"the results take {setup.output_bytes / 1e9:.3g} GB, but {free / 1e9:.3g} GB are free "
            f"for {folder}; sample less often, use a larger stride, or choose another folder"
        )


def require_memory(setup: Any, backend: Backend, ranks: int = 1) -> None:
    """See that a rank's share of the run fits into its device's free memory.

    Raises:
        InputError: it does not.
    """
    if problems := _too_large(setup, backend.memory()[0], ranks):
        raise InputError(problems[0])


def _too_large(setup: Any, free: int, ranks: int) -> list[str]:
    if setup.memory <= free * ranks:
        return []
    devices = "the device" if ranks == 1 else f"each of {ranks} devices"
    return [
        f"the run takes {setup.memory / 1e9:.3g} GB of memory, but {free / 1e9:.3g} GB are free on "
        f"{devices}; {SMALLER}"
    ]
