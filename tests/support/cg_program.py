"""A program for several ranks: how conjugate gradients add up over them.

mpiexec -n 4 python cg_program.py multigrid|sums
"""

from __future__ import annotations

import sys
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from dense_spectral_elements import at_nodes, equation_of

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Launch, open_backend
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.exchange.transports.mpi import MpiTransport
from groundswell.exchange.transports.peer_memory import PeerMemory
from groundswell.linear.cg import ConjugateGradients
from groundswell.linear.operators import VectorLayout
from groundswell.meshes.box import Box
from groundswell.solvers.poisson.case import MethodSection
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.spectral_elements.partition import ElementPartition
from groundswell.spectral_elements.space import FunctionSpace


def multigrid(backend: Backend, job: Communicator) -> None:
    """Nobody stores into another rank's memory who was told to use MPI."""
    box = Box((2, 2, 4))
    mine = ElementPartition.of(box, job.size).elements(job.rank)
    method = MethodSection(preconditioner="multigrid")
    with patch.object(PeerMemory, "__init__", side_effect=AssertionError("peer memory")):
        space = FunctionSpace.on(job, box, 2, mine)
        space = space.autotune(backend, "float64", transport="mpi", route="pairwise")
        system = LinearSystem(backend, space, equation_of(1.0), method)
        system.solve(at_nodes(lambda x, y, z: x * y + z, space))
        system.close()


class Diagonal:
    """Multiplies by an array."""

    in_graph = True

    def __init__(self, values: Any, x: DeviceArray, y: DeviceArray) -> None:
        def run() -> None:
            np.multiply(values, x, out=y)

        self.launches: list[Launch] = [run]

    def check(self) -> None:
        """It waits for nobody."""

    def close(self) -> None:
        """It holds nothing."""


def solved(backend: Backend, job: Communicator, transport: str) -> bytes:
    """Residuals and this rank's part of the solution; ranks have parts of different sizes."""
    rng, count = np.random.default_rng([5, job.rank]), 100 + 17 * job.rank
    scale = np.exp(rng.uniform(-2, 2, count))
    solver = ConjugateGradients(
        VectorLayout(backend, job, count, count, "float64"),
        lambda x, y: Diagonal(scale, x, y),
        max_iterations=40,
        transport=transport,
    )
    solver.b[:] = rng.standard_normal(count)
    outcome = solver.solve()
    assert len({values.tobytes() for values in job.allgather(outcome.residuals)}) == 1
    solver.close()
    return bytes(outcome.residuals.tobytes() + solver.x.tobytes())


def sums(backend: Backend, job: Communicator) -> None:
    """No rank sends each of the others a message, and the bits are those of peer memory."""
    by_memory = solved(backend, job, "peer")
    for transport in ("mpi", "mpi-thread", "peer+mpi"):
        with patch.object(MpiTransport, "__init__", side_effect=AssertionError("pairwise")):
            assert solved(backend, job, transport) == by_memory, transport
    with pytest.raises(InputError, match="'ether' does not exist"):
        solved(backend, job, "ether")


if __name__ == "__main__":
    {"multigrid": multigrid, "sums": sums}[sys.argv[1]](open_backend("cpu"), get_communicator())
    print("all holds")
