"""Run a case and write its results to a folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypedDict, Unpack

from groundswell import registry
from groundswell.arguments import require_arguments
from groundswell.backends.array_interop import array_interop
from groundswell.case import CaseInput, Settings
from groundswell.case.quantities import as_values, byte_size
from groundswell.errors import DiskFull, InputError, RunFailed, Unstable, quoted
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.formats.appendable_hdf5 import METADATA_BYTES
from groundswell.simulation import checkpoint
from groundswell.simulation.callbacks import Callback, calls_of, require_callbacks
from groundswell.simulation.checkpoint import Progress
from groundswell.simulation.clock import Clock
from groundswell.simulation.driver import driver_of
from groundswell.simulation.earlier_run import AUTO, Resume, is_complete, progress_to_resume
from groundswell.simulation.findings import findings_of
from groundswell.simulation.folder_lock import locked
from groundswell.simulation.kernel_groups import shares_by_group
from groundswell.simulation.live_run import LiveRun
from groundswell.simulation.preparation import (
    Measure,
    OpenSolver,
    check_of,
    cost_of,
    open_solver,
    prepare,
    quantities_of,
    shared_digest,
)
from groundswell.simulation.progress import progress
from groundswell.simulation.resources import require_disk_space
from groundswell.simulation.result import Result
from groundswell.simulation.results_folder import folder_of, require_writable
from groundswell.simulation.run_files import RunFiles
from groundswell.simulation.session import RunSession
from groundswell.simulation.signals import StopRequest, stop_request, stopping_at_once
from groundswell.simulation.solve import Solve
from groundswell.simulation.solver import Cost, Setup, TimeStepper
from groundswell.simulation.summary import (
    SOLVE,
    STEPS,
    share_of_steps,
    text_of,
    throughput,
    versions,
)
from groundswell.simulation.time_loop import TimeLoop

NOTHING_WRITTEN = "nothing has been written"
ARGUMENTS = ("case", "folder", "resume", "overwrite", "quiet")


@dataclass
class _Run:
    """One rank's part of a run.

    Args:
        files: its files in the results folder.
        digest: digest of the case.
        cost: the estimated cost on one rank.
        session: what several runs of this process share, if there are several.
    """

    opened: OpenSolver
    files: RunFiles
    digest: str
    cost: Cost
    clock: Clock
    session: RunSession | None
    driver: TimeLoop | Solve = field(init=False)

    @property
    def comm(self) -> Communicator:
        """The ranks that share the run."""
        return self.opened.comm

    def start(self, done: Progress | None) -> None:
        """Open the output files; start at step 0 or resume from the checkpoint."""
        solver, files, first, lengths = self.opened.solver, self.files, 0, None
        if done is not None and isinstance(solver, TimeStepper):
            checkpoint.restore(files.checkpoint, self.opened.backend, solver.state(), done)
            first, lengths = done.step, done.lengths
        elif self.comm.first:
            files.remove_unfinished()  # from an earlier run, which this run replaces
        files.outputs = solver.outputs.open(files.folder, lengths)
        if done is not None:
            files.require_unchanged(done.digests)
        kept = files.outputs, files.checkpoints, self.digest, first
        # One run reports the time by kernels; timing these in each of many runs would cost time.
        self.driver = driver_of(self.opened, *kept, times_launches=self.session is None)

    def advance(self, quiet: bool, stop: StopRequest, callbacks: Sequence[Callback]) -> None:
        """Make all remaining steps."""
        setup, solver, driver = self.opened.setup, self.opened.solver, self.driver
        ends = setup.has_fixed_steps
        shown = progress(
            setup.steps, solver.status, solver.unit, quiet=quiet, start=driver.first, ends=ends
        )
        is_direct = not isinstance(driver, TimeLoop)
        with self._turn(), self.clock(SOLVE if is_direct else STEPS), shown as report:
            if isinstance(driver, TimeLoop):
                live, interop = LiveRun(self.opened, driver), array_interop(self.opened.backend)
                driver.run(setup.steps, report, stop, calls_of(callbacks, live, interop))
                driver.reach_last_stage()
            else:
                driver.run(setup.steps, report, stop)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait until no other process of the session makes steps on this device."""
        with ExitStack() as held:
            if self.session:
                with self.clock("wait"):
                    held.enter_context(self.session.turn())
            yield

    def finish(self) -> None:
        """Write the final files; then all files replace those of an earlier run."""
        self.files.all_steps_made = True
        with self.clock("write"):
            names = self.comm.collective_try(
                lambda: self.files.complete(self.opened.solver.outputs.write)
            )
        summary = self.summary(names)
        self.comm.collective_try(lambda: self.files.publish(summary) if self.comm.first else None)
        self.opened.solver.close()

    @property
    def disk_space_needed(self) -> int:
        """Disk space that the run still needs, bytes."""
        setup, solver = self.opened.setup, self.opened.solver
        needed = self.cost.output_bytes + METADATA_BYTES * (1 + len(self.files.growing))
        if isinstance(solver, TimeStepper) and setup.case.run.checkpoint:
            needed += 2 * checkpoint.size_of(solver.state())  # the previous and the next one
        return needed - self.files.size

    def _time_by_kernels(self) -> dict[str, object]:
        """The shares of groups of kernels in the timed steps, if any; collective."""
        timed, times = self.driver.launch_times()
        shares = shares_by_group(times, self.opened.setup.case.solver, self.comm)
        return {"kernel_groups": {"timed": timed, "shares": shares}} if shares else {}

    def summary(self, files: list[str]) -> dict[str, object]:
        """The contents of summary.json; collective."""
        setup, solver, driver = self.opened.setup, self.opened.solver, self.driver
        quantities, tuning = quantities_of(setup, self.cost), self.opened.tuning
        return {
            "title": setup.case.title,
            "solver": setup.case.solver,
            "started": self.clock.started.isoformat(timespec="seconds"),
            "case": {
                "digest": self.digest,
                "text": text_of(setup.case),
                **as_values(quantities),
                "quantities": [quantity.as_dict() for quantity in quantities],
                "warnings": [*check_of(setup).warnings(setup)],
            },
            "warnings": [*solver.warnings],
            "device": self.opened.backend.device,
            "backend": self.opened.backend.name,
            "ranks": solver.describe_ranks(),
            "steps": driver.step,
            "resumed_at": driver.first,
            **throughput(self.opened, self.cost.bytes_per_update, driver.updates, driver.seconds),
            "wall": self.clock.seconds,
            "share_of_steps": share_of_steps(self.clock.seconds),
            **self._time_by_kernels(),
            "files": files,
            "versions": versions(self.opened.backend) | registry.versions_of(setup.case.solver),
            **({"tuning": asdict(tuning)} if tuning else {}),
            **findings_of(solver),
        }


class RunOptions(TypedDict, total=False):
    """Further keyword arguments of `run`, which describes them."""

    backend: str | None
    precision: str | None
    settings: Settings | None
    temporary: bool
    measure: bool
    callbacks: Sequence[Callback]
    session: RunSession | None


@dataclass(frozen=True)
class _Request:
    """The arguments of `run`."""

    case: CaseInput
    folder: str | Path | None
    resume: Resume
    overwrite: bool
    quiet: bool
    backend: str | None = None
    precision: str | None = None
    settings: Settings | None = None
    temporary: bool = False
    measure: bool = False
    callbacks: Sequence[Callback] = ()
    session: RunSession | None = None

    def prepare(self, job: Communicator) -> Setup:
        """Host-side preparation of the case."""
        return prepare(
            self.case,
            job,
            backend=self.backend,
            precision=self.precision,
            settings=self.settings,
        )

    def claim(
        self, folder: Path, digest: str, job: Communicator, claimed: ExitStack
    ) -> Progress | None:
        """Lock the results folder until `claimed` closes; returns what an earlier run has done.

        Raises:
            InputError: the run cannot use the folder as requested.
        """
        job.collective_try(lambda: require_writable(folder))
        job.collective_try(lambda: claimed.enter_context(locked(folder)) if job.first else None)
        return job.collective_try(
            lambda: progress_to_resume(folder, digest, resume=self.resume, overwrite=self.overwrite)
        )


def run(
    case: CaseInput,
    *,
    folder: str | Path | None = None,
    resume: Resume = False,
    overwrite: bool = False,
    quiet: bool = True,
    **options: Unpack[RunOptions],
) -> Result:
    """Run a case to its end.

    >>> import groundswell as gs
    >>> result = gs.run("case.toml", folder="warm", settings={"fluid.rayleigh": 2e3})
    >>> round(result.heat["nusselt"], 1)
    1.2

    Output files have temporary names until the run has succeeded. Only then do they replace the
    files of an earlier run in the same folder.

    Args:
        case: the path of an input file, the tables of a case as a dictionary, or a `Case`.
        folder: the results folder; by default the one that the case names.
        resume: continue from the checkpoint in that folder. With "auto", continue if there is one,
            return the results if they are complete, and otherwise start from the beginning.
        overwrite: replace results of another case, or an unfinished run, in that folder.
        quiet: show no progress.
        options: `backend` and `precision` replace those of the case; `settings` are other values
            of the case file to replace, by path, such as {"source.0.x": "2 km"}; `callbacks` are
            functions to call between steps, see `every`; `temporary` runs write no checkpoints;
            `measure` is true to measure the memory bandwidth again instead of using the stored
            value; runs that share a `session` share its device.

    Raises:
        InputError: the case cannot run as requested; nothing has been written.
        RunFailed: the run started but could not continue.
        Interrupted: a signal or a callback stopped the run; if it had made steps, it has written a
            checkpoint.
    """
    require_arguments(options, [*ARGUMENTS, *RunOptions.__annotations__])
    request = _Request(case, folder, resume, overwrite, quiet, **options)
    require_callbacks(request.callbacks)
    job = get_communicator()
    clock = Clock(quiet or not job.first)
    with ExitStack() as claimed:
        if request.session:
            claimed.enter_context(request.session.kept.used())
        with stopping_at_once(NOTHING_WRITTEN):
            with clock("read"):
                setup = request.prepare(job)
                digest = shared_digest(setup.case, job)
                files = RunFiles(folder_of(setup.case, folder), not request.temporary)
                # Refuse an impossible request before the device is opened and kernels compiled.
                done = request.claim(files.folder, digest, job, claimed)
                if resume == AUTO and _has_ended(job, files.folder, digest, quiet=quiet):
                    return Result(files.folder)
                cost = job.collective_try(lambda: cost_of(setup).estimate(setup))
                job.collective_try(lambda: _require_room(setup, cost, files, done))
            wanted: Measure = "again" if request.measure else "once"
            opened = open_solver(setup, job, clock, measure=wanted, session=request.session)
            _require_steps(opened, request.callbacks)
        current = _Run(opened, files, digest, cost, clock, request.session)
        with stop_request() as stop, _with_remedy(current), files.cleaned_up_on_failure(job.first):
            with clock("read", "Opening the results"):
                job.collective_try(lambda: current.start(done))
            current.advance(quiet or not job.first, stop, request.callbacks)
            current.finish()
    return Result(files.folder)


def _require_steps(opened: OpenSolver, callbacks: Sequence[Callback]) -> None:
    """Raise `InputError` if callbacks would never be called."""
    if callbacks and not isinstance(opened.solver, TimeStepper):
        name = quoted(opened.setup.case.solver)
        raise InputError(f"the solver {name} makes no steps; run it without callbacks")


def _has_ended(job: Communicator, folder: Path, digest: str, *, quiet: bool) -> bool:
    """Whether an earlier run of this case is complete; if so, rank 0 prints a message."""
    ended = job.collective_try(lambda: job.first and is_complete(folder, digest))
    if ended and not quiet:
        print(f"{folder} holds the complete results of this case", file=sys.stderr)
    return bool(job.bcast(ended))


def _require_room(setup: Setup, cost: Cost, files: RunFiles, done: Progress | None) -> None:
    """Raise `InputError` if the results do not fit on the disk.

    If a run may end early, the size of its records is only an upper bound.
    """
    if setup.has_fixed_steps or setup.steps == 1 or not setup.case.output.record:
        needed = cost.output_bytes + METADATA_BYTES
        require_disk_space(needed - (files.size if done else 0), files.folder)


@contextmanager
def _with_remedy(current: _Run) -> Iterator[None]:
    """Add to the message of a failed run the disk space that it needs, and how to continue it."""
    try:
        yield
    except RunFailed as error:
        path = current.files.checkpoint
        resumable = path.exists()
        if isinstance(error, DiskFull):
            room = byte_size(max(current.disk_space_needed, METADATA_BYTES))
            most = "" if current.opened.setup.has_fixed_steps else "up to "
            again = "" if resumable else ", then start again: there is no checkpoint"
            error.args = (error.args[0], f"make room for {most}{room}{again}")
        if resumable and not isinstance(error, Unstable):
            error.args = (f"{error}. Continue the run with --resume, from {path}",)
        raise
