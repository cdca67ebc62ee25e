"""The program of a worker: executes the runs that it reads from standard input.

Each line is a pickled object in base64: first an assignment and the `turn` of the worker, then
rows. Outcomes are written as lines to standard output. On several ranks, rank 0 reads and writes.
The program ends when it reads END, or at the end of its input, for example if its parent is killed;
END is needed because mpiexec does not forward the end of the input.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from typing import IO, Any

from groundswell.ensembles.lines import END, decode, encode
from groundswell.ensembles.rows import Row
from groundswell.ensembles.worker import Outcome, Worker
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.simulation.kept_parts import KeptParts
from groundswell.simulation.signals import StopRequest, stop_request


def main(kept: KeptParts | None = None) -> None:
    """Execute runs until the input ends or a signal requests a stop.

    Args:
        kept: parts of set-ups that runs may share.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which decides
    replies = _own_output()
    job = get_communicator()
    with stop_request() as stop:
        lines = _lines(job)
        assignment, turn = next(lines)
        worker = Worker(assignment, turn, kept or KeptParts())
        worker.warm_up()
        for row in lines:
            outcome = _stopped(row) if stop else worker.run(row)
            if job.first:
                replies.write(encode(outcome))
                replies.flush()
            if not _goes_on(job, outcome, stop):
                break


def _own_output() -> IO[bytes]:
    """A stream to standard output for outcomes only; other output goes to standard error."""
    found = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return found


def _lines(job: Communicator) -> Iterator[Any]:
    """The objects that rank 0 reads, on all ranks."""
    while True:
        line = job.bcast(sys.stdin.buffer.readline() if job.first else b"")
        content = decode(line) if line.endswith(b"\n") else END
        if content == END:
            return
        yield content


def _goes_on(job: Communicator, outcome: Outcome, stop: StopRequest) -> bool:
    return bool(job.bcast(outcome.is_healthy and not stop))


def _stopped(row: Row) -> Outcome:
    return Outcome(row.name, "stopped", "stopped before it began")


if __name__ == "__main__":
    main()
