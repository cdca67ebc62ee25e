"""A program for several ranks: memory that DG waves allocate, and its estimates.

    mpiexec -n 3 python memory_program.py FOUND.json

The file lists pairs (allocated, estimated) in bytes, of each rank, with exact and narrowed traces.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from checked import decomposed
from counting_backend import Counted
from dgwave_cases import build

from groundswell.exchange.communicator import Communicator
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.exchange.tuning import Choice
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.solvers.dgwave.setup import prepare


def compared(comm: Communicator, narrow: str | None) -> tuple[int, int]:
    """What this rank allocates, and its estimate, bytes."""
    backend, setup = (
        Counted(),
        prepare(build(run={"narrow": narrow}, output__shaking_map=False), comm),
    )
    elements = setup.partition.elements(comm.size, comm.rank)
    found = Propagation(backend, comm, discretise(setup, elements), Choice("mpi"))
    _ = found.step, found.prepare
    return backend.now, decomposed(setup, comm.size).memory[comm.rank]


if __name__ == "__main__":
    everyone = get_communicator()
    pairs = [
        pair
        for narrow in (None, "bfloat16")
        for pair in everyone.gather(compared(everyone, narrow))
    ]
    if everyone.first:
        Path(sys.argv[1]).write_text(json.dumps(pairs))
