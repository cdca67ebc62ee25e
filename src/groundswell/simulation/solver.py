"""The solver interface: protocols that every solver implements and that `simulation` uses.

A solver implements `Solver` and either `TimeStepper` or `DirectSolver`. The other protocols are
optional capabilities; a solver without one does not define its methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from groundswell.arrays import HostArray
from groundswell.backends import Event, Listing
from groundswell.case import Case
from groundswell.case.quantities import DEFAULT_GROUP, Quantity, byte_size
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.tuning import Tuning
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.ring_buffer import Output


@dataclass(frozen=True)
class DecompositionSummary:
    """Summary of how ranks share a run.

    Args:
        ranks: number of ranks.
        processes: ranks along each axis (x, y, z), or just their number.
        largest_block: points or elements of the busiest rank, by axis.
        updates_per_step: updates per step of the busiest rank.
        memory: memory of each rank, bytes.
        traffic: bytes that each rank sends to each other rank per step, (ranks, ranks).
        quantities: further labelled values.
        warnings: about results on this number of ranks.
    """

    ranks: int
    processes: Sequence[int]
    largest_block: Sequence[int]
    updates_per_step: int
    memory: Sequence[int]
    traffic: HostArray
    quantities: Sequence[Quantity] = ()
    warnings: Sequence[str] = ()

    @classmethod
    def of_blocks(
        cls, cut: Decomposition, memory: Sequence[int], traffic: HostArray
    ) -> DecompositionSummary:
        """Summary for ranks that each update all cells of one block (x, y, z) per step."""
        largest = [int(max(np.diff(edges))) for edges in cut.edges][::-1]
        return cls(cut.ranks, cut.processes[::-1], largest, prod(largest), memory, traffic)


@dataclass(frozen=True)
class Cost:
    """What a run on one rank costs.

    Args:
        updates_per_step: points or unknowns that a step updates.
        bytes_per_update: minimum memory traffic of one update, bytes.
        memory: device memory, bytes.
        output_bytes: size of the files that the run writes, bytes.
    """

    updates_per_step: int
    bytes_per_update: float
    memory: int
    output_bytes: int

    def memory_quantity(self, group: str = DEFAULT_GROUP) -> Quantity:
        """The memory as a labelled value."""
        return Quantity("memory", self.memory, "memory", "B", byte_size(self.memory), group)


class Setup(Protocol):
    """Host-side preparation: a case with its data read and validated, before a device is used.

    Attributes:
        case: the case.
        steps: largest number of steps; 1 for a direct solver.
        has_fixed_steps: whether the run always makes all of them.
    """

    @property
    def case(self) -> Case: ...
    @property
    def steps(self) -> int: ...
    @property
    def has_fixed_steps(self) -> bool: ...


class Prepare(Protocol):
    """Reads the data of a case; ranks may share the reading of large files."""

    def __call__(self, case: Any, communicator: Communicator | None = None, /) -> Setup:
        """Prepare a case.

        Raises:
            InputError: the case or its data cannot be used.
        """
        ...


class CheckModule(Protocol):
    """What `groundswell check` prints of a set-up: the module `check` of a solver."""

    def quantities(self, setup: Any, cost: Cost) -> Sequence[Quantity]:
        """Labelled values that describe the run, for `check`, `summary.json` and the report.

        Args:
            cost: of the run on one rank.
        """
        ...

    def warnings(self, setup: Any) -> Sequence[str]:
        """Warnings before the run."""
        ...


class CostModel(Protocol):
    """What a set-up costs: the module `cost` of a solver."""

    def estimate(self, setup: Any) -> Cost:
        """The cost of a run on one rank."""
        ...

    def decompose(self, setup: Any, ranks: int) -> DecompositionSummary:
        """Summary of the decomposition for a number of ranks.

        Raises:
            InputError: the run cannot be shared by this number of ranks.
        """
        ...


class Outputs(Protocol):
    """The files of a solver: those that grow during the run, and those written at its end."""

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> Mapping[str, Output]:
        """Open the growing files; `lengths` are the samples to keep when a run is resumed."""
        ...

    def write(self, folder: Path) -> Sequence[Path]:
        """Write the final files; all ranks call it, rank 0 writes and returns the paths.

        The growing files are complete, but still have temporary names in the results folder.

        Args:
            folder: a temporary folder for these files, which may not exist yet.
        """
        ...


class Solver(Protocol):
    """One rank's part of a simulation.

    Attributes:
        setup: its host-side preparation.
        unit: unit of throughput, such as "MLUPS": million updates per second.
        outputs: the files that it writes.
    """

    @property
    def setup(self) -> Setup: ...
    @property
    def unit(self) -> str: ...
    @property
    def outputs(self) -> Outputs: ...

    @property
    def updates_per_step(self) -> int:
        """Updates per step in the current stage; may differ from the estimated `Cost`."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings about the results."""
        ...

    def distributed_fields(self) -> Mapping[str, DistributedArray]:
        """The public fields, by name: views without ghosts and absorbing layers."""
        ...

    def status(self, step: int) -> str:
        """The progress as a short text, such as "t = 1.2 of 4 s"."""
        ...

    def describe_ranks(self) -> Mapping[str, object]:
        """How the ranks share the run, and which transport they use, for `summary.json`."""
        ...

    def close(self) -> None:
        """Release resources shared with other ranks; every rank must call it before MPI ends."""
        ...


@runtime_checkable
class TimeStepper(Solver, Protocol):
    """A solver that advances in steps, which the time loop enqueues in batches.

    Attributes:
        steps_at_once: steps that one call of `step` makes.
        in_graph: whether a step can be captured in a graph of launches.
    """

    @property
    def steps_at_once(self) -> int: ...
    @property
    def in_graph(self) -> bool: ...

    def step(self) -> None:
        """Enqueue `steps_at_once` steps."""
        ...

    def check_health(self, steps: int, after: Event | None = None) -> None:
        """Check the steps enqueued before the event `after`, or all steps.

        Args:
            steps: number of steps enqueued.
            after: an event that has been reached; None after the device was synchronized.

        Raises:
            RunFailed: a value is not finite, or another rank did not answer.
        """
        ...

    def state(self) -> Mapping[str, DistributedArray]:
        """Every array that later steps depend on, by name: the content of a checkpoint."""
        ...


@runtime_checkable
class DirectSolver(Solver, Protocol):
    """A solver that computes its solution in one call."""

    def solve(self) -> None:
        """Solve; all ranks must call it."""
        ...


@runtime_checkable
class TimeDependent(Protocol):
    """Capability: steps have a simulated time."""

    def time(self, step: int) -> float:
        """Simulated time after `step` steps, s."""
        ...


@runtime_checkable
class FiniteCheck(Protocol):
    """Capability: search on the device for values that are not finite."""

    def enqueue_finite_check(self) -> None:
        """Enqueue the search; `check_health` reads its result."""
        ...


@runtime_checkable
class EnergyCheck(FiniteCheck, TimeDependent, Protocol):
    """Capability: the energy of waves, which cannot grow once all sources have ended.

    Attributes:
        sources_end: time at which the last source ends, s.
        remedy: what may help if waves grow, for messages.
    """

    @property
    def sources_end(self) -> float: ...
    @property
    def remedy(self) -> str: ...

    def energy(self, after: Event | None = None) -> float:
        """Kinetic energy on this rank, in any unit, at the last `enqueue_finite_check`.

        Args:
            after: see `TimeStepper.check_health`.
        """
        ...


@runtime_checkable
class EnergySupply(Protocol):
    """Capability: waves also receive energy that no source gives, such as that of faults."""

    def supplied_energy(self, after: Event | None = None) -> float:
        """This energy on this rank since the start of the run; see `EnergyCheck.energy`."""
        ...


@runtime_checkable
class Preparing(Protocol):
    """Capability: steps need values derived from the fields, such as a spectrum."""

    def prepare(self) -> None:
        """Enqueue the computation of these values from the current fields.

        The time loop calls it before the first step, and whenever it resumes, because a user may
        have changed the fields.
        """
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
        """Switch to the next stage; False if there is none."""
        ...


@runtime_checkable
class Listed(Protocol):
    """Capability: the launches of a step or of an iteration can be printed."""

    def list_step(self) -> Listing:
        """The launches that this rank enqueues for a step, or for an iteration."""
        ...


@runtime_checkable
class Tunable(Protocol):
    """Capability: choose the fastest of several ways to exchange by measuring them."""

    def autotune(self) -> Tuning | None:
        """Measure and use the fastest; None if there is only one."""
        ...
