"""Connects the messages of a request to a transport, by the name of the transport.

    transfer = connect(TransferRequest(backend, comm, messages), "peer", codec="mpc")

Then `transfer.start` and `transfer.finish` are launches that exchange the messages. The
requirements of a transport are checked before any message is sent. An obstacle is a sentence that
explains why a transport does not work here.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache, partial
from types import ModuleType

from groundswell.backends import Backend
from groundswell.compression import VARIABLE_LENGTH, require_codec
from groundswell.errors import BackendError, GroundswellError, InputError, RunFailed, install
from groundswell.exchange.codecs import CodedTransfer
from groundswell.exchange.communicator import Communicator, all_or_nothing
from groundswell.exchange.devices import gpu_buses
from groundswell.exchange.messages import TransferRequest, peers_of
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.exchange.transfer import (
    BufferedTransfer,
    HybridTransfer,
    LocalTransfer,
    Maker,
    PeerTransfer,
    Transfer,
)
from groundswell.exchange.transports.mpi import MpiTransport, StagedMpiTransport
from groundswell.exchange.transports.nccl import NcclTransport, shared_gpu
from groundswell.processes import find_mpiexec

# By backend, the usually fastest one first; the keys are the names in user input.
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
BY_MEMORY = ("direct", "peer")  # ranks of one host store directly in each other's memory
AUTOMATIC = ("auto", "fastest")  # names that are resolved to a transport

# Errors of libraries that do not work here. Other errors are bugs, not obstacles.
LIBRARY_ERRORS = (GroundswellError, ImportError, MemoryError, OSError, RuntimeError)
GPU_MPI = "GROUNDSWELL_GPU_MPI"  # set by the user: whether MPI reads GPU memory, 1 or 0
MPIX_GPU_SUPPORT_CUDA = 0

Obstacle = str | None  # None: no obstacle


def connect(
    request: TransferRequest, transport: str | Maker = "auto", codec: str = "none"
) -> Transfer:
    """Connect the messages of a request to a transport; collective.

    Args:
        transport: a name in TRANSPORTS, two of them as in "peer+mpi" (within and between hosts), or
            "auto"; or a function that creates the transfer, without a codec.
        codec: codec of messages: "none", or a name of `compression`. With two transports, only
            messages between hosts are compressed.

    Raises:
        InputError: there is no such transport or codec, or it does not support such values.
        BackendError: the transport does not work here, or not with this codec.
    """
    comm = request.comm
    with all_or_nothing():
        make = transport if callable(transport) else _maker(request, transport, codec)
        transfer = LocalTransfer(request) if comm.size == 1 else make(request)
        comm.collective_try(lambda: transfer.bind(request))
    transfer.peers, transfer.reason = peers_of(request.messages), reason_for(comm, transport)
    transfer.bytes = sum(message.send_bytes for message in request.messages)
    return transfer


def _maker(request: TransferRequest, transport: str, codec: str) -> Maker:
    """The function that creates the transfer on a transport of this name."""
    require_codec(codec)
    *near, far = resolved(request.backend, request.comm, transport).split("+")
    between = partial(_transfer, name=far, codec=codec)
    if not near:
        return between
    return partial(HybridTransfer, near=partial(_transfer, name=near[0]), far=between)


def _transfer(request: TransferRequest, *, name: str, codec: str = "none") -> Transfer:
    backend, comm = request.backend, request.comm
    if codec in VARIABLE_LENGTH and name == "nccl":
        raise BackendError(
            f"transport {name!r} needs the length of messages before they are compressed; use a "
            "zfp codec, which has a fixed length, or another transport"
        )
    # A wrong assumption about the MPI library would crash it.
    if name in ("mpi-gpu", "mpi-thread") and (reason := obstacle(name, backend, comm)):
        raise BackendError(f"transport {name!r} does not work here: {reason}")
    make = TRANSPORTS[backend.name][name]
    return make(request) if codec == "none" else CodedTransfer(request, codec, make)


def transport_of(backend: Backend, given: str) -> str:
    """Check the name of a transport; raises InputError if it does not exist."""
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
    """The transport that a name means; raises InputError if there is none."""
    given = transport_of(backend, transport)
    return usual(comm) if given in AUTOMATIC else given


def usual(comm: Communicator) -> str:
    """The default transport."""
    one_host = all(comm.allgather(len(comm.same_host) == comm.size))
    return "peer" if one_host else "peer+mpi"


def by_memory(backend: Backend, comm: Communicator, transport: str = "auto") -> bool:
    """Whether ranks store directly in each other's memory."""
    return resolved(backend, comm, transport) in BY_MEMORY and comm.size > 1


def reason_for(comm: Communicator, transport: str | Maker) -> str:
    """The reason for the choice of a transport, for messages; collective."""
    if comm.size == 1:
        return ""
    if transport not in AUTOMATIC:
        return "as requested"
    where = "all ranks are on one host" if usual(comm) == "peer" else "ranks are on several hosts"
    return f"by default, as {where}"


# --- requirements ---------------------------------------------------------------------------------


def obstacle(transport: str, backend: Backend, comm: Communicator) -> Obstacle:
    """The first unmet requirement of a transport, the same on all ranks; collective.

    For a single process, it is that of ranks that could be started on its host.
    """

    def unmet() -> Obstacle:
        if comm.size == 1 and load_mpi() and not find_mpiexec():
            return "mpiexec, which starts ranks, is not installed"
        check = REQUIREMENTS.get(transport)
        return check(backend, comm) if check else None

    return first_obstacle(comm, unmet)


def first_obstacle(comm: Communicator, check: Callable[[], Obstacle]) -> Obstacle:
    """The obstacle of the first rank that has one; collective.

    A library error that a check raises counts as an obstacle.

    Raises:
        RunFailed: the check raised another error on some rank.
    """

    def examine() -> Obstacle:
        try:
            return check()
        except LIBRARY_ERRORS as error:
            kind = "" if isinstance(error, GroundswellError) else f"{type(error).__name__}: "
            return kind + " ".join(str(error).split())
        except Exception as error:
            # Other ranks may know it from the check's communicator, but treat it as an obstacle.
            raise RunFailed(f"{type(error).__name__}: {error}") from error

    found = comm.allgather(comm.collective_try(examine))
    return next((reason for reason in found if reason), None)


def _threads(backend: Backend, comm: Communicator) -> Obstacle:
    level = thread_level()
    works = level in (None, "multiple")  # None: MPI has not been started
    return None if works else f"MPI allows calls from one thread only ({level})"


def _nccl(backend: Backend, comm: Communicator) -> Obstacle:
    if reason := shared_gpu(backend, comm):
        return reason
    if comm.size == 1 and len(gpu_buses()) == 1:
        return "NCCL needs one GPU per rank, but this host has only one GPU"
    from groundswell.backends import nccl

    nccl.load()  # raises BackendError if there is none
    return None


def _gpu_mpi(backend: Backend, comm: Communicator) -> Obstacle:
    """The obstacle if MPI is not GPU-aware: it would cause a segmentation fault."""
    answer = os.environ.get(GPU_MPI, "")
    if answer not in ("", "0", "1"):
        raise InputError(f"{GPU_MPI} = {answer!r} must be 1 (MPI reads GPU memory) or 0")
    if answer == "0":
        return f"{GPU_MPI} = 0 disables it"
    if answer or not is_active() or reports_gpu_support():
        return None
    return f"MPI reports that it cannot read GPU memory; set {GPU_MPI}=1 if it can, as UCX may"


REQUIREMENTS = {"nccl": _nccl, "mpi-gpu": _gpu_mpi, "mpi-thread": _threads}


# --- the MPI library of this process --------------------------------------------------------------


@cache
def load_mpi() -> ModuleType:
    """The MPI module of mpi4py; does not initialise MPI in a single process.

    Raises:
        BackendError: mpi4py or its library is missing.
    """
    get_communicator()  # initialises MPI if there are several processes
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise BackendError(f"mpi4py cannot be loaded ({error}); {install('mpi')}") from error
    return MPI


def is_active() -> bool:
    """Whether MPI is initialised and not finalised."""
    mpi = load_mpi()
    return bool(mpi.Is_initialized() and not mpi.Is_finalized())


def thread_level() -> str | None:
    """The thread level of MPI; None before MPI is initialised."""
    mpi, names = load_mpi(), ("single", "funneled", "serialized", "multiple")
    levels = {getattr(mpi, f"THREAD_{name.upper()}"): name for name in names}
    return levels[mpi.Query_thread()] if is_active() else None


def mpi_version() -> str:
    """Name and version of the library."""
    first = load_mpi().Get_library_version().splitlines()[0].split(",")[0]
    return " ".join(first.split())


def reports_gpu_support() -> bool:
    """Whether the library reports that it accepts GPU memory; False if it cannot report it."""
    # The dynamic linker also searches the libraries that mpi4py loads.
    library = ctypes.CDLL(load_mpi().__file__)
    if hasattr(library, "MPIX_GPU_query_support"):  # MPICH and its derivatives
        answer = ctypes.c_int(0)
        failed = library.MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, ctypes.byref(answer))
        return bool(answer.value) and not failed
    if hasattr(library, "MPIX_Query_cuda_support"):  # Open MPI
        return bool(library.MPIX_Query_cuda_support())
    return False
