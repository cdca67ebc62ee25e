"""What a run will ask of its device, and whether the device has it."""

from __future__ import annotations

from typing import Any

from groundswell.backends import Backend, open_backend
from groundswell.errors import BackendError, InputError

SMALLER = "use larger cells, a smaller region, single precision, or another device"


def outlook(setup: Any) -> dict[str, Any]:
    """Memory, bandwidth and least time on the case's device; what forbids the run in `problems`.

    `seconds_at_least` is the time if all of the measured bandwidth were used.
    """
    try:
        backend = open_backend(setup.case.run.backend)
        bandwidth = backend.measure_bandwidth()
    except BackendError as error:
        return {"device": None, "problems": [str(error)]}
    free, total = backend.memory()
    traffic = setup.steps * setup.updates_per_step * setup.bytes_per_update
    return {
        "device": backend.device,
        "memory_free": free,
        "memory_total": total,
        "bandwidth": bandwidth,
        "seconds_at_least": traffic / bandwidth,
        "problems": [] if setup.memory <= free else [_too_large(setup, free)],
    }


def require_memory(setup: Any, backend: Backend) -> None:
    """See that the run fits into the device's free memory.

    Raises:
        InputError: it does not.
    """
    free, _ = backend.memory()
    if setup.memory > free:
        raise InputError(_too_large(setup, free))


def _too_large(setup: Any, free: int) -> str:
    return (
        f"the run takes {setup.memory / 1e9:.3g} GB of memory, but {free / 1e9:.3g} GB are free on "
        f"the device; {SMALLER}"
    )
