"""Run a case and write its results to a folder."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from groundswell import registry
from groundswell.case import Case
from groundswell.case.quantities import as_values
from groundswell.errors import GroundswellError, InputError, RunFailed
from groundswell.exchange.world import World, world
from groundswell.outputs.ring_buffer import Output
from groundswell.simulation import checkpoint
from groundswell.simulation.checkpoint import Progress
from groundswell.simulation.driver import driver_of
from groundswell.simulation.preparation import OpenSolver, open_solver, prepare, shared_digest
from groundswell.simulation.progress import progress
from groundswell.simulation.result import Result
from groundswell.simulation.results_folder import (
    claimed,
    folder_of,
    relative,
    remove_stale,
    require_unclaimed,
    require_writable,
)
from groundswell.simulation.signals import StopRequest, stop_request
from groundswell.simulation.solve import Solve
from groundswell.simulation.solver import TimeStepper
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
        target: the results folder.
        digest: digest of the case.
    """

    opened: OpenSolver
    target: Path
    digest: str
    clock: _Clock
    outputs: Mapping[str, Output] = field(init=False)
    driver: TimeLoop | Solve = field(init=False)

    def start(self, done: Progress | None) -> None:
        """Open the output files; start at step 0 or resume from the checkpoint."""
        solver, first, lengths = self.opened.solver, 0, None
        if done is not None and isinstance(solver, TimeStepper):
            path = self.target / checkpoint.NAME
            checkpoint.restore(path, self.opened.backend, solver.state(), done)
            first, lengths = done.step, done.lengths
        elif self.opened.world.first:
            checkpoint.remove(self.target)  # another case's; this run replaces its files
        self.outputs = solver.outputs.open(self.target, lengths)
        self.driver = driver_of(self.opened, self.outputs, self.target, self.digest, first)

    def write(self) -> list[str]:
        """Give the files their final names, and write those that are known only at the end."""
        files = [output.writer.finish() for output in self.outputs.values() if output.writer]
        return relative(self.target, [*files, *self.opened.solver.outputs.write(self.target)])

    def summary(self, files: list[str]) -> dict[str, Any]:
        """The contents of summary.json."""
        setup, solver, driver = self.opened.setup, self.opened.solver, self.driver
        quantities, tuning = setup.quantities(), self.opened.tuning
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
            "warnings": [*solver.warnings],
            "device": self.opened.backend.device,
            "backend": self.opened.backend.name,
            "ranks": solver.describe_ranks(),
            "steps": driver.step,
            "resumed_at": driver.first,
            **throughput(self.opened, driver.updates, driver.seconds),
            "wall": self.clock.seconds,
            "files": files,
            "versions": versions(self.opened.backend) | registry.versions_of(setup.case.solver),
            **({"tuning": tuning.as_dict()} if tuning else {}),
        }


def run(
    case: Case | str | Path,
    *,
    folder: str | Path | None = None,
    resume: bool = False,
    quiet: bool = True,
    backend: str | None = None,
    precision: str | None = None,
) -> Result:
    """Run a case to its end.

    Output files have temporary names until the run has succeeded. Only then do they replace the
    files of an earlier run in the same folder.

    Args:
        case: a case, or the path of an input file.
        folder: the results folder; by default the one that the case names.
        resume: continue from the checkpoint in that folder.
        quiet: show no progress.
        backend, precision: replace those of the case.

    Raises:
        InputError: the case cannot run as requested; nothing has been written.
        RunFailed: the run started but could not continue.
        Interrupted: a signal stopped the run; the checkpoint has been written.
    """
    clock, job = _Clock(), world()
    with clock("read"):
        setup = prepare(case, job, backend=backend, precision=precision)
        target = folder_of(setup.case, folder)
        digest = shared_digest(setup, job)
        # Refuse an impossible request before the device is opened and kernels are compiled.
        job.agree(lambda: require_unclaimed(target) if job.first else None)
        job.agree(lambda: _require_possible(target, digest, resume))
    opened = open_solver(setup, job, clock, quiet=quiet or not job.first)
    current = _Run(opened, target, digest, clock)
    with _claimed(target, job), stop_request() as stop:
        with clock("read"):
            # Another process may have written a newer checkpoint since the first check.
            done = job.agree(lambda: _earlier(target, digest, resume))
            job.agree(lambda: current.start(done))
        with _closed_on_failure(current.outputs), _checkpoint_named(target):
            with clock("time steps"):
                _advance(current, quiet or not job.first, stop)
            with clock("write"):
                files = job.agree(current.write)
        summary = current.summary(files)
        job.agree(lambda: _replace_earlier(target, summary) if job.first else None)
        current.opened.solver.close()
    return Result(target)


def _require_possible(target: Path, digest: str, resume: bool) -> None:
    require_writable(target)
    _earlier(target, digest, resume)


@contextmanager
def _claimed(target: Path, job: World) -> Iterator[None]:
    """Rank 0 locks the folder for all ranks."""
    with ExitStack() as held:
        job.agree(lambda: held.enter_context(claimed(target)) if job.first else None)
        yield


def _earlier(folder: Path, digest: str, resume: bool) -> Progress | None:
    """The progress of the checkpoint to resume; without `resume`, refuse to overwrite one."""
    path = folder / checkpoint.NAME
    if resume:
        progress = checkpoint.read_progress(path, digest)
        if progress.lengths is None:
            raise InputError(
                f"{path} was written by Simulation.checkpoint, and there are no results to "
                "continue; in Python, use Simulation(case, restart=...)"
            )
        return progress
    if checkpoint.belongs(path, digest):
        raise InputError(
            f"{path} belongs to an unfinished run of this case; continue it with --resume (in "
            "Python: resume=True), or delete it to start again"
        )
    return None


def _advance(current: _Run, quiet: bool, stop: StopRequest) -> None:
    setup, solver, driver = current.opened.setup, current.opened.solver, current.driver
    ends = setup.has_fixed_steps
    shown = progress(
        setup.steps, solver.status, solver.unit, quiet=quiet, start=driver.first, ends=ends
    )
    with shown as report:
        driver.run(setup.steps, report, stop)


@contextmanager
def _closed_on_failure(outputs: Mapping[str, Output]) -> Iterator[None]:
    """Close the files if the block fails, so that a later run can resume them."""
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
    """Add the path of the checkpoint to the message of a failed run."""
    try:
        yield
    except RunFailed as error:
        path = folder / checkpoint.NAME
        if path.exists():
            error.args = (f"{error}. Continue the run with --resume, from {path}",)
        raise


def _replace_earlier(folder: Path, content: Mapping[str, Any]) -> None:
    """Write the summary; remove the checkpoint and the stale files of an earlier run."""
    earlier: Sequence[str] = []
    with suppress(InputError):
        earlier = read_summary(folder).get("files", [])
    write_summary(folder, content)
    remove_stale(folder, earlier, content["files"])
    checkpoint.remove(folder)
