"""Which transports work between the ranks of this job, found out without harm to it.

First come the reasons that can be known beforehand, then ghost layers that are really exchanged and
compared with what they must hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Launch
from groundswell.exchange import mpi_library, probe_gpu_mpi
from groundswell.exchange.boxes import compile_kernels
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import TRANSPORTS
from groundswell.exchange.deadline import timeout_of, timeout_seconds
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.devices import gpu_buses
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.pattern import Ghosts
from groundswell.exchange.prerequisites import (
    Reason,
    agreed,
    nccl_library,
    obstacle,
    reason_of,
)

ALONE = "one process has nobody to exchange with; start several, such as with mpiexec -n 4"
TRIAL_SECONDS = 30.0  # time-out of a trial
LONG_SECONDS = 120.0  # at least, for ranks that others find something out for
TURNS = 2  # of a trial, each at once and in halves: buffers are used again
GHOSTS = Ghosts((2, 1, 1), (1, 2, 1), corners=True)
PRIME = 16_777_213  # the whole numbers below it are exact in single precision too


def usable(
    backend: Backend, comm: Communicator, names: Iterable[str] | None = None
) -> dict[str, Reason]:
    """For each transport None if it works between all ranks, otherwise why not.

    All ranks must call it, and get the same answers.

    Args:
        names: of the transports, keys of TRANSPORTS; by default all of the backend's.

    Raises:
        BackendError: the kernels of an exchange cannot be compiled.
    """
    wanted = list(TRANSPORTS[backend.name] if names is None else names)
    if not isinstance(comm, MpiCommunicator):
        return dict.fromkeys(wanted, ALONE)
    with timeout_of(max(timeout_seconds(), LONG_SECONDS)):
        # Trials have short time-outs, so the kernels are compiled before.
        comm.collective_try(lambda: compile_kernels(backend))
        return {name: _why_not(name, backend, comm) for name in wanted}


def prospects(name: str) -> dict[str, Reason]:
    """The same for ranks that could be started on this host, as far as one process can tell.

    Args:
        name: of a backend that works here.
    """
    missing = reason_of(_no_launcher)
    return {
        transport: missing or reason_of(OBSTACLES.get(transport, lambda: None))
        for transport in TRANSPORTS[name]
    }


def _why_not(name: str, backend: Backend, comm: MpiCommunicator) -> Reason:
    return obstacle(name, backend, comm) or _tried(name, backend, comm)


# --- ranks that could be started here ------------------------------------------------------------


def _no_launcher() -> Reason:
    return None if mpi_library.launcher() else "there is no mpiexec to start ranks with"


def _nccl_alone() -> Reason:
    count = len(gpu_buses())
    return nccl_library() if count > 1 else "NCCL needs a GPU for each rank, and one is here"


def _gpu_mpi_alone() -> Reason:
    return probe_gpu_mpi.why_not(tuple(gpu_buses()[: probe_gpu_mpi.RANKS]))


OBSTACLES: dict[str, Callable[[], Reason]] = {"nccl": _nccl_alone, "mpi-gpu": _gpu_mpi_alone}


# --- an exchange of known values ------------------------------------------------------------------


class _Trial:
    """A small exchange: blocks of uneven sizes that wrap around, corners too, in two types."""

    def __init__(self, name: str, backend: Backend, comm: MpiCommunicator) -> None:
        self._name, self._backend, self._job = name, backend, comm
        points = (2 * comm.size + 3, 2 * comm.size + 1, 40)
        # Rows stay whole, so that they are long enough to be stored straight into ghost layers.
        self._cut = decompose(points, comm.size, True, (0, 0, 1))

    def run(self) -> Reason:
        """Exchange several times; what goes wrong is returned or raised."""
        with timeout_of(TRIAL_SECONDS):
            # A communicator of its own: a rank that gives up must not confuse the words of the job.
            self._comm = MpiCommunicator(self._job.mpi_comm)
            known = _known(self._cut, self._comm.rank)
            self._arrays = [self._backend.zeros(known.shape, dtype) for dtype in ("f4", "f8")]
            fields = [GhostField(array, GHOSTS.low, GHOSTS) for array in self._arrays]
            self._halo = HaloExchange(
                self._backend, self._comm, self._cut, fields, transport=self._name
            )
            ways = [self._halo.launches, [*self._halo.start, *self._halo.finish]] * TURNS
            wrong = [self._turn(way, (known + n) % PRIME) for n, way in enumerate(ways)]
        return f"{sum(wrong)} values of a trial arrived wrong" if any(wrong) else None

    def _turn(self, launches: Sequence[Launch], known: NDArray[np.int64]) -> int:
        """How many points do not hold after an exchange what they must."""
        own = np.full_like(known, -1)
        inner = tuple(slice(a, -b) for a, b in zip(GHOSTS.low, GHOSTS.high, strict=True))
        own[inner] = known[inner]
        for array in self._arrays:
            self._backend.assign(array, own.astype(array.dtype))
        self._backend.synchronize()
        self._comm.allgather(None)
        for launch in launches:
            launch()
        self._backend.synchronize()
        self._halo.check()
        return sum(int((self._backend.to_host(a) != known).sum()) for a in self._arrays)

    def close(self) -> None:
        """Give everything back, after success on all ranks."""
        self._halo.close()
        self._comm.mpi_comm.Free()


# A late message may still come into the memory of a trial that failed, so it is never freed.
_FAILED: list[_Trial] = []


def _tried(name: str, backend: Backend, comm: MpiCommunicator) -> Reason:
    trial = _Trial(name, backend, comm)
    reason = agreed(comm, trial.run)
    if reason:
        _FAILED.append(trial)
    else:
        trial.close()
    return reason


def _known(cut: Decomposition, rank: int) -> NDArray[np.int64]:
    """What a block and its ghost layers must hold: every point its index in the whole array."""
    block = cut.block(rank)
    sides = zip(block.start, block.shape, GHOSTS.low, GHOSTS.high, cut.shape, strict=True)
    axes = [np.arange(s - low, s + n + high) % whole for s, n, low, high, whole in sides]
    return np.ravel_multi_index(np.ix_(*axes), cut.shape).astype(np.int64)
