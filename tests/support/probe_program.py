"""A program for several ranks: transports that work, that lie, and that fail on one rank only.

mpiexec -n 3 python probe_program.py
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from groundswell.backends import Backend, open_backend
from groundswell.errors import RunFailed
from groundswell.exchange import probe, probe_gpu_mpi
from groundswell.exchange.connect import TRANSPORTS
from groundswell.exchange.deadline import TIMEOUT
from groundswell.exchange.mpi_communicator import MpiCommunicator, get_communicator
from groundswell.exchange.transports.base import Job
from groundswell.exchange.transports.mpi import MpiTransfer

BUSES = ("0000:1b:00.0", "0000:43:00.0")


class Spoilt(MpiTransfer):
    """Messages whose first byte is wrong at the last rank, from the second exchange on."""

    turns = 0

    def _finish(self) -> None:
        super()._finish()
        self.turns += 1
        if self.turns > 1 and self._job.comm.rank == self._job.comm.size - 1:
            ctypes.memset(self._buffers.received[0][0], 255, 1)


class Lame(MpiTransfer):
    """Rank 1 gives up, so that the others wait for it in vain."""

    def _start(self) -> None:
        if self._job.comm.rank == 1:
            raise RunFailed("rank 1 is lame")
        super()._start()


def broken(job: Job) -> Any:
    """No transport at all."""
    raise OSError("no such\ndevice")


def mistaken(job: Job) -> Any:
    """A transport that has a mistake, which shows on one rank."""
    if job.comm.rank == 1:
        raise TypeError("a mistake")
    return MpiTransfer(job)


def check_mistake(backend: Backend, job: MpiCommunicator) -> None:
    """It is no reason not to use a transport, and all ranks are told."""
    TRANSPORTS["cpu"] |= {"mistaken": mistaken}
    try:
        probe.usable(backend, job, ["mistaken"])
    except (RunFailed, TypeError) as error:
        assert "a mistake" in str(error), error
    else:
        raise AssertionError("a mistake is taken for a reason")
    assert job.allgather(job.rank) == list(range(job.size))


def check_child(job: MpiCommunicator) -> None:
    """A job started from within a job ends, says something, and does no harm."""
    if job.first:
        try:
            found = probe_gpu_mpi._tried(BUSES)
        except probe_gpu_mpi.NotTried as obstacle:
            found = f"not tried: {obstacle}"
        print("child:", found)
    assert job.allgather(job.rank) == list(range(job.size))


def main() -> None:
    """Try all of them."""
    job, backend = get_communicator(), open_backend("cpu")
    assert isinstance(job, MpiCommunicator)
    if job.rank < probe_gpu_mpi.RANKS:
        assert all(probe_gpu_mpi.received(job.mpi_comm, backend, size) for size in (1, 1 << 21))
    TRANSPORTS["cpu"] |= {"spoilt": Spoilt, "lame": Lame, "broken": broken}
    found = probe.usable(backend, job, ["mpi"])
    assert found == {"mpi": None}, found
    probe.TRIAL_SECONDS = 1.0
    found = probe.usable(backend, job)
    assert job.bcast(found) == found and os.environ.get(TIMEOUT) is None
    for name, reason in found.items():
        if job.first:
            print(f"{name}: {reason}")
    check_mistake(backend, job)
    check_child(job)


if __name__ == "__main__":
    main()
