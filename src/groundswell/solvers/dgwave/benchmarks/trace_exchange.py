"""The solver's own kernel on several ranks, with and without the exchange of face traces."""

from __future__ import annotations

from collections.abc import Sequence

from groundswell.backends import Backend, Launch
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.tuning import Choice
from groundswell.solvers.dgwave.benchmarks.problems import fill
from groundswell.solvers.dgwave.benchmarks.versions import SOLVER
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME

STAGES = range(SCHEME.stages)


class TraceExchange:
    """The solver's own kernel on a rank's elements; collective.

    Args:
        transport: see `connect`.

    Attributes:
        bytes_sent: bytes that this rank sends per stage.
        path: description of the transport.
        in_graph: whether a graph can contain the exchange.
        costs: the cost of each kernel.
    """

    costs = SOLVER.costs

    def __init__(
        self, backend: Backend, comm: Communicator, problem: Discretisation, transport: str
    ) -> None:
        self._elements = problem.elements
        self._propagation = Propagation(backend, comm, problem, Choice(transport))
        self.u, traces = self._propagation.u, self._propagation.traces
        fill(backend, self.u, problem.elements.numbers)
        in_order(self._propagation.prepare)()
        self.bytes_sent, self.in_graph = traces.bytes_sent, traces.in_graph
        self.path = traces.exchanges[0].path if traces.exchanges else ""

    @property
    def compute(self) -> list[Launch]:
        """The launches of a step without exchange."""
        return [*(launch for stage in STAGES for launch in self._advance(stage)), self._count]

    def step(self, *, overlap: bool) -> list[Launch]:
        """The launches of a step.

        Args:
            overlap: whether the exchange overlaps with elements without faces on other ranks.
        """
        if overlap:
            return self._propagation.step
        exchange = self._propagation.traces.overlap
        stages = [exchange(n, len(STAGES), outer=self._advance(n), inner=[]) for n in STAGES]
        return [*(launch for stage in stages for launch in stage), self._count]

    def check(self) -> None:
        """Raise RunFailed if a wait for another rank timed out."""
        self._propagation.traces.check()

    def close(self) -> None:
        """Release shared memory; collective."""
        self._propagation.traces.close()

    def _advance(self, stage: int) -> Sequence[Launch]:
        outer, count = self._elements.outer, self._elements.count
        advance = self._propagation.advance
        return [*advance(stage, 0, outer), *advance(stage, outer, count - outer)]

    @property
    def _count(self) -> Launch:
        """The last launch of a step, which counts steps."""
        return self._propagation.step[-1]
