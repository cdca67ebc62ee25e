"""Peer memory: ranks of one host store messages in each other's memory and set flags.

On GPUs, CUDA IPC maps the memory, and stores cross NVLink or PCIe. On CPUs, processes share the
memory. signals.h describes the protocol.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Blocks, HostCall, Launch
from groundswell.backends.base import Event, MemoryHandle, SharedMemory
from groundswell.backends.launch import KernelArguments
from groundswell.errors import BackendError, RunFailed
from groundswell.exchange.boxes import THREADS, StridedBox, compile_kernels
from groundswell.exchange.communicator import opened
from groundswell.exchange.devices import sharers
from groundswell.exchange.messages import Message, TransferRequest, offsets_of
from groundswell.exchange.waiting import CHECK_SECONDS, late, timeout_seconds

FLAG = 128  # bytes between flags, so that each flag has its own cache line
COLUMNS = 7  # of MessageFlags in signals.h

# Boxes in which a peer may store, by index of the segment in its message: the handle of the
# allocation that contains the box, and the box with an address relative to the allocation.
Exports = Mapping[int, tuple[MemoryHandle, StridedBox]]
_Key = tuple[int, int]  # peer and tag of a message


class _Receiver(NamedTuple):
    """Location where a rank receives a message: offsets in its shared memory, or addresses."""

    flags: int  # "arrived" and, FLAG / 2 bytes on, "allowed"
    mailbox: int
    exports: Exports

    def at(self, address: int) -> _Receiver:
        """The same as addresses, for shared memory that begins at this address."""
        return _Receiver(address + self.flags, address + self.mailbox, self.exports)

    @property
    def allowed(self) -> int:
        """The flag that allows the sender to store."""
        return self.flags + FLAG // 2


class PeerMemory:
    """Mailboxes and flags of messages, in memory shared between ranks.

    Creating and closing it is collective, also for ranks without messages.

    Args:
        request: the messages of this rank. If buffers are fixed, mailboxes have one half, and all
            stores need the receiver's permission. Stores in exported arrays always need it.
        reserved: bytes that this rank reserves for itself in each half, before its mailboxes.
        exports: for each message, the segments that its sender may store directly in an array.

    Attributes:
        address: address of the reserved bytes in the first half.
        flip: bytes from the first half to the second one, which odd epochs use.
        blocks_at_once: number of blocks of threads that can run at the same time: one per
            multiprocessor, divided among the ranks of the GPU. Blocks wait for each other, so all
            of them must run.
        path: description of the transport.

    Raises:
        BackendError: the memory of a peer cannot be mapped.
        InputError: there is too little memory.
    """

    def __init__(
        self, request: TransferRequest, *, reserved: int = 0, exports: Sequence[Exports] = ()
    ) -> None:
        self._backend, self._comm = backend, comm = request.backend, request.comm
        self._messages, self._fixed = request.messages, request.fixed_buffers
        self._there: dict[_Key, _Receiver] = {}
        self._attached: dict[MemoryHandle, SharedMemory] = {}
        self._failure: DeviceArray | None = None
        self._stop = np.zeros(2, np.int64)
        self._remove_callback: Callable[[], None] = lambda: None
        self._closed = False
        offered = self._allocate(reserved, exports or [{}] * len(request.messages))
        comm.collective_try(lambda: self._connect(offered))
        ranks = len(sharers(backend, comm))
        self.blocks_at_once = max(1, backend.processors // (1 if backend.on_host else ranks))
        self.path = f"peer memory ({backend.sharing_mechanism})"

    def _allocate(self, reserved: int, exports: Sequence[Exports]) -> dict[_Key, _Receiver]:
        """Allocate flags and mailboxes; returns their offsets for each message."""
        boxes, size = offsets_of([m.receive_bytes for m in self._messages])
        # One value for all ranks: a kernel adds it to addresses of mailboxes of any rank.
        half = max(self._comm.allgather(reserved + size))
        self.flip, flags = 0 if self._fixed else half, FLAG * len(self._messages)
        offered = {
            (m.peer, m.tag): _Receiver(FLAG * n, flags + reserved + box, exported)
            for n, (m, box, exported) in enumerate(zip(self._messages, boxes, exports, strict=True))
        }
        total = flags + half + self.flip
        self._memory = self._comm.collective_try(lambda: self._backend.allocate_shared(total))
        self.address = self._memory.address + flags
        self._here = {key: offer.at(self._memory.address) for key, offer in offered.items()}
        return offered

    def _connect(self, offered: dict[_Key, _Receiver]) -> None:
        """Map the memory of the peers, and allocate the state of the signals."""
        opened(self)  # first: ranks must close it together, even if one of them fails
        backend = self._backend
        offers = self._comm.allgather((self._memory.handle, offered))
        for message in self._messages:
            handle, receivers = offers[message.peer]
            there = receivers[self._comm.rank, message.tag].at(self._map(message.peer, handle))
            self._there[message.peer, message.tag] = there
            for allocation, _ in there.exports.values():
                self._map(message.peer, allocation)
        # Whether to end all waits, and the number of the message that timed out.
        self._stop = backend.pinned_bytes(16).view(np.int64)
        self._stop_address = int(self._stop.ctypes.data)
        self._failure = backend.zeros((1,), np.int64)
        self._epoch = backend.zeros((1,), np.int64)
        self._remove_callback = backend.add_poll_callback(self._check_peers)

    def _map(self, peer: int, handle: MemoryHandle) -> int:
        """The address of a peer's memory in this process."""
        if peer not in self._comm.same_host:
            raise BackendError(f"rank {peer} is on another host: its memory is out of reach")
        if handle == self._memory.handle:  # messages of this rank to itself
            return self._memory.address
        if handle not in self._attached:
            self._attached[handle] = self._backend.attach_handle(handle)
        return self._attached[handle].address

    # --- addresses --------------------------------------------------------------------------------

    def outbox(self, message: Message) -> int:
        """Address of the peer's mailbox for a message of this rank."""
        return self._there[message.peer, message.tag].mailbox

    def inbox(self, message: Message) -> int:
        """Address of this rank's mailbox for the peer's message."""
        return self._here[message.peer, message.tag].mailbox

    def exported(self, message: Message) -> dict[int, StridedBox]:
        """The segments that this rank stores in the peer's array."""
        exports = self._there[message.peer, message.tag].exports
        return {
            n: replace(box, address=self._attached[handle].address + box.address)
            for n, (handle, box) in exports.items()
        }

    @property
    def lowest(self) -> int:
        """The lowest address of any memory that this rank accesses."""
        return min(memory.address for memory in (self._memory, *self._attached.values()))

    # --- signals ----------------------------------------------------------------------------------

    def signals(self, chunks: Sequence[int], blocks: int) -> KernelArguments:
        """The kernel arguments SIGNAL_ARGUMENTS, see signals.h.

        Args:
            chunks: number of chunks in which this rank stores each message.
            blocks: number of blocks of threads that run.
        """
        rows = [self._flags(m, int(n)) for m, n in zip(self._messages, chunks, strict=True)]
        table = self._backend.to_device(np.array([*rows, [0] * COLUMNS], np.int64))
        done = self._backend.zeros((len(rows) + 1,), np.int64)
        assert self._failure is not None
        arrays = {"messages": table, "done": done, "epoch": self._epoch, "failure": self._failure}
        timeout = {"stop": self._stop_address, "nanoseconds": round(timeout_seconds() * 1e9)}
        return {**arrays, "message_count": len(rows), "blocks": blocks, **timeout}

    def _flags(self, message: Message, chunks: int) -> list[int]:
        """A row of MessageFlags."""
        here, there = (ends[message.peer, message.tag] for ends in (self._here, self._there))
        allowed = here.allowed * (self._fixed or bool(there.exports))
        peer_allowed = there.allowed * (self._fixed or bool(here.exports))
        flags = [here.flags, there.flags, allowed, peer_allowed]
        return [*flags, chunks, message.send_bytes, message.length]

    # --- waiting ----------------------------------------------------------------------------------

    def waits(self) -> list[Launch]:
        """Launches before kernels that wait for messages: none, except on a CPU.

        On a CPU, the wait returns at intervals, to check that the other ranks are alive.
        """
        arrived = [receiver.flags for receiver in self._here.values()]
        return [self._wait("wait for messages", arrived)] if self._backend.on_host else []

    def permission(self) -> list[Launch]:
        """Launches before kernels that store where permission is needed."""
        signals = self.signals([0] * len(self._messages), 1)
        module, block = compile_kernels(self._backend), Blocks(1, THREADS)
        if not self._backend.on_host:
            wait = module.launch("wait_for_permission", block, **signals)
            return [self.require_no_timeout, wait]
        allow = module.launch("allow_peers", block, **signals)
        allowed = [receiver.allowed for receiver in self._here.values()]
        return [allow, self._wait("wait for permission", allowed)]

    def _wait(self, name: str, flags: Sequence[int]) -> Launch:
        """A wait of the host for the flags at these addresses."""
        missing = np.zeros(1, np.int64)
        arrays = {"flags": np.array(flags, np.int64), "epoch": self._epoch, "missing": missing}
        timeout = {"stop": self._stop_address, "nanoseconds": round(CHECK_SECONDS * 1e9)}
        module, block = compile_kernels(self._backend), Blocks(1, THREADS)
        poll = module.launch("poll_flags", block, count=len(flags), **arrays, **timeout)

        def wait() -> None:
            begun = time.monotonic()
            poll()
            while missing[0]:
                self._comm.require_alive()
                if time.monotonic() - begun > timeout_seconds():
                    raise self._late(int(missing[0]))
                poll()

        return HostCall(
            name, wait, extent=f"{sum(m.receive_bytes for m in self._messages):,} bytes"
        )

    def require_no_timeout(self) -> None:
        """Raise RunFailed if the host knows that a wait of the device timed out."""
        if self._stop[1]:
            raise self._late(int(self._stop[1]))

    def check(self, after: Event | None = None) -> None:
        """Raise RunFailed if a wait of the device timed out; see `Operation.check`."""
        if error := self._timeout(after):
            raise error

    def _timeout(self, after: Event | None = None) -> RunFailed | None:
        # Kernels report to the host's memory: many exchanges are checked without a copy for each.
        if after is None:
            self._backend.synchronize()
        else:
            after.wait()
        return self._late(int(self._stop[1])) if self._stop[1] else None

    def _late(self, number: int) -> RunFailed:
        return late("data", [self._messages[number - 1].peer], timeout_seconds())

    def _check_peers(self) -> None:
        """Called while the host waits for the device, which may wait for a dead rank."""
        try:
            self._comm.require_alive()
        except RunFailed:
            self._stop[0] = 1  # ends all waits of the device
            raise

    def close(self) -> None:
        """Release all memory.

        Raises:
            RunFailed: a wait of some rank's device timed out, so its results are invalid.
        """
        if self._closed:
            return
        self._closed = True
        self._backend.synchronize()  # kernels may still store in memory that is unmapped below
        error = self._timeout()
        self._remove_callback()
        for memory in self._attached.values():
            memory.close()
        try:  # memory is freed when no rank maps it any more
            self._comm.fail_together(error, "close")
        finally:
            self._memory.close()
