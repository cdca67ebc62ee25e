"""Transfers of shared values: in messages, or directly into the memory of other ranks.

Both have `bind`, which creates the launches for certain arrays without communication.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend, Blocks, Launch, Source
from groundswell.backends.launch import KernelArguments
from groundswell.backends.sliced_ellpack import THREADS, SlicedEllpack, SparseRows
from groundswell.errors import BackendError
from groundswell.exchange.boxes import StridedBox
from groundswell.exchange.communicator import all_or_nothing
from groundswell.exchange.connect import by_memory, connect
from groundswell.exchange.gather_scatter.pattern import ExchangePattern, ReductionPhases, Stage
from groundswell.exchange.gather_scatter.rows import Operand, reduce_rows, row_source
from groundswell.exchange.messages import Message, Operation, Segment, TransferRequest, aligned
from groundswell.exchange.transfer import BufferedTransfer, Transfer
from groundswell.exchange.transports.mpi import AllToAllTransport
from groundswell.exchange.transports.peer_memory import PeerMemory

MAX_WAITING_BLOCKS = 16  # with more blocks, one block waits for all, see peer_rows.h
MAX_IN_FLIGHT = 4  # loads of a thread; fewer than usual, because indices have 64 bits


@dataclass(frozen=True)
class Connection:
    """The transport, route and codec of values between ranks.

    Args:
        transport: a name in connect.TRANSPORTS, or "auto".
        route: one of pattern.ROUTES.
        codec: compression of messages, see connect.connect. With a lossy codec, copies differ.
    """

    transport: str = "auto"
    route: str = "pairwise"
    codec: str = "none"


def connect_rows(
    backend: Backend,
    pattern: ExchangePattern,
    values: Operand,
    reduction: str,
    connection: Connection,
) -> PeerRows | BufferedRows:
    """Connect the sent and received values of ranks; collective.

    Raises:
        InputError: the codec does not exist or does not support these values, or memory is short.
        BackendError: the transport does not exist, or does not work here or with the route.
    """
    direct = connection.route == "pairwise" and connection.codec == "none"
    if direct and by_memory(backend, pattern.sharing.comm, connection.transport):
        return PeerRows(backend, pattern, values, reduction)
    return BufferedRows(backend, pattern, values, reduction, connection)


class BufferedRows(Operation):
    """Rows are reduced into the pattern's buffer, moved by messages, and reduced from it."""

    def __init__(
        self,
        backend: Backend,
        pattern: ExchangePattern,
        values: Operand,
        reduction: str,
        connection: Connection,
    ) -> None:
        self._backend, self._reduction, route = backend, reduction, pattern.route
        self._comm, self._connection = pattern.sharing.comm, connection
        shape, dtype = (values.components, max(route.size, 1)), values.array.dtype
        self._buffer = self._comm.collective_try(lambda: Operand(backend.zeros(shape, dtype)))
        with all_or_nothing():
            self._parts = self._stages = [self._connect(stage) for stage in route.stages]
        self.path, self.in_graph = self._stages[0].path, all(s.in_graph for s in self._stages)
        if len(self._stages) > 1:
            self.path = f"crystal router in {len(self._stages)} stages: {self.path}"

    def _connect(self, stage: Stage) -> Transfer:
        connection = self._connection
        messages = [
            Message.of_segments(peer, 0, self._segments(ends.sends), self._segments(ends.receives))
            for peer, ends in stage.items()
        ]
        request = TransferRequest(self._backend, self._comm, messages)
        if connection.route == "alltoall" and self._comm.size > 1:
            _require_alltoall(connection)
            on_host = not self._backend.on_host  # pinned host memory for a GPU
            make = partial(BufferedTransfer, transport=AllToAllTransport, on_host=on_host)
            return connect(request, make)
        return connect(request, connection.transport, connection.codec)

    def _segments(self, ranges: Sequence[range]) -> list[Segment]:
        backend, buffer, components = self._backend, self._buffer.array, self._buffer.components
        dtype = str(buffer.dtype)
        boxes = (StridedBox.in_array(backend, buffer, (0, 0), (0, r.start)) for r in ranges)
        ends = zip(boxes, ranges, strict=True)
        return [Segment(box, (components, len(r)), dtype, dtype) for box, r in ends]

    def bind(self, phases: ReductionPhases, source: Operand, target: Operand) -> None:
        """Create the launches for these arrays."""
        backend, reduction, buffer = self._backend, self._reduction, self._buffer
        (old, packed), (received, new) = phases.pack, phases.unpack
        pack = reduce_rows(backend, reduction, (source, old), (buffer, packed))
        unpack = reduce_rows(backend, reduction, (buffer, received), (target, new))
        first, *others = self._stages
        following = [launch for stage in others for launch in stage.launches]
        self.start = [*pack, *first.start]
        self.finish = [*first.finish, *following, *unpack]


def _require_alltoall(connection: Connection) -> None:
    """Require a transport and a codec that one collective MPI call supports."""
    if connection.transport not in ("auto", "mpi"):
        raise BackendError(
            f"route 'alltoall' is one MPI call, which transport {connection.transport!r} does "
            "not support; allowed: mpi"
        )
    if connection.codec != "none":
        raise BackendError(
            f"codec {connection.codec!r} is not available with route 'alltoall'; use another route"
        )


class PeerRows(Operation):
    """Rows are reduced directly into the mailboxes of other ranks, and from those of this rank.

    The parts of the pattern's buffer are separate: sent messages are in the receivers' mailboxes,
    received messages in this rank's mailboxes, and own contributions in reserved memory. See
    peer_rows.h.

    Raises:
        BackendError: the memory of a peer cannot be mapped.
        InputError: there is not enough memory for tables.
    """

    in_graph = True

    def __init__(
        self, backend: Backend, pattern: ExchangePattern, values: Operand, reduction: str
    ) -> None:
        sharing, self._backend, self._size = pattern.sharing, backend, pattern.route.size
        source = peer_rows_source(str(values.array.dtype), reduction)
        self._module = sharing.comm.collective_try(lambda: backend.compile(source))
        self._itemsize, self._components = values.array.dtype.itemsize, values.components
        (self._stage,), self._own = pattern.route.stages, range(len(sharing.shared))
        self._messages = [
            Message(peer, 0, self._bytes(ends.sends), self._bytes(ends.receives))
            for peer, ends in self._stage.items()
        ]
        request = TransferRequest(backend, sharing.comm, self._messages)
        self._memory = PeerMemory(request, reserved=self._bytes([self._own]))
        self._parts, self.path = [self._memory], self._memory.path + ", directly into mailboxes"

    def _bytes(self, ranges: Sequence[range]) -> int:
        """Size of all components of the values at the given positions, bytes."""
        return aligned(self._components * sum(map(len, ranges)) * self._itemsize)

    def bind(self, phases: ReductionPhases, source: Operand, target: Operand) -> None:
        """Create the launches for these arrays."""
        if not self._messages:
            return
        buffer = self._locate()
        (old, packed), (received, new) = phases.pack, phases.unpack
        send = self._slices(_in_array(old, source), _in_buffer(packed, buffer))
        receive = self._slices(_in_buffer(received, buffer), _in_array(new, target))
        self.start = [self._memory.require_no_timeout, self._send(send, source.array)]
        self.finish = self._receive(receive, target.array)

    def _locate(self) -> Integers:
        """Index of the buffer's positions from the lowest address, (components, positions)."""
        memory, parts = self._memory, [(self._own, self._memory.address)]
        for message, ends in zip(self._messages, self._stage.values(), strict=True):
            parts += [(positions, memory.outbox(message)) for positions in ends.sends]
            parts += [(positions, memory.inbox(message)) for positions in ends.receives]
        index = np.empty((self._components, self._size), np.int64)
        for positions, address in parts:
            part = index[:, positions.start : positions.stop]
            first = (address - memory.lowest) // self._itemsize
            part[:] = first + np.arange(part.size).reshape(part.shape)
        return index

    def _slices(self, source: SparseRows, target: SparseRows) -> SlicedEllpack:
        """The smallest slices with which all of them run at the same time."""
        few = source.count <= THREADS * self._memory.blocks_at_once
        return SlicedEllpack.of(source, target, in_flight=1 if few else MAX_IN_FLIGHT)

    def _send(self, slices: SlicedEllpack, source: DeviceArray) -> Launch:
        blocks, memory = self._blocks(slices), self._memory
        filled = np.array([m.send_bytes > 0 for m in self._messages], np.int64)
        given: KernelArguments = {"values": source, "boxes": memory.lowest}
        return self._module.launch(
            *("send_rows", blocks),
            **given,
            **self._row_arguments(slices),
            shares=self._backend.to_device(filled),
            **memory.signals((blocks.count * filled).tolist(), blocks.count),
        )

    def _receive(self, slices: SlicedEllpack, target: DeviceArray) -> list[Launch]:
        blocks, memory, launch = self._blocks(slices), self._memory, self._module.launch
        signals, waits = memory.signals([0] * len(self._messages), blocks.count), memory.waits()
        if blocks.count > MAX_WAITING_BLOCKS and not self._backend.on_host:
            waits.append(launch("wait_for_rows", Blocks(1, THREADS), **signals))
        arrays = {"boxes": memory.lowest, "values": target, **self._row_arguments(slices)}
        return [*waits, launch("receive_rows", blocks, **arrays, **signals)]

    def _blocks(self, slices: SlicedEllpack) -> Blocks:
        return Blocks(max(1, min(len(slices.table), self._memory.blocks_at_once)), THREADS)

    def _row_arguments(self, slices: SlicedEllpack) -> KernelArguments:
        """The kernel arguments ROW_ARGUMENTS, see peer_rows.h."""
        table, indices = map(self._backend.to_device, (slices.table, slices.indices))
        first = dict(zip(("from_first", "to_first"), slices.first, strict=True))
        flip = self._memory.flip // self._itemsize
        return {"slices": table, "indices": indices, "count": len(table), "flip": flip, **first}


def _in_array(rows: SparseRows, values: Operand) -> SparseRows:
    """The rows of all components of an array."""
    pitches = values.pitch * np.arange(values.components)
    return _stacked(rows, rows.all_indices + pitches[:, None])


def _in_buffer(rows: SparseRows, index: Integers) -> SparseRows:
    """The rows of all components of the buffer, given the index of its positions."""
    return _stacked(rows, index[:, rows.all_indices])


def _stacked(rows: SparseRows, indices: Integers) -> SparseRows:
    """The rows of all components, given their indices, (components, indices)."""
    if rows.offsets is None:
        return SparseRows.single(indices.ravel())
    components = np.arange(len(indices))[:, None]
    offsets = (rows.offsets[:-1] + components * rows.offsets[-1]).ravel()
    return SparseRows(len(offsets), np.append(offsets, indices.size), indices.ravel())


def peer_rows_source(dtype: str, reduction: str) -> Source:
    """The kernels of `PeerRows` for a type and a reduction."""
    constants = {"INDICES_32_BIT": False, "IN_PLACE": False, "MAX_IN_FLIGHT": MAX_IN_FLIGHT}
    return row_source("peer_rows.h", (dtype, reduction), **constants)
