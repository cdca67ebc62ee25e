"""Poisson's equation as the driver runs it: one step, which is the whole solution.

Conjugate gradients keep what they know on the device and go on by themselves, so there is nothing
in between that a checkpoint could hold: a run that was stopped begins again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.backends import Backend, Event
from groundswell.exchange.tuning import Tuning
from groundswell.exchange.world import Alone, World
from groundswell.grids.hexahedra import Floats
from groundswell.linear.cg import Outcome
from groundswell.run.checkpoint import Portion
from groundswell.run.signals import stopping_at_once
from groundswell.solvers.poisson.results import Results
from groundswell.solvers.poisson.setup import Setup
from groundswell.solvers.poisson.task import Given, Method, Task
from groundswell.solvers.poisson.unique import SILENT_LEFT


class Run:
    """One rank's part of an equation; `step` solves it.

    Args:
        world: the ranks that share the elements.

    Attributes:
        elements: numbers of those that this rank works on.
        values: u at their nodes, (elements, (N + 1)^3), once it is solved.
        outcome: how that went.

    Raises:
        InputError: the case asks for what is not finite, or has no unique solution.
    """

    unit = "MDOF/s"  # million unknowns that an iteration goes through, a second
    steps_at_once = 1
    look_every = 0
    in_graph = False  # a step replays a graph of its own

    @staticmethod
    def prepare(case: Any, world: World | None = None) -> Setup:
        """What the case says, without a device.

        Raises:
            InputError: a mesh that cannot be read, or that lacks a side.
        """
        return Setup.of(case)

    @staticmethod
    def outline(setup: Setup, ranks: int) -> dict[str, Any]:
        """How ranks would share the elements: parts, bytes of each and between them."""
        shares, size = setup.shares(ranks), np.dtype(setup.dtype).itemsize
        return {
            "ranks": ranks,
            "processes": shares.processes,
            "largest_block": shares.largest,
            "updates_per_step": setup.unknowns_of(int(shares.counts.max())),
            "memory": [setup.memory_of(int(n), first=not r) for r, n in enumerate(shares.counts)],
            "traffic": size * shares.shared_nodes(setup.degree),
        }

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
        self.recorders = Results(self)

    # --- what the driver asks ---------------------------------------------------------------------

    def begin(self) -> None:
        """Nothing: a step begins at u = 0."""

    def step(self) -> None:
        """Solve the equation.

        Raises:
            Interrupted: by a signal; on several ranks, on the one that has it, which ends all.
        """
        with stopping_at_once("nothing is kept of half a solution, so run the case again"):
            self.values, self.outcome = self.task.solve(self.setup.case.tolerance)

    def look(self, step: int) -> bool:
        """Nothing is looked at between steps."""
        return False

    def go_on(self) -> bool:
        """There are no stages."""
        return False

    @property
    def updates_per_step(self) -> int:
        """Unknowns, as often as iterations went through them."""
        return self.setup.unknowns * max(self.outcome.iterations, 1)

    @property
    def bytes_per_update(self) -> float:
        """Least traffic of an unknown's iteration."""
        return self.setup.bytes_per_update

    def news(self, step: int) -> str:
        """How far it is, in words."""
        if not step:
            return f"{self.setup.unknowns:,} unknowns"
        failed = "" if self.outcome.converged else ": not converged"
        return f"{self.outcome.iterations} iterations, residual {self._relative:.1e}{failed}"

    def state(self) -> dict[str, Portion]:
        """Nothing that a run could go on from."""
        return {}

    def guard(self) -> None:
        """Nothing: the iteration sees for itself that its numbers are finite."""

    def raise_if_unstable(self, steps: int, after: Event | None = None) -> None:
        """Nothing, likewise."""

    def tune(self) -> Tuning | None:
        """How values travel between ranks, which the problem found out as it was made."""
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
