"""The Poisson solver, a direct solver whose conjugate gradients run on the device.

There are no checkpoints: an interrupted run starts again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.backends import Backend, LaunchTime, Listing
from groundswell.errors import counted
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.tuning import Tuning
from groundswell.linear.cg import ConvergenceHistory
from groundswell.meshes.hexahedra import Floats
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem
from groundswell.solvers.poisson.nullspace import WARN_ABOVE
from groundswell.solvers.poisson.outputs import Outputs, Solution
from groundswell.solvers.poisson.setup import Setup
from groundswell.spectral_elements.space import FunctionSpace


class Poisson:
    """One rank's part of a boundary value problem.

    Args:
        comm: the ranks that share the elements.

    Attributes:
        elements: numbers of this rank's elements.
        problem: the boundary value problem.
        solution: u on these elements, after `solve`.

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
        # Functions that are not finite are refused before the solution.
        self.problem.evaluate()
        exact = None if setup.exact is None else self.problem.evaluate_exact(setup.exact)
        nothing = np.zeros(self.problem.nodes.shape[:-1])
        history = ConvergenceHistory(np.zeros(1), converged=False)
        self.solution = Solution(self.elements, nothing, history, exact)
        self.outputs = Outputs(setup, backend, self.comm, self.problem, self.solution)

    # --- the solver interface ---------------------------------------------------------------------

    def solve(self) -> None:
        """Solve the equation; all ranks must call it."""
        found = self.problem.solve(self.setup.case.tolerance)
        self.solution.values, self.solution.history = found

    @property
    def values(self) -> Floats:
        """u at the nodes, (elements, (N + 1)^3), after `solve`."""
        return self.solution.values

    @property
    def history(self) -> ConvergenceHistory:
        """How the iteration converged."""
        return self.solution.history

    def time_launches(self) -> None:
        """Time the launches of an early iteration one by one, in `solve`."""
        self.problem.system.time_launches()

    def launch_times(self) -> tuple[str, list[LaunchTime]]:
        """What was timed, and the times, after `solve`; none if it ended before."""
        return self.problem.system.launch_times(self.history.iterations)

    def list_step(self) -> Listing:
        """The launches of an iteration, since the solver makes no steps."""
        return self.problem.system.list_iterations()

    @property
    def updates_per_step(self) -> int:
        """Unknowns, times iterations."""
        return self.setup.unknowns * max(self.history.iterations, 1)

    def status(self, step: int) -> str:
        """The number of unknowns; after the solution, iterations and residual."""
        if not step:
            return f"{self.setup.unknowns:,} unknowns"
        failed = "" if self.history.converged else ": not converged"
        return (
            f"{counted(self.history.iterations, 'iteration')}, residual "
            f"{self.history.reduction:.1e}{failed}"
        )

    def distributed_fields(self) -> dict[str, DistributedArray]:
        """u on all elements, (elements, (N + 1)^3)."""
        shape = (self.setup.mesh.count, self.values.shape[1])
        own = (((slice(None),), (self.elements,)),)
        return {"u": DistributedArray(self.values, shape, own, own)}

    def autotune(self) -> Tuning | None:
        """The tuning of the exchange, measured during set-up."""
        return self.problem.system.space.tuning

    @property
    def warnings(self) -> list[str]:
        """Reasons to expect poor results."""
        warnings = []
        if not self.history.converged:
            warnings.append(
                f"not converged: after {counted(self.history.iterations, 'iteration')} the "
                f"residual is {self.history.reduction:.1e} times the first one, above the "
                f"tolerance {self.setup.case.tolerance:g}; allow more iterations, or try "
                'preconditioner = "multigrid"'
            )
        if (imbalance := self.problem.system.imbalance) > WARN_ABOVE:
            warnings.append(
                f"source and boundary fluxes do not cancel: the imbalance is {imbalance:.1%}, and "
                "a constant source compensates for it; if they should cancel, refine the mesh or "
                "raise the degree"
            )
        if self.solution.unmeasured:
            warnings.append(f"the error is not measured: {self.solution.unmeasured}")
        return warnings

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
