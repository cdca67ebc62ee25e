"""Waits of a CPU for flags in shared memory, which ranks set."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest

from groundswell.backends import Blocks
from groundswell.backends.cpu import CpuBackend
from groundswell.exchange.boxes import THREADS, compile_kernels

OTHERS = 6  # processes that compete for the core


@pytest.fixture
def shared_core() -> Iterator[None]:
    """This process shares one core with others that never rest."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(OTHERS)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
        os.sched_setaffinity(0, before)


def wait_for(flags: list[int], seconds: float) -> tuple[int, float]:
    """The number of the first missing flag, counted from 1, or 0; and how long the wait lasted."""
    arrived, missing = np.array(flags, np.int64), np.zeros(1, np.int64)
    addresses = arrived.ctypes.data + 8 * np.arange(len(flags))
    epoch, stop = np.zeros(1, np.int64), np.zeros(1, np.int64)
    arguments = addresses, len(flags), epoch, int(stop.ctypes.data), round(seconds * 1e9), missing
    backend = CpuBackend()
    poll = compile_kernels(backend).launch("poll_flags", Blocks(1, THREADS), *arguments)
    backend.finish_compiling()
    begun = time.monotonic()
    poll()
    return int(missing[0]), time.monotonic() - begun


def test_flags_that_are_set_need_no_wait() -> None:
    missing, lasted = wait_for([1, 1, 2], seconds=100)
    assert missing == 0 and lasted < 10


def test_a_wait_ends_in_time_on_a_core_that_others_use(shared_core: None) -> None:
    """Each time that a wait yields the core, the others may keep it for some milliseconds."""
    missing, lasted = wait_for([1, 0, 1], seconds=0.05)
    assert missing == 2 and 0.05 <= lasted < 3
