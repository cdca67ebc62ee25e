"""MPI: from buffers of the host, through pinned copies of a GPU's, or from the GPU's own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from groundswell.backends import Launch
from groundswell.exchange.deadline import BUSY_SECONDS, Deadline
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.transports.base import Job, Transfer, total
from groundswell.exchange.transports.buffers import Buffers
from groundswell.exchange.transports.outgoing import PART, Outgoing, memory_of

Request = Any  # of mpi4py
THREAD_BUSY_SECONDS = 1e-3  # of a thread that drives MPI: the cores are for the kernels
# MPI libraries copy a little at each call. One that has done so takes several times the shortest
# one, and so many seconds; it is worth looking often for some time longer than it took.
MOVED, MOVED_SECONDS, LONGER = 4, 5e-6, 20
STAGE = 4 << 20  # bytes of a staged part: a copy of one goes on while another one travels


class MpiTransfer(Transfer):
    """Messages of buffers that MPI can read: the host's, or a GPU's if MPI is aware of GPUs.

    Args:
        threaded: let a thread drive MPI while kernels run. Most MPI libraries move large messages
            only while someone calls them.
        buffers: makes the buffers.
    """

    def __init__(
        self,
        job: Job,
        *,
        threaded: bool = False,
        buffers: Callable[[Job], Buffers] = Buffers,
    ) -> None:
        self._job = job
        self._buffers = job.comm.collective_try(lambda: buffers(job))
        aware = not job.backend.on_host
        self.path = "GPU-aware MPI" if aware else "MPI" + ", driven by a thread" * threaded
        self._comm = communicator(job)
        self._outgoing = Outgoing(job, self._comm, self._buffers.sent)
        self._receives = _requests(self._comm.Recv_init, job, self._buffers.received)
        self._under_way: list[Request] = []
        self._driver = Driver(job) if threaded else None
        self.start: list[Launch] = [*self._buffers.pack, *self._outgoing.measure, self._start]
        self.finish: list[Launch] = [self._finish, *self._buffers.unpack]
        self.launches = [*self.start, *self.finish]

    def _start(self) -> None:
        # MPI knows nothing of streams, in which buffers are packed, and emptied the last time.
        self._job.backend.record_event().wait()
        for request in self._receives:
            request.Start()
        self._under_way = [*self._receives, *(part.start() for part in self._outgoing.parts)]
        if self._driver:
            self._driver.go(self._under_way)

    def _finish(self) -> None:
        if self._driver:
            self._driver.wait()
        else:
            complete(self._job, self._under_way)

    def close(self) -> None:
        if self._driver:
            self._driver.close()
        for request in self._receives:
            request.Free()
        self._outgoing.close()
        self._comm.Free()


class StagedTransfer(Transfer):
    """Messages of a GPU through pinned memory of the host, for MPI that knows nothing of GPUs."""

    path = "MPI through pinned host memory"

    def __init__(self, job: Job) -> None:
        self._job = job
        self._buffers = job.comm.collective_try(lambda: Buffers(job))
        self._comm = communicator(job)
        parts = [_staged(job, part, STAGE) for part in (self._buffers.sent, self._buffers.received)]
        self._memory = [memory for memory, _, _ in parts]
        (_, sent, out), (_, received, back) = parts
        self._outgoing = Outgoing(job, self._comm, sent, STAGE)
        self._receives = _requests(self._comm.Recv_init, job, received, STAGE)
        self._down = [job.backend.copy_bytes(host, device, size) for host, device, size in out]
        self._up = [job.backend.copy_bytes(device, host, size) for host, device, size in back]
        self._marks: list[Any] = []
        self._emptied = job.backend.record_event()  # the memory that messages arrive in
        self.start: list[Launch] = [*self._buffers.pack, *self._outgoing.measure, self._copy_down]
        self.finish: list[Launch] = [self._move, *self._buffers.unpack]
        self.launches = [*self.start, *self.finish]

    def _copy_down(self) -> None:
        self._emptied.wait()
        for request in self._receives:
            request.Start()
        if self._outgoing.measure:
            self._job.backend.record_event().wait()
        self._marks = []
        for copy, part in zip(self._down, self._outgoing.parts, strict=True):
            if part.size:
                copy()
            self._marks.append(self._job.backend.record_event())

    def _move(self) -> None:
        """Send each part when its copy is down, copy each part up when it has come."""
        deadline = Deadline(self._job.comm)
        leaving = list(zip(self._marks, self._outgoing.parts, strict=True))
        coming, sent = list(zip(self._receives, self._up, strict=True)), []
        while leaving or coming:
            while leaving and leaving[0][0].is_done():
                sent.append(leaving.pop(0)[1].start())
            here = [(request, up) for request, up in coming if request.Test()]
            for pair in here:
                pair[1]()
                coming.remove(pair)
            if not here:
                deadline.pause("ghost layers", peers(self._job))
        self._emptied = self._job.backend.record_event()
        complete(self._job, sent)

    def close(self) -> None:
        for request in self._receives:
            request.Free()
        self._outgoing.close()
        self._comm.Free()


class Driver:
    """A thread that completes requests while the main thread computes.

    Kernels run outside Python's lock, so the thread really runs beside them.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._requests: Sequence[Request] = ()
        self._error: BaseException | None = None
        self._go, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="groundswell-mpi", daemon=True)
        self._thread.start()

    def go(self, requests: Sequence[Request]) -> None:
        """Begin to complete requests, which have been started."""
        self._requests = requests
        self._go.release()

    def wait(self) -> None:
        """Wait until they are complete.

        Raises:
            RunFailed: a rank is late or lost.
        """
        if self._error is None:
            self._done.acquire()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """End the thread."""
        self._ended = True
        self._go.release()
        self._thread.join()

    def _run(self) -> None:
        while self._go.acquire() and not self._ended:
            try:
                complete(self._job, self._requests, busy=THREAD_BUSY_SECONDS)
            except BaseException as error:  # the main thread raises it
                self._error = error
            self._done.release()


def complete(job: Job, requests: Sequence[Request], *, busy: float = BUSY_SECONDS) -> None:
    """Wait for requests until a deadline; `busy` as of Deadline.

    Raises:
        RunFailed: a rank is late or lost.
    """
    if not requests:
        return
    deadline = Deadline(job.comm, busy=busy)
    everything, quick = list(requests), float("inf")
    begun = time.thread_time()
    while not type(requests[0]).Testall(everything):
        lasted = time.thread_time() - begun  # without what other threads took of the core
        quick = min(quick, lasted)
        if lasted > max(MOVED * quick, MOVED_SECONDS):
            deadline.stay_busy(min(LONGER * lasted, busy))
        deadline.pause("ghost layers", peers(job))
        begun = time.thread_time()


def peers(job: Job) -> list[int]:
    """The ranks that messages come from."""
    return sorted({message.peer for message in job.messages})


def communicator(job: Job) -> Any:
    """A communicator of its own keeps the messages of exchanges apart."""
    assert isinstance(job.comm, MpiCommunicator)
    return job.comm.mpi_comm.Dup()


def _requests(
    make: Any, job: Job, places: Sequence[tuple[int, int]], part: int = PART
) -> list[Request]:
    """Persistent requests for messages at addresses, in parts that count as messages too."""
    return [
        make(memory_of(address + begin, min(part, size - begin)), message.peer, message.key)
        for message, (address, size) in zip(job.messages, places, strict=True)
        for begin in range(0, size, part)
    ]


def _staged(job: Job, places: Sequence[tuple[int, int]], part: int) -> Any:
    """Pinned memory for messages: itself, the messages' places there, and the parts to copy."""
    offsets, size = total([size for _, size in places])
    memory = job.backend.pinned_bytes(max(size, 1))
    begin = int(memory.ctypes.data)
    on_host = [(begin + o, size) for o, (_, size) in zip(offsets, places, strict=True)]
    parts = [
        (host + first, device + first, min(part, size - first))
        for (host, size), (device, _) in zip(on_host, places, strict=True)
        for first in range(0, size, part)
    ]
    return memory, on_host, parts
