"""NCCL: NVIDIA's library for messages between GPUs, inside the stream and inside graphs."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from typing import Any

from groundswell.backends import Launch
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.transports.base import Job, Transfer
from groundswell.exchange.transports.buffers import Buffers


class NcclTransfer(Transfer):
    """One group of sends and receives an exchange.

    NCCL has no tags: messages between two ranks are matched by the order in which they are posted.
    Both ranks post theirs by key, so several messages to the same peer cannot be mixed up.

    Args:
        buffers: makes the buffers.

    Raises:
        BackendError: there is no NCCL here, or its ranks cannot meet.
    """

    path = "NCCL"
    in_graph = True

    def __init__(self, job: Job, *, buffers: Callable[[Job], Buffers] = Buffers) -> None:
        self._job = job
        self._buffers = job.comm.collective_try(lambda: buffers(job))
        self._group = communicator(job.comm, job.backend)
        self.start: list[Launch] = [*self._buffers.pack, self._move]
        self.finish: list[Launch] = list(self._buffers.unpack)
        self.launches = [*self.start, *self.finish]
        self._end_looking = job.backend.add_poll_callback(job.comm.require_alive)
        try:
            self._move()  # the first use connects the ranks, which a graph cannot record
            job.backend.synchronize()
        except Exception:
            self._end_looking()
            abort(job.comm, job.backend)
            raise

    def _move(self) -> None:
        buffers = self._buffers
        places = zip(self._job.messages, buffers.sent, buffers.received, strict=True)
        self._group.exchange([(m.peer, sent, received) for m, sent, received in places])

    def close(self) -> None:
        """The communicator serves later exchanges too; see `leave`."""
        self._end_looking()


# By communicator and backend, which are kept so that their numbers are not given to others.
_GROUPS: dict[tuple[int, int], tuple[Communicator, Any, Any]] = {}


def communicator(comm: Communicator, backend: Any) -> Any:
    """The ranks' NCCL communicator, made at first use."""
    if not _GROUPS:
        atexit.register(leave)
    key = (id(comm), id(backend))
    if key not in _GROUPS:
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


def abort(comm: Communicator, backend: Any) -> None:
    """Give up the communicator, if there is one, without waiting for other ranks."""
    if found := _GROUPS.pop((id(comm), id(backend)), None):
        found[2].abort()


def leave() -> None:
    """Destroy the communicators; every rank must, before MPI ends. After an error nobody waits."""
    failed = hasattr(sys, "last_value")
    while _GROUPS:
        group = _GROUPS.popitem()[1][2]
        (group.abort if failed else group.close)()
