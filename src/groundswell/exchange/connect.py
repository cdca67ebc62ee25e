"""Which transport moves an exchange's messages, by the name that users give it."""

from __future__ import annotations

from groundswell.backends import Backend
from groundswell.errors import BackendError
from groundswell.exchange.transports.alone import AloneTransfer
from groundswell.exchange.transports.base import Job, Maker, Transfer
from groundswell.exchange.transports.mixed import MixedTransfer
from groundswell.exchange.transports.mpi import MpiTransfer, through_host
from groundswell.exchange.transports.nccl import NcclTransfer
from groundswell.exchange.transports.peer import PeerTransfer
from groundswell.exchange.world import World

# By backend, the fastest as a rule first; the keys are what users write.
TRANSPORTS: dict[str, dict[str, Maker]] = {
    "cuda": {
        "direct": lambda job: PeerTransfer(job, direct=True),
        "peer": PeerTransfer,
        "nccl": NcclTransfer,
        "mpi-gpu": lambda job: _checked("mpi-gpu", job),
        "mpi": through_host,
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


def connect(job: Job, transport: str) -> Transfer:
    """The messages of a job on a transport; every rank must call it.

    Args:
        transport: a name in TRANSPORTS or FUSED, two of them as in "peer+mpi", or "auto".

    Raises:
        BackendError: there is no such transport, or it does not work here.
    """
    chosen = usual(job.backend, job.world) if transport in ("auto", "fastest") else transport
    make = _maker(job.backend, chosen)
    return make(job) if job.world.size > 1 else AloneTransfer(job)


def usual(backend: Backend, world: World) -> str:
    """The transport that is taken unless another one is asked for or measured to be faster."""
    one_host = all(world.share(len(world.same_host) == world.size))
    return "peer" if one_host else "peer+mpi"


def _checked(name: str, job: Job, *, threaded: bool = False) -> Transfer:
    """MPI used in a way that not every library stands: a wrong guess ends in a crash."""
    from groundswell.exchange.probe import foreseen

    if reason := foreseen(name, job.backend, job.world):
        raise BackendError(f"transport {name!r} does not work here: {reason}")
    return MpiTransfer(job, threaded=threaded)


def _maker(backend: Backend, transport: str) -> Maker:
    """What makes a transport of that name; "near+far" mixes two, within and between hosts."""
    here = TRANSPORTS[backend.name] | FUSED[backend.name]
    names = transport.split("+")
    unknown = [name for name in names if name not in here]
    if unknown or len(names) > 2:
        raise BackendError(
            f"transport {transport!r} does not exist for backend {backend.name!r}; allowed: "
            f"{', '.join(here)}, or two of them as in peer+mpi, within and between hosts"
        )
    if len(names) == 1:
        return here[names[0]]
    near, far = (here[name] for name in names)
    return lambda job: MixedTransfer(job, near, far)
