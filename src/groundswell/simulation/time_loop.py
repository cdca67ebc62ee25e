"""The time loop of every solver that advances in steps: outputs, checkpoints, checks, signals.

Steps are enqueued in batches. While one batch runs on the device, the host writes the samples of
the previous batch to disk, so recording never stops the loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import NamedTuple

from groundswell.backends import Backend, Event, Graph, LaunchTime
from groundswell.case.common import CheckpointSection
from groundswell.errors import Interrupted
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.outputs.ring_buffer import Output
from groundswell.simulation import checkpoint
from groundswell.simulation.checkpoint import Progress
from groundswell.simulation.growth_watch import GrowthWatch
from groundswell.simulation.progress import StepReport
from groundswell.simulation.signals import StopRequest
from groundswell.simulation.solver import (
    Converging,
    EnergyCheck,
    EnergySupply,
    FiniteCheck,
    Preparing,
    TimeStepper,
)
from groundswell.simulation.timed_steps import TimedSteps, time_steps

BATCH_SECONDS = 0.4  # target for one batch of steps; also the interval between progress updates
LONGEST_BATCH = 1024
FINITE_CHECK_STEPS = 64  # between searches for values that are not finite


class Mark(NamedTuple):
    """The end of a batch: the steps done by then, and the event after them."""

    step: int
    event: Event


class Call(NamedTuple):
    """A function that is called after every so many steps."""

    steps: int
    function: Callable[[], object]

    def next_after(self, step: int) -> int:
        """The first step after `step` at which it is due."""
        return (step // self.steps + 1) * self.steps


@dataclass
class TimeLoop:
    """The time loop of one run.

    Args:
        outputs: open files and the ring buffers that feed them.
        folder: the results folder, for checkpoints. None if only the caller stops and saves.
        digest: digest of the case, stored in checkpoints.
        step: steps done; initially those of the restored checkpoint.
        comm: the ranks that run the loop together, in the same batches.
        times_launches: whether to make a few steps launch by launch, to time them.

    Attributes:
        first: the step at which the loop started.
        converged: whether a steady state was reached.
        seconds: wall time of the steps.
        updates: points updated in these steps.
        stop_asked: whether a function that the loop has called asked for a stop.
    """

    solver: TimeStepper
    backend: Backend
    outputs: Mapping[str, Output]
    folder: Path | None
    digest: str
    step: int = 0
    comm: Communicator = field(default_factory=SerialCommunicator)
    times_launches: bool = False
    seconds: float = field(default=0.0, init=False)
    updates: int = field(default=0, init=False)
    first: int = field(init=False)
    converged: bool = field(default=False, init=False)
    stop_asked: bool = field(default=False, init=False)
    _calls: Sequence[Call] = field(default=(), init=False)
    _graph: Graph | None = field(default=None, init=False)
    _timed: TimedSteps | None = field(default=None, init=False)  # of the present stage
    _marks: tuple[Mark, Mark] = field(init=False)  # begin and end of the newest batch
    _size: int = field(default=1, init=False)
    _drained: int = field(init=False)
    _finite_checked: int = field(init=False)
    _saved_at: float = field(init=False)
    _saved_step: int = field(init=False)
    _next_check: float = field(init=False)
    _converging: Converging | None = field(init=False)
    _watch: GrowthWatch | None = field(default=None, init=False)
    _watched: int = field(init=False)

    def __post_init__(self) -> None:
        self.first = self._drained = self._finite_checked = self._saved_step = self.step
        self._watched = self.step
        self._saved_at = time.monotonic()
        self._converging = self.solver if isinstance(self.solver, Converging) else None
        self._next_check = self._check_after(self.step)

    def run(
        self, total: int, report: StepReport, stop: StopRequest, calls: Sequence[Call] = ()
    ) -> None:
        """Advance to step `total` or to a steady state; may be called again to continue.

        A run with a results folder ignores stop requests during its last batch.

        Args:
            calls: functions to call while the device waits, on all ranks.

        Raises:
            Interrupted: a stop was requested; with a results folder, the checkpoint is written.
            RunFailed: a value became infinite or NaN, waves grow without a source, or the disk
                filled up.
        """
        self._watch, self._calls, self.stop_asked = self._make_watch(), calls, False
        graph = self._graph or self._begin()
        if isinstance(self.solver, Preparing):
            self.solver.prepare()
        begun = time.monotonic()
        self._start_marks()
        while self.step < total and not self.converged:
            before = self.step
            self._enqueue(graph, total)
            self._make_calls(before)
            report(self._drained, self.updates)
            if self._stage_is_done():
                graph = self._next_stage() or graph
            if not self.converged and (self.step < total or self.folder is None):
                self._interrupt_or_save(stop)
        self._settle()
        report(self.step, self.updates)
        self.seconds += time.monotonic() - begun

    def reach_last_stage(self) -> None:
        """Make a step in each stage that is left: the run may have ended before it was steady."""
        while self._converging and self._converging.next_stage():
            self.solver.step()

    def launch_times(self) -> tuple[str, Sequence[LaunchTime]]:
        """What was timed, such as "step 64", and the times; none if nothing was."""
        return (self._timed.name, self._timed.graph.times) if self._timed else ("", ())

    def _begin(self) -> Graph:
        if self._converging:
            self._converging.initialize()
        return self._capture()

    def _capture(self) -> Graph:
        self._graph = self.backend.capture(self.solver.step, in_graph=self.solver.in_graph)
        if self.times_launches:
            self._timed = time_steps(self.solver, self.backend, self._graph, self.step)
            self._graph = self._timed.graph if self._timed else self._graph
        return self._graph

    def _enqueue(self, graph: Graph, total: int) -> None:
        """Enqueue a batch of steps, and write the samples of the previous batch."""
        at_once = self.solver.steps_at_once
        count = max(1, min(self._size, total - self.step, self._most_steps) // at_once)
        graph.replay(count)
        self.step += count * at_once
        self.updates += count * at_once * self.solver.updates_per_step
        self._write_behind()

    def _make_calls(self, before: int) -> None:
        """Make the calls that became due after the step `before`."""
        due = [call for call in self._calls if call.next_after(before) <= self.step]
        if due:
            self._settle()
            self.comm.collective_try(lambda: [call.function() for call in due])
            self._start_marks()

    def _stage_is_done(self) -> bool:
        """Check convergence if a check is due."""
        found = self._converging
        if found is None or self.step < self._next_check:
            return False
        self._next_check = self._check_after(self.step)
        return bool(self.comm.collective_try(lambda: found.check_convergence(self.step)))

    def _next_stage(self) -> Graph | None:
        """The graph of the next stage; None if there is none and the run has converged."""
        if self._converging is None or not self._converging.next_stage():
            self.converged = True
            return None
        self._settle()
        self._start_marks()
        self._size = 1
        return self._capture()

    def _check_after(self, step: int) -> float:
        if self._converging is None:
            return inf
        every = self._converging.check_every
        return (step // every + 1) * every

    def save(self, path: Path) -> None:
        """Write a checkpoint of the current step, after flushing the output files to disk."""
        self._settle()
        writers = {name: output.writer for name, output in self.outputs.items() if output.writer}
        self.comm.collective_try(lambda: [writer.sync() for writer in writers.values()])
        lengths = {name: writer.length for name, writer in writers.items()}
        digests = {name: writer.digest for name, writer in writers.items()}
        kept = None if self.folder is None else lengths
        progress = Progress(self.step, self.digest, kept, digests=digests)
        checkpoint.save(path, self.backend, self.solver.state(), progress, self.comm)
        self._saved_at, self._saved_step = time.monotonic(), self.step
        self._start_marks()

    def _start_marks(self) -> None:
        here = Mark(self.step, self.backend.record_event())
        self._marks = (here, here)

    @property
    def _most_steps(self) -> int:
        """Steps until a ring buffer could overflow, or a checkpoint or a call is due."""
        most = min([LONGEST_BATCH, *(output.most_steps for output in self.outputs.values())])
        due = [self._next_check, *(call.next_after(self.step) for call in self._calls)]
        most = int(min(most, min(due) - self.step))
        wish = self._wish
        if wish is None or wish.steps is None:
            return most
        return min(most, self._saved_step + wish.steps - self.step)

    def _write_behind(self) -> None:
        """Write the samples of the previous batch while the newest batch runs.

        Waiting for the previous batch also keeps the host from enqueuing more steps than the ring
        buffers have room for.
        """
        if self.step - self._finite_checked >= FINITE_CHECK_STEPS:
            self._enqueue_finite_check()
        begin, end = self._marks
        self._marks = (end, Mark(self.step, self.backend.record_event()))
        if end.step > self._drained:
            self._drain(end.step, end.event)
            pace = end.event.seconds_since(begin.event) / (end.step - begin.step)
            self._size = self.comm.bcast(_next_size(self._size, pace))

    def _enqueue_finite_check(self) -> None:
        if isinstance(self.solver, FiniteCheck):
            self.solver.enqueue_finite_check()
        self._finite_checked = self.step

    def _drain(self, end: int, after: Event | None) -> None:
        """Write the samples of all steps up to `end`, which are complete at the event `after`."""
        written = [output.collect(self._drained, end, after) for output in self.outputs.values()]
        self.comm.collective_try(lambda: self._check_and_write(written, after))
        self._check_growth(after)
        self._drained = end

    def _check_and_write(self, written: Sequence[Callable[[], None]], after: Event | None) -> None:
        if after is not None:
            after.wait()
        self.solver.check_health(self.step, after)
        for write in written:
            write()

    def _make_watch(self) -> GrowthWatch | None:
        """A watch over the steps of one call of `run`: between calls, users may change fields."""
        solver = self.solver
        if not isinstance(solver, EnergyCheck):
            return None
        return GrowthWatch(solver.sources_end, solver.remedy)

    def _check_growth(self, after: Event | None) -> None:
        """Pass the energy of all ranks to the watch, once for each search."""
        solver, step = self.solver, self._finite_checked
        if self._watch is None or step == self._watched or not isinstance(solver, EnergyCheck):
            return
        supplied = solver.supplied_energy(after) if isinstance(solver, EnergySupply) else 0.0
        found = self.comm.allgather((solver.energy(after), supplied))
        energy, supply = (sum(of_ranks) for of_ranks in zip(*found, strict=True))
        self._watch.add(energy, solver.time(step), supply)
        self._watched = step

    def _settle(self) -> None:
        """Wait for the device, check that values are finite, write all samples."""
        self._enqueue_finite_check()
        self.backend.synchronize()
        self._drain(self.step, None)

    def _interrupt_or_save(self, stop: StopRequest) -> None:
        """Stop if any rank was asked to; save if rank 0 finds that a checkpoint is due."""
        asked_by = str(stop) or ("a callback" if self.stop_asked else "")
        wishes = self.comm.allgather((asked_by, self._checkpoint_due()))
        asked = next((signal for signal, _ in wishes if signal), "")
        if asked:
            self._interrupt(f"stopped by {asked} after step {self.step}")
        if self.folder and wishes[0][1]:
            self.save(self.folder / checkpoint.NAME)

    def _interrupt(self, reason: str) -> None:
        if self.folder is None:
            self._settle()
        else:
            path = self.folder / checkpoint.NAME
            self.save(path)
            reason += f"; continue with --resume ({path})"
        self.comm.fail_together(Interrupted(reason))

    @property
    def _wish(self) -> CheckpointSection | None:
        """The checkpoint interval of the case; None without a results folder."""
        return self.solver.setup.case.run.checkpoint if self.folder else None

    def _checkpoint_due(self) -> bool:
        wish = self._wish
        if wish is None:
            return False
        if wish.steps is not None:
            return bool(self.step - self._saved_step >= wish.steps)
        return wish.minutes is not None and time.monotonic() - self._saved_at >= 60 * wish.minutes


def _next_size(size: int, pace: float) -> int:
    """Steps of a batch of about BATCH_SECONDS at `pace` s per step; at most twice `size`."""
    return max(1, min(2 * size, LONGEST_BATCH, int(BATCH_SECONDS / max(pace, 1e-9))))
