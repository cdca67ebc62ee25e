"""What solvers of the steady equation and of the one in time share: elements and ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.tuning import Tuning
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem
from groundswell.solvers.poisson.setup import Setup
from groundswell.spectral_elements.space import FunctionSpace


class ElementSolver:
    """One rank's part of a problem on elements.

    Args:
        comm: the ranks that share the elements.

    Attributes:
        elements: numbers of this rank's elements.
        problem: the boundary value problem.

    Raises:
        InputError: a function is not finite, or the problem has no unique solution.
    """

    unit = "MDOF/s"  # million unknowns per second and iteration

    def __init__(self, setup: Setup, backend: Backend, comm: Communicator | None = None) -> None:
        self.setup, self.backend, self.comm = setup, backend, comm or SerialCommunicator()
        run, method = setup.case.run, setup.case.method
        self.partition = setup.partition(self.comm.size)
        self.elements = self.partition.elements(self.comm.rank)
        space = FunctionSpace.on(self.comm, setup.mesh, setup.degree, self.elements)
        space = space.autotune(backend, setup.dtype, transport=run.transport, route=run.route)
        self.problem = BoundaryValueProblem(backend, space, setup.equation, method, setup.dtype)

    @property
    def values(self) -> DeviceArray:
        """u at the nodes, (elements, (N + 1)^3)."""
        raise NotImplementedError

    def distributed_fields(self) -> dict[str, DistributedArray]:
        """u on all elements, (elements, (N + 1)^3)."""
        return {"u": self.on_elements(self.values)}

    def on_elements(self, values: DeviceArray) -> DistributedArray:
        """Values of this rank's elements, (elements, (N + 1)^3), as a part of those of all."""
        shape = (self.setup.mesh.count, values.shape[1])
        own = (((slice(None),), (self.elements,)),)
        return DistributedArray(values, shape, own, own)

    def autotune(self) -> Tuning | None:
        """The tuning of the exchange, measured during set-up."""
        return self.problem.system.space.tuning

    def describe_ranks(self) -> dict[str, Any]:
        """How the ranks share the elements, for the summary."""
        size = np.dtype(self.setup.dtype).itemsize
        sent = self.partition.shared_nodes(self.setup.degree) if self.comm.size > 1 else 0
        return {
            "count": self.comm.size,
            "processes": self.partition.processes,
            "transport": self.problem.system.operator.path,
            "route": self.problem.system.space.exchange.route,
            "elements": [int(count) for count in self.partition.counts],
            "bytes_sent_per_iteration": int(size * np.sum(sent)),
        }

    def close(self) -> None:
        """Release memory that is shared with other ranks; all ranks must call it."""
        self.problem.close()
