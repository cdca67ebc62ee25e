"""Face traces: the values that elements provide to their neighbours, on this and other ranks.

A kernel stores each trace where the neighbour reads it: in the rank's own memory, or in a buffer
that is exchanged (shared_traces.py). A face with four finer neighbours is a mortar: its element
stores a trace for each quarter, interpolated from its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend, Launch
from groundswell.backends.base import Event
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.messages import Buffer
from groundswell.exchange.tuning import Choice
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.solvers.dgwave.faults.faces import WALLS
from groundswell.solvers.dgwave.faults.rank import RankFault
from groundswell.solvers.dgwave.mesh.elements import FACES, WHOLE, FaceLinks, RankElements
from groundswell.solvers.dgwave.shared_traces import SharedTraces, TraceFormat

BUFFERS = 3  # used in turn for traces of other ranks, see kernels/scheme.h
LOCAL, JUMP = 1, 2  # added to addresses, see kernels/elements.h


@dataclass(frozen=True, eq=False)
class AddressTables:
    """Addresses at which traces are read and stored, for one buffer; see kernels/elements.h.

    Args:
        neighbours, targets: addresses for each face to read from and to store to, (elements, 6).
        fine: addresses of the traces of the finer neighbours of mortars, (mortars, 4).
        quarters: addresses at which mortars store the traces of their quarters, (mortars, 4).
        beyond: addresses of the traces beyond the sides of faults, (sides,).
    """

    neighbours: Integers
    targets: Integers
    fine: Integers
    quarters: Integers
    beyond: Integers


class Traces:
    """The traces of a rank's elements, and their exchange.

    On several ranks, call `connect` before the first exchange.

    Args:
        fault: the faces of faults, if any.

    Attributes:
        neighbours, targets: tables of kernels/elements.h, (3, elements, 6) int64.
        fine, quarters: tables of kernels/mortars.h, (3, mortars, 4) int64.
        beyond: addresses of the traces beyond sides of faults, (3, sides) int64.
        jumps: jumps at mortars, then at both walls of faults, (jumps, values, nodes).
        slots: number of traces in the rank's own memory.
        exchanges: one for each buffer; none on one rank.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        elements: RankElements,
        form: TraceFormat,
        fault: RankFault | None = None,
    ) -> None:
        self._backend, self._comm, self._elements, self._fault = backend, comm, elements, fault
        self._form, self._size = form, form.bytes
        mortars, shape = len(elements.mortars), (form.values, form.nodes)
        self.slots = elements.count * FACES + mortars * QUARTERS
        self._memory: DeviceArray = backend.zeros((2, self.slots, *shape), form.dtype)
        jumps = mortars + (WALLS * fault.count if fault else 0)
        self.jumps: DeviceArray = backend.zeros((max(jumps, 1), *shape), form.dtype)
        self.exchanges: Sequence[SharedTraces] = ()
        self._overlaps = True
        self._tables = [np.stack([table] * BUFFERS) for table in vars(self._local()).values()]
        self._on_device = [backend.to_device(table) for table in self._tables]
        self.neighbours, self.targets, self.fine, self.quarters, self.beyond = self._on_device

    def connect(self, choice: Choice) -> None:
        """Set the transport of the exchange; collective.

        Earlier launches must no longer be used.
        """
        self._overlaps = choice.overlap
        if self._comm.size == 1:
            return
        self.close()
        self.exchanges = ()
        counts = {peer: faces.sends.count for peer, faces in self._elements.shared.items()}
        made = [
            SharedTraces(self._backend, self._comm, counts, self._form, choice)
            for _ in range(BUFFERS)
        ]
        for buffer, exchange in enumerate(made):
            self._add_shared(AddressTables(*(table[buffer] for table in self._tables)), exchange)
        for array, table in zip(self._on_device, self._tables, strict=True):
            self._backend.assign(array, table)
        self.exchanges = made

    # --- tables -----------------------------------------------------------------------------------

    def _local(self) -> AddressTables:
        """The tables with the traces of this rank only."""
        elements, links = self._elements, self._elements.inside
        faces, quarters = (elements.count, FACES), (len(elements.mortars), QUARTERS)
        sides = (len(self._fault.rows) if self._fault else 0,)
        shapes = (faces, faces, quarters, quarters, sides)
        tables = AddressTables(*(np.zeros(shape, np.int64) for shape in shapes))
        own = self._slot(links.element, links.face, WHOLE)
        other = self._slot(elements.place(links.beyond), links.face_beyond, links.quarter_beyond)
        self._put_received(tables, links, other)
        self._put_sent(tables, links, np.where(links.quarter == WHOLE, own, self._sent_slot(links)))
        element, face = elements.mortars.T
        tables.targets[element, face] = self._slot(element, face, WHOLE)
        first = self._backend.address(self.jumps) + JUMP
        tables.neighbours[element, face] = first + self._size * np.arange(len(element))
        self._redirect(tables)
        return tables

    def _add_shared(self, tables: AddressTables, exchange: SharedTraces) -> None:
        """Add the traces of other ranks."""
        ends = zip(self._elements.shared.values(), exchange.sent, exchange.received, strict=True)
        for faces, sent, received in ends:
            self._put_sent(tables, faces.sends, self._places(sent, faces.sends))
            self._put_received(tables, faces.receives, self._places(received, faces.receives))
        self._redirect(tables)

    def _put_received(self, tables: AddressTables, links: FaceLinks, places: Integers) -> None:
        """Set the addresses from which links read traces."""
        whole = links.quarter == WHOLE
        tables.neighbours[links.element[whole], links.face[whole]] = places[whole]
        tables.fine[self._mortar(links.take(~whole)), links.quarter[~whole]] = places[~whole]

    def _redirect(self, tables: AddressTables) -> None:
        """Let sides of faults read jumps, and keep the addresses of the traces beyond them."""
        if self._fault is None:
            return
        element, face = self._fault.sides.T
        now = tables.neighbours[element, face]
        tables.beyond[:] = np.where(now & JUMP, tables.beyond, now)
        rows = len(self._elements.mortars) + self._fault.rows
        first = self._backend.address(self.jumps) + JUMP
        tables.neighbours[element, face] = first + self._size * rows

    def _put_sent(self, tables: AddressTables, links: FaceLinks, places: Integers) -> None:
        """Set the addresses at which links store traces."""
        whole = links.quarter == WHOLE
        tables.targets[links.element[whole], links.face[whole]] = places[whole]
        tables.quarters[self._mortar(links.take(~whole)), links.quarter[~whole]] = places[~whole]

    def _places(self, buffer: Buffer, links: FaceLinks) -> Integers:
        return buffer.address + self._size * np.arange(links.count)

    def _sent_slot(self, links: FaceLinks) -> Integers:
        return self._slot(links.element, links.face, links.quarter)

    def _slot(self, element: Integers, face: Integers, quarter: Integers | int) -> Integers:
        """Entry for the trace of a face of this rank, or of a quarter of a mortar."""
        whole = self._keys(element, face)
        mortar = np.searchsorted(self._mortar_keys, whole)
        part = self._elements.count * FACES + mortar * QUARTERS + quarter
        slot = np.where(np.equal(quarter, WHOLE), whole, part)
        return np.asarray(self._backend.address(self._memory) + LOCAL + slot * self._size)

    def _mortar(self, links: FaceLinks) -> Integers:
        """The mortar of each link."""
        return np.searchsorted(self._mortar_keys, self._keys(links.element, links.face))

    def _keys(self, element: Integers, face: Integers) -> Integers:
        return element * FACES + face

    @property
    def _mortar_keys(self) -> Integers:
        """Keys of the mortar faces, ascending."""
        return self._keys(*self._elements.mortars.T)

    # --- exchange ---------------------------------------------------------------------------------

    def overlap(
        self, stage: int, stages: int, *, outer: Sequence[Launch], inner: Sequence[Launch]
    ) -> list[Launch]:
        """Launches of a stage; inner elements overlap the exchange if the choice allows it.

        Args:
            outer: launches that advance the elements that share faces with other ranks.
            inner: launches that advance the other elements.
        """
        if not self.exchanges:
            return [*outer, *inner]
        if not self._overlaps:
            outer, inner = [*outer, *inner], []
        following = (stage + 1) % stages
        buffer = BUFFERS - 1 if following == stages - 1 else following % 2
        exchange, fork, join = self.exchanges[buffer], self._backend.fork, self._backend.join
        return [*exchange.open, *outer, *fork(exchange.start), *inner, *join(exchange.finish)]

    @property
    def in_graph(self) -> bool:
        """Whether a graph can contain the exchange."""
        return all(exchange.in_graph for exchange in self.exchanges)

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank sends per stage, before lossless compression."""
        return self.exchanges[0].bytes if self.exchanges else 0

    def check(self, after: Event | None = None) -> None:
        """Raise RunFailed if a wait for another rank timed out."""
        for exchange in self.exchanges:
            exchange.check(after)

    def close(self) -> None:
        """Release shared memory; collective."""
        for exchange in self.exchanges:
            exchange.close()
