"""Mailboxes: memory of a rank that others of its host store into, and the flags beside it.

On GPUs the memory is mapped with CUDA IPC and the stores go over NVLink or PCIe; on CPUs it is
memory that the processes share. See exchange/letters.h for what keeps the ranks in step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from groundswell.backends import Blocks, Launch, Module
from groundswell.backends.base import Array, Event, SharedMemory
from groundswell.errors import BackendError, RunFailed
from groundswell.exchange.boxes import THREADS
from groundswell.exchange.cleanup import opened
from groundswell.exchange.deadline import CHECK_SECONDS, late, timeout_seconds
from groundswell.exchange.devices import sharers
from groundswell.exchange.messages import Buffer, Message
from groundswell.exchange.transports.base import Job, Transfer, total

FLAG = 128  # bytes: flags lie on cache lines of their own
LETTER = (
    "arrived",
    "tell_arrived",
    "allowed",
    "allow",
    "chunks",
    "bytes",
    "limit",
)  # see letters.h

Straight = Mapping[int, tuple[Any, int, tuple[int, ...]]]


@dataclass(frozen=True)
class _Mail:
    """Where a rank wants a message to be put: offsets in the memory that it shares.

    Args:
        flag: of the flags "arrived" and "allowed".
        box: of the mailbox.
        straight: of parcels that go straight into ghost layers: handle, offset and strides there.
    """

    flag: int
    box: int
    straight: Straight


class Mailboxes(Transfer):
    """The mailboxes of a job's messages, in two halves: odd exchanges use the second one.

    All ranks must make and close them together, also those that have no messages.

    Args:
        job: the messages; fields are up to who packs them.
        room: bytes of each half that this rank has for itself, before its mailboxes.
        straight: of each message the parcels that need none, see `_Mail`.

    Raises:
        BackendError: some peer's memory cannot be mapped.
        InputError: there is too little memory.
    """

    in_graph = True
    awaited = "values"

    def __init__(self, job: Job, *, room: int = 0, straight: Sequence[Straight] = ()) -> None:
        self._job = job
        backend, messages = job.backend, job.messages
        boxes, size = total([m.receive_bytes for m in messages])
        self._first = FLAG * len(messages)
        # Bytes from each half to the other: one number for all, as any rank's kernels want it.
        self._flip = max(job.comm.allgather(room + size))
        straight = straight or [{}] * len(messages)
        self._mine = {
            (m.peer, m.key): _Mail(FLAG * n, self._first + room + box, parcels)
            for n, (m, box, parcels) in enumerate(zip(messages, boxes, straight, strict=True))
        }
        self._memory = job.comm.collective_try(
            lambda: backend.allocate_shared(self._first + 2 * self._flip)
        )
        self._attached: dict[tuple[int, Any], SharedMemory] = {}
        self._end_looking: Callable[[], None] | None = None
        self._failure: Array | None = None
        self._closed = False
        job.comm.collective_try(self._meet)
        self._mates = sharers(backend, job.comm)
        self.path = f"peer memory by {backend.sharing_mechanism}"

    def _meet(self) -> None:
        """Map what the peers share, and have what flags and waits need."""
        opened(self)  # first of all: ranks must close it together, whatever fails on one of them
        job, backend = self._job, self._job.backend
        offers = job.comm.allgather((self._memory.handle, self._mine))
        self._offers = {m.peer: offers[m.peer] for m in job.messages}
        self._map_all()
        # What the host tells waits of the device, to end; and what they tell it, see letters.h.
        self._stop = backend.pinned_bytes(16).view(np.int64)
        self._failure = backend.zeros((1,), np.int64)
        self._epoch = backend.zeros((1,), np.int64)
        self._end_looking = backend.add_poll_callback(self._look_after_others)

    def _map_all(self) -> None:
        for peer, (handle, mail) in self._offers.items():
            self._map(peer, handle)
            for message in (m for m in self._job.messages if m.peer == peer):
                for other, _, _ in mail[self._job.comm.rank, message.key].straight.values():
                    self._map(peer, other)

    def _map(self, peer: int, handle: Any) -> None:
        if peer not in self._job.comm.same_host:
            raise BackendError(f"rank {peer} is on another host: its memory is out of reach")
        if (peer, handle) not in self._attached:
            self._attached[peer, handle] = self._job.backend.attach_handle(handle)

    def _unmap(self) -> None:
        for memory in self._attached.values():
            memory.close()

    # --- where things lie -------------------------------------------------------------------------

    def _mail(self, message: Message) -> _Mail:
        """What the peer has said of where a message for it goes."""
        return cast(_Mail, self._offers[message.peer][1][self._job.comm.rank, message.key])

    def _base(self, peer: int) -> int:
        """Address of what a peer shares."""
        return self._attached[peer, self._offers[peer][0]].address

    def _outbox(self, number: int, message: Message) -> Buffer:
        """Where a message goes, number so and so of this rank's."""
        return Buffer(self._base(message.peer) + self._mail(message).box, self._flip, number)

    def _inbox(self, number: int, message: Message) -> Buffer:
        """Where the peer's message comes."""
        box = self._mine[message.peer, message.key].box
        return Buffer(self._memory.address + box, self._flip, number)

    # --- what kernels are told --------------------------------------------------------------------

    def _post(self, chunks: Sequence[int], blocks: int) -> tuple[Any, ...]:
        """What kernels with POST_ARGUMENTS are given, see letters.h.

        Args:
            chunks: that each message is stored in.
        """
        job = self._job
        rows = [self._letter(m, int(n)) for m, n in zip(job.messages, chunks, strict=True)]
        self._letters = job.backend.to_device(np.array([*rows, [0] * len(LETTER)], np.int64))
        timeout = (self._failure, self._stop_address, round(timeout_seconds() * 1e9))
        done = job.backend.zeros((len(rows) + 1,), np.int64)
        return (self._letters, len(rows), blocks, done, self._epoch, *timeout)

    def _blocks_at_once(self) -> int:
        """One block a processor, shared by the ranks that share the device.

        So the blocks of all of them can run at once, and none waits for one that cannot.
        """
        backend = self._job.backend
        ranks = 1 if backend.on_host else len(self._mates)  # a host's cores have been shared out
        return max(1, backend.processors // ranks)

    def _letter(self, message: Message, chunks: int) -> list[int]:
        """The message's flags, as in LETTER."""
        there, here = self._mail(message), self._mine[message.peer, message.key]
        own, other = self._memory.address + here.flag, self._base(message.peer) + there.flag
        allowed = own + FLAG // 2 if there.straight else 0
        allow = other + FLAG // 2 if here.straight else 0
        return [own, other, allowed, allow, chunks, message.send_bytes, message.limit]

    # --- waiting ----------------------------------------------------------------------------------

    @property
    def _stop_address(self) -> int:
        return int(self._stop.ctypes.data)

    def _waits(self, module: Module) -> list[Launch]:
        """What comes before kernels that wait for messages: nothing, but on a CPU.

        There the wait returns now and then, to see whether the others are alive.
        """
        if not self._job.backend.on_host:
            return []
        missing = np.zeros(1, np.int64)
        turn = round(CHECK_SECONDS * 1e9)
        letters = (self._letters, len(self._job.messages))
        arguments = (*letters, self._epoch, self._stop_address, turn, missing)
        look = module.launch("look_for_letters", Blocks(1, THREADS), *arguments)

        def wait() -> None:
            begun = time.monotonic()
            look()
            while missing[0]:
                self._job.comm.require_alive()
                if time.monotonic() - begun > timeout_seconds():
                    raise self._late(int(missing[0]))
                look()

        return [wait]

    def check(self, after: Event | None = None) -> None:
        if error := self._in_vain(after):
            raise error

    def _in_vain(self, after: Event | None = None) -> RunFailed | None:
        """The error of a wait of the device that was in vain, by `after`, if one was."""
        if self._failure is None:
            return None
        number = int(self._job.backend.to_host(self._failure, after)[0])
        return self._late(number) if number else None

    def _require_no_failure(self) -> None:
        """Make no more of what is stale since a wait was in vain, as far as the host knows."""
        if self._stop[1]:
            raise self._late(int(self._stop[1]))

    def _late(self, number: int) -> RunFailed:
        return late(self.awaited, [self._job.messages[number - 1].peer], timeout_seconds())

    def _look_after_others(self) -> None:
        """While the host waits for the device, which may wait for a rank that has died."""
        try:
            self._job.comm.require_alive()
        except RunFailed:
            self._stop[0] = 1  # ends all waits of the device
            raise

    def close(self) -> None:
        """Give back all memory.

        Raises:
            RunFailed: a wait of some rank's device was in vain, so that what it left is stale.
        """
        if self._closed:
            return
        self._closed = True
        self._job.backend.synchronize()  # kernels may still store into what is unmapped
        error = self._in_vain()
        if self._end_looking:
            self._end_looking()
        self._unmap()
        try:  # memory is freed when nobody maps it any more
            self._job.comm.fail_together(error, "close")
        finally:
            self._memory.close()
