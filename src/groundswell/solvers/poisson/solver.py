"""The Poisson solver, a direct solver whose conjugate gradients run on the device.

There are no checkpoints: an interrupted run starts again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.backends import Backend, LaunchTime, Listing
from groundswell.case.quantities import Quantity
from groundswell.errors import counted
from groundswell.exchange.communicator import Communicator
from groundswell.linear.cg import ConvergenceHistory
from groundswell.meshes.hexahedra import Floats
from groundswell.solvers.poisson.element_solver import ElementSolver
from groundswell.solvers.poisson.nullspace import WARN_ABOVE
from groundswell.solvers.poisson.outputs import Outputs, Solution
from groundswell.solvers.poisson.setup import Setup


class Poisson(ElementSolver):
    """One rank's part of a boundary value problem.

    Args:
        comm: the ranks that share the elements.

    Attributes:
        solution: u on these elements, after `solve`.

    Raises:
        InputError: a function is not finite, or the problem has no unique solution.
    """

    def __init__(self, setup: Setup, backend: Backend, comm: Communicator | None = None) -> None:
        super().__init__(setup, backend, comm)
        terms = self.problem.evaluate()  # functions that are not finite are refused before the run
        exact = None if setup.exact is None else self.problem.evaluate_exact(setup.exact)
        nothing = np.zeros(self.problem.nodes.shape[:-1])
        history = ConvergenceHistory(np.zeros(1), converged=False)
        self.solution = Solution(self.elements, nothing, history, exact, terms)
        self.outputs = Outputs(setup, backend, self.comm, self.problem, self.solution)

    # --- the solver interface ---------------------------------------------------------------------

    @property
    def findings(self) -> Sequence[Quantity]:
        """The range and mean of u, iterations, errors and flows through sides."""
        return self.outputs.findings

    def solve(self) -> None:
        """Solve the equation; all ranks must call it."""
        assert self.solution.terms is not None
        found = self.problem.solve(self.solution.terms, self.setup.case.tolerance)
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
