"""A program for three ranks, of which rank 1 is killed in some phase of an exchange.

    mpiexec --continuous -n 3 python killed_program.py TRANSPORT PHASE FOLDER

The launcher leaves the others alone: they have to notice by themselves. Each process writes a file
with its PID as the name: empty at the start, with the error that it gets before it ends.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from groundswell.errors import GroundswellError
from groundswell.exchange import Domain, Numbering
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.mpi_communicator import get_communicator


def die(*_: Any, **__: Any) -> Any:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def on_rank_1(where: Any, name: str, act: Callable[[], Any]) -> None:
    """Call `act`, in which rank 1 is killed when it calls this function."""
    if get_communicator().rank == 1:
        with patch.object(where, name, die):
            act()
    act()


def main(transport: str, phase: str) -> None:
    """Exchange until rank 1 is killed, and then until the others get an error."""
    domain = Domain((60, 50), 1, periodic=True, transport=transport)
    u = domain.zeros()
    if phase == "set-up":
        on_rank_1(HaloExchange, "__init__", lambda: domain.plan(u))
    if phase == "tuning":
        on_rank_1(domain.backend, "measure_seconds", lambda: domain.plan(u, transport="fastest"))
    plan = domain.plan(u)
    plan()
    if phase == "start":
        on_rank_1(plan, "start", lambda: plan.start())
        plan.finish()
        plan()
    if phase == "finish":
        plan.start()
        on_rank_1(plan, "finish", lambda: plan.finish())
        plan()
    if phase == "collective":
        on_rank_1(domain.comm, "allgather", lambda: domain.comm.allgather(None))
    if phase == "gather-scatter":
        numbering = Numbering(np.arange(9))
        v = np.ones(9)
        numbering.gather_scatter(v)
        on_rank_1(numbering, "gather_scatter", lambda: numbering.gather_scatter(v))
    if phase == "close":
        on_rank_1(domain, "close", lambda: domain.close())


if __name__ == "__main__":
    *case, folder = sys.argv[1:]
    report = Path(folder, str(os.getpid()))
    report.touch()
    try:
        main(*case)
        report.write_text("not noticed")
    except GroundswellError as error:
        report.write_text(f"noticed: {error}")
        sys.exit(3)
