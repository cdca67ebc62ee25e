"""Whether there are GPUs to test on, and turns on them."""

from __future__ import annotations

import fcntl
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

AT_ONCE = 2  # jobs of several ranks on the GPUs
LOCKS = [Path(tempfile.gettempdir()) / f"groundswell-gpus-{n}.lock" for n in range(AT_ONCE)]


def gpu_count() -> int:
    """CUDA devices that this process could use."""
    try:
        import cupy

        return int(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # no CuPy, no driver, no device: there is nothing to test on
        return 0


@contextmanager
def turn_on_gpus(*arguments: object) -> Iterator[None]:
    """Wait for a turn if "cuda" is an argument of a job of several ranks.

    Kernels of its ranks wait for each other, and a GPU divides its time among all processes. With
    many such jobs at once, most of the time passes in kernels that wait for one that does not run.
    """
    with ExitStack() as held:
        if "cuda" in arguments:
            _hold_a_lock(held)
        yield


def _hold_a_lock(held: ExitStack) -> None:
    files = [held.enter_context(path.open("w")) for path in LOCKS]
    while not any(_locked(file) for file in files):
        time.sleep(0.05)


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
