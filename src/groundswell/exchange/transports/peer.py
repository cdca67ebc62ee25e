"""Peer memory: ranks of one host store ghosts straight into each other's memory.

Nobody is in between: see mailboxes.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import prod
from typing import Any

from groundswell.backends import Blocks, Launch
from groundswell.exchange.boxes import (
    THREADS,
    Copies,
    Copy,
    Place,
    compile_kernels,
    count_chunks,
)
from groundswell.exchange.cleanup import all_or_nothing
from groundswell.exchange.messages import Message, Parcel, own_copies, pack, unpack
from groundswell.exchange.puts import Put, alike
from groundswell.exchange.transports.base import Job
from groundswell.exchange.transports.mailboxes import Mailboxes, Straight

DIRECT_BYTES = 128  # of a row: shorter ones waste most of what a link carries,
SCATTERED_BYTES = 1 << 18  # unless all of them are no more than this: a mailbox costs a round


class PeerTransfer(Mailboxes):
    """An exchange by stores into the receivers' memory.

    Args:
        direct: store straight into the receivers' ghost layers, where these lie in rows of at least
            DIRECT_BYTES, or are few, and values keep their type; otherwise into mailboxes.
        fused: leave to the caller's kernels what they can store straight there themselves.

    Raises:
        BackendError: some peer's memory cannot be mapped.
    """

    awaited = "ghost layers"

    def __init__(self, job: Job, *, direct: bool = False, fused: bool = False) -> None:
        straight = job.comm.collective_try(
            lambda: [_straight(job, m) if direct else {} for m in job.messages]
        )
        self._stored = job.stored if fused else {}
        with all_or_nothing():
            super().__init__(job, straight=straight)
            job.comm.collective_try(self._compose)
        self.path += ", straight into ghost layers" * direct
        self.path += ", by the kernels that compute the values" * bool(self.puts)

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
        post = self._post(outgoing.per_message[: len(numbered)].tolist(), blocks)

        def launch(name: str, *tables: Copies) -> list[Launch]:
            loads = [part for t in tables for part in (t.boxes, t.chunks, t.count, t.shares)]
            extent = Blocks(blocks if tables else 1, THREADS)
            return [module.launch(name, extent, *loads, *post)]

        look = self._require_no_failure
        self.open = [look, *launch("open_letters")] if self.puts else []
        self.start = [look, *(launch("send_boxes", outgoing) if sent else launch("raise_letters"))]
        self.finish = [*self._waits(module), *launch("receive_boxes", incoming)]
        if job.backend.on_host:
            self.launches = [*self.start, *self.finish]
        else:
            self.launches = [look, *launch("swap_boxes", outgoing, incoming)]

    # --- where things lie -------------------------------------------------------------------------

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
        straight = self._mail(message).straight
        buffer = self._outbox(number, message)
        copies = pack(self._job.backend, self._job.fields, message, buffer)
        for n, (parcel, copy) in enumerate(zip(message.sends, copies, strict=True)):
            if n in straight:
                handle, offset, strides = straight[n]
                there = self._attached[message.peer, handle].address + offset
                yield parcel, replace(copy, target=Place(there, strides))
            else:
                yield parcel, copy

    def _unpack(self, number: int, message: Message) -> Iterator[Copy]:
        straight = self._mine[message.peer, message.key].straight
        buffer = self._inbox(number, message)
        copies = unpack(self._job.backend, self._job.fields, message, buffer)
        return (copy for n, copy in enumerate(copies) if n not in straight)


def _straight(job: Job, message: Message) -> Straight:
    """The parcels of a message that its sender may store straight into the ghost layers."""
    found: dict[int, tuple[Any, int, tuple[int, ...]]] = {}
    for n, parcel in enumerate(message.receives):
        field = job.fields[parcel.field]
        size = field.array.dtype.itemsize
        row, whole = parcel.piece.shape[-1] * size, prod(parcel.piece.shape) * size
        together = field.array.strides[-1] == size and field.sent_as is None
        if together and (row >= DIRECT_BYTES or whole <= SCATTERED_BYTES):
            place = field.place(job.backend, parcel.piece.here)
            handle, offset = job.backend.export_handle(field.array)
            begin = offset + place.address - job.backend.address(field.array)
            found[n] = (handle, begin, place.strides)
    return found
