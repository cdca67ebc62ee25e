"""Buffers that kernels fill and read, exchanged between ranks: coded messages, face traces.

    exchange = connect_buffers(backend, comm, messages, "peer")
    step = [*exchange.open, store, *exchange.start, interior, *exchange.finish, read]

`store` writes what each peer needs to `exchange.sent`, and `read` finds what the peers have sent in
`exchange.received`. In peer memory, `sent` lies in the receivers' memory: nothing is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from groundswell.backends import Backend, Blocks, Launch
from groundswell.backends.base import Event
from groundswell.exchange.boxes import THREADS, Copies, compile_kernels
from groundswell.exchange.communicator import Communicator, all_or_nothing
from groundswell.exchange.operation import Operation
from groundswell.exchange.transports.base import (
    Buffer,
    Message,
    SizedMessage,
    Transport,
    offsets_of,
)
from groundswell.exchange.transports.peer_memory import PeerMemory


class BufferExchange(Operation):
    """Buffers of messages on some transport.

    Attributes:
        sent: for each message the buffer for what the peer needs, to be filled after `open` and
            before `start`.
        received: for each message what the peer has sent; valid after `finish`, until the next
            exchange begins.
    """

    sent: list[Buffer]
    received: list[Buffer]
    _backend: Backend

    def overlap_with(
        self, *, boundary: Sequence[Launch], interior: Sequence[Launch]
    ) -> list[Launch]:
        """Launches of a step whose interior work overlaps with the exchange.

        Args:
            boundary: launches that fill `sent`.
            interior: launches that read neither `sent` nor `received`.
        """
        fork, join = self._backend.fork(self.start), self._backend.join(self.finish)
        return [*self.open, *boundary, *fork, *interior, *join]


class OwnBuffers(BufferExchange):
    """Messages of a rank to itself: what it receives is what it has sent."""

    path = "none: one rank"
    in_graph = True

    def __init__(
        self, backend: Backend, comm: Communicator, messages: Sequence[SizedMessage]
    ) -> None:
        self._backend = backend
        self._arrays = [backend.zeros((max(m.send_bytes, 1),), np.uint8) for m in messages]
        places = zip(self._arrays, messages, strict=True)
        self.sent = [Buffer(backend.address(array), m.send_bytes) for array, m in places]
        self.received = self.sent


class MessageBuffers(BufferExchange):
    """Buffers of this rank, moved by a message transport.

    Args:
        on_host: whether the buffers lie in (pinned) memory of the host, not of the device.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        messages: Sequence[SizedMessage],
        transport: Transport,
        *,
        on_host: bool = False,
    ) -> None:
        self._backend = backend

        def allocate(sizes: Sequence[int]) -> list[Buffer]:
            offsets, size = offsets_of(sizes)
            first = self._allocate(backend, max(size, 1), on_host)
            return [Buffer(first + o, n) for o, n in zip(offsets, sizes, strict=True)]

        self._arrays: list[Any] = []
        self.sent, self.received = comm.collective_try(
            lambda: (
                allocate([m.send_bytes for m in messages]),
                allocate([m.receive_bytes for m in messages]),
            )
        )
        ends = zip(messages, self.sent, self.received, strict=True)
        with_buffers = [Message(m.peer, m.tag, s, r, m.length) for m, s, r in ends]
        self._transport = comm.collective_try(lambda: transport(backend, comm, with_buffers))
        self.path, self.in_graph = self._transport.path, self._transport.in_graph
        self.start, self.finish = self._transport.start, self._transport.finish

    def _allocate(self, backend: Backend, size: int, on_host: bool) -> int:
        array = backend.pinned_bytes(size) if on_host else backend.zeros((size,), np.uint8)
        self._arrays.append(array)
        return int(array.ctypes.data) if on_host else backend.address(array)

    def check(self, after: Event | None = None) -> None:
        self._transport.check(after)

    def close(self) -> None:
        self._transport.close()


class PeerBuffers(BufferExchange):
    """Buffers in the receivers' memory, which the senders' kernels store in directly."""

    in_graph = True

    def __init__(
        self, backend: Backend, comm: Communicator, messages: Sequence[SizedMessage]
    ) -> None:
        self._backend = backend
        with all_or_nothing():
            self._memory = memory = PeerMemory(backend, comm, messages, permission=True)
            comm.collective_try(lambda: self._set_up(backend, messages))
        self.path = f"{memory.path}, stored there directly"

    def _set_up(self, backend: Backend, messages: Sequence[SizedMessage]) -> None:
        memory, module = self._memory, compile_kernels(backend)
        self.sent = [Buffer(memory.outbox(m), m.send_bytes) for m in messages]
        self.received = [Buffer(memory.inbox(m), m.receive_bytes) for m in messages]
        signals = memory.signals([0] * len(messages), 1)
        nothing = Copies(backend, [], 1, len(messages)).arguments

        def launch(name: str, *arguments: Any) -> Launch:
            return module.launch(name, Blocks(1, THREADS), *arguments, *signals)

        self.open = [memory.require_no_timeout, *memory.permission()]
        self.start = [launch("signal_messages")]
        self.finish = [*memory.waits(), launch("receive_boxes", *nothing)]

    def check(self, after: Event | None = None) -> None:
        self._memory.check(after)

    def close(self) -> None:
        self._memory.close()
