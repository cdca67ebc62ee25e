"""Finds the transports that work between the ranks of this job, without ending it if one fails.

After its requirements are checked, a transport exchanges ghost layers of known values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Launch
from groundswell.exchange.boxes import compile_kernels
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import TRANSPORTS
from groundswell.exchange.deadline import timeout_of, timeout_seconds
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.pattern import Ghosts
from groundswell.exchange.requirements import Obstacle, first_obstacle, obstacle

ONE_PROCESS = "a single process exchanges nothing; start several, for example with mpiexec -n 4"
TEST_SECONDS = 30.0  # time-out of a test
PROBE_SECONDS = 120.0  # least time-out of the ranks that wait for another rank's probe
ROUNDS = 2  # of a test, so that buffers are used again
GHOSTS = Ghosts((2, 1, 1), (1, 2, 1), corners=True)
PRIME = 16_777_213  # single precision represents smaller whole numbers exactly


def find_obstacles(
    backend: Backend, comm: Communicator, names: Iterable[str] | None = None
) -> dict[str, Obstacle]:
    """For each transport the reason why it does not work between all ranks; None if it works.

    All ranks must call it, and get the same result.

    Args:
        names: of the transports, keys of TRANSPORTS; by default all of the backend's.

    Raises:
        BackendError: the kernels of an exchange cannot be compiled.
    """
    wanted = list(TRANSPORTS[backend.name] if names is None else names)
    if not isinstance(comm, MpiCommunicator):
        return dict.fromkeys(wanted, ONE_PROCESS)
    with timeout_of(max(timeout_seconds(), PROBE_SECONDS)):
        # Before the tests, because their time-outs are short.
        comm.collective_try(lambda: compile_kernels(backend))
        return {
            name: obstacle(name, backend, comm) or _test(name, backend, comm) for name in wanted
        }


# A late message may still arrive in the memory of a failed test, so it is never freed.
_FAILED: list[_Test] = []


def _test(name: str, backend: Backend, comm: MpiCommunicator) -> Obstacle:
    test = _Test(name, backend, comm)
    reason = first_obstacle(comm, test.run)
    if reason:
        _FAILED.append(test)
    else:
        test.close()
    return reason


class _Test:
    """An exchange of known values: two types, and periodic blocks of uneven sizes with corners."""

    def __init__(self, name: str, backend: Backend, comm: MpiCommunicator) -> None:
        self._name, self._backend, self._job = name, backend, comm
        points = (2 * comm.size + 3, 2 * comm.size + 1, 40)
        # Rows are not cut, so that they are long enough for direct stores in ghost layers.
        self._cut = decompose(points, comm.size, True, (0, 0, 1))

    def run(self) -> Obstacle:
        """Exchange in one call and in two, several times."""
        with timeout_of(TEST_SECONDS):
            # A rank that gives up breaks its communicator, which must not be the job's.
            self._comm = MpiCommunicator(self._job.mpi_comm)
            known = _known(self._cut, self._comm.rank)
            self._arrays = [self._backend.zeros(known.shape, dtype) for dtype in ("f4", "f8")]
            fields = [GhostField(array, GHOSTS.low, GHOSTS) for array in self._arrays]
            self._halo = HaloExchange(
                self._backend, self._comm, self._cut, fields, transport=self._name
            )
            calls = [self._halo.launches, [*self._halo.start, *self._halo.finish]] * ROUNDS
            wrong = sum(self._errors(call, (known + n) % PRIME) for n, call in enumerate(calls))
        return f"{wrong} values of a test arrived wrong" if wrong else None

    def _errors(self, launches: Sequence[Launch], known: NDArray[np.int64]) -> int:
        """The number of points that are wrong after an exchange."""
        own = np.full_like(known, -1)
        inner = tuple(slice(a, -b) for a, b in zip(GHOSTS.low, GHOSTS.high, strict=True))
        own[inner] = known[inner]
        for array in self._arrays:
            self._backend.assign(array, own.astype(array.dtype))
        self._backend.synchronize()
        self._comm.allgather(None)  # a barrier
        for launch in launches:
            launch()
        self._backend.synchronize()
        self._halo.check()
        return sum(int((self._backend.to_host(a) != known).sum()) for a in self._arrays)

    def close(self) -> None:
        """Free the communicator and the exchange; only if the test has passed on all ranks."""
        self._halo.close()
        self._comm.mpi_comm.Free()


def _known(cut: Decomposition, rank: int) -> NDArray[np.int64]:
    """The correct values of a block with its ghost layers: global indices of points."""
    block = cut.block(rank)
    sides = zip(block.start, block.shape, GHOSTS.low, GHOSTS.high, cut.shape, strict=True)
    axes = [np.arange(s - low, s + n + high) % whole for s, n, low, high, whole in sides]
    return np.ravel_multi_index(np.ix_(*axes), cut.shape).astype(np.int64)
