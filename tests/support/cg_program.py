"""A program for several ranks: how conjugate gradients add up over them.

mpiexec -n 4 python cg_program.py multigrid|sums
"""

from __future__ import annotations

import sys
from unittest.mock import patch

from groundswell.backends import Backend, open_backend
from groundswell.exchange.transports.mailboxes import Mailboxes
from groundswell.exchange.world import World, world
from groundswell.grids.box import Box
from groundswell.solvers.poisson.shares import Shares
from groundswell.solvers.poisson.solver import Poisson


def multigrid(backend: Backend, job: World) -> None:
    """Nobody stores into another rank's memory who was told to use MPI."""
    box = Box((2, 2, 4))
    mine = Shares.of(box, job.size).elements(job.rank)
    way = {"transport": "mpi", "route": "pairwise"}
    with patch.object(Mailboxes, "__init__", side_effect=AssertionError("peer memory")):
        problem = Poisson(
            backend, job, box, 2, mine, screening=1.0, precondition="multigrid", **way
        )
        problem.solve(lambda x, y, z: x * y + z)
        problem.close()


if __name__ == "__main__":
    {"multigrid": multigrid}[sys.argv[1]](open_backend("cpu"), world())
