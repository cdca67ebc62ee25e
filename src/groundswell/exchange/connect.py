"""Which transport moves an exchange's messages, by the name that users give it."""

from __future__ import annotations

from groundswell.backends import Backend
from groundswell.errors import BackendError
from groundswell.exchange.codecs.coder import VARIABLE_LENGTH, require_codec
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.prerequisites import foreseen
from groundswell.exchange.transports.base import Job, Maker, Transfer
from groundswell.exchange.transports.coded import CodedTransfer, common_type
from groundswell.exchange.transports.hybrid import HybridTransfer
from groundswell.exchange.transports.local import LocalTransfer
from groundswell.exchange.transports.mpi import MpiTransfer, StagedTransfer
from groundswell.exchange.transports.nccl import NcclTransfer
from groundswell.exchange.transports.peer import PeerTransfer

# By backend, the fastest as a rule first; the keys are what users write.
TRANSPORTS: dict[str, dict[str, Maker]] = {
    "cuda": {
        "direct": lambda job: PeerTransfer(job, direct=True),
        "peer": PeerTransfer,
        "nccl": NcclTransfer,
        "mpi-gpu": lambda job: _checked("mpi-gpu", job),
        "mpi": StagedTransfer,
    },
    "cpu": {
        "peer": PeerTransfer,
        "mpi": MpiTransfer,
        "mpi-thread": lambda job: _checked("mpi-thread", job, threaded=True),
    },
}
# For callers whose kernels can store the values that they compute where others want them, too.
FUSED: dict[str, dict[str, Maker]] = {
    "cuda": {"fused": lambda job: PeerTransfer(job, direct=True, fused=True)},
    "cpu": {},
}


IN_MEMORY = {"direct", "peer"}  # ranks store into each other's memory
# Messages of a length that only the device knows are no trouble.
TAKE_ANY_LENGTH = ("direct", "peer", "mpi", "mpi-gpu", "mpi-thread")


def connect(job: Job, transport: str | Maker, codec: str = "none") -> Transfer:
    """The messages of a job on a transport; every rank must call it.

    Args:
        transport: a name in TRANSPORTS or FUSED, two of them as in "peer+mpi", "auto"; or what
            makes one, which has no codec.
        codec: what messages are coded with: "none", or a name of codecs.coder. Of two transports
            the one between hosts has them coded.

    Raises:
        InputError: there is no such codec, or not for such values.
        BackendError: there is no such transport, or it does not work here, or with this codec.
    """
    if callable(transport):
        return LocalTransfer(job) if job.comm.size == 1 else transport(job)
    if require_codec(codec) != "none":
        job.comm.collective_try(lambda: common_type(job.fields))
    chosen = resolved(job.backend, job.comm, transport)
    names = chosen.split("+")
    make = _maker(job.backend, chosen, codec)
    if job.comm.size == 1:
        return LocalTransfer(job)
    if codec in VARIABLE_LENGTH and names[-1] not in TAKE_ANY_LENGTH:
        raise BackendError(
            f"transport {chosen!r} wants to know the length of messages before they are coded; "
            "take a zfp codec, whose streams have a fixed one, or another transport"
        )
    return make(job)


def resolved(backend: Backend, comm: Communicator, transport: str) -> str:
    """The transport that a name stands for; raises BackendError if it stands for none."""
    if transport in ("auto", "fastest"):
        return usual(backend, comm)
    here = TRANSPORTS[backend.name] | FUSED[backend.name]
    names = transport.split("+")
    if len(names) > 2 or not set(names) <= set(here):
        raise BackendError(
            f"transport {transport!r} does not exist for backend {backend.name!r}; allowed: "
            f"{', '.join(here)}, or two of them as in peer+mpi, within and between hosts"
        )
    return transport


def by_memory(backend: Backend, comm: Communicator, transport: str = "auto") -> bool:
    """Whether ranks store straight into each other's memory."""
    chosen = resolved(backend, comm, transport)
    return comm.size > 1 and chosen in IN_MEMORY & TRANSPORTS[backend.name].keys()


def usual(backend: Backend, comm: Communicator) -> str:
    """The transport that is taken unless another one is asked for or measured to be faster."""
    one_host = all(comm.allgather(len(comm.same_host) == comm.size))
    return "peer" if one_host else "peer+mpi"


def _checked(name: str, job: Job, *, threaded: bool = False) -> Transfer:
    """MPI used in a way that not every library stands: a wrong guess ends in a crash."""
    if reason := foreseen(name, job.backend, job.comm):
        raise BackendError(f"transport {name!r} does not work here: {reason}")
    return MpiTransfer(job, threaded=threaded)


def _maker(backend: Backend, transport: str, codec: str) -> Maker:
    """What makes a transport of that name; "near+far" mixes two, within and between hosts."""
    here = TRANSPORTS[backend.name] | FUSED[backend.name]
    names = transport.split("+")
    *near, last = (here[name] for name in names)
    # Codecs store their streams as other kernels do: where they are wanted, if that can be.
    bytes_on = FUSED[backend.name]["fused"] if names[-1] == "direct" else last
    far: Maker = last if codec == "none" else lambda job: CodedTransfer(job, codec, bytes_on)
    return (lambda job: HybridTransfer(job, near[0], far)) if near else far
