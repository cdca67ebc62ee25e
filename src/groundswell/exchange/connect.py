"""Connections: which transport moves a request's messages, by the name that users give it."""

from __future__ import annotations

from functools import partial

from groundswell.backends import Backend
from groundswell.errors import BackendError
from groundswell.exchange.codecs.coder import VARIABLE_LENGTH, require_codec
from groundswell.exchange.coded_transfer import CodedTransfer, common_type
from groundswell.exchange.communicator import Communicator, all_or_nothing
from groundswell.exchange.messages import TransferRequest
from groundswell.exchange.requirements import obstacle
from groundswell.exchange.transfer import (
    BufferedTransfer,
    HybridTransfer,
    LocalTransfer,
    Maker,
    PeerTransfer,
    Transfer,
)
from groundswell.exchange.transports.mpi import MpiTransport, StagedMpiTransport
from groundswell.exchange.transports.nccl import NcclTransport

# By backend, the one that is usually the fastest first; the keys are what users write.
TRANSPORTS: dict[str, dict[str, Maker]] = {
    "cuda": {
        "direct": partial(PeerTransfer, direct=True),
        "peer": PeerTransfer,
        "nccl": partial(BufferedTransfer, transport=NcclTransport),
        "mpi-gpu": partial(BufferedTransfer, transport=MpiTransport),
        "mpi": partial(BufferedTransfer, transport=StagedMpiTransport),
    },
    "cpu": {
        "peer": PeerTransfer,
        "mpi": partial(BufferedTransfer, transport=MpiTransport),
        "mpi-thread": partial(BufferedTransfer, transport=partial(MpiTransport, threaded=True)),
    },
}
BY_MEMORY = ("direct", "peer")  # ranks store straight in each other's memory
FIXED_LENGTH = ("nccl",)  # both ranks have to know the length of a message
CHECKED = ("mpi-gpu", "mpi-thread")  # a wrong guess crashes the MPI library
AUTOMATIC = ("auto", "fastest")  # names that are resolved


def connect(
    request: TransferRequest, transport: str | Maker = "auto", codec: str = "none"
) -> Transfer:
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
    with all_or_nothing():
        transfer = _connected(request, transport, codec)
        request.comm.collective_try(lambda: transfer.bind(request))
    return transfer


def _connected(request: TransferRequest, transport: str | Maker, codec: str) -> Transfer:
    comm = request.comm
    make = transport if callable(transport) else _maker(request, transport, codec)
    return LocalTransfer(request) if comm.size == 1 else make(request)


def _maker(request: TransferRequest, transport: str, codec: str) -> Maker:
    """Makes the transfer on a transport of this name."""
    if require_codec(codec) != "none":
        request.comm.collective_try(lambda: common_type(request.messages))
    *near, far = resolved(request.backend, request.comm, transport).split("+")
    between = partial(_transfer, name=far, codec=codec)
    if not near:
        return between
    return partial(HybridTransfer, near=partial(_transfer, name=near[0]), far=between)


def _transfer(request: TransferRequest, *, name: str, codec: str = "none") -> Transfer:
    backend, comm = request.backend, request.comm
    if codec in VARIABLE_LENGTH and name in FIXED_LENGTH:
        raise BackendError(
            f"transport {name!r} has to know the length of messages before they are coded; use a "
            "zfp codec, whose streams have a fixed length, or another transport"
        )
    if name in CHECKED and (reason := obstacle(name, backend, comm)):
        raise BackendError(f"transport {name!r} does not work here: {reason}")
    make = TRANSPORTS[backend.name][name]
    return make(request) if codec == "none" else CodedTransfer(request, codec, make)


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
    return resolved(backend, comm, transport) in BY_MEMORY and comm.size > 1


def reason_for(comm: Communicator, transport: str | Maker) -> str:
    """Why `connect` chooses the transport that it does."""
    if comm.size == 1:
        return ""
    return "the usual transport here" if transport in AUTOMATIC else "as requested"


def usual(backend: Backend, comm: Communicator) -> str:
    """The transport that is used unless another one is asked for or measured to be faster."""
    one_host = all(comm.allgather(len(comm.same_host) == comm.size))
    return "peer" if one_host else "peer+mpi"
