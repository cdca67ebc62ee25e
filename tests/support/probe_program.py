"""A program for several ranks: transports that work, that lie, and that fail on one rank only.

mpiexec -n 3 python probe_program.py
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from groundswell import processes
from groundswell.backends import Backend, open_backend
from groundswell.errors import RunFailed
from groundswell.exchange import probing as probe
from groundswell.exchange.connect import TRANSPORTS
from groundswell.exchange.messages import Buffer, TransferRequest
from groundswell.exchange.mpi_communicator import MpiCommunicator, get_communicator
from groundswell.exchange.transfer import BufferedTransfer
from groundswell.exchange.transports.mpi import MpiTransport
from groundswell.exchange.waiting import TIMEOUT


class Spoilt(MpiTransport):
    """Messages whose first byte is wrong at the last rank, from the second exchange on."""

    turns = 0

    def __init__(
        self, request: TransferRequest, sent: Sequence[Buffer], received: Sequence[Buffer]
    ) -> None:
        super().__init__(request, sent, received)
        self._received = received

    def _wait(self) -> None:
        super()._wait()
        self.turns += 1
        if self.turns > 1 and self._comm.rank == self._comm.size - 1:
            ctypes.memset(self._received[0].address, 255, 1)


class Lame(MpiTransport):
    """Rank 1 gives up, so that the others wait for it in vain."""

    def _post(self) -> None:
        if self._comm.rank == 1:
            raise RunFailed("rank 1 is lame")
        super()._post()


def broken(request: TransferRequest, *buffers: Sequence[Buffer]) -> Any:
    """No transport at all."""
    raise OSError("no such\ndevice")


def mistaken(request: TransferRequest, *buffers: Sequence[Buffer]) -> Any:
    """A transport that has a mistake, which shows on one rank."""
    if request.comm.rank == 1:
        raise TypeError("a mistake")
    return MpiTransport(request, *buffers)


def check_mistake(backend: Backend, job: MpiCommunicator) -> None:
    """It is no reason not to use a transport, and all ranks are told."""
    TRANSPORTS["cpu"] |= {"mistaken": partial(BufferedTransfer, transport=mistaken)}
    try:
        probe.find_obstacles(backend, job, ["mistaken"])
    except (RunFailed, TypeError) as error:
        assert "a mistake" in str(error), error
    else:
        raise AssertionError("a mistake is taken for a reason")
    assert job.allgather(job.rank) == list(range(job.size))


def check_hosts(backend: Backend, job: MpiCommunicator) -> None:
    """Peer memory is of one host; here every rank has its own."""
    os.environ[processes.HOST] = f"host {job.rank}"
    found = probe.find_obstacles(backend, MpiCommunicator(job.mpi_comm), ["peer"])
    del os.environ[processes.HOST]
    if job.first:
        print("hosts:", found["peer"])


def main() -> None:
    """Try all of them."""
    job, backend = get_communicator(), open_backend("cpu")
    assert isinstance(job, MpiCommunicator)
    made = {"spoilt": Spoilt, "lame": Lame, "broken": broken}
    TRANSPORTS["cpu"] |= {
        name: partial(BufferedTransfer, transport=make) for name, make in made.items()
    }
    found = probe.find_obstacles(backend, job, ["mpi"])
    assert found == {"mpi": None}, found
    probe.TEST_SECONDS = 1.0
    found = probe.find_obstacles(backend, job)
    assert job.bcast(found) == found and os.environ.get(TIMEOUT) is None
    for name, reason in found.items():
        if job.first:
            print(f"{name}: {reason}")
    check_mistake(backend, job)
    check_hosts(backend, job)


if __name__ == "__main__":
    main()
