"""Rows of values that are reduced straight into other ranks' mailboxes; see peer_rows.h."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.backends import Backend, Blocks, Constant, Launch, Source
from groundswell.backends.base import Array, Event
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter.routes import Run
from groundswell.exchange.gather_scatter.rows import (
    OPERATIONS,
    THREADS,
    TYPES,
    Numbers,
    Rows,
    Slices,
    Values,
)
from groundswell.exchange.gather_scatter.tables import Mail, Tables, Work
from groundswell.exchange.operation import Operation
from groundswell.exchange.packing import ALIGNMENT
from groundswell.exchange.transports.base import MessageSize
from groundswell.exchange.transports.peer_memory import PeerMemory

SOURCE = Path(__file__).with_name("peer_rows.h")
FEW_WAIT = 16  # blocks; of more, one waits for all, see peer_rows.h
MOST_AT_ONCE = 4  # values that a thread has under way together: places take 64 bits


class PeerRows(Operation):
    """What a gather-scatter sends and receives, where ranks access each other's memory.

    The arena of its tables exists in parts: what is sent has its places in the receivers'
    mailboxes, what is received in this rank's, and what is kept in front of these.

    Args:
        mail: what the operation exchanges with other ranks, see tables.py.
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
        comm: Communicator,
        mail: Mail,
        dtype: str,
        components: int,
        reduction: str,
    ) -> None:
        source = peer_rows_source(dtype, reduction)
        self._backend, self._mail = backend, mail
        self._module = comm.collective_try(lambda: backend.compile(source))
        self._size, self._components = np.dtype(dtype).itemsize, components
        self._kept = len(mail.sharing.ids) - mail.sharing.alone
        self._messages = self._sizes(comm, mail.runs, mail.path.arrivals)
        self._memory = PeerMemory(backend, comm, self._messages, reserved=self._bytes(self._kept))
        self.path = self._memory.path + ", straight into mailboxes"

    def bind(self, tables: Tables, old: Values, new: Values) -> None:
        """Set up the launches of these arrays, without communication.

        Args:
            tables: see tables.py.
            old, new: values that rows are read from, and stored in.
        """
        self._lay_out(self._mail, self._kept)
        self._launches(tables, old, new)
        del self._at, self._step  # the device has what it needs of them

    # --- places -----------------------------------------------------------------------------------

    def _bytes(self, count: int) -> int:
        """Size of so many values of each component."""
        return -(-self._components * count * self._size // ALIGNMENT) * ALIGNMENT

    def _sizes(
        self, comm: Communicator, sent: Mapping[int, Run], received: Mapping[int, Run]
    ) -> list[MessageSize]:
        """A message for each peer, nearest ranks above this one first."""
        peers = sorted({*sent, *received}, key=lambda peer: (peer - comm.rank) % comm.size)
        nothing = Run(0, 0)

        def size(runs: Mapping[int, Run], peer: int) -> int:
            return self._bytes(runs.get(peer, nothing).count)

        return [MessageSize(p, 0, size(sent, p), size(received, p)) for p in peers]

    def _lay_out(self, mail: Mail, kept: int) -> None:
        """For each place of the arena its real place, and the distance to the next component.

        Both count values, the former from `lowest`.
        """
        self._at, self._step = np.empty((2, mail.path.size), np.int64)
        self._lowest = self._memory.lowest
        self._lay(Run(0, kept), self._memory.address)
        for message in self._messages:
            ends = ((mail.runs, self._memory.outbox), (mail.path.arrivals, self._memory.inbox))
            for runs, mailbox in ends:
                if message.peer in runs:
                    self._lay(runs[message.peer], mailbox(message))

    def _lay(self, run: Run, address: int) -> None:
        places = slice(run.first, run.first + run.count)
        self._at[places] = (address - self._lowest) // self._size + np.arange(run.count)
        self._step[places] = run.count

    def _in_boxes(self, rows: Rows) -> Rows:
        """Rows of the arena, for all components."""
        every = rows.every
        return self._of_components(rows, self._at[every], self._step[every])

    def _in_array(self, rows: Rows, values: Values) -> Rows:
        """Rows of an array, for all components."""
        every = rows.every
        return self._of_components(rows, every, np.full_like(every, values.pitch))

    def _of_components(self, rows: Rows, places: Numbers, steps: Numbers) -> Rows:
        components = np.arange(self._components)[:, None]
        every = (places + components * steps).ravel()
        if rows.starts is None:
            return Rows.single(every)
        starts = (rows.starts[:-1] + components * rows.starts[-1]).ravel()
        return Rows(len(starts), np.append(starts, len(every)), every)

    # --- launches ---------------------------------------------------------------------------------

    def _launches(self, tables: Tables, old: Values, new: Values) -> None:
        self.start, self.finish = [], []
        if self._messages:
            self.start = [self._memory.require_no_timeout, *self._sending(tables.pack, old)]
            self.finish = self._receiving(tables.unpack, new)

    def _sending(self, work: Work, old: Values) -> list[Launch]:
        slices = self._slices(self._in_array(work.source, old), self._in_boxes(work.target))
        blocks = self._blocks(slices)
        full = [blocks * (m.send_bytes > 0) for m in self._messages]
        shares = np.tile(np.minimum(full, 1), (blocks, 1))
        arguments = (*self._rows(slices), self._device(shares), *self._memory.signals(full, blocks))
        return [self._launch("send_rows", blocks, old.array, self._lowest, *arguments)]

    def _receiving(self, work: Work, new: Values) -> list[Launch]:
        slices = self._slices(self._in_boxes(work.source), self._in_array(work.target, new))
        blocks = self._blocks(slices)
        signals = self._memory.signals([0] * len(self._messages), blocks)
        waits = self._memory.waits()
        if blocks > FEW_WAIT and not self._backend.on_host:
            waits.append(self._launch("wait_for_rows", 1, *signals))
        arguments = (self._lowest, new.array, *self._rows(slices), *signals)
        return [*waits, self._launch("receive_rows", blocks, *arguments)]

    def _slices(self, taken: Rows, put: Rows) -> Slices:
        """Of few rows as many as there is room for, so that none waits for another."""
        few = taken.count <= THREADS * self._memory.blocks_at_once
        return Slices.of(taken, put, at_once=1 if few else MOST_AT_ONCE)

    def _blocks(self, slices: Slices) -> int:
        return max(1, min(len(slices.table), self._memory.blocks_at_once))

    def _rows(self, slices: Slices) -> tuple[Any, ...]:
        """What kernels with ROW_ARGUMENTS are given."""
        tables = (self._device(slices.table), self._device(slices.places))
        return (*slices.first, *tables, len(slices.table), self._memory.flip // self._size)

    def _device(self, table: Numbers) -> Array:
        return self._backend.to_device(table.astype(np.int64))

    def _launch(self, name: str, blocks: int, *arguments: Any) -> Launch:
        return self._module.launch(name, Blocks(blocks, THREADS), *arguments)

    def check(self, after: Event | None = None) -> None:
        self._memory.check(after)

    def close(self) -> None:
        self._memory.close()


def peer_rows_source(dtype: str, reduction: str) -> Source:
    """The kernels for values of a type."""
    constants: dict[str, Constant] = {
        "VALUE": TYPES[dtype],
        "OPERATION": OPERATIONS[reduction],
        "INDICES_32_BIT": False,
        "IN_PLACE": False,
        "MOST_AT_ONCE": MOST_AT_ONCE,
    }
    return Source(SOURCE, constants)
