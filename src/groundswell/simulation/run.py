"""From a case to a folder of results."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from groundswell.backends import Backend
from groundswell.case import Case
from groundswell.case.quantities import as_values
from groundswell.errors import GroundswellError, InputError, RunFailed
from groundswell.exchange.tuning import Tuning
from groundswell.exchange.world import World, world
from groundswell.outputs.ring_buffer import Output
from groundswell.simulation import checkpoint
from groundswell.simulation.checkpoint import Progress
from groundswell.simulation.preparation import case_digest, open_solver, prepare
from groundswell.simulation.progress import Report, progress
from groundswell.simulation.result import Result
from groundswell.simulation.results_folder import (
    claimed,
    folder_of,
    relative,
    remove_stale,
    require_writable,
)
from groundswell.simulation.signals import StopRequest, stop_request
from groundswell.simulation.solve import solve
from groundswell.simulation.solver import DirectSolver, Setup, Solver, TimeStepper
from groundswell.simulation.summary import read_summary, throughput, versions, write_summary
from groundswell.simulation.time_loop import TimeLoop


@dataclass
class _Clock:
    """Wall time by phase."""

    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - begun


@dataclass
class _Run:
    """One rank's part of a run.

    Args:
        target: folder of the results.
        digest: of the case.
        bandwidth: of the devices of all ranks, bytes a second.
    """

    setup: Setup
    backend: Backend
    solver: Solver
    world: World
    target: Path
    digest: str
    bandwidth: float
    tuning: Tuning | None
    clock: _Clock
    outputs: Mapping[str, Output] = field(default_factory=dict)
    first: int = 0
    steps: int = 0
    updates: int = 0
    seconds: float = 0.0

    def restore(self, done: Progress | None) -> None:
        """Open the output files; begin at step 0, or where the checkpoint left off."""
        lengths: Mapping[str, int] | None = None
        if done is not None and isinstance(self.solver, TimeStepper):
            path = self.target / checkpoint.NAME
            checkpoint.restore(path, self.backend, self.solver.state(), done)
            lengths, self.first = done.lengths, done.step
        elif self.world.first:
            checkpoint.remove(self.target)  # of another case, whose files are about to be replaced
        self.outputs = self.solver.outputs.open(self.target, lengths)

    def advance(self, report: Report, stop: StopRequest) -> None:
        """All steps, or the one solve."""
        if isinstance(self.solver, DirectSolver):
            self.seconds, self.updates = solve(self.solver, report)
            self.steps = 1
            return
        assert isinstance(self.solver, TimeStepper)
        loop = TimeLoop(
            self.solver,
            self.backend,
            self.outputs,
            self.target,
            self.digest,
            self.first,
            self.world,
        )
        loop.run(self.setup.steps, report, stop)
        self.steps, self.updates, self.seconds = loop.step, loop.updates, loop.seconds

    def write(self) -> list[str]:
        """Give the files their final names, and write those that are only known at the end."""
        files = [output.writer.finish() for output in self.outputs.values() if output.writer]
        return relative(self.target, [*files, *self.solver.outputs.write(self.target)])

    def summary(self, files: list[str]) -> dict[str, Any]:
        """The contents of summary.json."""
        setup, quantities = self.setup, self.setup.quantities()
        tuning = {"tuning": self.tuning.as_dict()} if self.tuning else {}
        return {
            "title": setup.case.title,
            "solver": setup.case.solver,
            "started": self.clock.started.isoformat(timespec="seconds"),
            "case": {
                "digest": self.digest,
                **as_values(quantities),
                "quantities": [quantity.as_dict() for quantity in quantities],
                "warnings": [*setup.warnings()],
            },
            "warnings": [*self.solver.warnings],
            "device": self.backend.device,
            "backend": self.backend.name,
            "ranks": self.solver.describe_ranks(),
            "steps": self.steps,
            "resumed_at": self.first,
            **throughput(self.solver, self.updates, self.seconds, self.bandwidth),
            "wall": self.clock.seconds,
            "files": files,
            "versions": versions(self.backend),
            **tuning,
        }


def run(
    case: Case | str | Path,
    *,
    folder: str | Path | None = None,
    resume: bool = False,
    quiet: bool = True,
) -> Result:
    """Run a case to its end.

    Until the run has ended well, its files carry temporary names, and those of an earlier run in
    the same folder stay as they are; then they are replaced.

    Args:
        case: a case, or the path of its file.
        folder: of the results; by default the one that the case names.
        resume: continue from the checkpoint in that folder.
        quiet: show no progress.

    Raises:
        InputError: the case cannot run as asked; nothing has been written.
        RunFailed: it started and could not go on.
        Interrupted: a signal asked it to stop; the checkpoint is written.
    """
    clock, job = _Clock(), world()
    with clock("read"):
        setup = job.agree(lambda: prepare(case, job))
        target = folder_of(setup.case, folder)
        digest = job.agree(lambda: case_digest(setup))
        job.agree(lambda: _require_alike(job.share(digest)))
        # What cannot go on is refused before the long part.
        job.agree(lambda: _require_possible(target, digest, resume))
    opened = open_solver(setup, job, clock, quiet=quiet or not job.first)
    current = _Run(
        setup,
        opened.backend,
        opened.solver,
        job,
        target,
        digest,
        opened.bandwidth,
        opened.tuning,
        clock,
    )
    with _claimed(target, job), stop_request() as stop:
        with clock("read"):
            # An earlier process may have ended just now, with a newer checkpoint.
            done = job.agree(lambda: _earlier(target, digest, resume))
            job.agree(lambda: current.restore(done))
        with _closed_on_failure(current.outputs), _checkpoint_named(target):
            with clock("time steps"):
                _advance(current, quiet or not job.first, stop)
            with clock("write"):
                files = job.agree(current.write)
        summary = current.summary(files)
        job.agree(lambda: _replace_earlier(target, summary) if job.first else None)
        current.solver.close()
    return Result(target)


def _require_alike(digests: list[str]) -> None:
    """See that all ranks read the same case and data."""
    others = [rank for rank, digest in enumerate(digests) if digest != digests[0]]
    if others:
        raise InputError(
            f"ranks {others} read another case or other data than rank 0; let all hosts see the "
            "same files"
        )


def _require_possible(target: Path, digest: str, resume: bool) -> None:
    require_writable(target)
    _earlier(target, digest, resume)


@contextmanager
def _claimed(target: Path, job: World) -> Iterator[None]:
    """Rank 0 holds the folder for all."""
    with ExitStack() as held:
        job.agree(lambda: held.enter_context(claimed(target)) if job.first else None)
        yield


def _earlier(folder: Path, digest: str, resume: bool) -> Progress | None:
    """The progress of the checkpoint to resume; without `resume` none may be lost."""
    path = folder / checkpoint.NAME
    if resume:
        return checkpoint.read_progress(path, digest)
    if checkpoint.belongs(path, digest):
        raise InputError(
            f"{path} is of an unfinished run of this case; continue it with --resume (in Python: "
            "resume=True), or delete it to start again"
        )
    return None


def _advance(current: _Run, quiet: bool, stop: StopRequest) -> None:
    setup, solver = current.setup, current.solver
    ends = setup.has_fixed_steps
    shown = progress(
        setup.steps, solver.status, solver.unit, quiet=quiet, start=current.first, ends=ends
    )
    with shown as report:
        current.advance(report, stop)


@contextmanager
def _closed_on_failure(outputs: Mapping[str, Output]) -> Iterator[None]:
    """Close the files when the block fails, so that a later run can take them up."""
    try:
        yield
    except BaseException:
        for output in outputs.values():
            with suppress(GroundswellError):  # the first failure is the one to report
                if output.writer:
                    output.writer.close()
        raise


@contextmanager
def _checkpoint_named(folder: Path) -> Iterator[None]:
    """Say where a run that fails can be taken up."""
    try:
        yield
    except RunFailed as error:
        path = folder / checkpoint.NAME
        if path.exists():
            error.args = (f"{error}. Take the run up again with --resume, from {path}",)
        raise


def _replace_earlier(folder: Path, content: Mapping[str, Any]) -> None:
    """Write the summary; remove the checkpoint and whatever only an earlier run had."""
    earlier: Sequence[str] = []
    with suppress(InputError):
        earlier = read_summary(folder).get("files", [])
    write_summary(folder, content)
    remove_stale(folder, earlier, content["files"])
    checkpoint.remove(folder)
