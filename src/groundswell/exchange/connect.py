"""Connections: the one way from the messages of a request to a transport, by its name.

    transfer = connect(TransferRequest(backend, comm, messages), "peer", codec="mpc")

Then `transfer.start` and `transfer.finish` are launches that exchange the messages.
"""

from __future__ import annotations

from functools import partial

from groundswell.backends import Backend
from groundswell.errors import BackendError, InputError
from groundswell.exchange.codecs import VARIABLE_LENGTH, CodedTransfer, common_type, require_codec
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
BY_MEMORY = ("direct", "peer")  # ranks of one host store straight in each other's memory
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
        InputError: there is no such transport or codec, or it does not support such values.
        BackendError: the transport does not work here, or not with this codec.
    """
    comm = request.comm
    with all_or_nothing():
        make = transport if callable(transport) else _maker(request, transport, codec)
        transfer = LocalTransfer(request) if comm.size == 1 else make(request)
        comm.collective_try(lambda: transfer.bind(request))
    return transfer


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
    if codec in VARIABLE_LENGTH and name == "nccl":
        raise BackendError(
            f"transport {name!r} has to know the length of messages before they are coded; use a "
            "zfp codec, whose streams have a fixed length, or another transport"
        )
    # A wrong guess at what the MPI library can do crashes it.
    if name in ("mpi-gpu", "mpi-thread") and (reason := obstacle(name, backend, comm)):
        raise BackendError(f"transport {name!r} does not work here: {reason}")
    make = TRANSPORTS[backend.name][name]
    return make(request) if codec == "none" else CodedTransfer(request, codec, make)


def transport_of(backend: Backend, given: str) -> str:
    """A transport as users name it; raises InputError if there is none."""
    known = TRANSPORTS[backend.name]
    names = given.split("+") if isinstance(given, str) else []
    allowed = known.keys() if len(names) == 2 else {*known, *AUTOMATIC}
    if not 1 <= len(names) <= 2 or not set(names) <= allowed:
        raise InputError(
            f"transport = {given!r} does not exist for device {backend.name!r}; give "
            f"{', '.join(known)}, or two of them as in peer+mpi, within and between hosts; or "
            "auto, or fastest"
        )
    return given


def resolved(backend: Backend, comm: Communicator, transport: str) -> str:
    """The transport that a name stands for; raises InputError if it stands for none."""
    given = transport_of(backend, transport)
    return usual(backend, comm) if given in AUTOMATIC else given


def usual(backend: Backend, comm: Communicator) -> str:
    """The transport that is used unless another one is asked for or measured to be faster."""
    one_host = all(comm.allgather(len(comm.same_host) == comm.size))
    return "peer" if one_host else "peer+mpi"


def by_memory(backend: Backend, comm: Communicator, transport: str = "auto") -> bool:
    """Whether ranks store straight in each other's memory."""
    return resolved(backend, comm, transport) in BY_MEMORY and comm.size > 1


def reason_for(comm: Communicator, transport: str | Maker) -> str:
    """Why `connect` chooses the transport that it does."""
    if comm.size == 1:
        return ""
    return "the usual transport here" if transport in AUTOMATIC else "as requested"
