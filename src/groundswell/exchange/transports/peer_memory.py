"""Peer memory: ranks of one host store messages in each other's memory, and signal them by flags.

On GPUs the memory is mapped by CUDA IPC, and stores cross NVLink or PCIe. On CPUs the processes
share it. signals.h describes the protocol.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from groundswell.backends import Backend, Blocks, HostCall, Launch, Module
from groundswell.backends.base import Array, Event, SharedMemory
from groundswell.errors import BackendError, RunFailed
from groundswell.exchange.boxes import THREADS, compile_kernels
from groundswell.exchange.communicator import Communicator, opened
from groundswell.exchange.devices import sharers
from groundswell.exchange.transports.base import MessageSize, SizedMessage, offsets_of
from groundswell.exchange.waiting import CHECK_SECONDS, late, timeout_seconds

FLAG = 128  # bytes between flags: each has a cache line of its own
COLUMNS = 7  # of MessageFlags in signals.h


@dataclass(frozen=True)
class Export:
    """A box of an array in which a peer may store.

    Args:
        handle: of the allocation that contains the array.
        offset: bytes from its beginning.
        strides: bytes between values along each axis.
    """

    handle: Any
    offset: int
    strides: tuple[int, ...]


Exports = Mapping[int, Export]  # by number of the segment in its message


@dataclass(frozen=True)
class _Receiver:
    """Where a rank receives a message: offsets in its shared memory.

    Args:
        flags: of "arrived" and "allowed".
        mailbox: of the message.
        exports: see `Exports`.
    """

    flags: int
    mailbox: int
    exports: Exports


class PeerMemory:
    """Mailboxes and flags of messages, in memory that the ranks share.

    All ranks must make and close it together, also those without messages.

    Args:
        messages: of this rank.
        reserved: bytes that this rank needs for itself, in each half, before its mailboxes.
        exports: for each message the segments that its sender may store straight in an array.
        permission: whether all stores need the receiver's permission. Mailboxes then have one half,
            and so one address. Stores in exported arrays always need it.

    Attributes:
        address: of the reserved bytes in the first half.
        flip: bytes from the first half to the second one; odd epochs use that.
        path: how data travel, in words.

    Raises:
        BackendError: the memory of a peer cannot be mapped.
        InputError: there is too little memory.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        messages: Sequence[SizedMessage],
        *,
        reserved: int = 0,
        exports: Sequence[Exports] = (),
        permission: bool = False,
    ) -> None:
        self._backend, self._comm = backend, comm
        self._messages = [MessageSize.of(message) for message in messages]
        self._permission = permission
        self._first = FLAG * len(messages)
        boxes, size = offsets_of([m.receive_bytes for m in messages])
        # One number for all ranks: a kernel adds it to addresses of any rank's mailboxes.
        half = max(comm.allgather(reserved + size))
        self.flip = 0 if permission else half
        self._mine = {
            (m.peer, m.tag): _Receiver(FLAG * n, self._first + reserved + box, exported)
            for n, (m, box, exported) in enumerate(
                zip(messages, boxes, exports or [{}] * len(messages), strict=True)
            )
        }
        total = self._first + half + self.flip
        self._memory = comm.collective_try(lambda: backend.allocate_shared(total))
        self.address = self._memory.address + self._first
        self._attached: dict[tuple[int, Any], SharedMemory] = {}
        self._remove_callback: Callable[[], None] | None = None
        self._failure: Array | None = None
        self._closed = False
        comm.collective_try(self._connect)
        self._sharers = sharers(backend, comm)
        self.path = f"peer memory by {backend.sharing_mechanism}"

    def _connect(self) -> None:
        """Map the memory of the peers, and allocate the state of the signals."""
        opened(self)  # first of all: ranks must close it together, whatever fails on one of them
        backend = self._backend
        offers = self._comm.allgather((self._memory.handle, self._mine))
        self._offers = {m.peer: offers[m.peer] for m in self._messages}
        for message in self._messages:
            self._map(message.peer, self._offers[message.peer][0])
            for export in self._receiver(message).exports.values():
                self._map(message.peer, export.handle)
        self._stop = backend.pinned_bytes(16).view(np.int64)  # to end waits; a message's time-out
        self._failure = backend.zeros((1,), np.int64)
        self._epoch = backend.zeros((1,), np.int64)
        self._remove_callback = backend.add_poll_callback(self._check_peers)

    def _map(self, peer: int, handle: Any) -> None:
        if peer not in self._comm.same_host:
            raise BackendError(f"rank {peer} is on another host: its memory is out of reach")
        if (peer, handle) not in self._attached:
            self._attached[peer, handle] = self._backend.attach_handle(handle)

    def _receiver(self, message: SizedMessage) -> _Receiver:
        """Where the peer receives a message of this rank."""
        found: _Receiver = self._offers[message.peer][1][self._comm.rank, message.tag]
        return found

    # --- addresses --------------------------------------------------------------------------------

    def _base(self, peer: int) -> int:
        return self._attached[peer, self._offers[peer][0]].address

    def outbox(self, message: SizedMessage) -> int:
        """Address of the peer's mailbox for a message of this rank."""
        return self._base(message.peer) + self._receiver(message).mailbox

    def inbox(self, message: SizedMessage) -> int:
        """Address of this rank's mailbox for the peer's message."""
        return self._memory.address + self._mine[message.peer, message.tag].mailbox

    def exported(self, message: SizedMessage) -> dict[int, tuple[int, tuple[int, ...]]]:
        """Address and strides of the segments that this rank stores in the peer's array."""
        return {
            n: (self._attached[message.peer, e.handle].address + e.offset, e.strides)
            for n, e in self._receiver(message).exports.items()
        }

    @property
    def lowest(self) -> int:
        """The lowest address of any memory that this rank accesses."""
        shared = [memory.address for memory in self._attached.values()]
        return min([self._memory.address, *shared])

    # --- signals ----------------------------------------------------------------------------------

    def signals(self, chunks: Sequence[int], blocks: int) -> tuple[Any, ...]:
        """The values of SIGNAL_ARGUMENTS, see signals.h.

        Args:
            chunks: number of chunks in which this rank stores each message.
            blocks: number of blocks of threads that run.
        """
        flags = [self._flags(m, int(n)) for m, n in zip(self._messages, chunks, strict=True)]
        table = self._backend.to_device(np.array([*flags, [0] * COLUMNS], np.int64))
        done = self._backend.zeros((len(flags) + 1,), np.int64)
        timeout = (self._failure, self._stop_address, round(timeout_seconds() * 1e9))
        return (table, len(flags), blocks, done, self._epoch, *timeout)

    def _flags(self, message: SizedMessage, chunks: int) -> list[int]:
        there, here = self._receiver(message), self._mine[message.peer, message.tag]
        own, other = self._memory.address + here.flags, self._base(message.peer) + there.flags
        allowed = own + FLAG // 2 if there.exports or self._permission else 0
        peer_allowed = other + FLAG // 2 if here.exports or self._permission else 0
        return [own, other, allowed, peer_allowed, chunks, message.send_bytes, message.length]

    @cached_property
    def blocks_at_once(self) -> int:
        """Blocks of threads that can run at once: one a processor, divided among its ranks.

        Blocks wait for each other, so all of them must run.
        """
        ranks = 1 if self._backend.on_host else len(self._sharers)  # cores are divided already
        return max(1, self._backend.processors // ranks)

    @property
    def _stop_address(self) -> int:
        return int(self._stop.ctypes.data)

    # --- waiting ----------------------------------------------------------------------------------

    def waits(self) -> list[Launch]:
        """Launches before kernels that wait for messages: none, except on a CPU.

        There the wait returns now and then, to check whether the other ranks are alive.
        """
        arrived = [self._memory.address + self._mine[m.peer, m.tag].flags for m in self._messages]
        return [self._wait("wait for messages", arrived)] if self._backend.on_host else []

    def permission(self) -> list[Launch]:
        """Launches before kernels that store where permission is needed."""
        signals = self.signals([0] * len(self._messages), 1)
        module, block = compile_kernels(self._backend), Blocks(1, THREADS)
        if not self._backend.on_host:
            return [module.launch("wait_for_permission", block, *signals)]
        allowed = [
            self._memory.address + self._mine[m.peer, m.tag].flags + FLAG // 2
            for m in self._messages
        ]
        allow = module.launch("allow_peers", block, *signals)
        return [allow, self._wait("wait for permission", allowed)]

    def _wait(self, name: str, flags: Sequence[int]) -> Launch:
        """A wait of the host for the flags at these addresses."""
        missing = np.zeros(1, np.int64)
        turn = round(CHECK_SECONDS * 1e9)
        table = np.array(flags, np.int64)
        arguments = (table, len(flags), self._epoch, self._stop_address, turn, missing)
        module: Module = compile_kernels(self._backend)
        poll = module.launch("poll_flags", Blocks(1, THREADS), *arguments)

        def wait() -> None:
            begun = time.monotonic()
            poll()
            while missing[0]:
                self._comm.require_alive()
                if time.monotonic() - begun > timeout_seconds():
                    raise self._late(int(missing[0]))
                poll()

        return HostCall(name, wait)

    def require_no_timeout(self) -> None:
        """Raise RunFailed if a wait of the device has timed out, as far as the host knows."""
        if self._stop[1]:
            raise self._late(int(self._stop[1]))

    def check(self, after: Event | None = None) -> None:
        """Raise RunFailed if a wait of the device timed out; see `Operation.check`."""
        if error := self._timeout(after):
            raise error

    def _timeout(self, after: Event | None = None) -> RunFailed | None:
        if self._failure is None:
            return None
        number = int(self._backend.to_host(self._failure, after)[0])
        return self._late(number) if number else None

    def _late(self, number: int) -> RunFailed:
        return late("data", [self._messages[number - 1].peer], timeout_seconds())

    def _check_peers(self) -> None:
        """While the host waits for the device, which may wait for a rank that has died."""
        try:
            self._comm.require_alive()
        except RunFailed:
            self._stop[0] = 1  # ends all waits of the device
            raise

    def close(self) -> None:
        """Release all memory.

        Raises:
            RunFailed: a wait of some rank's device timed out, so that its results are stale.
        """
        if self._closed:
            return
        self._closed = True
        self._backend.synchronize()  # kernels may still store in what is unmapped
        error = self._timeout()
        if self._remove_callback:
            self._remove_callback()
        for memory in self._attached.values():
            memory.close()
        try:  # memory is freed when no rank maps it any more
            self._comm.fail_together(error, "close")
        finally:
            self._memory.close()
