"""The operations on ensembles: run, show the status, repeat failed runs, export tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from groundswell.case import Case
from groundswell.ensembles.base_case import BaseCase, require_set_ups, require_valid
from groundswell.ensembles.changes import require_unchanged
from groundswell.ensembles.datasets import require_known
from groundswell.ensembles.executors import Executor
from groundswell.ensembles.plan import Plan, as_plan, load_plan
from groundswell.ensembles.rows import Row
from groundswell.ensembles.scheduler import Report, Schedule
from groundswell.ensembles.store import COMPLETE, FAILED, MISSING, Store
from groundswell.ensembles.worker import Assignment, run_attributes
from groundswell.errors import InputError, counted, listed
from groundswell.formats.zarr_library import require_zarr
from groundswell.simulation.kept_parts import KeptParts
from groundswell.simulation.preparation import case_digest
from groundswell.simulation.signals import stop_request

# Opens an executor for a plan and a number of runs.
Open = Callable[[Plan, int], AbstractContextManager[Executor]]


@dataclass(frozen=True)
class Status:
    """The state of each run of a store.

    Args:
        store: path of the store.
        states: "complete", "failed" or "missing", by name of the run.
        messages: why runs failed, by name.
    """

    store: Path
    states: Mapping[str, str]
    messages: Mapping[str, str]

    @property
    def counts(self) -> dict[str, int]:
        """Number of runs by state."""
        found = Counter(self.states.values())
        return {state: found[state] for state in (COMPLETE, FAILED, MISSING)}

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "store": str(self.store),
            "runs": len(self.states),
            **self.counts,
            "failures": dict(self.messages),
        }


def run(
    plan: Plan | str | Path,
    *,
    resume: bool = False,
    workers: int | None = None,
    backend: str | None = None,
    executor: Open | None = None,
    report: Report | None = None,
) -> Status:
    """Run an ensemble. Runs that fail do not stop the others.

    >>> import groundswell as gs
    >>> gs.ensembles.run("plan.toml", workers=1).counts
    {'complete': 2, 'failed': 0, 'missing': 0}

    Args:
        plan: a plan, or the path of its file (TOML).
        resume: run only what the store lacks; without it, the store must not exist yet.
        workers: number of processes; by default one per core, or a few for each GPU.
        backend: replaces that of the case.
        executor: opens the `Executor` for the plan and a number of runs; by default, one of local
            processes.
        report: called with each `Outcome`.

    Returns:
        The `states` of the runs by name, "complete", "failed" or "missing", their `counts`, and the
        `messages` of those that failed.

    Raises:
        InputError: the plan or a row of it is invalid, or the store contains runs of other cases;
            the message names the rows. Nothing has been run.
        DiskFull: the disk is full; all complete runs are in the store.
        Interrupted: a signal stopped the ensemble; `resume` continues it.
    """
    chosen = as_plan(plan).with_backend(backend)
    store = Store(chosen.store)
    if store.path.exists() and not resume:
        raise InputError(
            f"{store.path} exists already; continue it with --resume (in Python: resume=True), "
            "choose another store, or remove it"
        )
    with _local(chosen, workers) if executor is None else nullcontext(executor) as opened:
        return _run_missing(chosen, store, _checked(chosen), opened, report)


@dataclass(frozen=True)
class Share:
    """The position of a worker among all workers of a plan.

    Args:
        worker: its number, from 0.
        workers: number of workers.
    """

    worker: int = 0
    workers: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.worker < self.workers:
            raise InputError(
                f"worker = {self.worker}: give a number from 0 to {self.workers - 1}, as there "
                f"are {counted(self.workers, 'worker')}"
            )

    def order(self, rows: Sequence[Row]) -> list[Row]:
        """All rows in the order in which this worker tries them.

        Each worker starts at a different row, so workers compete only when few rows are left.
        """
        first = self.worker * len(rows) // self.workers
        return [*rows[first:], *rows[:first]]


def work(
    plan: Plan | str | Path,
    share: Share,
    *,
    processes: int | None = None,
    backend: str | None = None,
    report: Report | None = None,
) -> Status:
    """Run what the store lacks, together with other workers of the same plan.

    Args:
        share: the position of this worker.
        processes: number of processes of this worker; the default is that of `workers` in `run`.
        backend: replaces that of the case.
        report: called with each `Outcome`.

    Raises as `run` does.
    """
    chosen = as_plan(plan).with_backend(backend)
    chosen = replace(chosen, rows=share.order(chosen.rows))
    with _local(chosen, processes) as opened:
        return _run_missing(chosen, Store(chosen.store), _checked(chosen), opened, report)


def _checked(plan: Plan) -> dict[str, Case]:
    """The cases of all rows; raises InputError if any is invalid."""
    cases = require_valid(BaseCase.of(plan), plan.rows, plan.source)
    for solver in {case.solver for case in cases.values()}:
        require_known(plan.results, solver)
    return cases


@contextmanager
def _local(plan: Plan, workers: int | None) -> Iterator[Open]:
    """Workers on this machine; they import modules while the plan is checked."""
    from groundswell.ensembles.executors.forked import fork_server
    from groundswell.ensembles.executors.local import LocalWorkers
    from groundswell.ensembles.executors.places import places_for

    assignment, first = Assignment.of(plan), plan.rows[0]
    with nullcontext() if plan.needs_launcher else fork_server() as server:
        if server:
            server.prepare(assignment, first)

        def open_workers(plan: Plan, runs: int) -> AbstractContextManager[Executor]:
            places = places_for(plan, assignment.base.case(first.settings), workers, runs)
            return LocalWorkers(assignment, places, server)

        yield open_workers


def _run_missing(
    plan: Plan, store: Store, cases: Mapping[str, Case], opened: Open, report: Report | None
) -> Status:
    """Run what is not in the store yet; workers start while the set-ups are checked."""
    present = {row.name: store.attributes(row.name) for row in plan.rows}
    require_unchanged({name: found for name, found in present.items() if found}, cases)
    missing = [row for row in plan.rows if present[row.name] is None]
    if missing:
        kept = KeptParts().used()
        with stop_request() as stop, kept, opened(plan, len(missing)) as executor:
            require_zarr()
            require_set_ups({row.name: cases[row.name] for row in missing}, plan.source)
            store.create({"title": plan.title})
            told = report or (lambda outcome: None)
            schedule = Schedule(executor, told, _give_up(store, plan, cases))
            schedule.run(missing, stop)
    found = status(store.path, [row.name for row in plan.rows])
    if not found.counts[MISSING]:
        store.remove_work()
    return found


def _give_up(store: Store, plan: Plan, cases: Mapping[str, Case]) -> Callable[[str, str], None]:
    """A function that records the failure of a run whose workers died."""
    settings = {row.name: row.settings for row in plan.rows}

    def record(name: str, message: str) -> None:
        case = cases[name]
        about = run_attributes(FAILED, settings[name], case, case_digest(case))
        store.write(name, {**about, "message": message}, {})

    return record


def status(store: str | Path, names: Sequence[str] | None = None) -> Status:
    """The state of the runs of a store.

    >>> import groundswell as gs
    >>> done = gs.ensembles.run("plan.toml", workers=1, resume=True)
    >>> gs.ensembles.status("plan.zarr").states
    {'run-0001': 'complete', 'run-0002': 'complete'}

    Args:
        names: those of the plan; by default those in the store.

    Raises:
        InputError: there is no store, or it is damaged.
    """
    opened = Store(Path(store))
    opened.require_format()
    found = {name: opened.attributes(name) for name in names or opened.names()}
    states = {name: about["status"] if about else MISSING for name, about in found.items()}
    failed = {
        name: about["message"] for name, about in found.items() if about and "message" in about
    }
    return Status(opened.path, states, failed)


def status_of(path: Path) -> Status:
    """The state of the runs of a store, or of a plan (TOML) that has one."""
    if path.suffix != ".toml":
        return status(path)
    plan = load_plan(path)
    return status(plan.store, [row.name for row in plan.rows])


def retry(plan: Plan | str | Path, names: Sequence[str] = (), **options: object) -> Status:
    """Repeat failed runs, and run those that are missing.

    >>> import groundswell as gs
    >>> done = gs.ensembles.run("plan.toml", workers=1, resume=True)
    >>> gs.ensembles.retry("plan.toml").counts  # none has failed
    {'complete': 2, 'failed': 0, 'missing': 0}

    Args:
        names: the failed runs to repeat; all of them by default.
        options: those of `run`, except `resume`.

    Raises:
        InputError: one of the runs has not failed; otherwise as `run`.
    """
    chosen = as_plan(plan)
    forget_failed(chosen, names)
    return run(chosen, resume=True, **options)  # type: ignore[arg-type]


def forget_failed(plan: Plan, names: Sequence[str] = ()) -> None:
    """Remove failed runs from the store, so that the next call repeats them."""
    store = Store(plan.store)
    failed = [*status(store.path, [row.name for row in plan.rows]).messages]
    if unknown := [name for name in names if name not in failed]:
        has = f"the failed runs are {listed(failed)}" if failed else "no run has failed"
        raise InputError(f"{unknown[0]} has not failed; {has}")
    for name in names or failed:
        store.remove(name)


def export(
    store: str | Path, path: str | Path | None = None, netcdf: str | Path | None = None
) -> list[Path]:
    """Write a table of all runs (CSV), with their settings and the numbers in their summaries.

    >>> import groundswell as gs
    >>> done = gs.ensembles.run("plan.toml", workers=1, resume=True)
    >>> [path.name for path in gs.ensembles.export("plan.zarr", "table.csv")]
    ['table.csv']

    Args:
        path: the table; by default next to the store.
        netcdf: a folder for the datasets of each run as NetCDF files; by default none.

    Returns:
        The files that were written.

    Raises:
        InputError: there is no store, or a file cannot be written.
    """
    from groundswell.ensembles.tables import write_netcdf, write_runs

    opened = Store(Path(store))
    opened.require_format()
    table = Path(path) if path is not None else opened.path.with_suffix(".csv")
    files = [write_runs(opened, table)]
    return files + (write_netcdf(opened, Path(netcdf)) if netcdf is not None else [])


def describe(found: Status) -> str:
    """The state of an ensemble as a sentence."""
    parts = [f"{count} {state}" for state, count in found.counts.items() if count]
    return ", ".join([f"{found.store}: {counted(len(found.states), 'run')}", *parts])
