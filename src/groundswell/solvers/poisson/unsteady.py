"""The equation in time: implicit steps, each the solution of one linear system or of a few.

capacity du/dt = div(k grad u) - c u + f by the backward differences of `time_scheme`. All solutions
have the same operator and preconditioner, which are set up once, and begin with a guess that
continues the values before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend, Event, Listing
from groundswell.backends.base import in_order
from groundswell.case.quantities import Quantity
from groundswell.errors import counted
from groundswell.exchange.communicator import Communicator
from groundswell.linear.cg import ConvergenceHistory
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.solvers.poisson.boundary_value_problem import Terms
from groundswell.solvers.poisson.element_solver import ElementSolver
from groundswell.solvers.poisson.inertia import Inertia
from groundswell.solvers.poisson.outputs import Solution
from groundswell.solvers.poisson.setup import Setup
from groundswell.solvers.poisson.step_history import StepHistory, StepRow
from groundswell.solvers.poisson.step_outputs import StepOutputs
from groundswell.solvers.poisson.time_scheme import EXTRAPOLATION, KEPT, Scheme


class UnsteadyPoisson(ElementSolver):
    """One rank's part of a solution in time.

    Args:
        comm: the ranks that share the elements.

    Attributes:
        kept: u and its values one and two steps earlier, each (elements, (N + 1)^3).

    Raises:
        InputError: a function is not finite, or the capacity is not positive.
    """

    in_graph = False  # the host decides when an iteration ends
    steps_at_once = 1

    def __init__(self, setup: Setup, backend: Backend, comm: Communicator | None = None) -> None:
        super().__init__(setup, backend, comm)
        section, shape = setup.time, self.problem.nodes.shape[:-1]
        self._dt, self._scheme = section.step, Scheme.of(section.order)
        self._inertia = Inertia(self.problem.system, setup.step_equation)
        self._terms: dict[float, Terms] = {}
        self.kept = [backend.zeros(shape, np.float64) for _ in range(KEPT)]
        self.history = StepHistory(backend, setup.steps)
        exact = None if setup.exact is None else self.problem.evaluate_exact(setup.exact)
        nothing = ConvergenceHistory(np.zeros(1), converged=False)
        solution = Solution(self.elements, self.kept[0], nothing, exact)
        about = (setup, backend, self.comm, self.problem, solution)
        self.outputs = StepOutputs(*about, self.history)
        self._solution = solution
        self.restart()

    # --- the step ---------------------------------------------------------------------------------

    def restart(self) -> None:
        """Begin with the initial values; those of fixed sides hold from time 0 on."""
        self.history.clear()
        self._keep([self._inertia.initial(self._terms_at(0.0).prescribed)])
        self.prepare()

    def prepare(self) -> None:
        """Find out how many steps have been made."""
        self._done, self._solved = self.history.steps, list[ConvergenceHistory]()

    def step(self) -> None:
        """Make a step in time.

        Raises:
            RunFailed: values are not finite, or a rank is lost.
        """
        in_order(self.outputs.launches)()
        there = min(self._done + 1, KEPT)
        before = [np.asarray(self.backend.to_host(each)) for each in self.kept[:there]]
        self._solved = []
        is_first = self._done < self._scheme.first_steps
        new = self._first_step(before[0]) if is_first else self._later_step(before)
        self._keep([new, *before][:KEPT])
        self._done += 1
        self.history.append(self._done, self._row(new))

    def _later_step(self, before: Sequence[Floats]) -> Floats:
        """A step of backward differences from the values before, newest first."""
        leading, others = self._scheme.leading, self._scheme.others
        base = _combined([-a / leading for a in others], before)
        guess = _combined(EXTRAPOLATION[len(before) - 1], before)
        return self._solve(1.0, base, guess)

    def _first_step(self, u: Floats) -> Floats:
        """A Runge-Kutta step; see `Stage`."""
        slopes, found = list[Floats](), u  # dt F at the stages
        for stage in self._scheme.stages:
            base = u + _combined(stage.factors, slopes) if slopes else u
            found = self._solve(stage.at, base, found)
            slopes.append(self._scheme.leading * (found - base))
        return found

    def _solve(self, at: float, base: Floats, guess: Floats) -> Floats:
        """The u at a time in this step for which a0 capacity (u - base) is dt F(u)."""
        terms = self._terms_at((self._done + at) * self._dt)
        source = terms.source + self._inertia.rate * self._inertia.capacity * base
        found, history = self.problem.system.solve(
            source,
            terms.prescribed,
            loads=terms.loads,
            start=guess,
            tolerance=self.setup.case.tolerance,
        )
        self._solved.append(history)
        return found

    def _terms_at(self, time: float) -> Terms:
        """Source and boundary values at a time, s; one set, if they do not depend on it."""
        key = time if self.setup.case.depends_on_time else 0.0
        if key not in self._terms:
            self._terms = {key: self.problem.evaluate(self.setup.equation_at(key))}
        return self._terms[key]

    def _keep(self, values: Sequence[Floats]) -> None:
        for target, each in zip(self.kept, values, strict=False):
            self.backend.assign(target, each)

    def _row(self, u: Floats) -> StepRow:
        of_ranks = self.comm.allgather((u.min(), u.max(), self._inertia.sum(u)))
        low, high, heat = zip(*of_ranks, strict=True)
        return StepRow(
            time=self.time(self._done),
            iterations=self._iterations,
            residual=max(float(each.residuals[-1]) for each in self._solved),
            converged=float(all(each.converged for each in self._solved)),
            smallest=float(min(low)),
            largest=float(max(high)),
            mean=sum(heat) / self._inertia.total,
        )

    @property
    def _iterations(self) -> int:
        """Iterations of the last step."""
        return sum(each.iterations for each in self._solved)

    # --- the solver interface ---------------------------------------------------------------------

    @property
    def findings(self) -> Sequence[Quantity]:
        """The range and mean of u at the end, all iterations and errors."""
        return self.outputs.findings

    @property
    def values(self) -> Floats:
        """u at the nodes, (elements, (N + 1)^3), on the device."""
        return self.kept[0]

    def solution(self) -> Floats:
        """A copy of `values` on the host."""
        return np.asarray(self.backend.to_host(self.kept[0]))

    def time(self, step: int) -> float:
        """Time after so many steps, s."""
        return step * self._dt

    @property
    def updates_per_step(self) -> int:
        """Unknowns, times iterations of the last step."""
        return self.setup.unknowns * max(self._iterations, 1)

    def check_health(self, steps: int, after: Event | None = None) -> None:
        """Raise RunFailed if a rank is lost; values that are not finite end a step at once."""
        self.problem.system.check()

    def list_step(self) -> Listing:
        """The launches of an iteration; a step takes as many as it needs."""
        return self.problem.system.list_iterations()

    def state(self) -> dict[str, DistributedArray]:
        """The arrays of a checkpoint: writing them back restores the solver."""
        names = ("u", "earlier-1", "earlier-2")
        kept = {n: self.on_elements(each) for n, each in zip(names, self.kept, strict=True)}
        rows = DistributedArray.replicated(self.history.rows, self.comm)
        return {**kept, "history": rows, **self.outputs.state()}

    def status(self, step: int) -> str:
        """Simulated time, and the iterations of the last step."""
        end = self.time(self.setup.steps)
        iterations = counted(self._iterations, "iteration")
        return f"t = {self.time(step):.4g} of {end:.4g} s, {iterations} a step"

    @property
    def warnings(self) -> list[str]:
        """Reasons to expect poor results."""
        warnings, method = [], self.setup.case.method
        if missed := self.history.missed:
            warnings.append(
                f"{missed:,} of {counted(self.history.steps, 'step')} ended above the tolerance, "
                f"{self.setup.case.tolerance:g}, after {method.iterations:,} iterations; allow "
                'more iterations, or try preconditioner = "multigrid"'
            )
        if self._solution.unmeasured:
            warnings.append(f"the error is not measured: {self._solution.unmeasured}")
        return warnings


def _combined(factors: Sequence[float], values: Sequence[Floats]) -> Floats:
    """A linear combination of the first of these values."""
    terms = [a * u for a, u in zip(factors, values, strict=False)]
    return np.asarray(np.sum(terms, axis=0))
