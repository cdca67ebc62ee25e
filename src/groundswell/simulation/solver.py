"""What a solver offers: the protocols that `simulation` drives, and that every solver is held to.

A solver implements `Solver` and either `TimeStepper` or `DirectSolver`. The other protocols are
optional capabilities: a solver that lacks one simply does not define its methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Event
from groundswell.case import Case
from groundswell.case.quantities import Quantity
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.distributed_array import DistributedArray
from groundswell.exchange.tuning import Tuning
from groundswell.outputs.ring_buffer import Output


@dataclass(frozen=True)
class DecompositionSummary:
    """How ranks would share a run.

    Args:
        ranks: how many.
        processes: ranks along each axis (x, y, z), or just their number.
        largest_block: points or elements of the busiest rank, by axis.
        updates_per_step: of the busiest rank.
        memory: bytes of each rank.
        traffic: bytes that each rank sends to each other one in a step, (ranks, ranks).
    """

    ranks: int
    processes: Sequence[int]
    largest_block: Sequence[int]
    updates_per_step: int
    memory: Sequence[int]
    traffic: NDArray[Any]

    @classmethod
    def of_blocks(
        cls, cut: Decomposition, memory: Sequence[int], traffic: NDArray[Any]
    ) -> DecompositionSummary:
        """Ranks that have a block of cells (x, y, z) each, and update all of them in a step."""
        largest = [int(max(np.diff(edges))) for edges in cut.edges][::-1]
        return cls(cut.ranks, cut.processes[::-1], largest, prod(largest), memory, traffic)


class Setup(Protocol):
    """Host-side preparation: a case with its data read and checked, before a device is used.

    Attributes:
        case: the case.
        steps: of the run, at most; 1 for a direct solver.
        has_fixed_steps: whether all of them are made.
    """

    @classmethod
    def from_case(cls, case: Any, communicator: Any = None) -> Setup:
        """Read what the case names; ranks may share the reading of large files.

        Raises:
            InputError: the case, or the data that it names, cannot be used.
        """
        ...

    @property
    def case(self) -> Case: ...
    @property
    def steps(self) -> int: ...
    @property
    def has_fixed_steps(self) -> bool: ...

    @property
    def updates_per_step(self) -> int:
        """Points (or unknowns) that a step updates."""
        ...

    @property
    def bytes_per_update(self) -> float:
        """Least memory traffic of one update."""
        ...

    @property
    def memory(self) -> int:
        """Bytes that the run takes on its device."""
        ...

    @property
    def output_bytes(self) -> int:
        """Bytes of the files that the run writes."""
        ...

    def quantities(self) -> Sequence[Quantity]:
        """What the run is and resolves, for `check`, `summary.json` and the report."""
        ...

    def warnings(self) -> Sequence[str]:
        """What a user should know before the run."""
        ...

    def decompose(self, ranks: int) -> DecompositionSummary:
        """How so many ranks would share the run.

        Raises:
            InputError: they cannot.
        """
        ...


class Outputs(Protocol):
    """What a solver writes: files that grow during the run, and files written at its end."""

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> Mapping[str, Output]:
        """Open the files that grow; `lengths` are the samples to keep of an interrupted run's."""
        ...

    def write(self, folder: Path) -> Sequence[Path]:
        """Write what is known at the end; all ranks call it, rank 0 writes and returns paths."""
        ...


class Solver(Protocol):
    """One rank's part of a simulation.

    Attributes:
        unit: of throughput, such as "MLUPS": million updates a second.
        outputs: what it writes.
    """

    @property
    def setup(self) -> Setup: ...
    @property
    def unit(self) -> str: ...
    @property
    def outputs(self) -> Outputs: ...

    @property
    def updates_per_step(self) -> int:
        """Updates of the latest kind of step; may differ from the set-up's estimate."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings about the results."""
        ...

    def distributed_fields(self) -> Mapping[str, DistributedArray]:
        """The fields that users may see, by name: views without ghosts and absorbing layers."""
        ...

    def status(self, step: int) -> str:
        """Progress in a few words, such as "t = 1.200 of 4.000 s"."""
        ...

    def describe_ranks(self) -> Mapping[str, Any]:
        """How the ranks share the run, and which transport they use."""
        ...

    def close(self) -> None:
        """Release what other ranks may hold; every rank must call it before MPI ends."""
        ...


@runtime_checkable
class TimeStepper(Solver, Protocol):
    """A solver that advances in steps, which the time loop enqueues in batches.

    Attributes:
        steps_at_once: steps that one call of `step` makes.
        in_graph: whether a graph of launches may hold a step.
    """

    @property
    def steps_at_once(self) -> int: ...
    @property
    def in_graph(self) -> bool: ...

    def step(self) -> None:
        """Enqueue `steps_at_once` steps."""
        ...

    def check_health(self, steps: int, after: Event | None = None) -> None:
        """See that all went well up to the event `after`, or at all; `steps` are enqueued.

        Raises:
            RunFailed: a value is not finite, or another rank did not answer.
        """
        ...

    def state(self) -> Mapping[str, DistributedArray]:
        """Every array that decides what comes next: what a checkpoint holds."""
        ...


@runtime_checkable
class DirectSolver(Solver, Protocol):
    """A solver that finds its solution in one call."""

    def solve(self) -> None:
        """Solve; all ranks must call it."""
        ...


@runtime_checkable
class TimeDependent(Protocol):
    """Capability: a step leads to a moment of simulated time."""

    def time(self, step: int) -> float:
        """The time that so many steps lead to, s."""
        ...


@runtime_checkable
class FiniteCheck(Protocol):
    """Capability: a search on the device for values that are not finite."""

    def enqueue_finite_check(self) -> None:
        """Enqueue the search; `check_health` reads its result."""
        ...


@runtime_checkable
class Converging(Protocol):
    """Capability: the run ends when a steady state is reached, perhaps in several stages.

    Attributes:
        check_every: steps between checks.
    """

    @property
    def check_every(self) -> int: ...

    def initialize(self) -> None:
        """Prepare the first step after a start, a restart or a change of stage."""
        ...

    def check_convergence(self, step: int) -> bool:
        """Whether the current stage has converged."""
        ...

    def next_stage(self) -> bool:
        """Go on to the next stage; False if there is none."""
        ...


@runtime_checkable
class Tunable(Protocol):
    """Capability: several ways to exchange between ranks, the fastest of which can be measured."""

    def autotune(self) -> Tuning | None:
        """Measure and adopt the fastest; None where there is nothing to choose."""
        ...


class SolverFactory(Protocol):
    """What `SolverInfo.solver` refers to."""

    def __call__(self, setup: Any, backend: Backend, communicator: Any) -> Solver: ...
