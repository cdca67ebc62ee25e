"""The messages of a gather-scatter where ranks store into each other's memory: see peer_rows.h.

Kernels reduce rows of values straight into the mailboxes of other ranks, and out of this rank's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from groundswell.backends import Backend, Blocks, Constant, Launch, Source
from groundswell.backends.base import Array, Event
from groundswell.exchange.gather_scatter.routes import nearest_first
from groundswell.exchange.gather_scatter.rows import (
    OPERATIONS,
    THREADS,
    TYPES,
    Numbers,
    Rows,
    Slices,
    Values,
)
from groundswell.exchange.gather_scatter.tables import ExchangePattern, Phases
from groundswell.exchange.messages import Message, TransferRequest, aligned
from groundswell.exchange.operation import Operation
from groundswell.exchange.transports.peer_memory import PeerMemory

SOURCE = Path(__file__).with_name("peer_rows.h")
MAX_WAITING_BLOCKS = 16  # of more, one block waits for all, see peer_rows.h
MAX_IN_FLIGHT = 4  # loads of a thread; fewer than elsewhere, as indices have 64 bits


class PeerRows(Operation):
    """What a gather-scatter sends and receives, through peer memory.

    Parts of the pattern's buffer lie apart: messages to send in the receivers' mailboxes, received
    ones in this rank's, and its own contributions in reserved memory.

    Args:
        pattern: what the ranks send and receive.
        dtype, components: of the values.
        reduction: of rows.

    Raises:
        BackendError: the memory of a peer cannot be mapped.
        InputError: there is too little memory for tables.
    """

    in_graph = True

    def __init__(
        self,
        backend: Backend,
        pattern: ExchangePattern,
        dtype: str,
        components: int,
        reduction: str,
    ) -> None:
        comm, self._backend, self._pattern = pattern.sharing.comm, backend, pattern
        source = peer_rows_source(dtype, reduction)
        self._module = comm.collective_try(lambda: backend.compile(source))
        self._itemsize, self._components = np.dtype(dtype).itemsize, components
        self._own = range(len(pattern.sharing.ids) - pattern.sharing.unshared)
        sends, receives = pattern.send_ranges, pattern.route.received
        self._messages = [
            Message(p, 0, self._bytes(sends.get(p, ())), self._bytes(receives.get(p, ())))
            for p in nearest_first(comm, {*sends, *receives})
        ]
        request = TransferRequest(backend, comm, self._messages)
        self._memory = PeerMemory(request, reserved=self._bytes(self._own))
        self.path = self._memory.path + ", straight into mailboxes"

    def _bytes(self, positions: range | tuple[()]) -> int:
        """Size of all components of some values."""
        return aligned(self._components * len(positions) * self._itemsize)

    def bind(self, phases: Phases, source: Values, target: Values) -> None:
        """Make the launches for these arrays, without communication."""
        self.start, self.finish = [], []
        if not self._messages:
            return
        buffer, pack, unpack = self._locate(), phases.pack, phases.unpack
        send = self._slices(
            self._expand(pack.source, source.pitch), self._expand(pack.target, *buffer)
        )
        receive = self._slices(
            self._expand(unpack.source, *buffer), self._expand(unpack.target, target.pitch)
        )
        self.start = [self._memory.require_no_timeout, self._send(send, source.array)]
        self.finish = self._receive(receive, target.array)

    # --- indices ----------------------------------------------------------------------------------

    def _locate(self) -> tuple[Numbers, Numbers]:
        """Pitch and index of each position of the buffer, in values from the lowest address."""
        memory, pattern = self._memory, self._pattern
        pitch, index = np.empty((2, pattern.route.size), np.int64)
        parts = [(self._own, memory.address)]
        for message in self._messages:
            for ranges, mailbox in (
                (pattern.send_ranges, memory.outbox),
                (pattern.route.received, memory.inbox),
            ):
                if message.peer in ranges:
                    parts.append((ranges[message.peer], mailbox(message)))
        for positions, address in parts:
            part = slice(positions.start, positions.stop)
            index[part] = (address - memory.lowest) // self._itemsize + np.arange(len(positions))
            pitch[part] = len(positions)
        return pitch, index

    def _expand(self, rows: Rows, pitch: int | Numbers, index: Numbers | None = None) -> Rows:
        """Rows of all components, whose positions have these pitches and indices."""
        positions, components = rows.all_indices, np.arange(self._components)[:, None]
        if index is not None:
            positions, pitch = index[positions], np.asarray(pitch)[positions]
        indices = (positions + components * pitch).ravel()
        if rows.offsets is None:
            return Rows.single(indices)
        offsets = (rows.offsets[:-1] + components * rows.offsets[-1]).ravel()
        return Rows(len(offsets), np.append(offsets, len(indices)), indices)

    # --- launches ---------------------------------------------------------------------------------

    def _send(self, slices: Slices, source: Array) -> Launch:
        blocks = self._blocks(slices)
        full = [blocks * (m.send_bytes > 0) for m in self._messages]
        shares = self._to_device(np.tile(np.minimum(full, 1), (blocks, 1)))
        signals = self._memory.signals(full, blocks)
        arguments = (source, self._memory.lowest, *self._row_arguments(slices), shares, *signals)
        return self._launch("send_rows", blocks, *arguments)

    def _receive(self, slices: Slices, target: Array) -> list[Launch]:
        blocks = self._blocks(slices)
        signals = self._memory.signals([0] * len(self._messages), blocks)
        waits = self._memory.waits()
        if blocks > MAX_WAITING_BLOCKS and not self._backend.on_host:
            waits.append(self._launch("wait_for_rows", 1, *signals))
        arguments = (self._memory.lowest, target, *self._row_arguments(slices), *signals)
        return [*waits, self._launch("receive_rows", blocks, *arguments)]

    def _slices(self, source: Rows, target: Rows) -> Slices:
        """Slices as small as they can be while all of them run at once."""
        few = source.count <= THREADS * self._memory.blocks_at_once
        return Slices.of(source, target, in_flight=1 if few else MAX_IN_FLIGHT)

    def _blocks(self, slices: Slices) -> int:
        return max(1, min(len(slices.table), self._memory.blocks_at_once))

    def _row_arguments(self, slices: Slices) -> tuple[Any, ...]:
        """ROW_ARGUMENTS of peer_rows.h."""
        tables = (self._to_device(slices.table), self._to_device(slices.indices))
        return (*slices.first, *tables, len(slices.table), self._memory.flip // self._itemsize)

    def _to_device(self, table: Numbers) -> Array:
        return self._backend.to_device(table.astype(np.int64))

    def _launch(self, name: str, blocks: int, *arguments: Any) -> Launch:
        return self._module.launch(name, Blocks(blocks, THREADS), *arguments)

    def check(self, after: Event | None = None) -> None:
        self._memory.check(after)

    def close(self) -> None:
        self._memory.close()


def peer_rows_source(dtype: str, reduction: str) -> Source:
    """The kernels for a type of values and a reduction."""
    constants: dict[str, Constant] = {
        "VALUE": TYPES[dtype],
        "OPERATION": OPERATIONS[reduction],
        "INDICES_32_BIT": False,
        "IN_PLACE": False,
        "MAX_IN_FLIGHT": MAX_IN_FLIGHT,
    }
    return Source(SOURCE, constants)
