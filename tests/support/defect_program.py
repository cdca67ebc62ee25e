"""A program for two ranks: what goes wrong in exchanges elsewhere, tried on this one.

    mpiexec -n 2 python defect_program.py

Prints one line of JSON: for each transport and check a complaint, or null. "staged" sends through
pinned memory as on GPUs without a better way; on a CPU it can be tried all the same.
"""

from __future__ import annotations

import json
import os
import traceback

import defect_messages
import defect_ways
from checked_arrays import ExchangeSetup
from defect_paths import PATHS, Check

from groundswell.backends import open_backend
from groundswell.exchange.mpi_communicator import MpiCommunicator, get_communicator
from groundswell.exchange.waiting import TIMEOUT

CHECKS = [*defect_messages.CHECKS, *defect_ways.CHECKS]


def complaint(test: Check, at: ExchangeSetup) -> str | None:
    """What the ranks have to complain about.

    If one rank has given up, the other one times out before the first one does.
    """
    found, os.environ[TIMEOUT] = None, "5"
    try:
        test(at)
    except Exception:
        found = f"rank {at.job.rank}: {traceback.format_exc()[-1500:]}"
    os.environ[TIMEOUT] = "20"
    return "\n".join(filter(None, at.job.allgather(found))) or None


def main() -> None:
    backend, job = open_backend("cpu"), get_communicator()
    assert isinstance(job, MpiCommunicator)
    places = {transport: ExchangeSetup(backend, job, transport) for transport in PATHS}
    found = {
        transport: {test.__name__: complaint(test, at) for test in CHECKS}
        for transport, at in places.items()
    }
    if job.first:
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
