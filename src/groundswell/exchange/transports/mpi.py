"""Messages by MPI: between buffers, through pinned host memory, or in one collective call.

MPI makes progress only during calls, so waiting ranks poll; a thread may do so during kernels.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Integers
from groundswell.backends import Backend, HostCall, Launch
from groundswell.backends.base import Event
from groundswell.exchange.communicator import opened
from groundswell.exchange.messages import (
    Buffer,
    Message,
    Operation,
    TransferRequest,
    allocate,
    extent_of,
    peers_of,
)
from groundswell.exchange.mpi_communicator import MpiCommunicator, duplicate
from groundswell.exchange.waiting import BUSY_SECONDS, Deadline, complete

if TYPE_CHECKING:
    from mpi4py import MPI

PART = 1 << 30  # largest message, bytes: MPI libraries count in 32 bits
STAGE = 4 << 20  # size of a staged part, bytes: one is copied while another is sent
THREAD_BUSY_SECONDS = 1e-3  # time of polling by a thread; kernels need the cores


class _OwnCommunicator(Operation):
    """Messages on a duplicate of the communicator, which separates those of operations."""

    def __init__(self, request: TransferRequest) -> None:
        assert isinstance(request.comm, MpiCommunicator)
        self._backend, self._comm = request.backend, request.comm
        self._peers = peers_of(request.messages)
        self._persistent: list[MPI.Request] = []  # to be freed
        # Ranks and receive requests; none if one request receives from all ranks.
        self._expected: list[tuple[int, MPI.Request]] = []
        self._mpi_comm = duplicate(request.comm.mpi_comm, request.comm)
        opened(self)

    def _complete(self, requests: Sequence[MPI.Request], busy: float = BUSY_SECONDS) -> None:
        complete(requests, Deadline(self._comm, busy=busy), "data", self._missing)

    def _missing(self) -> Iterator[int]:
        """The ranks whose messages have not arrived; if it is not known, all peers."""
        yield from sorted({n for n, r in self._expected if not r.Test()}) or self._peers

    def close(self) -> None:
        if not self._mpi_comm:
            return
        for request in self._persistent:
            request.Free()
        self._mpi_comm.Free()


class _PointToPoint(_OwnCommunicator):
    """MPI requests for messages in parts.

    Args:
        sent, received: buffer of each message, in memory that MPI can read.
        part: largest size of a part, bytes.
    """

    def __init__(
        self,
        request: TransferRequest,
        sent: Sequence[Buffer],
        received: Sequence[Buffer],
        part: int,
    ) -> None:
        super().__init__(request)
        comm, messages = self._mpi_comm, request.messages
        self._lengths = request.backend.pinned_bytes(8 * len(messages)).view(np.int64)
        self._sends = [
            _SendPart(comm, message, chunk, begin, self._lengths[n : n + 1])
            for n, (message, buffer) in enumerate(zip(messages, sent, strict=True))
            for begin, chunk in _chunks(buffer, part)
        ]
        receives = [
            (message.peer, comm.Recv_init(_memory_of(chunk), message.peer, message.tag))
            for message, buffer in zip(messages, received, strict=True)
            for _, chunk in _chunks(buffer, part)
        ]
        self._expected = [*receives]
        self._receives = [request for _, request in receives]
        sends = [part.persistent for part in self._sends if part.persistent is not None]
        self._persistent = [*sends, *self._receives]
        self._fetch_lengths = self._copies_of_lengths(messages)

    def _copies_of_lengths(self, messages: Sequence[Message]) -> list[Launch]:
        """Copies of the lengths that only the device knows to the host."""
        first = int(self._lengths.ctypes.data)
        return [
            self._backend.copy_bytes(first + 8 * n, message.length, 8)
            for n, message in enumerate(messages)
            if message.length
        ]


class MpiTransport(_PointToPoint):
    """Messages of buffers that MPI can read: on the host, or on a GPU if MPI is GPU-aware.

    Args:
        threaded: whether a thread drives MPI while kernels run. Most MPI libraries move large
            messages only during calls.
    """

    _thread: _ProgressThread | None = None

    def __init__(
        self,
        request: TransferRequest,
        sent: Sequence[Buffer],
        received: Sequence[Buffer],
        *,
        threaded: bool = False,
    ) -> None:
        super().__init__(request, sent, received, PART)
        self.path = "MPI" if request.backend.on_host else "GPU-aware MPI"
        self.path += ", driven by a thread" * threaded
        self._pending: list[MPI.Request] = []
        if threaded:
            act = lambda: self._complete(self._pending, THREAD_BUSY_SECONDS)  # noqa: E731
            self._thread = _ProgressThread(act)
        post = HostCall("post MPI messages", self._post, extent=extent_of(sent))
        self.start = [*self._fetch_lengths, post]
        self.finish = [HostCall("wait for MPI messages", self._wait, extent=extent_of(received))]

    def _post(self) -> None:
        # MPI has no streams: packing, and the last unpacking, must be complete.
        self._backend.record_event().wait()
        for request in self._receives:
            request.Start()
        self._pending = [*self._receives, *(part.start() for part in self._sends)]
        if self._thread:
            self._thread.start()

    def _wait(self) -> None:
        if self._thread:
            self._thread.wait()
        else:
            self._complete(self._pending)

    def close(self) -> None:
        if self._mpi_comm and self._thread:
            self._thread.close()
        super().close()


class StagedMpiTransport(_PointToPoint):
    """Messages of a GPU through pinned host memory, for MPI that is not GPU-aware."""

    path = "MPI through pinned host memory"

    def __init__(
        self, request: TransferRequest, sent: Sequence[Buffer], received: Sequence[Buffer]
    ) -> None:
        backend, sizes = request.backend, [buffer.size for buffer in (*sent, *received)]
        self._memory, pinned = request.comm.collective_try(
            lambda: allocate(backend, sizes, on_host=True)
        )
        host_sent, host_received = pinned[: len(sent)], pinned[len(sent) :]
        super().__init__(request, host_sent, host_received, STAGE)
        self._downloads = _copies(backend, host_sent, sent)
        self._uploads = _copies(backend, received, host_received)
        self._downloaded: list[Event] = []
        self._emptied = backend.record_event()  # the memory into which messages arrive
        size = extent_of(sent)
        download = HostCall("copy messages to the host", self._download, extent=size)
        self.start = [*self._fetch_lengths, download]
        self.finish = [HostCall("send, receive and copy back", self._move, extent=size)]

    def _download(self) -> None:
        self._emptied.wait()
        for request in self._receives:
            request.Start()
        if self._fetch_lengths:
            self._backend.record_event().wait()
        self._downloaded = []
        for copy, part in zip(self._downloads, self._sends, strict=True):
            if part.size:
                copy()
            self._downloaded.append(self._backend.record_event())

    def _move(self) -> None:
        """Send each part once it is in host memory; upload each part that has arrived."""
        deadline = Deadline(self._comm)
        leaving = list(zip(self._downloaded, self._sends, strict=True))
        coming, sent = list(zip(self._receives, self._uploads, strict=True)), []
        while leaving or coming:
            while leaving and leaving[0][0].is_done():
                sent.append(leaving.pop(0)[1].start())
            arrived = [pair for pair in coming if pair[0].Test()]
            for pair in arrived:
                pair[1]()
                coming.remove(pair)
            if not arrived:
                deadline.pause("data", self._missing())
        self._emptied = self._backend.record_event()
        self._complete(sent)


class AllToAllTransport(_OwnCommunicator):
    """One MPI_Ialltoallv of host buffers (pinned memory for a GPU).

    The MPI library can optimise this call for the network. GPU-aware MPI libraries may still crash
    with GPU buffers in collective calls, so host buffers are used.

    Args:
        request: a request with at most one message per peer.
        sent, received: buffer of each message; buffers are consecutive in memory.
    """

    def __init__(
        self, request: TransferRequest, sent: Sequence[Buffer], received: Sequence[Buffer]
    ) -> None:
        super().__init__(request)
        self.path = "MPI_Alltoallv" + " through pinned host memory" * (not request.backend.on_host)
        peers = [message.peer for message in request.messages]
        self._vectors = [_vector(self._comm.size, peers, buffers) for buffers in (sent, received)]
        self._requests: list[MPI.Request] = []
        self.start = [HostCall("post MPI_Ialltoallv", self._post, extent=extent_of(sent))]
        self.finish = [HostCall("wait for MPI_Ialltoallv", self._wait, extent=extent_of(received))]

    def _post(self) -> None:
        self._backend.record_event().wait()  # MPI has no streams
        self._requests = [self._mpi_comm.Ialltoallv(*self._vectors)]

    def _wait(self) -> None:
        self._complete(self._requests)


# --- requests and buffers -------------------------------------------------------------------------


class _SendPart:
    """A part of a message. Parts beyond the end of a shorter message are sent empty.

    Args:
        buffer: the part at its largest extent.
        begin: offset of the part in the message, bytes.
        length: length of the message, (1,), if it varies.

    Attributes:
        persistent: the request; None if the length varies.
    """

    def __init__(
        self, comm: MPI.Comm, message: Message, buffer: Buffer, begin: int, length: Integers
    ) -> None:
        self._comm, self._to = comm, (message.peer, message.tag)
        self._buffer, self._begin, self._length = buffer, begin, length
        changes = bool(message.length)
        self.persistent = None if changes else comm.Send_init(_memory_of(buffer), *self._to)

    @property
    def size(self) -> int:
        """Number of bytes of the next message."""
        if self.persistent is not None:
            return self._buffer.size
        return int(np.clip(self._length[0] - self._begin, 0, self._buffer.size))

    def start(self) -> MPI.Request:
        """Start the transfer; returns the request."""
        if self.persistent is None:
            return self._comm.Isend(_memory_of(self._buffer._replace(size=self.size)), *self._to)
        self.persistent.Start()
        return self.persistent


class _ProgressThread:
    """A thread that runs an action once for each `start`, concurrently with kernels.

    Kernels run without Python's global lock. `wait` raises the error of the action, if it failed.
    """

    def __init__(self, act: Callable[[], None]) -> None:
        self._act, self._ended = act, False
        self._error: BaseException | None = None
        self._begin, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, name="groundswell-mpi", daemon=True)
        self._thread.start()
        self.start = self._begin.release

    def wait(self) -> None:
        if self._error is None:
            self._done.acquire()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        self._ended = True
        self._begin.release()
        self._thread.join()

    def _run(self) -> None:
        while self._begin.acquire() and not self._ended:
            try:
                self._act()
            except BaseException as error:  # the main thread raises it
                self._error = error
            self._done.release()


def _memory_of(buffer: Buffer) -> list[object]:
    """A buffer in the form that MPI takes."""
    from mpi4py import MPI

    return [MPI.memory.fromaddress(buffer.address, buffer.size), MPI.BYTE]


def _vector(ranks: int, peers: Sequence[int], buffers: Sequence[Buffer]) -> list[object]:
    """Buffers in the form that MPI takes: common memory, and sizes and offsets by rank."""
    sizes, offsets = np.zeros((2, ranks), np.int64)
    first = buffers[0].address if buffers else 0
    for peer, buffer in zip(peers, buffers, strict=True):
        sizes[peer], offsets[peer] = buffer.size, buffer.address - first
    memory, byte = _memory_of(Buffer(first, int(sizes.sum())))
    return [memory, sizes, offsets, byte]


def _chunks(buffer: Buffer, part: int) -> list[tuple[int, Buffer]]:
    """Parts of a buffer of limited size, each with its offset."""
    return [
        (begin, Buffer(buffer.address + begin, min(part, buffer.size - begin)))
        for begin in range(0, buffer.size, part)
    ]


def _copies(backend: Backend, targets: Sequence[Buffer], sources: Sequence[Buffer]) -> list[Launch]:
    """Copies between buffers in parts."""
    return [
        backend.copy_bytes(to.address, source.address, to.size)
        for both in zip(targets, sources, strict=True)
        for (_, to), (_, source) in zip(*(_chunks(b, STAGE) for b in both), strict=True)
    ]
