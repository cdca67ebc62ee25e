"""Face traces: what an element shows to its neighbours, on this rank and on others.

A kernel stores each trace where the neighbour reads it: in the rank's own memory, or in a buffer
that is exchanged, which may lie in the memory of the other rank. A face with four finer neighbours
is a mortar: it keeps its own trace, and stores the interpolated one of each quarter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from groundswell.backends import Array, Backend, Launch
from groundswell.backends.base import Event
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import connect
from groundswell.exchange.messages import Buffer, Message, TransferRequest
from groundswell.exchange.transfer import Transfer
from groundswell.meshes.hexahedra import Numbers
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.solvers.dgwave.elements import FACES, WHOLE, Links, RankElements

BUFFERS = 3  # through which the traces of other ranks pass in turn, see kernels/scheme.h
LOCAL, JUMP = 1, 2  # added to addresses, see kernels/elements.h


@dataclass(frozen=True, eq=False)
class Tables:
    """Where traces are read and stored, for one of the buffers; see kernels/elements.h.

    Args:
        neighbours, targets: of each face, (elements, 6).
        fine: traces of the finer neighbours of mortars, (mortars, 4).
        quarters: where mortars store the traces of their quarters, (mortars, 4).
    """

    neighbours: Numbers
    targets: Numbers
    fine: Numbers
    quarters: Numbers


class Traces:
    """The traces of a rank's elements, and their exchange.

    Args:
        shape: of a trace, (values, nodes).
        transport: see `connect`.

    Attributes:
        neighbours, targets: tables of kernels/elements.h, (3, elements, 6) int64.
        fine, quarters: tables of kernels/mortars.h, (3, mortars, 4) int64.
        jumps: of mortars, (mortars, values, nodes).
        slots: number of traces in the rank's own memory.
        exchanges: one for each buffer; none on one rank.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        elements: RankElements,
        shape: tuple[int, int],
        dtype: DTypeLike,
        transport: str = "auto",
    ) -> None:
        self._backend, self._comm, self._elements = backend, comm, elements
        mortars = len(elements.mortars)
        self.slots = elements.count * FACES + mortars * QUARTERS
        self._memory: Array = backend.zeros((2, self.slots, *shape), dtype)
        self.jumps: Array = backend.zeros((max(mortars, 1), *shape), dtype)
        self._size = shape[0] * shape[1] * np.dtype(dtype).itemsize
        self.exchanges: Sequence[Transfer] = self._connect(transport) if comm.size > 1 else ()
        tables = [self._local() for _ in range(BUFFERS)]
        for table, exchange in zip(tables, self.exchanges, strict=False):
            self._add_shared(table, exchange)
        columns = zip(*(vars(table).values() for table in tables), strict=True)
        self.neighbours, self.targets, self.fine, self.quarters = (
            backend.to_device(np.stack(column)) for column in columns
        )

    def _connect(self, transport: str) -> list[Transfer]:
        sizes = {p: f.sends.count * self._size for p, f in self._elements.shared.items()}
        messages = [Message(peer, 0, size, size) for peer, size in sizes.items()]
        request = TransferRequest(self._backend, self._comm, messages, fixed_buffers=True)
        return [connect(request, transport) for _ in range(BUFFERS)]

    # --- tables -----------------------------------------------------------------------------------

    def _local(self) -> Tables:
        """The tables with the traces of this rank alone."""
        elements, links = self._elements, self._elements.inside
        faces, quarters = (elements.count, FACES), (len(elements.mortars), QUARTERS)
        tables = Tables(*(np.zeros(s, np.int64) for s in (faces, faces, quarters, quarters)))
        own = self._slot(links.element, links.face, WHOLE)
        other = self._slot(elements.place(links.beyond), links.face_beyond, links.quarter_beyond)
        self._put_received(tables, links, other)
        self._put_sent(tables, links, np.where(links.quarter == WHOLE, own, self._sent_slot(links)))
        element, face = elements.mortars.T
        tables.targets[element, face] = self._slot(element, face, WHOLE)
        first = self._backend.address(self.jumps) + JUMP
        tables.neighbours[element, face] = first + self._size * np.arange(len(element))
        return tables

    def _add_shared(self, tables: Tables, exchange: Transfer) -> None:
        """Add the traces of other ranks."""
        ends = zip(self._elements.shared.values(), exchange.sent, exchange.received, strict=True)
        for faces, sent, received in ends:
            self._put_sent(tables, faces.sends, self._places(sent, faces.sends))
            self._put_received(tables, faces.receives, self._places(received, faces.receives))

    def _put_received(self, tables: Tables, links: Links, places: Numbers) -> None:
        """Read the traces of these links at these places."""
        whole = links.quarter == WHOLE
        tables.neighbours[links.element[whole], links.face[whole]] = places[whole]
        tables.fine[self._mortar(links.take(~whole)), links.quarter[~whole]] = places[~whole]

    def _put_sent(self, tables: Tables, links: Links, places: Numbers) -> None:
        """Store the traces of these links at these places."""
        whole = links.quarter == WHOLE
        tables.targets[links.element[whole], links.face[whole]] = places[whole]
        tables.quarters[self._mortar(links.take(~whole)), links.quarter[~whole]] = places[~whole]

    def _places(self, buffer: Buffer, links: Links) -> Numbers:
        return buffer.address + self._size * np.arange(links.count)

    def _sent_slot(self, links: Links) -> Numbers:
        return self._slot(links.element, links.face, links.quarter)

    def _slot(self, element: Numbers, face: Numbers, quarter: Numbers | int) -> Numbers:
        """Entry for the trace of a face of this rank, or of a quarter of a mortar."""
        whole = element * FACES + face
        key = self._keys(element, face)
        mortar = np.minimum(np.searchsorted(self._mortar_keys, key), len(self._mortar_keys))
        part = self._elements.count * FACES + mortar * QUARTERS + quarter
        slot = np.where(np.equal(quarter, WHOLE), whole, part)
        return np.asarray(self._backend.address(self._memory) + LOCAL + slot * self._size)

    def _mortar(self, links: Links) -> Numbers:
        """The mortar of each link."""
        return np.searchsorted(self._mortar_keys, self._keys(links.element, links.face))

    def _keys(self, element: Numbers, face: Numbers) -> Numbers:
        return element * FACES + face

    @property
    def _mortar_keys(self) -> Numbers:
        """In rising order, as mortars are."""
        return self._keys(*self._elements.mortars.T)

    # --- exchange ---------------------------------------------------------------------------------

    def overlap(
        self, stage: int, stages: int, *, outer: Sequence[Launch], inner: Sequence[Launch]
    ) -> list[Launch]:
        """Launches of a stage in which the inner elements hide the exchange of the outer ones.

        Args:
            outer: advance the elements that share faces with other ranks.
            inner: advance the others.
        """
        if not self.exchanges:
            return [*outer, *inner]
        following = (stage + 1) % stages
        buffer = BUFFERS - 1 if following == stages - 1 else following % 2
        exchange, fork, join = self.exchanges[buffer], self._backend.fork, self._backend.join
        return [*exchange.open, *outer, *fork(exchange.start), *inner, *join(exchange.finish)]

    @property
    def in_graph(self) -> bool:
        """Whether a graph of launches can hold the exchange."""
        return all(exchange.in_graph for exchange in self.exchanges)

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank sends in a stage."""
        shared = self._elements.shared.values()
        return sum(faces.sends.count for faces in shared) * self._size

    def check(self, after: Event | None = None) -> None:
        """Raise RunFailed if a wait for another rank timed out."""
        for exchange in self.exchanges:
            exchange.check(after)

    def close(self) -> None:
        """Release memory that ranks share; all ranks must call it."""
        for exchange in self.exchanges:
            exchange.close()
