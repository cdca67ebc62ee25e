"""Short parallel loops, for test_threads.py: how long they take, and who runs them."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np

from groundswell.backends import Items, Launch, Source
from groundswell.backends.cpu import CpuBackend

KERNELS = """
#include "portable.h"
extern "C" int omp_get_num_threads();
KERNEL add(real* out, index_t count) {
  FOR_ITEMS(n, count) {
    for (int repeat = 0; repeat < 16; ++repeat) out[n] = sqrt(out[n] * out[n] + 1);
  }
}
KERNEL team(long long* out, index_t count) {
  FOR_ITEMS(n, count) { out[n] = omp_get_num_threads(); }
}
"""
COUNT, LOOPS = 20000, 600


def launch(name: str, threads: int, dtype: str) -> tuple[Launch, np.ndarray]:
    """A loop on so many threads, and the array that it writes."""
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / "kernels.h").write_text(KERNELS)
        backend = CpuBackend(threads=threads)
        out = backend.zeros((COUNT,), dtype)
        found = backend.compile(Source(path, {})).launch(name, Items(COUNT), out, COUNT)
        backend.finish_compiling()
    return found, out


def seconds(threads: int) -> float:
    """How long short loops take."""
    run, out = launch("add", threads, "float32")
    run()
    begun = time.perf_counter()
    for _ in range(LOOPS):
        run()
    assert (out > LOOPS**0.5).all()
    return time.perf_counter() - begun


def teams() -> int:
    """The number of threads that run a loop which asks for two."""
    run, out = launch("team", 2, "int64")
    run()
    (size,) = set(out.tolist())
    return int(size)


def in_fork() -> int:
    """The same in a fork of this process; 0 if it does not end in time."""
    child = os.fork()
    if child == 0:
        os._exit(teams())
    for _ in range(500):
        if (ended := os.waitpid(child, os.WNOHANG))[0]:
            return os.waitstatus_to_exitcode(ended[1])
        time.sleep(0.02)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return 0


def launchers(count: int) -> list[int]:
    """Teams of several threads that launch at the same time."""
    meet = Barrier(count)

    def one(_: int) -> int:
        meet.wait()
        return min(teams() for _ in range(20))

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def main(what: str) -> list[float]:
    if what == "seconds":
        return [seconds(len(os.sched_getaffinity(0))), seconds(1)]
    if what == "launchers":
        return [float(n) for n in launchers(8)]
    return [teams(), in_fork() if "OMP_WAIT_POLICY" not in os.environ else 0, teams()]


print(json.dumps(main(sys.argv[1])))
