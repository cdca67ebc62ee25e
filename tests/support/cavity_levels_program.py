"""A program for several ranks: cycles of a cavity do not depend on which grids ranks divide.

mpiexec -n 4 python cavity_levels_program.py BACKEND POINTS PROCESSES WALLS EXCHANGE_POINTS...

Points, processes and walls are JSON. For each number of EXCHANGE_POINTS, the checkpoint after all
stages must be that of one rank, bit by bit, with ghosts that are poisoned before each exchange.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.devices import open_device
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.grids.cartesian import GHOSTS
from groundswell.solvers.cavity import setup as setups
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.setup import Setup, prepare
from groundswell.solvers.cavity.solver import Cavity

INSIDE = (slice(GHOSTS, -GHOSTS),) * 3


def flow_after_all_stages(setup: Setup, backend: Backend, comm: Communicator) -> dict[str, Any]:
    """The arrays of a checkpoint, without ghosts; on rank 0."""
    solver = Cavity(setup, backend, comm)
    for step in (1, 2):
        solver.step()
        solver.check_convergence(step)
    while solver.next_stage():
        solver.step()
        solver.check_convergence(3)
    found = {name: array.gather(backend, comm) for name, array in solver.state().items()}
    solver.close()
    return {n: a[INSIDE] if a.ndim == 3 else a for n, a in found.items() if a is not None}


def main() -> None:
    """Compare the ranks with one rank."""
    points, processes, walls = map(json.loads, sys.argv[2:5])
    case = CavityCase(
        fluid={"kind": "rayleigh", "rayleigh": 1e5},
        grid={"points": points},
        walls=walls,
        time={"levels": 3},
    )
    comm = get_communicator()
    backend = open_device(sys.argv[1], comm)
    run = case.run.model_copy(update={"processes": tuple(processes)})
    setup = prepare(case.model_copy(update={"run": run}))
    expected = flow_after_all_stages(prepare(case), backend, SerialCommunicator())
    for exchange_points in map(int, sys.argv[5:]):
        chosen = replace(setup, exchange_points=exchange_points)
        found = flow_after_all_stages(chosen, backend, comm)
        for name in expected if comm.first else ():
            if name != "history":  # whose sums ranks add up in another order
                assert np.isfinite(expected[name]).all(), name
                assert found[name].tobytes() == expected[name].tobytes(), (exchange_points, name)
    if comm.first:
        print("all flows agree")


if __name__ == "__main__":
    steps = {"SMOOTHING": 2, "COARSE_SMOOTHING": 3, "COARSEST_STEPS": 8}
    with patch.multiple(setups, **steps), patch.dict("os.environ", GROUNDSWELL_DEBUG="1"):
        main()
