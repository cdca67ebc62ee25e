"""The `groundswell` command on several ranks, one of which gets a signal on its way.

    mpiexec -n 4 python interrupted_run_program.py SIGTERM 3 30 run case.toml

Rank 3 is sent SIGTERM once the samples of 30 steps are written. With "none" as signal, it prints
"running".
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import nullcontext
from typing import Any

from bandwidths import keep_no_bandwidths

from groundswell.backends import Backend
from groundswell.cli import main
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.simulation import run as runner


def stop_at(name: str, rank: int, step: int) -> None:
    """Have this process signalled, if it is that rank."""

    def report(done: int, updates: int) -> None:
        if get_communicator().rank != rank or done < step:
            return
        if name == "none":
            print("running", flush=True)
        else:
            os.kill(os.getpid(), signal.Signals[name])

    def progress(*_: Any, **__: Any) -> Any:
        return nullcontext(report)

    runner.progress = progress


if __name__ == "__main__":
    name, rank, step, *arguments = sys.argv[1:]
    keep_no_bandwidths()
    Backend.measure_bandwidth = lambda *_: 1.0  # type: ignore[method-assign]  # it would take longer
    stop_at(name, int(rank), int(step))
    sys.exit(main(arguments))
