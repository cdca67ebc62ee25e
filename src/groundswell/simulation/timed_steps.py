"""Which steps of a run are timed launch by launch, and what a solver must offer for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from groundswell.backends import Backend, Graph, Launch, LaunchTime, TimedGraph
from groundswell.simulation.solver import Converging, TimeStepper

FEWEST_CALLS = 10  # of `step`, in a run that times some
FIRST_TIMED, MOST_TIMED = 64, 8  # calls; by the first, the host is many steps ahead of a GPU
EARLY = 5  # the first call to time where a stage may converge after a few


@runtime_checkable
class Composed(Protocol):
    """Capability: a step is a fixed sequence of launches, which can be timed one by one."""

    @property
    def step_launches(self) -> Launch:
        """What a call of `step` enqueues in the current stage."""
        ...


@runtime_checkable
class TimedSolve(Protocol):
    """Capability: a direct solver can time the launches of an iteration one by one."""

    def time_launches(self) -> None:
        """Time those of an early iteration of `solve`, which is yet to be called."""
        ...

    def launch_times(self) -> tuple[str, Sequence[LaunchTime]]:
        """What was timed, such as "iteration 2", and the times; none if `solve` ended before."""
        ...


@dataclass(frozen=True)
class TimedSteps:
    """A captured step, some of whose replays are timed.

    Args:
        graph: the graph that times them.
        done: steps before its first replay.
        at_once: steps of a replay.
    """

    graph: TimedGraph
    done: int
    at_once: int

    @property
    def name(self) -> str:
        """The timed steps, such as "steps 64 to 71"."""
        before = self.done + (self.graph.first - 1) * self.at_once
        first, last = before + 1, before + self.graph.timed * self.at_once
        return f"step {last}" if first == last else f"steps {first} to {last}"


def time_steps(solver: TimeStepper, backend: Backend, graph: Graph, done: int) -> TimedSteps | None:
    """Let a graph time some of its replays; None if few are left, or the solver is not `Composed`.

    Args:
        graph: the captured step.
        done: steps made so far.
    """
    at_once = solver.steps_at_once
    calls = (solver.setup.steps - done) // at_once
    if not isinstance(solver, Composed) or calls < FEWEST_CALLS:
        return None
    first = min(EARLY if isinstance(solver, Converging) else FIRST_TIMED, calls // 2)
    timed = TimedGraph(backend, graph, solver.step_launches, first, MOST_TIMED)
    return TimedSteps(timed, done, at_once)
