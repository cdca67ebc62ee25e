"""A program for two ranks, one of which times out in a kernel, as GPUs do: its ghosts are stale.

    mpiexec -n 2 python stale_halo_program.py exchange|gather|close|exit|operation

Nobody may use them unawares.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from mpi4py import MPI

from groundswell.errors import RunFailed
from groundswell.exchange import Domain, Numbering
from groundswell.exchange.transports.peer_memory import PeerMemory
from groundswell.exchange.waiting import TIMEOUT

BRIEF, LONG = "0.3", "30"  # s


def require_failure(act: Callable[[], Any]) -> None:
    """See that a rank is named."""
    try:
        act()
    except RunFailed as error:
        assert "rank 1 has sent no" in str(error), error
    else:
        raise AssertionError("nobody has noticed")


def impatient(plan: Callable[[], Any]) -> Any:
    """A plan whose kernels wait themselves, and not for long."""
    os.environ[TIMEOUT] = BRIEF
    with patch.object(PeerMemory, "waits", return_value=[]):
        made = plan()
    os.environ[TIMEOUT] = LONG
    return made


def main(what: str) -> None:
    if what == "operation":
        owner: Any = Numbering(np.arange(4))
        values = np.ones(4)
        plan = impatient(lambda: owner.plan("gather-scatter", values))
    else:
        owner = Domain((12, 8), 1, periodic=True)
        u = owner.zeros()
        plan = impatient(lambda: owner.plan(u))
    plan()  # all is well
    MPI.COMM_WORLD.Barrier()
    if owner.rank == 0:
        plan()
    MPI.COMM_WORLD.Barrier()  # rank 1 sends nothing before rank 0 has waited in vain
    if owner.rank == 1:
        plan()
    MPI.COMM_WORLD.Barrier()
    if what in ("exchange", "operation") and owner.rank == 0:
        require_failure(plan)
    if what == "gather":
        require_failure(lambda: owner.gather(u))
    if what != "exit":
        require_failure(owner.close)
    print("all holds")


if __name__ == "__main__":
    main(sys.argv[1])
