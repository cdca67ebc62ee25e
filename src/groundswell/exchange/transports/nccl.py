"""Messages between GPUs by NCCL, NVIDIA's library, in streams and in graphs.

NCCL needs one GPU per rank, and has no tags and no time-outs.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from groundswell.backends import Backend, HostCall
from groundswell.errors import BackendError
from groundswell.exchange.communicator import Communicator, opened
from groundswell.exchange.devices import sharers
from groundswell.exchange.messages import Buffer, Operation, TransferRequest, extent_of

if TYPE_CHECKING:
    from groundswell.backends.nccl import NcclCommunicator


class NcclTransport(Operation):
    """One group of sends and receives.

    NCCL has no tags: messages between two ranks are matched by the order in which they are posted.
    Both ranks post theirs in the order of tags.

    Raises:
        BackendError: NCCL is missing, or its ranks cannot connect.
    """

    path = "NCCL"
    in_graph = True

    def __init__(
        self, request: TransferRequest, sent: Sequence[Buffer], received: Sequence[Buffer]
    ) -> None:
        backend, comm = request.backend, request.comm
        self._ends = [
            (message.peer, (here.address, here.size), (there.address, there.size))
            for message, here, there in zip(request.messages, sent, received, strict=True)
        ]
        self._group = communicator(comm, backend)
        self.start = [HostCall("NCCL sends and receives", self._move, extent=extent_of(sent))]
        self._remove_callback = backend.add_poll_callback(comm.require_alive)
        try:
            self._move()  # the first use connects the ranks, which a graph cannot record
            backend.synchronize()
        except Exception:
            self.close()
            abort(comm, backend)
            raise
        opened(self)

    def _move(self) -> None:
        self._group.exchange(self._ends)

    def close(self) -> None:
        """The communicator serves later exchanges too; see `close_all`."""
        remove, self._remove_callback = self._remove_callback, lambda: None
        remove()


# By communicator and backend; these are kept alive so that their ids are not reused.
_GROUPS: dict[tuple[int, int], tuple[Communicator, Backend, NcclCommunicator]] = {}


def communicator(comm: Communicator, backend: Any) -> NcclCommunicator:
    """The NCCL communicator of the ranks, created on first use."""
    if not _GROUPS:
        atexit.register(close_all)
    key = (id(comm), id(backend))
    if key not in _GROUPS:
        comm.collective_try(partial(_require, shared_gpu(backend, comm)))
        token = comm.bcast(
            comm.collective_try(lambda: backend.nccl_unique_id() if comm.first else None)
        )

        def join() -> None:
            _GROUPS[key] = comm, backend, backend.nccl_communicator(comm.size, token, comm.rank)

        try:
            comm.collective_try(join)
        except Exception:
            abort(comm, backend)
            raise
    return _GROUPS[key][2]


def shared_gpu(backend: Backend, comm: Communicator) -> str | None:
    """Why NCCL cannot connect this rank, if it shares its GPU; collective.

    NCCL itself refuses only the ranks that share one. A rank with its own GPU waits for them.
    """
    ranks = sharers(backend, comm)
    if len(ranks) < 2:
        return None
    return f"ranks {', '.join(map(str, ranks))} share a GPU, but NCCL needs one GPU per rank"


def _require(reason: str | None) -> None:
    if reason:
        raise BackendError(reason)


def abort(comm: Communicator, backend: Backend) -> None:
    """Abort the communicator, if there is one, without waiting for other ranks."""
    if found := _GROUPS.pop((id(comm), id(backend)), None):
        found[2].abort()


def close_all() -> None:
    """Destroy the communicators, or abort them after an error; collective, before MPI ends."""
    failed = hasattr(sys, "last_value")
    while _GROUPS:
        group = _GROUPS.popitem()[1][2]
        (group.abort if failed else group.close)()
