"""MPI transports: of host memory, of GPU memory if MPI can read it, or through pinned memory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from groundswell.backends import Backend, HostCall, Launch
from groundswell.exchange.communicator import Communicator, opened
from groundswell.exchange.mpi_communicator import MpiCommunicator, duplicate
from groundswell.exchange.operation import Operation
from groundswell.exchange.transports.base import Buffer, Message, offsets_of, peers_of
from groundswell.exchange.transports.progress_thread import ProgressThread
from groundswell.exchange.transports.send_parts import SendParts, memory_of, pieces
from groundswell.exchange.waiting import BUSY_SECONDS, Deadline

Request = Any  # of mpi4py
# MPI libraries copy a little at each call. A call that has copied takes several times as long as
# the shortest one, and at least so many seconds. It is worth polling for some time longer.
MOVED, MOVED_SECONDS, LONGER = 4, 5e-6, 20
PART = 1 << 30  # largest message, bytes: MPI libraries count in 32 bits
STAGE = 4 << 20  # bytes of a staged part: one is copied while another one travels


class MpiTransport(Operation):
    """Messages of buffers that MPI can read: of the host, or of a GPU if MPI is GPU-aware.

    Args:
        threaded: let a thread drive MPI while kernels run. Most MPI libraries move large messages
            only while a thread calls them.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        messages: Sequence[Message],
        *,
        threaded: bool = False,
    ) -> None:
        self._backend, self._rank_comm, self._peers = backend, comm, peers_of(messages)
        self.path = "MPI" if backend.on_host else "GPU-aware MPI"
        self.path += ", driven by a thread" * threaded
        self._comm = own_communicator(comm)
        sent, received = [m.sent for m in messages], [m.received for m in messages]
        self._sends = SendParts(backend, self._comm, messages, sent, PART)
        self._receives = receive_requests(self._comm, messages, received, PART)
        self._pending: list[Request] = []
        self._thread = ProgressThread(self._complete) if threaded else None
        opened(self)
        self.start: list[Launch] = [
            *self._sends.fetch_lengths,
            HostCall("post MPI messages", self._post),
        ]
        self.finish: list[Launch] = [HostCall("wait for MPI messages", self._wait)]

    def _post(self) -> None:
        # MPI knows no streams: buffers must have been packed, and unpacked the last time.
        self._backend.record_event().wait()
        for request in self._receives:
            request.Start()
        self._pending = [*self._receives, *(part.start() for part in self._sends.parts)]
        if self._thread:
            self._thread.start()

    def _wait(self) -> None:
        if self._thread:
            self._thread.wait()
        else:
            self._complete()

    def _complete(self, busy: float = BUSY_SECONDS) -> None:
        complete(self._rank_comm, self._pending, self._peers, busy)

    def close(self) -> None:
        if not self._comm:
            return
        if self._thread:
            self._thread.close()
        for request in self._receives:
            request.Free()
        self._sends.close()
        self._comm.Free()


class StagedMpiTransport(Operation):
    """Messages of a GPU through pinned memory of the host, for MPI that is not GPU-aware."""

    path = "MPI through pinned host memory"

    def __init__(self, backend: Backend, comm: Communicator, messages: Sequence[Message]) -> None:
        self._backend, self._rank_comm, self._peers = backend, comm, peers_of(messages)
        self._comm = own_communicator(comm)
        sent, received = [m.sent for m in messages], [m.received for m in messages]
        self._memory, (host_sent, host_received) = _pinned(backend, sent, received)
        self._sends = SendParts(backend, self._comm, messages, host_sent, STAGE)
        self._receives = receive_requests(self._comm, messages, host_received, STAGE)
        self._downloads = _copies(backend, host_sent, sent)
        self._uploads = _copies(backend, received, host_received)
        opened(self)
        self._downloaded: list[Any] = []
        self._emptied = backend.record_event()  # the memory that messages arrive in
        self.start: list[Launch] = [
            *self._sends.fetch_lengths,
            HostCall("copy messages to the host", self._download),
        ]
        self.finish: list[Launch] = [HostCall("send, receive and copy back", self._move)]

    def _download(self) -> None:
        self._emptied.wait()
        for request in self._receives:
            request.Start()
        if self._sends.fetch_lengths:
            self._backend.record_event().wait()
        self._downloaded = []
        for copy, part in zip(self._downloads, self._sends.parts, strict=True):
            if part.size:
                copy()
            self._downloaded.append(self._backend.record_event())

    def _move(self) -> None:
        """Send each part once it is in host memory; upload each part that has arrived."""
        deadline = Deadline(self._rank_comm)
        leaving = list(zip(self._downloaded, self._sends.parts, strict=True))
        coming, sent = list(zip(self._receives, self._uploads, strict=True)), []
        while leaving or coming:
            while leaving and leaving[0][0].is_done():
                sent.append(leaving.pop(0)[1].start())
            arrived = [(request, upload) for request, upload in coming if request.Test()]
            for pair in arrived:
                pair[1]()
                coming.remove(pair)
            if not arrived:
                deadline.pause("data", self._peers)
        self._emptied = self._backend.record_event()
        complete(self._rank_comm, sent, self._peers)

    def close(self) -> None:
        if not self._comm:
            return
        for request in self._receives:
            request.Free()
        self._sends.close()
        self._comm.Free()


def complete(
    comm: Communicator,
    requests: Sequence[Request],
    peers: Sequence[int],
    busy: float = BUSY_SECONDS,
) -> None:
    """Wait for requests until a deadline; `busy` as for Deadline.

    Raises:
        RunFailed: a rank is late or lost.
    """
    if not requests:
        return
    deadline = Deadline(comm, busy=busy)
    pending, shortest = list(requests), float("inf")
    begun = time.thread_time()
    while not type(requests[0]).Testall(pending):
        lasted = time.thread_time() - begun  # without what other threads took of the core
        shortest = min(shortest, lasted)
        if lasted > max(MOVED * shortest, MOVED_SECONDS):
            deadline.stay_busy(min(LONGER * lasted, busy))
        deadline.pause("data", peers)
        begun = time.thread_time()


def own_communicator(comm: Communicator) -> Any:
    """A duplicate, which keeps the messages of operations apart."""
    assert isinstance(comm, MpiCommunicator)
    return duplicate(comm.mpi_comm, comm)


def receive_requests(
    comm: Any, messages: Sequence[Message], places: Sequence[Buffer], part: int
) -> list[Request]:
    """Persistent requests for messages in parts."""
    return [
        comm.Recv_init(memory_of(piece), message.peer, message.tag)
        for message, place in zip(messages, places, strict=True)
        for _, piece in pieces(place, part)
    ]


def _pinned(backend: Backend, *buffers: Sequence[Buffer]) -> tuple[Any, list[list[Buffer]]]:
    """Pinned memory of the same sizes: the array, and the buffers in it."""
    sizes = [buffer.size for some in buffers for buffer in some]
    offsets, size = offsets_of(sizes)
    memory = backend.pinned_bytes(max(size, 1))
    first = int(memory.ctypes.data)
    places = iter([Buffer(first + o, n) for o, n in zip(offsets, sizes, strict=True)])
    return memory, [[next(places) for _ in some] for some in buffers]


def _copies(backend: Backend, targets: Sequence[Buffer], sources: Sequence[Buffer]) -> list[Launch]:
    """Copies between buffers in parts."""
    return [
        backend.copy_bytes(to.address, source.address, to.size)
        for both in zip(targets, sources, strict=True)
        for (_, to), (_, source) in zip(*(pieces(b, STAGE) for b in both), strict=True)
    ]
