"""The exchange of ghost elements.

The paper sends either all data of an element, or only variables and materials (section 7.4). A
kernel packs elements into messages, which arrive at the addresses from which faces read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from groundswell.arrays import Integers
from groundswell.backends import Backend, Blocks, Launch, Source
from groundswell.backends.source import precision
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import connect
from groundswell.exchange.messages import Message, TransferRequest
from groundswell.exchange.transfer import Maker
from groundswell.solvers.dgwave.benchmarks.problems import fill
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME
from groundswell_rivals.dgwave.ladder import F1S, Ladder

PACK = Path(__file__).parent / "kernels" / "pack_elements.h"
WHOLE, REDUCED = "whole elements", "variables, materials"  # what is sent of an element
INVERSE_MASSES = 4  # further arrays of nodal values in the paper's whole elements (table 4)


class GhostExchange:
    """The exchange of a ladder's ghost elements; collective.

    Args:
        sent: WHOLE or REDUCED.
        transport: see `connect`.

    Attributes:
        bytes_sent: bytes that this rank sends per stage.
        path: description of the transport.
        in_graph: whether a graph can contain the exchange.
        compute: the launches of a step without exchange.
        costs: the cost of each kernel.
    """

    costs = F1S.costs

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        ladder: Ladder,
        sent: str,
        transport: str | Maker,
    ) -> None:
        self._backend, self._ladder, self._whole = backend, ladder, sent == WHOLE
        ghosts, record = ladder.ghosts, self._record_bytes
        messages = [
            Message(peer, 0, len(sends) * record, ghosts.receives[peer] * record)
            for peer, sends in ghosts.sends.items()
        ]
        request = TransferRequest(backend, comm, messages, fixed_buffers=True)
        self._exchange = exchange = connect(request, transport)
        self.bytes_sent = sum(message.send_bytes for message in messages)
        self.path, self.in_graph = exchange.path, exchange.in_graph
        self.compute = ladder.step
        received = [_places(b.address, b.size // record, record) for b in exchange.received]
        if received:
            backend.assign(ladder.ghost_fields, np.concatenate(received))
        self._pack = self._packing()

    def step(self, *, overlap: bool) -> list[Launch]:
        """The launches of a step.

        Args:
            overlap: whether the exchange overlaps with elements that need no ghosts.
        """
        ladder, exchange, backend = self._ladder, self._exchange, self._backend
        outer, count = ladder.elements.outer, ladder.elements.count
        first, rest = ladder.find_rates(0, outer), ladder.find_rates(outer, count - outer)
        pack = [*exchange.open, *self._pack]
        rates = [*exchange.start, *exchange.finish, *first, *rest]
        if overlap:
            fork, join = backend.fork(exchange.start), backend.join(exchange.finish)
            rates = [*fork, *rest, *join, *first]
        return [
            launch
            for stage in range(SCHEME.stages)
            for launch in (*pack, *rates, ladder.integrate(stage))
        ]

    def check(self) -> None:
        """Raise RunFailed if a wait for another rank timed out."""
        self._exchange.check()

    def close(self) -> None:
        """Release shared memory; collective."""
        self._exchange.close()

    # --- messages ---------------------------------------------------------------------------------

    @property
    def _rest(self) -> int:
        """Values of an element's record that do not belong to fields."""
        elastic, nodes = self._ladder.u.shape[1] > 4, self._ladder.u.shape[2]
        return INVERSE_MASSES * nodes * self._whole + (3 if elastic else 2)

    @property
    def _record_bytes(self) -> int:
        _, fields, nodes = self._ladder.u.shape
        values = (3 if self._whole else 1) * fields * nodes + self._rest
        return int(values * self._ladder.u.dtype.itemsize)

    def _packing(self) -> list[Launch]:
        """The launch that packs all messages."""
        ladder, backend, record = self._ladder, self._backend, self._record_bytes
        sends, buffers = list(ladder.ghosts.sends.values()), self._exchange.sent
        if not sends:
            return []
        places: Sequence[Integers] = [
            _places(buffer.address, len(listed), record)
            for listed, buffer in zip(sends, buffers, strict=True)
        ]
        listed = np.concatenate(sends)
        rest = backend.zeros((len(listed), self._rest), ladder.u.dtype)
        tables = [backend.to_device(table) for table in (listed, np.concatenate(places))]
        module = backend.compile(
            pack_source(str(ladder.u.dtype), ladder.u[0].size, self._rest, self._whole)
        )
        arrays = (ladder.u, ladder.r, ladder.rates, rest, *tables)
        extent = Blocks(len(listed), ladder.threads)
        return [module.launch("pack_elements", extent, *arrays, len(listed))]


def pack_source(dtype: str, values: int, rest: int, whole: bool) -> Source:
    """The kernel that packs elements.

    Args:
        values: number of field values of an element.
        rest: number of other values of its record.
        whole: whether the record also contains contributions and register.
    """
    sizes = {"VALUES": values, "REST": rest, "WHOLE_ELEMENTS": whole}
    return Source(PACK, {**precision(dtype), **sizes, "MAX_THREADS_PER_BLOCK": 512})


def _places(address: int, count: int, size: int) -> Integers:
    return address + size * np.arange(count, dtype=np.int64)


def create_exchange(
    backend: Backend,
    comm: Communicator,
    problem: Discretisation,
    transport: str | Maker,
    *,
    sent: str,
) -> GhostExchange:
    """The exchange of a rank's elements, which have values; see `GhostExchange`."""
    ladder = Ladder(backend, problem, F1S, F1S.register_limits(backend, problem)[0])
    fill(backend, ladder.u, ladder.elements.numbers)
    return GhostExchange(backend, comm, ladder, sent, transport)
