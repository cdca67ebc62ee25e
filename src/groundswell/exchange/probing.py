"""Finds the transports that work between the ranks of this job.

A transport works if its requirements are met and a test exchange of known values succeeds.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np

from groundswell.arrays import HostArray
from groundswell.backends import Backend
from groundswell.errors import counted
from groundswell.exchange.boxes import compile_kernels
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import TRANSPORTS, Obstacle, first_obstacle, obstacle
from groundswell.exchange.decomposition import Block, Decomposition, decompose
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.waiting import timeout_of, timeout_seconds

ONE_PROCESS = (
    "a single process has nothing to exchange; start several, for example with mpiexec -n 4"
)
TEST_SECONDS = 30.0  # time-out of a test
PROBE_SECONDS = 120.0  # smallest time-out of ranks that wait for the test of another rank
ROUNDS = 2  # of a test, so that buffers are reused
GHOSTS = Ghosts((2, 1, 1), (1, 2, 1), corners=True)
TYPES = ("float32", "float64")
PRIME = 16_777_213  # single precision represents smaller whole numbers exactly


def find_obstacles(
    backend: Backend, comm: Communicator, names: Iterable[str] | None = None
) -> dict[str, Obstacle]:
    """For each transport, the reason why it does not work between all ranks; None if it works.

    Collective; all ranks get the same result.

    Args:
        names: names of the transports, keys of TRANSPORTS; by default, all of the backend.

    Raises:
        BackendError: the kernels of an exchange cannot be compiled.
    """
    wanted = list(TRANSPORTS[backend.name] if names is None else names)
    if not isinstance(comm, MpiCommunicator):
        return dict.fromkeys(wanted, ONE_PROCESS)
    with timeout_of(max(timeout_seconds(), PROBE_SECONDS)):
        # Before the tests, because their time-outs are short.
        comm.collective_try(lambda: compile_kernels(backend))
        return {n: obstacle(n, backend, comm) or _test(n, backend, comm) for n in wanted}


# Late messages may still arrive in the memory of a failed test, so it is never freed.
_FAILED: list[object] = []


def _test(name: str, backend: Backend, job: MpiCommunicator) -> Obstacle:
    """Exchange known values; returns the reason why they do not arrive on some rank."""
    used: list[Any] = []
    reason = first_obstacle(job, lambda: _exchange(name, backend, job, used))
    if reason:
        _FAILED.append(used)
    else:
        comm, halo = used
        halo.close()
        comm.mpi_comm.Free()
    return reason


def _exchange(name: str, backend: Backend, job: MpiCommunicator, used: list[Any]) -> Obstacle:
    """Exchange two types in one call and in two, several times; `used` keeps objects alive."""
    with timeout_of(TEST_SECONDS):
        # A rank that gives up makes its communicator unusable, so the test has its own one.
        used.append(comm := MpiCommunicator(job.mpi_comm))
        decomposition, known = _known_values(comm)
        arrays = [backend.zeros(known.shape, dtype) for dtype in TYPES]
        fields = [GhostField(array, GHOSTS.low, GHOSTS) for array in arrays]
        halo = HaloExchange(backend, comm, decomposition, fields, transport=name, poison=True)
        used.append(halo)
        wrong = 0
        for n, call in enumerate([halo.launches, [*halo.start, *halo.finish]] * ROUNDS):
            values = (known + n) % PRIME
            for array in arrays:
                backend.assign(array, values.astype(array.dtype))
            for launch in call:  # fills the ghosts with NaN before the exchange
                launch()
            backend.synchronize()
            halo.check()
            wrong += sum(int((backend.to_host(array) != values).sum()) for array in arrays)
    return f"{counted(wrong, 'value')} of a test arrived wrong" if wrong else None


def _known_values(comm: Communicator) -> tuple[Decomposition, HostArray]:
    """A periodic array, and this rank's block with ghosts; values are global indices of points."""
    # Blocks have uneven sizes. Rows are undivided, so they are long enough for direct stores in
    # ghost layers.
    shape = (2 * comm.size + 3, 2 * comm.size + 1, 40)
    decomposition = decompose(shape, comm.size, True, (0, 0, 1))
    whole = np.arange(prod(shape)).reshape(shape)
    padded = np.pad(whole, [*zip(GHOSTS.low, GHOSTS.high, strict=True)], mode="wrap")
    block = decomposition.block(comm.rank)
    return decomposition, padded[Block(block.start, GHOSTS.padded(block.shape)).slices]
