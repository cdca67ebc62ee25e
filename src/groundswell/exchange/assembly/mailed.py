"""Rows of values that are reduced straight into other ranks' mailboxes; see mailed.h."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.backends import Backend, Blocks, Constant, Launch, Source
from groundswell.backends.base import Array
from groundswell.exchange.assembly.rows import (
    OPERATIONS,
    THREADS,
    TYPES,
    Numbers,
    Rows,
    Slices,
    Values,
)
from groundswell.exchange.assembly.tables import Mail, Tables, Work
from groundswell.exchange.boxes import compile_kernels
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.messages import ALIGNMENT, Message
from groundswell.exchange.routes import Run
from groundswell.exchange.transports.base import Job
from groundswell.exchange.transports.mailboxes import Mailboxes

SOURCE = Path(__file__).with_name("mailed.h")
FEW_WAIT = 16  # blocks; of more, one waits for all, see mailed.h
MOST_AT_ONCE = 4  # values that a thread has under way together: places take 64 bits


class MailedRows(Mailboxes):
    """What an operation sends and receives, where ranks see each other's memory.

    The arena of its tables is nowhere as such: what leaves has its places in others' mailboxes,
    what arrives in this rank's, and what is kept beside these.

    Args:
        mail, tables: what the operation wants of other ranks, see tables.py.
        reduction: what is done to rows.
        old, new: what they are taken from, and put into.

    Raises:
        BackendError: some peer's memory cannot be mapped.
        InputError: there is too little memory for tables.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        mail: Mail,
        tables: Tables,
        reduction: str,
        old: Values,
        new: Values,
    ) -> None:
        source = mailed_source(str(old.array.dtype), reduction)
        self._module = comm.collective_try(lambda: backend.compile(source))
        self._size, self._components = old.array.dtype.itemsize, old.components
        kept = len(mail.sharing.ids) - mail.sharing.alone
        messages = self._messages(comm, mail.runs, mail.path.arrivals)
        super().__init__(Job(backend, comm, [], messages), room=self._bytes(kept))
        self._lay_out(mail, kept)
        self.path += ", straight into mailboxes"
        comm.collective_try(lambda: self._launches(tables, old, new))
        del self._at, self._step  # the device has what it needs of them

    # --- where things lie -------------------------------------------------------------------------

    def _bytes(self, count: int) -> int:
        """Of so many values of each component."""
        return -(-self._components * count * self._size // ALIGNMENT) * ALIGNMENT

    def _messages(
        self, comm: Communicator, sent: Mapping[int, Run], come: Mapping[int, Run]
    ) -> list[Message]:
        """One for each peer, nearest ranks above this one first."""
        peers = sorted({*sent, *come}, key=lambda peer: (peer - comm.rank) % comm.size)
        nothing = Run(0, 0)

        def size(runs: Mapping[int, Run], peer: int) -> int:
            return self._bytes(runs.get(peer, nothing).count)

        return [Message(p, 0, (), (), size(sent, p), size(come, p)) for p in peers]

    def _lay_out(self, mail: Mail, kept: int) -> None:
        """Of each place of the arena where it really is, and how far the next component is from it.

        Both in values, the former from `origin`.
        """
        self._at, self._step = np.empty((2, mail.path.size), np.int64)
        shared = [memory.address for memory in self._attached.values()]
        self._origin = min([self._memory.address, *shared])
        self._lay(Run(0, kept), self._memory.address + self._first)
        for n, message in enumerate(self._job.messages):
            ways = ((mail.runs, self._outbox), (mail.path.arrivals, self._inbox))
            for runs, box in ways:
                if message.peer in runs:
                    self._lay(runs[message.peer], box(n, message).address)

    def _lay(self, run: Run, address: int) -> None:
        places = slice(run.first, run.first + run.count)
        self._at[places] = (address - self._origin) // self._size + np.arange(run.count)
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
        if self._job.messages:
            self.start = [self._require_no_failure, *self._sending(tables.pack, old)]
            self.finish = self._receiving(tables.unpack, new)
        self.launches = [*self.start, *self.finish]

    def _sending(self, work: Work, old: Values) -> list[Launch]:
        slices = self._slices(self._in_array(work.source, old), self._in_boxes(work.target))
        blocks = self._blocks(slices)
        full = [blocks * (m.send_bytes > 0) for m in self._job.messages]
        shares = np.tile(np.minimum(full, 1), (blocks, 1))
        given = (*self._rows(slices), self._device(shares), *self._post(full, blocks))
        return [self._launch("send_rows", blocks, old.array, self._origin, *given)]

    def _receiving(self, work: Work, new: Values) -> list[Launch]:
        slices = self._slices(self._in_boxes(work.source), self._in_array(work.target, new))
        blocks = self._blocks(slices)
        post, backend = self._post([0] * len(self._job.messages), blocks), self._job.backend
        waits = self._waits(compile_kernels(backend))
        if blocks > FEW_WAIT and not backend.on_host:
            waits.append(self._launch("await_rows", 1, *post))
        given = (self._origin, new.array, *self._rows(slices), *post)
        return [*waits, self._launch("receive_rows", blocks, *given)]

    def _slices(self, taken: Rows, put: Rows) -> Slices:
        """Of few rows as many as there is room for, so that none waits for another."""
        few = taken.count <= THREADS * self._blocks_at_once()
        return Slices.of(taken, put, at_once=1 if few else MOST_AT_ONCE)

    def _blocks(self, slices: Slices) -> int:
        return max(1, min(len(slices.table), self._blocks_at_once()))

    def _rows(self, slices: Slices) -> tuple[Any, ...]:
        """What kernels with ROW_ARGUMENTS are given."""
        tables = (self._device(slices.table), self._device(slices.places))
        return (*slices.first, *tables, len(slices.table), self._flip // self._size)

    def _device(self, table: Numbers) -> Array:
        return self._job.backend.to_device(table.astype(np.int64))

    def _launch(self, name: str, blocks: int, *arguments: Any) -> Launch:
        return self._module.launch(name, Blocks(blocks, THREADS), *arguments)


def mailed_source(dtype: str, reduction: str) -> Source:
    """The kernels for values of a type."""
    constants: dict[str, Constant] = {
        "VALUE": TYPES[dtype],
        "OPERATION": OPERATIONS[reduction],
        "INDICES_32_BIT": False,
        "IN_PLACE": False,
        "MOST_AT_ONCE": MOST_AT_ONCE,
    }
    return Source(SOURCE, constants)
