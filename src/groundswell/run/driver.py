"""The one time loop: every solver's steps, its recorders, checkpoints and alarms.

Steps are enqueued in runs. While a run is under way on the device, the samples of the run before
are written to disk, so recording never stops the loop.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groundswell.backends import Backend, Event
from groundswell.errors import Interrupted
from groundswell.run import checkpoint
from groundswell.run.checkpoint import Progress
from groundswell.run.progress import Report
from groundswell.run.ring import Output
from groundswell.run.signals import StopRequest

RUN_SECONDS = 0.4  # aimed at for one run of steps: how often the user sees news
FIRST_RUN = 8
LONGEST_RUN = 1024
GUARD_STEPS = 64  # between searches for values that are not finite


@dataclass
class Loop:
    """The time loop of one run.

    Args:
        solver: what steps (see `solvers/earthquake/solver.py` for what it offers).
        outputs: open files and the rings that feed them.
        folder: of the results; checkpoints go there.
        digest: of the case, so that checkpoints know where they belong.
        step: steps done before, when a checkpoint was restored.
    """

    solver: Any
    backend: Backend
    outputs: dict[str, Output]
    folder: Path
    digest: str
    step: int = 0
    seconds: float = 0.0
    _mark: Event | None = field(default=None, init=False)
    _drained: int = field(init=False)
    _guarded: int = field(init=False)
    _saved_at: float = field(init=False)
    _saved_step: int = field(init=False)

    def __post_init__(self) -> None:
        self._drained = self._guarded = self._saved_step = self.step
        self._saved_at = time.monotonic()

    def run(self, total: int, report: Report, stop: StopRequest) -> None:
        """Advance to `total` steps.

        Raises:
            Interrupted: a stop was asked for; the checkpoint is written.
            RunFailed: a value became infinite or NaN, or the disk filled up.
        """
        graph = self.backend.capture(self.solver.step)
        begun, size = time.monotonic(), FIRST_RUN
        while self.step < total:
            count = min(size, total - self.step, self._most_steps)
            started = time.monotonic()
            graph.replay(count)
            self._after_run(self.step, self.step + count)
            self.step += count
            report(self._drained)
            size = _next_size(count, time.monotonic() - started)
            if stop:
                self._stop(stop)
            if self._checkpoint_due():
                self.save()
        self._settle()
        report(self.step)
        self.seconds += time.monotonic() - begun

    def save(self) -> None:
        """Write a checkpoint of this moment; files are on disk before it that it relies on."""
        self._settle()
        for output in self.outputs.values():
            output.writer.sync()
        lengths = {name: output.writer.length for name, output in self.outputs.items()}
        path = self.folder / checkpoint.NAME
        checkpoint.save(
            path, self.backend, self.solver.state(), Progress(self.step, self.digest, lengths)
        )
        self._saved_at, self._saved_step = time.monotonic(), self.step

    @property
    def _most_steps(self) -> int:
        return min([LONGEST_RUN, *(output.most_steps for output in self.outputs.values())])

    def _after_run(self, begin: int, end: int) -> None:
        """While steps begin .. end - 1 run, write what came before them."""
        mark = self._mark
        self._mark = self.backend.mark()
        if begin > self._drained:
            self._drain(begin, mark)
        if end - self._guarded >= GUARD_STEPS:
            self._guard(end)

    def _drain(self, end: int, after: Event | None) -> None:
        for output in self.outputs.values():
            output.drain(self._drained, end, after)
        if after is not None:
            after.wait()
        self._drained = end

    def _guard(self, step: int) -> None:
        self.solver.guard()
        self.solver.raise_if_unstable(step)
        self._guarded = step

    def _settle(self) -> None:
        """Wait for everything, write all samples, look for values that are not finite."""
        self.backend.synchronize()
        self._drain(self.step, self._mark)
        self._guard(self.step)

    def _checkpoint_due(self) -> bool:
        wish = self.solver.setup.case.run.checkpoint
        if wish is None:
            return False
        if wish.steps is not None:
            return bool(self.step - self._saved_step >= wish.steps)
        return bool(time.monotonic() - self._saved_at >= 60 * wish.minutes)

    def _stop(self, stop: StopRequest) -> None:
        self.save()
        raise Interrupted(
            f"stopped by {stop} after step {self.step}; continue with --resume "
            f"({self.folder / checkpoint.NAME})"
        )


def _next_size(count: int, seconds: float) -> int:
    """Steps for the next run, so that it takes about RUN_SECONDS; at most twice as many."""
    ideal = count * RUN_SECONDS / max(seconds, 1e-6)
    return max(1, min(2 * count, LONGEST_RUN, int(ideal)))
