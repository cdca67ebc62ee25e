"""The commands of `groundswell ensemble`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from groundswell.cli.options import AsJson, Backend, SettingTexts, flag, settings_of

if TYPE_CHECKING:
    from groundswell.ensembles.commands import Status
    from groundswell.ensembles.plan import Plan
    from groundswell.ensembles.worker import Outcome

HELP = """Run many variants of a case, and write all results to one store.

A plan defines the base case and the values that differ from run to run. For example

    groundswell ensemble run survey.toml
"""
app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="Plan of the ensemble (TOML).")]
StorePath = Annotated[Path, typer.Argument(metavar="STORE", help="Store of the ensemble (Zarr).")]
Quiet = Annotated[bool, flag("--quiet", "-q", text="Show no progress.")]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1, help="Number of processes; by default one per core, or up to eight per GPU."
    ),
]


@app.command()
def run(
    plan: PlanPath,
    resume: Annotated[bool, flag("--resume", text="Run only what the store lacks.")] = False,
    workers: Workers = None,
    backend: Backend = None,
    settings: SettingTexts = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run all cases of a plan and write their results to one store.

    All rows of the plan are checked before the first run. A run that fails does not stop the
    others. The exit code is 1 if any has failed. For example

        groundswell ensemble run survey.toml --workers 2

        groundswell ensemble run survey.toml --resume
    """
    given = backend.value if backend else None
    with _early_workers() as commands:
        chosen = _changed(plan, settings)
        report = _report(quiet or as_json, chosen)
        found = commands.run(chosen, resume=resume, workers=workers, backend=given, report=report)
    _end(found, quiet, as_json)


@app.command()
def status(store: StorePath, as_json: AsJson = False) -> None:
    """Show how many runs of a store are complete, and why others have failed.

    If the argument is a plan instead, the runs that the store lacks are counted, too. For example

        groundswell ensemble status survey.zarr
    """
    from groundswell.ensembles import commands

    _show(commands.status_of(store), as_json)


@app.command()
def retry(
    plan: PlanPath,
    run_names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN]...", help="Names of failed runs; all of them by default."),
    ] = None,
    workers: Workers = None,
    backend: Backend = None,
    settings: SettingTexts = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Repeat failed runs, and run those that the store lacks.

    For example

        groundswell ensemble retry survey.toml shot-3
    """
    report, given = _report(quiet or as_json), backend.value if backend else None
    with _early_workers() as commands:
        chosen, names = _changed(plan, settings), run_names or ()
        found = commands.retry(chosen, names, workers=workers, backend=given, report=report)
    _end(found, quiet, as_json)


@app.command()
def export(
    store: StorePath,
    output: Annotated[
        Path | None, typer.Option(help="File for the table (CSV); by default next to the store.")
    ] = None,
    netcdf: Annotated[
        Path | None, typer.Option(help="Folder for the results of each run as NetCDF files.")
    ] = None,
) -> None:
    """Write a table of all runs, with their settings and the numbers in their summaries.

    For example

        groundswell ensemble export survey.zarr --netcdf survey
    """
    from groundswell.ensembles import commands

    files = commands.export(store, output, netcdf)
    more = f" and {len(files) - 1} NetCDF files in {netcdf}" if netcdf else ""
    typer.echo(f"wrote {files[0]}{more}")


@app.command()
def work(
    plan: PlanPath,
    worker: Annotated[int, typer.Option(min=0, help="Number of this worker, from 0.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Number of workers of the ensemble.")] = 1,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="Number of processes of this worker, as for run --workers."),
    ] = None,
    backend: Backend = None,
    settings: SettingTexts = None,
    quiet: Quiet = False,
) -> None:
    """Start one of several workers that share a plan, as a task of a batch job.

    Workers need no server. They claim runs next to the store, on a file system that they share.
    On SIGTERM or SIGUSR1, a worker writes completed runs and checkpoints, and exits with 130. The
    same command continues its work. For example

        groundswell ensemble work survey.toml --worker $SLURM_ARRAY_TASK_ID --workers 8
    """
    report, given = _report(quiet), backend.value if backend else None
    with _early_workers() as commands:
        chosen, share = _changed(plan, settings), commands.Share(worker, workers)
        found = commands.work(chosen, share, processes=processes, backend=given, report=report)
    _end(found, quiet, False)


@app.command()
def script(
    plan: PlanPath,
    tasks: Annotated[int, typer.Option(min=1, help="Number of tasks of the job array.")] = 8,
) -> None:
    """Print a Slurm script (sbatch) that runs a plan as a job array.

    For example

        groundswell ensemble script survey.toml --tasks 16 > survey.sh
    """
    from groundswell.ensembles.slurm import job_script

    typer.echo(job_script(plan, tasks), nl=False)


@contextmanager
def _early_workers() -> Iterator[ModuleType]:
    """The module of commands; workers import theirs at the same time."""
    from groundswell.ensembles.executors.forked import fork_server

    with fork_server():
        from groundswell.ensembles import commands

        yield commands


def _changed(path: Path, settings: list[str] | None) -> Plan:
    """The plan in a file, with other values in its base case."""
    from groundswell.ensembles.plan import load_plan

    return replace(load_plan(path), settings=settings_of(settings))


def _report(quiet: bool, plan: Plan | None = None) -> Callable[[Outcome], None]:
    """A function that prints the outcome of a run and, for a plan, how many runs remain."""
    if quiet:
        return lambda outcome: None
    counter = _Counter(plan) if plan else None

    def report(outcome: Outcome) -> None:
        seconds = f" in {outcome.seconds:.3g} s" if outcome.seconds else ""
        counts = f" ({counter.next()})" if counter else ""
        reason = _reason(outcome.message)
        typer.echo(f"{outcome.name} {outcome.state}{seconds}{counts}{reason}", err=True)

    return report


class _Counter:
    """Counts the runs of a plan, those included that its store has already."""

    def __init__(self, plan: Plan) -> None:
        from groundswell.ensembles.store import Store

        stored = {*Store(plan.store).names()} if plan.store.exists() else set()
        self._total, self._done = len(plan.rows), sum(row.name in stored for row in plan.rows)
        self._before, self._begun = self._done, time.monotonic()

    def next(self) -> str:
        """Count a run; returns how many have ended, and the time that the others will take."""
        from groundswell.case.quantities import duration

        self._done += 1
        each = (time.monotonic() - self._begun) / (self._done - self._before)
        left = self._total - self._done
        return f"{self._done} of {self._total}" + (
            f", {duration(each * left)} left" if left else ""
        )


def _reason(message: str) -> str:
    return f": {message.splitlines()[0]}" if message else ""


def _end(found: Status, quiet: bool, as_json: bool) -> None:
    """Show the state of the ensemble; exit with 1 unless all runs are complete."""
    if as_json or not quiet:
        _show(found, as_json)
    if found.counts["complete"] < len(found.states):
        raise typer.Exit(1)


def _show(found: Status, as_json: bool) -> None:
    from groundswell.ensembles.commands import describe

    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2))
        return
    typer.echo(describe(found))
    for name, message in found.messages.items():
        typer.echo(f"  {name}{_reason(message)}")
