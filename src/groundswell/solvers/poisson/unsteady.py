"""The equation in time: implicit steps, each the solution of one linear system or of a few.

capacity du/dt = div(k grad u) - c u + f by the backward differences of `time_scheme`. All solutions
have the same operator and preconditioner, which are set up once, and begin with a guess that
continues the earlier values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend, Event, Listing
from groundswell.backends.base import in_order
from groundswell.case.quantities import Quantity, time_of
from groundswell.errors import counted
from groundswell.exchange.communicator import Communicator
from groundswell.linear.cg import ConvergenceHistory
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.solvers.poisson.element_solver import ElementSolver
from groundswell.solvers.poisson.flow_history import FlowHistory, FlowTotals
from groundswell.solvers.poisson.forcing import Forcing
from groundswell.solvers.poisson.implicit_step import ImplicitStep, Stages
from groundswell.solvers.poisson.inertia import Inertia
from groundswell.solvers.poisson.outputs import Solution
from groundswell.solvers.poisson.setup import Setup
from groundswell.solvers.poisson.side_flows import by_name
from groundswell.solvers.poisson.step_flows import StepFlows
from groundswell.solvers.poisson.step_history import StepHistory, StepRow
from groundswell.solvers.poisson.step_kernels import StepKernels
from groundswell.solvers.poisson.step_outputs import StepOutputs
from groundswell.solvers.poisson.time_scheme import EXTRAPOLATION, KEPT, Scheme


class UnsteadyPoisson(ElementSolver):
    """One rank's part of a solution in time.

    Args:
        comm: the ranks that share the elements.

    Attributes:
        kept: u and its values one and two steps earlier, (3, elements, (N + 1)^3).
        history, flow_history: how the steps went, and what flowed in.

    Raises:
        InputError: a function is not finite, or the capacity is not positive.
    """

    in_graph = False  # the host decides when an iteration ends
    steps_at_once = 1

    def __init__(self, setup: Setup, backend: Backend, comm: Communicator | None = None) -> None:
        super().__init__(setup, backend, comm)
        section, shape = setup.time, self.problem.nodes.shape[:-1]
        self._dt, self._scheme = section.step, Scheme.of(section.order)
        system = self.problem.system
        self._inertia = Inertia(system, setup.step_equation)
        self.kept = backend.zeros((KEPT, *shape), np.float64)
        kernels = StepKernels(backend, system.dtype)
        self._forcing = self._make_forcing(kernels)
        rates = self._inertia.rate * self._inertia.assemble()
        self._implicit = ImplicitStep(system, kernels, self._forcing, rates, self.kept)
        equation = setup.step_equation
        self._flows = StepFlows(self.problem, equation, self._forcing, self._implicit, rates)
        names = [*by_name(dict.fromkeys(self._flows.sides, 0.0), setup.sides)]
        self._totals = FlowTotals(len(names) + 1, self._scheme.leading, self._dt)
        self.history = StepHistory(backend, setup.steps)
        self.flow_history = FlowHistory(backend, setup.steps, names)
        exact = None if setup.exact is None else self.problem.evaluate_exact(setup.exact)
        nothing = ConvergenceHistory(np.zeros(1), converged=False)
        solution = Solution(self.elements, self.kept[0], nothing, exact)
        about = (setup, backend, self.comm, self.problem, solution)
        self.outputs = StepOutputs(*about, (self.history, self.flow_history))
        self._solution = solution
        self.restart()

    def _make_forcing(self, kernels: StepKernels) -> Forcing:
        parts, rest = self.setup.split_in_time()
        equation_at = None if rest is None else rest.equation_at
        return Forcing(self.problem, kernels, parts, equation_at, self.setup.equation_at)

    # --- the step ---------------------------------------------------------------------------------

    def restart(self) -> None:
        """Begin with the initial values; those of fixed sides hold from time 0 on."""
        self.history.clear()
        self.flow_history.clear()
        terms = self.problem.evaluate(self.setup.equation)
        initial = self._inertia.initial(terms.prescribed)
        self._stored = self._inertia.stored(initial)
        self.backend.assign(self.kept[0], initial)
        self.prepare()

    def prepare(self) -> None:
        """Find out how many steps have been made, and the size of u."""
        self._done, self._solved = self.history.steps, list[ConvergenceHistory]()
        self._totals.restore(self.flow_history.totals)
        u = self.solution()
        self._implicit.size = max(self.comm.allgather(float(np.abs(u).max())))

    def step(self) -> None:
        """Make a step in time.

        Raises:
            RunFailed: values are not finite, or a rank is lost.
        """
        in_order(self.outputs.launches)()
        self._solved = []
        is_first = self._done < self._scheme.first_steps
        (self._first_step if is_first else self._later_step)()
        self._implicit.store()
        self._totals.end()
        self._done += 1
        self.history.append(self._done, self._row())
        self.flow_history.append(self._done, self._flow_row())

    def _later_step(self) -> None:
        """A step of backward differences from the earlier values."""
        leading, others = self._scheme.leading, self._scheme.others
        there = min(self._done + 1, KEPT)
        base = [-a / leading for a in others]
        self._implicit.begin(base, EXTRAPOLATION[there - 1])
        self._totals.begin(base)
        self._solve(1.0)

    def _first_step(self) -> None:
        """A Runge-Kutta step; see `Stage`."""
        self._implicit.begin((1.0,), (1.0,))
        self._totals.begin((1.0,))
        stages = Stages(self._implicit, self._scheme.leading, len(self._scheme.stages))
        for number, stage in enumerate(self._scheme.stages):
            stages.begin(stage)
            self._solve(stage.at, stage.factors)
            stages.end(number)

    def _solve(self, at: float, factors: Sequence[float] = ()) -> None:
        """Solve for u at a time in this step; the factors are those of a `Stage`."""
        time = (self._done + at) * self._dt
        self._solved.append(self._implicit.solve(time, self.setup.case.tolerance))
        self._totals.add(self._flows.measure(), factors)

    def _row(self) -> StepRow:
        found = self._implicit.extremes
        return StepRow(
            time=self.time(self._done),
            iterations=self._iterations,
            residual=max(float(each.residuals[-1]) for each in self._solved),
            converged=float(all(each.converged for each in self._solved)),
            smallest=found.smallest,
            largest=found.largest,
            mean=found.inertia / (self._inertia.rate * self._inertia.total),
        )

    def _flow_row(self) -> list[float]:
        stored = self._implicit.extremes.inertia / self._inertia.rate - self._stored
        return [self.time(self._done), *self._totals.flows, *self._totals.newest, stored]

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
        tables = {"history": self.history, "flows": self.flow_history}
        rows = {n: DistributedArray.replicated(t.rows, self.comm) for n, t in tables.items()}
        return {**kept, **rows, **self.outputs.state()}

    def status(self, step: int) -> str:
        """Simulated time, and the iterations of the last step."""
        time = time_of(self.time(step), self.time(self.setup.steps))
        return f"t = {time}, {counted(self._iterations, 'iteration')} a step"

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
