"""Connections: which transport moves a request's messages, by the name that users give it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from groundswell.backends import Backend
from groundswell.backends.base import Event
from groundswell.errors import BackendError
from groundswell.exchange.buffers import BufferExchange, MessageBuffers, OwnBuffers, PeerBuffers
from groundswell.exchange.codecs.coder import VARIABLE_LENGTH, require_codec
from groundswell.exchange.coded_transfer import CodedTransfer, common_type
from groundswell.exchange.communicator import Communicator, all_or_nothing
from groundswell.exchange.packing import TransferRequest
from groundswell.exchange.peer_transfer import PeerTransfer
from groundswell.exchange.requirements import obstacle
from groundswell.exchange.transfer import (
    BufferedTransfer,
    HybridTransfer,
    LocalTransfer,
    Maker,
    Transfer,
)
from groundswell.exchange.transports.base import Buffer, SizedMessage, Transport
from groundswell.exchange.transports.mpi import MpiTransport, StagedMpiTransport
from groundswell.exchange.transports.nccl import NcclTransport


@dataclass(frozen=True)
class Kind:
    """A kind of transport.

    Args:
        messages: makes a message transport; None if ranks store in each other's memory.
        direct: whether they store straight in arrays.
        any_length: whether messages may be shorter than their buffers.
    """

    messages: Transport | None = None
    direct: bool = False
    any_length: bool = True

    def transfer(self, request: TransferRequest) -> Transfer:
        """Connect packed messages."""
        if self.messages is None:
            return PeerTransfer(request, direct=self.direct)
        return BufferedTransfer(request, self.messages)

    def buffers(
        self, backend: Backend, comm: Communicator, messages: Sequence[SizedMessage]
    ) -> BufferExchange:
        """Connect buffers."""
        if self.messages is None:
            return PeerBuffers(backend, comm, messages)
        return MessageBuffers(backend, comm, messages, self.messages)


# By backend, the one that is usually the fastest first; the keys are what users write.
TRANSPORTS: dict[str, dict[str, Kind]] = {
    "cuda": {
        "direct": Kind(direct=True),
        "peer": Kind(),
        "nccl": Kind(NcclTransport, any_length=False),
        "mpi-gpu": Kind(MpiTransport),
        "mpi": Kind(StagedMpiTransport),
    },
    "cpu": {
        "peer": Kind(),
        "mpi": Kind(MpiTransport),
        "mpi-thread": Kind(partial(MpiTransport, threaded=True)),
    },
}
CHECKED = ("mpi-gpu", "mpi-thread")  # a wrong guess crashes the MPI library
AUTOMATIC = ("auto", "fastest")  # names that are resolved


def connect(request: TransferRequest, transport: str | Maker, codec: str = "none") -> Transfer:
    """The messages of a request on a transport; all ranks must call it.

    Args:
        transport: a name in TRANSPORTS, two of them as in "peer+mpi" (within and between hosts), or
            "auto"; or a function that makes the transfer, without a codec.
        codec: of messages: "none", or a name of codecs.coder. Of two transports, the messages of
            the one between hosts are coded.

    Raises:
        InputError: there is no such codec, or it does not support such values.
        BackendError: there is no such transport, or it does not work here, or with this codec.
    """
    comm = request.comm
    if callable(transport):
        return LocalTransfer(request) if comm.size == 1 else transport(request)
    if require_codec(codec) != "none":
        segments = [s for m in request.messages for s in (*m.sends, *m.receives)]
        comm.collective_try(lambda: common_type(segments))
    names = resolved(request.backend, comm, transport).split("+")
    if comm.size == 1:
        return LocalTransfer(request)
    near, far = (partial(_transfer, name=name, codec="none") for name in (names[0], names[-1]))
    if codec != "none":
        far = partial(_transfer, name=names[-1], codec=codec)
    return far(request) if len(names) == 1 else HybridTransfer(request, near, far)


def _transfer(request: TransferRequest, *, name: str, codec: str) -> Transfer:
    backend, comm = request.backend, request.comm
    kind = TRANSPORTS[backend.name][name]
    if codec in VARIABLE_LENGTH and not kind.any_length:
        raise BackendError(
            f"transport {name!r} has to know the length of messages before they are coded; use a "
            "zfp codec, whose streams have a fixed length, or another transport"
        )
    _require(name, backend, comm)
    if codec == "none":
        return kind.transfer(request)
    return CodedTransfer(request, codec, partial(kind.buffers, backend, comm))


def connect_buffers(
    backend: Backend, comm: Communicator, messages: Sequence[SizedMessage], transport: str = "auto"
) -> BufferExchange:
    """Buffers of messages on a transport, which kernels fill and read; all ranks must call it.

    Args:
        transport: as of `connect`.

    Raises:
        BackendError: there is no such transport, or it does not work here.
    """
    names = resolved(backend, comm, transport).split("+")
    for name in names if comm.size > 1 else ():
        _require(name, backend, comm)
    own = [m for m in messages if m.peer == comm.rank]
    kinds = [TRANSPORTS[backend.name][name] for name in names]
    if comm.size == 1:
        return OwnBuffers(backend, comm, messages)
    if len(kinds) == 1 and not any(comm.allgather(len(own))):
        return kinds[0].buffers(backend, comm, messages)
    return HybridBuffers(backend, comm, messages, kinds)


def _require(name: str, backend: Backend, comm: Communicator) -> None:
    if name in CHECKED and (reason := obstacle(name, backend, comm)):
        raise BackendError(f"transport {name!r} does not work here: {reason}")


class HybridBuffers(BufferExchange):
    """Buffers for this rank itself, for ranks of this host, and for ranks of other hosts.

    Args:
        kinds: transports within the host and between hosts, or one for both.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        messages: Sequence[SizedMessage],
        kinds: Sequence[Kind],
    ) -> None:
        self._backend = backend
        self._parts: list[BufferExchange] = []
        near = set(comm.same_host) if len(kinds) > 1 else set(range(comm.size))
        groups = [(m.peer != comm.rank) + (m.peer not in near) for m in messages]
        makers = [OwnBuffers, *(kind.buffers for kind in kinds)]
        buffers: dict[int, tuple[Buffer, Buffer]] = {}
        with all_or_nothing():
            for group, make in enumerate(makers):
                numbers = [n for n, g in enumerate(groups) if g == group]
                part = make(backend, comm, [messages[n] for n in numbers])
                self._parts.append(part)
                ends = zip(part.sent, part.received, strict=True)
                buffers |= dict(zip(numbers, ends, strict=True))
        self.sent, self.received = ([buffers[n][k] for n in range(len(messages))] for k in (0, 1))
        self.path = ", then ".join(part.path for part in self._parts[1:])
        self.in_graph = all(part.in_graph for part in self._parts)
        far_first = self._parts[::-1]
        self.open = [launch for part in far_first for launch in part.open]
        self.start = [launch for part in far_first for launch in part.start]
        self.finish = [launch for part in self._parts for launch in part.finish]

    def check(self, after: Event | None = None) -> None:
        for part in self._parts:
            part.check(after)

    def close(self) -> None:
        with ExitStack() as rest:
            for part in self._parts:
                rest.callback(part.close)


def resolved(backend: Backend, comm: Communicator, transport: str) -> str:
    """The transport that a name stands for; raises BackendError if it stands for none."""
    if transport in AUTOMATIC:
        return usual(backend, comm)
    known = TRANSPORTS[backend.name]
    names = transport.split("+")
    if len(names) > 2 or not set(names) <= set(known):
        raise BackendError(
            f"transport {transport!r} does not exist for backend {backend.name!r}; allowed: "
            f"{', '.join(known)}, or two of them as in peer+mpi, within and between hosts"
        )
    return transport


def by_memory(backend: Backend, comm: Communicator, transport: str = "auto") -> bool:
    """Whether ranks store straight in each other's memory."""
    kind = TRANSPORTS[backend.name].get(resolved(backend, comm, transport))
    return comm.size > 1 and kind is not None and kind.messages is None


def reason_for(comm: Communicator, transport: str | Maker) -> str:
    """Why `connect` chooses the transport that it does."""
    if comm.size == 1:
        return ""
    return "the usual transport here" if transport in AUTOMATIC else "as requested"


def usual(backend: Backend, comm: Communicator) -> str:
    """The transport that is used unless another one is asked for or measured to be faster."""
    one_host = all(comm.allgather(len(comm.same_host) == comm.size))
    return "peer" if one_host else "peer+mpi"
