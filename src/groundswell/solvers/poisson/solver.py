"""The Poisson solver: a direct solver, whose conjugate gradients run on the device to the end.

There is no checkpoint: an interrupted run starts again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.backends import Backend
from groundswell.exchange.distributed_array import DistributedArray
from groundswell.exchange.tuning import Tuning
from groundswell.exchange.world import Alone, World
from groundswell.linear.cg import Outcome
from groundswell.meshes.hexahedra import Floats
from groundswell.solvers.poisson.nullspace import SILENT_LEFT
from groundswell.solvers.poisson.outputs import Outputs
from groundswell.solvers.poisson.problem_data import Given, Method, Task
from groundswell.solvers.poisson.setup import Setup


class Poisson:
    """One rank's part of an equation; `solve` solves it.

    Args:
        world: the ranks that share the elements.

    Attributes:
        elements: numbers of those that this rank works on.
        values: u at their nodes, (elements, (N + 1)^3), once it is solved.
        outcome: how that went.

    Raises:
        InputError: the case asks for what is not finite, or has no unique solution.
    """

    unit = "MDOF/s"  # million unknowns that an iteration updates, a second

    def __init__(self, setup: Setup, backend: Backend, world: World | None = None) -> None:
        self.setup, self.backend, self.world = setup, backend, world or Alone()
        case = setup.case
        self.shares = setup.shares(self.world.size)
        self.elements = self.shares.elements(self.world.rank)
        how = case.method
        way = (case.run.transport, case.run.route)
        method = Method(setup.degree, how.preconditioner, how.iterations, setup.dtype, *way)
        equation = case.equation
        sides = (setup.fixed, setup.fluxes)
        given = Given(setup.source, equation.screening, *sides, equation.mean)
        self.task = Task(backend, self.world, setup.mesh, self.elements, given, method)
        # All is seen to be finite before any work is done.
        self.task.evaluate()
        if (exact := setup.exact) is not None:
            self.world.agree(lambda: self.task.require_finite(exact))
        self.values: Floats = np.zeros(self.task.nodes.shape[:-1])
        self.outcome = Outcome(np.zeros(1), converged=False)
        self.outputs = Outputs(self)

    # --- the solver interface ---------------------------------------------------------------------

    def solve(self) -> None:
        """Solve the equation; all ranks must call it."""
        self.values, self.outcome = self.task.solve(self.setup.case.tolerance)

    @property
    def updates_per_step(self) -> int:
        """Unknowns, as often as iterations went through them."""
        return self.setup.unknowns * max(self.outcome.iterations, 1)

    def status(self, step: int) -> str:
        """Unknowns; once solved, iterations and residual."""
        if not step:
            return f"{self.setup.unknowns:,} unknowns"
        failed = "" if self.outcome.converged else ": not converged"
        return f"{self.outcome.iterations} iterations, residual {self._relative:.1e}{failed}"

    def distributed_fields(self) -> dict[str, DistributedArray]:
        """u on all elements, (elements, (N + 1)^3)."""
        shape = (self.setup.mesh.count, self.values.shape[1])
        own = (((slice(None),), (self.elements,)),)
        return {"u": DistributedArray(self.values, shape, own, own)}

    def autotune(self) -> Tuning | None:
        """The fastest exchange, which the problem has measured as it was built."""
        return self.task.problem.tuning

    @property
    def warnings(self) -> list[str]:
        """That u is not what was asked for, if so."""
        found = []
        if not self.outcome.converged:
            found.append(
                f"not converged: after {self.outcome.iterations} iterations the residual is "
                f"{self._relative:.1e} of the first one, {self.setup.case.tolerance:g} was asked "
                'for; allow more iterations, or try preconditioner = "multigrid"'
            )
        if (share := self.task.problem.unbalanced) > SILENT_LEFT:
            found.append(
                f"the source and what flows in through sides do not cancel: {share:.1%} of them "
                "is left, which a constant source has taken up; if they should, refine the mesh or "
                "raise the degree"
            )
        return found

    @property
    def _relative(self) -> float:
        """The last residual, over the first one."""
        return float(self.outcome.residuals[-1] / (self.outcome.residuals[0] or 1.0))

    def describe_ranks(self) -> dict[str, Any]:
        """How the ranks share the elements."""
        size = np.dtype(self.setup.dtype).itemsize
        sent = self.shares.shared_nodes(self.setup.degree) if self.world.size > 1 else 0
        return {
            "count": self.world.size,
            "processes": self.shares.processes,
            "transport": self.task.problem.operator.path,
            "route": self.task.problem.space.way.route,
            "elements": [int(count) for count in self.shares.counts],
            "bytes_sent_per_iteration": int(size * np.sum(sent)),
        }

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
        self.task.close()
