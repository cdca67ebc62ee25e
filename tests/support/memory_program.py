"""A program for several ranks: memory that DG waves allocate, and its estimates.

    mpiexec -n 3 python memory_program.py FOUND.json

The file lists pairs (allocated, estimated) in bytes, by rank, for each transport.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from counting_backend import Counted
from dgwave_cases import build

from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.exchange.tuning import Choice
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.solvers.dgwave.setup import Setup

if __name__ == "__main__":
    comm, backend = get_communicator(), Counted()
    setup = Setup.from_case(build(), comm)
    elements = setup.elements(comm.size, comm.rank)
    found = Propagation(backend, comm, discretise(setup, elements), Choice("mpi"))
    _ = found.step, found.prepare
    pairs = comm.gather((backend.now, setup.decompose(comm.size).memory[comm.rank]))
    if comm.first:
        Path(sys.argv[1]).write_text(json.dumps(pairs))
