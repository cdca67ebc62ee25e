"""Peer memory: ranks of one host store straight into each other's memory, and nobody is in between.

On GPUs the memory is mapped with CUDA IPC and the stores go over NVLink or PCIe; on CPUs it is
memory that the processes share. See exchange/peer.h for what keeps the ranks in step.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, cast

import numpy as np

from groundswell.backends import Blocks, Launch, Module
from groundswell.backends.base import Event, Shared
from groundswell.errors import BackendError, GroundswellError, RunFailed
from groundswell.exchange.boxes import (
    THREADS,
    Copies,
    Copy,
    Place,
    compile_kernels,
    count_chunks,
)
from groundswell.exchange.devices import sharers
from groundswell.exchange.messages import Buffer, Message, Parcel, own_copies, pack, unpack
from groundswell.exchange.patience import CHECK_SECONDS, late, patience_seconds
from groundswell.exchange.puts import Put, alike
from groundswell.exchange.transports.base import Job, Transfer, total

FLAG = 128  # bytes: flags lie on cache lines of their own
LETTER = ("arrived", "tell_arrived", "allowed", "allow", "chunks", "bytes", "limit")  # see peer.h
DIRECT_BYTES = 128  # of a row: shorter ones waste most of what a link carries,
SCATTERED_BYTES = 1 << 18  # unless all of them are no more than this: a mailbox costs a round


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
    straight: Mapping[int, tuple[Any, int, tuple[int, ...]]]


class PeerTransfer(Transfer):
    """An exchange by stores into the receivers' memory.

    Args:
        direct: store straight into the receivers' ghost layers, where these lie in rows of at least
            DIRECT_BYTES, or are few, and values keep their type; otherwise into mailboxes.
        fused: leave to the caller's kernels what they can store straight there themselves.

    Raises:
        BackendError: some peer's memory cannot be mapped.
    """

    in_graph = True

    def __init__(self, job: Job, *, direct: bool = False, fused: bool = False) -> None:
        self._job = job
        self._stored = job.stored if fused else {}
        backend, messages = job.backend, job.messages
        boxes, self._flip = total([m.receive_bytes for m in messages])
        first = FLAG * len(messages)
        self._memory = job.world.agree(lambda: backend.shared(first + 2 * self._flip))
        straight = job.world.agree(lambda: [self._straight(m) if direct else {} for m in messages])
        self._mine = {
            (m.peer, m.key): _Mail(FLAG * n, first + box, parcels)
            for n, (m, box, parcels) in enumerate(zip(messages, boxes, straight, strict=True))
        }
        self._attached: dict[tuple[int, Any], Shared] = {}
        self._meet()
        self._stop = backend.host_bytes(8).view(np.int64)
        self._failure = backend.zeros((1,), np.int64)
        self._epoch = backend.zeros((1,), np.int64)
        self.path = f"peer memory by {backend.sharing}" + ", straight into ghost layers" * direct
        self._compose()
        self.path += ", by the kernels that compute the values" * bool(self.puts)
        self.path += f", as slow as {job.link}" if job.link else ""

    def _meet(self) -> None:
        """Map what the peers share. All ranks fail if one of them cannot."""
        job = self._job
        offers = job.world.share((self._memory.handle, self._flip, self._mine))
        self._offers = {m.peer: offers[m.peer] for m in job.messages}
        try:
            job.world.agree(self._map_all)
        except GroundswellError:
            self._unmap()
            job.world.share(None)
            self._memory.close()
            raise

    def _map_all(self) -> None:
        for peer, (handle, _, mail) in self._offers.items():
            self._map(peer, handle)
            for message in (m for m in self._job.messages if m.peer == peer):
                for other, _, _ in mail[self._job.world.rank, message.key].straight.values():
                    self._map(peer, other)

    def _map(self, peer: int, handle: Any) -> None:
        if peer not in self._job.world.same_host:
            raise BackendError(f"rank {peer} is on another host: its memory is out of reach")
        if (peer, handle) not in self._attached:
            self._attached[peer, handle] = self._job.backend.attach(handle)

    def _unmap(self) -> None:
        for memory in self._attached.values():
            memory.close()

    def _compose(self) -> None:
        job = self._job
        module = compile_kernels(job.backend)
        numbered = list(enumerate(job.messages))
        sent = self._leave_puts(self._outgoing())
        received = [c for n, m in numbered for c in self._unpack(n, m)]
        most = max(count_chunks(sent), count_chunks(received), 1)
        blocks = min(most, self._blocks_at_once())
        outgoing = Copies(job.backend, sent, blocks, len(numbered))
        incoming = Copies(job.backend, received, blocks, len(numbered))
        rows = [self._letter(m, int(outgoing.per_message[n])) for n, m in numbered]
        table = np.array([*rows, [0] * len(LETTER)], np.int64)
        letters = (job.backend.to_device(table), len(rows))
        patience = (self._failure, self._stop_address, round(patience_seconds() * 1e9))
        link = self._link()
        done = job.backend.zeros((len(rows) + 1,), np.int64)

        def launch(name: str, *tables: Copies) -> list[Launch]:
            loads = [part for t in tables for part in (t.boxes, t.chunks, t.count, t.shares)]
            arguments = (*loads, *letters, blocks, done, self._epoch, *patience, *link)
            extent = Blocks(blocks if tables else 1, THREADS)
            return [module.launch(name, extent, *arguments)]

        self.open = launch("open_letters") if self.puts else []
        self.send = launch("send_boxes", outgoing) if sent else launch("raise_letters")
        self.receive = launch("receive_boxes", incoming)
        if job.backend.on_host:
            self.receive.insert(0, self._wait_on_host(module, letters))
            self.whole = [*self.send, *self.receive]
        else:
            self.whole = launch("swap_boxes", outgoing, incoming)
        self._end_looking = job.backend.while_waiting(self._look_after_others)

    def _blocks_at_once(self) -> int:
        """One block a processor, shared by the ranks that share the device.

        So the blocks of all of them can run at once, and none waits for one that cannot.
        """
        backend, world = self._job.backend, self._job.world
        ranks = 1 if backend.on_host else len(sharers(backend, world))
        return max(1, backend.processors // ranks)

    # --- where things lie -------------------------------------------------------------------------

    def _straight(self, message: Message) -> dict[int, tuple[Any, int, tuple[int, ...]]]:
        """The parcels of a message that its sender may store straight into the ghost layers."""
        found = {}
        for n, parcel in enumerate(message.receives):
            field = self._job.fields[parcel.field]
            size = field.array.dtype.itemsize
            row, whole = parcel.piece.shape[-1] * size, prod(parcel.piece.shape) * size
            together = field.array.strides[-1] == size and field.sent_as is None
            if together and (row >= DIRECT_BYTES or whole <= SCATTERED_BYTES):
                place = field.place(self._job.backend, parcel.piece.here)
                handle, offset = self._job.backend.export(field.array)
                begin = offset + place.address - self._job.backend.address(field.array)
                found[n] = (handle, begin, place.strides)
        return found

    def _mail(self, message: Message) -> _Mail:
        """What the peer has said of where a message for it goes."""
        return cast(_Mail, self._offers[message.peer][2][self._job.world.rank, message.key])

    def _outgoing(self) -> Iterator[tuple[Parcel, Copy]]:
        """All values that leave, and those that this rank copies for itself."""
        job = self._job
        for number, message in enumerate(job.messages):
            yield from self._pack(number, message)
        own = own_copies(job.backend, job.fields, job.own, len(job.messages))
        yield from zip(job.own, own, strict=True)

    def _leave_puts(self, outgoing: Iterable[tuple[Parcel, Copy]]) -> list[Copy]:
        """The copies that the caller's kernels cannot make themselves; the others become `puts`."""
        puts, copies = [], []
        for parcel, copy in outgoing:
            field, piece = self._stored.get(parcel.field), parcel.piece
            if field is not None and alike(copy):
                shift = copy.target.address - copy.source.address
                puts.append(Put(field, piece.there, piece.shape, shift))
            else:
                copies.append(copy)
        self.puts = puts
        return copies

    def _pack(self, number: int, message: Message) -> Iterator[tuple[Parcel, Copy]]:
        handle, flip, _ = self._offers[message.peer]
        mail, base = self._mail(message), self._attached[message.peer, handle].address
        buffer = Buffer(base + mail.box, flip, number)
        copies = pack(self._job.backend, self._job.fields, message, buffer)
        for n, (parcel, copy) in enumerate(zip(message.sends, copies, strict=True)):
            if n in mail.straight:
                handle, offset, strides = mail.straight[n]
                there = self._attached[message.peer, handle].address + offset
                yield parcel, replace(copy, target=Place(there, strides))
            else:
                yield parcel, copy

    def _unpack(self, number: int, message: Message) -> Iterator[Copy]:
        mail = self._mine[message.peer, message.key]
        buffer = Buffer(self._memory.address + mail.box, self._flip, number)
        copies = unpack(self._job.backend, self._job.fields, message, buffer)
        return (copy for n, copy in enumerate(copies) if n not in mail.straight)

    def _letter(self, message: Message, chunks: int) -> list[int]:
        """The message's flags, as in LETTER."""
        handle, there = self._offers[message.peer][0], self._mail(message)
        here = self._mine[message.peer, message.key]
        own = self._memory.address + here.flag
        other = self._attached[message.peer, handle].address + there.flag
        allowed = own + FLAG // 2 if there.straight else 0
        allow = other + FLAG // 2 if here.straight else 0
        return [own, other, allowed, allow, chunks, message.send_bytes, message.limit]

    def _link(self) -> tuple[Any, int, int, Any]:
        """The slower link that is imposed, if any, as peer.h wants it."""
        backend, link = self._job.backend, self._job.link
        rate = 1e9 / link.bandwidth if link else 0.0
        times = (round(t * 1e9) for t in (link.latency, link.gap)) if link else (0, 0)
        busy = backend.zeros((1 + 2 * len(self._job.messages),), np.int64)
        return backend.to_device(np.array([rate])), *times, busy

    # --- waiting ----------------------------------------------------------------------------------

    @property
    def _stop_address(self) -> int:
        return int(self._stop.ctypes.data)

    def _wait_on_host(self, module: Module, letters: tuple[Any, int]) -> Launch:
        """On a CPU the wait returns now and then, to see whether the others are alive."""
        missing = np.zeros(1, np.int64)
        turn = round(CHECK_SECONDS * 1e9)
        arguments = (*letters, self._epoch, self._stop_address, turn, missing)
        look = module.launch("await_letters", Blocks(1, THREADS), *arguments)

        def wait() -> None:
            begun = time.monotonic()
            look()
            while missing[0]:
                self._job.world.require_alive()
                if time.monotonic() - begun > patience_seconds():
                    raise self._late(int(missing[0]))
                look()

        return wait

    def check(self, after: Event | None = None) -> None:
        number = int(self._job.backend.to_host(self._failure, after)[0])
        if number:
            raise self._late(number)

    def _late(self, number: int) -> RunFailed:
        return late("ghost layers", [self._job.messages[number - 1].peer], patience_seconds())

    def _look_after_others(self) -> None:
        """While the host waits for the device, which may wait for a rank that has died."""
        try:
            self._job.world.require_alive()
        except RunFailed:
            self._stop[0] = 1  # ends all waits of the device
            raise

    def close(self) -> None:
        self._end_looking()
        self._unmap()
        self._job.world.share(None)  # memory is freed when nobody maps it any more
        self._memory.close()
