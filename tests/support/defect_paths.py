"""The ways that messages take when defects of exchanges are tried, and lists of what is tried."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from checked_arrays import ExchangeSetup

from groundswell.exchange.connect import TRANSPORTS
from groundswell.exchange.transfer import BufferedTransfer
from groundswell.exchange.transports import mpi

PATHS = {
    "mpi": "MPI",
    "mpi-thread": "MPI, driven by a thread",
    "peer": "peer memory (shared memory)",
    "staged": "MPI through pinned host memory",
}
TRANSPORTS["cpu"]["staged"] = partial(BufferedTransfer, transport=mpi.StagedMpiTransport)

Check = Callable[[ExchangeSetup], None]


def collecting(checks: list[Check]) -> Callable[[Check], Check]:
    """A decorator that adds a check to a list."""

    def check(function: Check) -> Check:
        checks.append(function)
        return function

    return check
